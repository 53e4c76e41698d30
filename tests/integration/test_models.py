"""Real models: calls per operator equal PyTorch's profiler, for all names; nothing is lost."""
from support import scenario
from support.host import program
from support.matrix import every_sink_and_interpreter


def check(name, sink, interpreter, tmp_path, *arguments):
    command = program(name, *arguments, python=interpreter.python)
    return scenario.check_counted_program(command, sink, tmp_path)


@every_sink_and_interpreter
def test_mlp_step(sink, interpreter, tmp_path):
    check("mlp_step", sink, interpreter, tmp_path)


@every_sink_and_interpreter
def test_transformer_step(sink, interpreter, tmp_path):
    check("transformer_step", sink, interpreter, tmp_path)


@every_sink_and_interpreter
def test_convnet_step(sink, interpreter, tmp_path):
    check("convnet_step", sink, interpreter, tmp_path)


@every_sink_and_interpreter
def test_eight_threads(sink, interpreter, tmp_path):
    outcome = check("eight_threads", sink, interpreter, tmp_path)
    process = outcome.trace.only_process
    threads = {operator.tid for operator in process.operators}
    assert len(threads) == 9, "the main thread and eight more"


def check_data_loader(method, sink, interpreter, tmp_path):
    outcome = check("data_loader", sink, interpreter, tmp_path, method)
    processes = outcome.trace.processes
    assert outcome.traced.pid in processes
    assert len(processes) == 3, "the main process and two workers"
    return outcome


@every_sink_and_interpreter
def test_data_loader_fork(sink, interpreter, tmp_path):
    check_data_loader("fork", sink, interpreter, tmp_path)


@every_sink_and_interpreter
def test_data_loader_spawn(sink, interpreter, tmp_path):
    check_data_loader("spawn", sink, interpreter, tmp_path)


@every_sink_and_interpreter
def test_raises(sink, interpreter, tmp_path):
    outcome = check("raises", sink, interpreter, tmp_path)
    assert outcome.traced.returncode == 1
    assert outcome.traced.other_stderr[-1].startswith("RuntimeError: mat1 and mat2")
