"""The `torchtrace` command as tests call it, and what its report must agree with."""
import json
import subprocess
from collections import defaultdict

from . import invariants, paths


def torchtrace(*arguments, cwd=None, environment=None, stdin=None, timeout=60):
    """Runs `torchtrace ARGUMENTS`; returns the finished process with text output."""
    return subprocess.run(
        [str(paths.built(paths.CLI)), *map(str, arguments)],
        cwd=cwd,
        env=environment,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def report(folder):
    """`torchtrace report --json` as a dictionary."""
    done = torchtrace("report", folder, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _expected_operators(trace):
    """{qualified name: (calls, total ns, self ns)} computed from the events themselves."""
    rows = defaultdict(lambda: [0, 0, 0])
    for process in trace.processes.values():
        self_ns = invariants.check_nesting(process, invariants.check_identities(process))
        for operator in process.operators:
            row = rows[operator.name]
            row[0] += 1
            row[1] += operator.dur
            row[2] += self_ns[operator.op_id]
    return {name: tuple(row) for name, row in rows.items()}


def _summed_receipts(trace):
    total = defaultdict(int)
    for process in trace.processes.values():
        for key, value in process.final_receipt.fields.items():
            total[key] += value
    return total


def check_report(folder, trace):
    """The report's operators and receipt are those of the events that babeltrace2 shows."""
    result = report(folder)
    assert result["schema"] == "torchtrace.report/1"
    seen = {
        row["name"]: (row["calls"], row["total_ns"], row["self_ns"]) for row in result["operators"]
    }
    assert seen == _expected_operators(trace)
    receipt, expected = result["receipt"], _summed_receipts(trace)
    for key in ("started", "recorded", "sampled_out", "open", "settling", "written"):
        assert receipt[key] == expected[key], key
    assert sum(receipt["dropped"].values()) == sum(
        value for key, value in expected.items() if key.startswith("dropped_")
    )
    assert {process["pid"] for process in result["processes"]} == set(trace.processes)
    return result
