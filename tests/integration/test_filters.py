"""filters.include and filters.exclude on a real model: what is left out, and what it counts as."""
from collections import Counter
from fnmatch import fnmatchcase

import pytest

from support import scenario
from support.host import program

CASES = {
    "include": (["aten::*", "*Backward0"], []),
    "exclude": ([], ["aten::add*", "autograd::engine::*"]),
    "both": (["aten::*"], ["aten::*_backward*", "aten::empty.memory_format"]),
    "nothing_fits": (["none::*"], []),
}


def trace_step(interpreter, folder, include=(), exclude=()):
    folder.mkdir()
    environment = {
        "TORCHTRACE_FILTERS_INCLUDE": ",".join(include),
        "TORCHTRACE_FILTERS_EXCLUDE": ",".join(exclude),
    }
    command = program("mlp_step", python=interpreter.python)
    outcome = scenario.trace_program(command, "ctf", folder, environment)
    return outcome.trace.only_process


def is_kept(name, include, exclude):
    if any(fnmatchcase(name, pattern) for pattern in exclude):
        return False
    return not include or any(fnmatchcase(name, pattern) for pattern in include)


@pytest.mark.parametrize("interpreter", ("debian", "wheel"), indirect=True)
def test_names(interpreter, tmp_path):
    everything = trace_step(interpreter, tmp_path / "everything")
    calls = Counter(operator.name for operator in everything.operators)
    by_id = {operator.op_id: operator for operator in everything.operators}
    assert everything.final_receipt["filtered"] == 0
    for case, (include, exclude) in CASES.items():
        process = trace_step(interpreter, tmp_path / case, include, exclude)
        kept = {name: n for name, n in calls.items() if is_kept(name, include, exclude)}
        assert Counter(operator.name for operator in process.operators) == Counter(kept), case
        receipt = process.final_receipt
        assert receipt["filtered"] == calls.total() - sum(kept.values()), case
        assert receipt["started"] == everything.final_receipt["started"], case
        for operator in process.operators:
            # op_ids count operators, filtered ones too: the same call has the same one.
            same = by_id[operator.op_id]
            assert (operator.name, operator.depth) == (same.name, same.depth)
            around = same
            while around.parent and not is_kept(by_id[around.parent].name, include, exclude):
                around = by_id[around.parent]
            assert operator.parent == around.parent
