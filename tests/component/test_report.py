"""`torchtrace report` and `print` on traces with known answers, against an independent calculation
over the text that stock babeltrace2 shows of them."""
import json
import os
import re
import subprocess

import pytest

from support import cli, paths, synthetic, trace

GOLDEN = paths.SOURCE / "tests" / "golden"

VARIANTS = {
    "short": [],
    "long_operators": ["--hold-ns", 5000],
    "late": ["--hold-ns", 20_000, "--late-every", 3],
    "other_seed": ["--seed", 7],
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_report_equals_the_truth_and_the_text(tmp_path, variant):
    truth = synthetic.make_trace(tmp_path, "--operators", 5000, *VARIANTS[variant])
    result = cli.check_report(tmp_path, trace.read(tmp_path))
    seen = {row["name"]: [row["calls"], row["total_ns"], row["self_ns"]]
            for row in result["operators"]}
    assert seen == {name: list(row.values()) for name, row in truth["operators"].items()}
    assert result["receipt"]["started"] == truth["started"] == 5000
    assert result["receipt"]["final"] is True
    assert set(result["receipt"]["checks"].values()) == {0}
    assert result["notes"] == []


def nearest_rank(values, percent):
    values = sorted(values)
    return values[-(-len(values) * percent // 100) - 1]


def test_columns_equal_their_definitions(tmp_path):
    synthetic.make_trace(tmp_path, "--operators", 3000, "--hold-ns", 20_000)
    durations = {}
    for operator in trace.read(tmp_path).only_process.operators:
        durations.setdefault(operator.name, []).append(operator.dur)
    for row in cli.report(tmp_path)["operators"]:
        values = durations.pop(row["name"])
        assert row["min_ns"] == min(values)
        assert row["max_ns"] == max(values)
        assert row["mean_ns"] == pytest.approx(sum(values) / len(values))
        assert row["p50_ns"] == nearest_rank(values, 50)
        assert row["p99_ns"] == nearest_rank(values, 99)
    assert not durations, "operators without a row"


def test_several_traces_below_one_folder_are_one_report(tmp_path):
    for pid in (11, 12, 13):
        synthetic.make_trace(
            tmp_path / "deeper" / str(pid), "--operators", 500, "--pid", pid, "--seed", pid,
            "--name", f"synthetic-{pid}-1",
        )
    result = cli.check_report(tmp_path, trace.read(tmp_path))
    assert sorted(process["pid"] for process in result["processes"]) == [11, 12, 13]
    assert result["receipt"]["started"] == 1500
    assert len(result["traces"]) == 3


def test_killed_program_is_reported_up_to_its_last_packet(tmp_path):
    # 256 KiB, some 3,000 operators, may be in memory when the last period ends.
    synthetic.make_trace(tmp_path, "--operators", 20_000, "--killed", "--hold-ns", 1_000_000)
    read = trace.read(tmp_path).only_process
    result = cli.report(tmp_path)
    assert result["receipt"]["written"] == len(read.operators) > 16_000
    assert result["receipt"]["final"] is False
    assert result["receipt"]["started"] is None, "no receipt, so not known"
    (process,) = result["processes"]
    assert [op["name"] for op in process["open_operators"]] == ["training"]
    assert "training" not in {row["name"] for row in result["operators"]}
    assert any("left no receipt" in note for note in result["notes"])


@pytest.mark.parametrize(
    "when_full, reason", [("rotate", "rotated_out"), ("stop", "disk_full")], ids=["rotate", "stop"]
)
def test_lost_operators_are_counted_and_said(tmp_path, when_full, reason):
    truth = synthetic.make_trace(
        tmp_path, "--operators", 20_000, "--max-bytes", 600_000, "--when-full", when_full
    )
    receipt = cli.report(tmp_path)["receipt"]
    assert receipt["lost"][reason] == truth[f"lost_{reason}"] > 10_000
    assert receipt["written"] == truth["written"]
    assert receipt["recorded"] == receipt["written"] + sum(receipt["lost"].values())
    text = cli.torchtrace("report", tmp_path).stdout
    assert re.search(rf"operators were lost: {reason}", text)


def expected_line(event):
    """The event as `print` shows it, from babeltrace2's text."""
    scopes = {0: "function", 1: "backward_function", 7: "user_scope"}
    flags = {0: "none", trace.FLAG_LATE: "late"}
    named = {"scope": scopes, "flags": flags, "outcome": {0: "ended"}}
    pairs = []
    for key, value in event.fields.items():
        if key in ("ts_low", "packet_seq_num"):
            continue
        shown = named[key][value] if key in named else value
        pairs.append(f'{key}="{value}"' if isinstance(value, str) else f"{key}={shown}")
    return " ".join([event.name, *pairs])


def test_print_shows_every_event_with_every_field(tmp_path):
    synthetic.make_trace(tmp_path, "--operators", 400, "--hold-ns", 20_000, "--late-every", 9)
    done = cli.torchtrace("print", tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    expected = [expected_line(event) for event in trace.read(tmp_path).only_process.events]
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize("command", ["report", "print"])
def test_text_is_as_recorded(tmp_path, command):
    """Set TORCHTRACE_UPDATE_GOLDEN=1 to record what is shown now; then look at the difference."""
    synthetic.make_trace(tmp_path, "--operators", 60, "--hold-ns", 20_000, "--late-every", 9)
    shown = cli.torchtrace(command, tmp_path).stdout
    golden = GOLDEN / f"{command}.txt"
    if os.environ.get("TORCHTRACE_UPDATE_GOLDEN"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def run_in_terminal(columns, *arguments, **environment):
    """Output of torchtrace on a terminal of that width."""
    command = " ".join(["stty", "cols", str(columns), ";", "exec", str(paths.CLI), *arguments])
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        env={**os.environ, "TERM": "xterm", **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60,
    )
    return done.stdout.replace("\r\n", "\n")


def test_table_fits_the_terminal(tmp_path):
    synthetic.make_trace(tmp_path, "--operators", 2000)
    shown = run_in_terminal(110, "report", str(tmp_path), NO_COLOR="1")
    table = shown.split("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 110
    assert any(".." in line for line in table), "no name had to be shortened"
    piped = cli.torchtrace("report", tmp_path).stdout
    assert "Optimizer.zero_grad#SGD.zero_grad" in piped, "pipes get whole names"


def test_colours_are_for_terminals_that_want_them(tmp_path):
    synthetic.make_trace(tmp_path, "--operators", 100)
    assert "\033[" in run_in_terminal(200, "report", str(tmp_path))
    assert "\033[" not in run_in_terminal(200, "report", str(tmp_path), NO_COLOR="1")
    assert "\033[" not in run_in_terminal(200, "report", str(tmp_path), TERM="dumb")
    assert "\033[" not in cli.torchtrace("report", tmp_path).stdout


def test_top_and_sort(tmp_path):
    synthetic.make_trace(tmp_path, "--operators", 2000)
    shown = cli.torchtrace("report", tmp_path, "--top", 3, "--sort", "calls").stdout
    calls = [int(line.split()[1].replace(",", "")) for line in shown.splitlines()[1:4]]
    rows = cli.report(tmp_path)["operators"]
    assert calls == sorted((row["calls"] for row in rows), reverse=True)[:3]
    assert f"and {len(rows) - 3} more; --top 0 shows all" in shown
    by_name = json.loads(
        cli.torchtrace("report", tmp_path, "--json", "--sort", "name", "--top", 3).stdout
    )
    names = [row["name"] for row in by_name["operators"]]
    assert names == sorted(names) and len(names) == len(rows)
