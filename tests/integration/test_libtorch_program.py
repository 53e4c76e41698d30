"""A C++ program linked to libtorch: the agent finds it in its constructor. Calls are arithmetic."""
from support import counting, invariants, libtorch
from support.libtorch import every_sink_and_torch

COUNT = 200


def trace_work(kind, sink, torch, tmp_path, exact=True):
    return libtorch.trace_work(kind, COUNT, sink, torch, tmp_path, exact)


def check_work(kind, sink, torch, tmp_path, expected):
    outcome = trace_work(kind, sink, torch, tmp_path)
    process = outcome.trace.only_process
    invariants.check_nothing_missing(process)
    counting.check_calls(process, expected)
    return process


@every_sink_and_torch
def test_cpp_loop(sink, torch, tmp_path):
    check_work("loop", sink, torch, tmp_path, {"aten::add_": COUNT, "tenth": COUNT // 10})


@every_sink_and_torch
def test_cpp_threads(sink, torch, tmp_path):
    expected = {"aten::add_": 4 * COUNT, "tenth": 4 * COUNT // 10}
    process = check_work("threads", sink, torch, tmp_path, expected)
    assert len({operator.tid for operator in process.operators}) == 4


@every_sink_and_torch
def test_cpp_backward(sink, torch, tmp_path):
    nodes = ("MulBackward0", "SumBackward0", "torch::autograd::AccumulateGrad")
    # mul once forward and twice backward; sum calls sum.dim_IntList, and the result is one more.
    expected = {"aten::mul": 3 * COUNT, "aten::sum": 2 * COUNT + 2}
    expected.update({node: COUNT for node in nodes})
    expected.update({f"autograd::engine::evaluate_function: {node}": COUNT for node in nodes})
    process = check_work("backward", sink, torch, tmp_path, expected)
    links = {(op.fwd_thread, op.seq) for op in process.operators if op.name == "MulBackward0"}
    assert len(links) == COUNT, "every backward node has a sequence number of its own"


@every_sink_and_torch
def test_cpp_raise(sink, torch, tmp_path):
    # abs calls abs.out.
    expected = {"aten::mm": COUNT, "doomed": COUNT, "aten::abs": 2 * COUNT}
    process = check_work("raise", sink, torch, tmp_path, expected)
    depths = {op.depth for op in process.operators if op.name == "aten::abs"}
    assert depths == {0}, "frames that exceptions unwound are gone"


@every_sink_and_torch
def test_cpp_uncaught(sink, torch, tmp_path):
    """It ends within the first flush period or so: what must hold is that it ends as it would."""
    outcome = trace_work("uncaught", sink, torch, tmp_path, exact=False)
    assert outcome.plain.returncode == -6, "SIGABRT"
    # PyTorch's messages go on with addresses.
    assert outcome.traced.other_stderr[:2] == outcome.plain.stderr.splitlines()[:2]


@every_sink_and_torch
def test_cpp_exit_inside_operator(sink, torch, tmp_path):
    outcome = trace_work("exit", sink, torch, tmp_path)
    assert outcome.traced.returncode == 5
    process = outcome.trace.only_process
    counting.check_calls(process, {"aten::add_": COUNT, "tenth": COUNT // 10})
    assert process.final_receipt["open"] == 2, "the operator that called exit() and its scope"
    assert {event["name"] for event in process.named("op_begin")} >= {
        "never left",
        "torchtrace_test::leave",
    }
