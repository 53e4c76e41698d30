"""Compares the calls in a trace with the counts that a program wrote (programs/window.py)."""
import json
from collections import Counter

WINDOW = "window"


def read_independent_counts(path):
    """{name: calls} over all windows of all processes of a run."""
    calls = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        calls.update(json.loads(line)["calls"])
    return calls


def window_calls(process):
    """{base name: calls} of what started while a scope called "window" was open in the process."""
    windows = [operator for operator in process.operators if operator.name == WINDOW]
    return Counter(
        operator.base_name
        for window in windows
        for operator in process.operators
        if window.ts <= operator.ts <= window.end and operator.op_id != window.op_id
    )


def differences(expected, seen):
    """{name: (expected, seen)} where the two differ."""
    return {
        name: (expected[name], seen[name])
        for name in sorted(expected.keys() | seen.keys())
        if expected[name] != seen[name]
    }


def check_window_calls(trace, independent):
    """Calls inside the windows equal the independent count, for all names."""
    seen = Counter()
    for process in trace.processes.values():
        seen.update(window_calls(process))
    assert sum(independent.values()) > 0, "the independent count is empty"
    assert not differences(independent, seen), differences(independent, seen)


def check_calls(process, expected):
    """Calls of the given names in a whole process equal what arithmetic says."""
    seen = process.calls()
    assert {name: seen.get(name, 0) for name in expected} == expected
