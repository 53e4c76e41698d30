"""bench/run: that each bench still runs, and what its result looks like. No figure is judged."""
import json
import subprocess
import sys

import pytest
from support import availability, paths

#: Of each bench, what its first case has to have measured.
VARIANTS = {
    "ring": {"none", "torchtrace", "moodycamel_token", "readerwriterqueue", "mutex_deque"},
    "hot_path": {"none", "floor", "torchtrace", "other_scope", "sampled", "paused", "thapi_style"},
    "overhead": {"none", "floor", "torchtrace", "kineto", "thapi_style"},
    "flush": {"none", "ctf", "lttng", "bare_tracepoint"},
    "startup": {"none", "empty_library", "torchtrace"},
    "scaling": {"none", "floor", "torchtrace"},
    "analysis": {"report", "report_json", "bt2_dummy"},
}
MACHINE = {"cpu", "cores", "kernel", "clock_source", "virtual", "load"}
UNITS = {"median_ns", "per_second", "bytes"}


def check_case(case):
    """Each variant has one figure in a known unit, between its quartiles."""
    assert case["name"]
    for name, variant in case["variants"].items():
        (unit,) = variant.keys() & UNITS
        assert variant["q25"] <= variant[unit] <= variant["q75"], name
    assert all(isinstance(value, (int, float)) for value in case["ratios"].values())


@pytest.mark.parametrize("bench", VARIANTS)
def test_bench(bench, tmp_path):
    if not (paths.BUILD / "bench").is_dir():
        availability.unavailable("built without TORCHTRACE_BUILD_BENCH")
    stored, page = tmp_path / "result.json", tmp_path / "page.md"
    command = [paths.SOURCE / "bench/run", bench, "--smoke", "--build", paths.BUILD]
    done = subprocess.run(
        [sys.executable, *command, "--json", stored, "--markdown", page],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(stored.read_text())
    assert result["bench"] == bench
    assert result["command"] == f"bench/run {bench} --smoke"
    assert result["machine"].keys() == MACHINE
    assert {"rounds", "pairing", "unit"} <= result["method"].keys()
    assert VARIANTS[bench] <= result["variants"].keys()
    for case in [result, *result["cases"]]:
        check_case({"name": result["case"], **case})
    assert all(case["name"] in page.read_text() for case in result["cases"])
