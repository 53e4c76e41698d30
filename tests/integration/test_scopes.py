"""User scopes: long, nested, recursive, left by exceptions, and ended on other threads."""
import json

from support import invariants, scenario, trace as t
from support.host import program
from support.matrix import every_sink_and_interpreter

LONG_SCOPE_SECONDS = 3
MIB = 1 << 20


def trace_scopes(name, sink, interpreter, tmp_path, *arguments, environment=None):
    command = program(name, *arguments, python=interpreter.python)
    outcome = scenario.trace_program(command, sink, tmp_path, environment)
    process = outcome.trace.only_process
    invariants.check_nothing_missing(process)
    return process


def named(process, name):
    return [operator for operator in process.operators if operator.name == name]


@every_sink_and_interpreter
def test_long_scope(sink, interpreter, tmp_path):
    result = tmp_path / "long-scope.json"
    environment = {
        "LONG_SCOPE_FILE": str(result),
        "TORCHTRACE_OUTPUT_HOLD": "20ms",
        # Room for two thirds of a second: a busy machine may keep the flush thread waiting.
        "TORCHTRACE_BUFFER_SIZE": "4MiB",
    }
    process = trace_scopes(
        "long_scope", sink, interpreter, tmp_path, LONG_SCOPE_SECONDS, environment=environment
    )
    told = json.loads(result.read_text(encoding="utf-8"))
    (training,) = named(process, "training")
    assert training.is_pair, "open for longer than the hold: op_begin and op_end"
    children = [op for op in named(process, "aten::add_.Tensor") if op.parent == training.op_id]
    assert len(children) == told["turns"]
    # Were records kept until the scope ends, 64 bytes each, this would be tens of MiB.
    assert told["late_bytes"] - told["early_bytes"] < 4 * MIB, told


@every_sink_and_interpreter
def test_nested_scopes(sink, interpreter, tmp_path):
    process = trace_scopes("nested_scopes", sink, interpreter, tmp_path)
    by_id = {operator.op_id: operator for operator in process.operators}

    def parents(operator):
        names = []
        while operator.parent:
            operator = by_id[operator.parent]
            names.append(operator.name)
        return names

    chains = [parents(operator) for operator in named(process, "aten::neg")]
    depth = 12  # DEPTH in nested_scopes.py
    recursion = [["recurse"] * levels for levels in range(depth, 0, -1)]
    siblings = [[f"sibling {index}", "outer"] for index in range(3)]
    exception = [["inner", "left by exception"], ["after the exception"]]
    assert chains == [["recurse"] * depth, *recursion, *siblings, *exception]
    assert [len(chain) for chain in chains] == [op.depth for op in named(process, "aten::neg")]


@every_sink_and_interpreter
def test_scope_ends_elsewhere(sink, interpreter, tmp_path):
    process = trace_scopes("scope_ends_elsewhere", sink, interpreter, tmp_path)
    by_id = {operator.op_id: operator for operator in process.operators}
    for name in ("handed over", "future"):
        scopes = named(process, name)
        assert len(scopes) == 5
        for scope in scopes:
            assert scope.flags & t.FLAG_ASYNC and scope.end_tid != scope.tid, scope
    for operator in named(process, "aten::abs"):
        parent = by_id[operator.parent]
        assert parent.tid == operator.tid
        assert parent.name in ("worker's own", "owner's own", "overtaking"), parent
    (last,) = named(process, "aten::ceil")
    assert last.depth == 0 and last.parent == 0, "no scope is left open"


@every_sink_and_interpreter
def test_gloo(sink, interpreter, tmp_path):
    process = trace_scopes("gloo_one_rank", sink, interpreter, tmp_path)
    reductions = named(process, "gloo:all_reduce")
    assert len(reductions) == 6
    assert all(scope.depth == 0 and scope.parent == 0 for scope in reductions)
