"""How a program ends decides what can still be written. Its calls are known by arithmetic."""
from support import counting, invariants, scenario
from support.host import program
from support.matrix import every_sink_and_interpreter

TURNS = 3000


def trace_loop(how, sink, interpreter, tmp_path, exact):
    command = program("known_loop", how, TURNS, python=interpreter.python)
    return scenario.trace_program(command, sink, tmp_path, exact=exact)


@every_sink_and_interpreter
def test_os_exit(sink, interpreter, tmp_path):
    outcome = trace_loop("os_exit", sink, interpreter, tmp_path, exact=True)
    assert outcome.traced.returncode == 7
    process = outcome.trace.only_process
    invariants.check_nothing_missing(process)
    counting.check_calls(process, {"aten::add_": TURNS, "hundred": TURNS // 100})


def check_killed(how, sink, interpreter, tmp_path):
    """The first round ended more than a receipt's period before the signal, the second just before:
    it may be missing."""
    outcome = trace_loop(how, sink, interpreter, tmp_path, exact=False)
    process = outcome.trace.only_process
    invariants.check_killed_process(process)
    assert TURNS <= process.calls()["aten::add_"] <= 2 * TURNS
    assert process.receipts[-1]["written"] >= TURNS + TURNS // 100
    return outcome


@every_sink_and_interpreter
def test_sigkill(sink, interpreter, tmp_path):
    outcome = check_killed("sigkill", sink, interpreter, tmp_path)
    assert outcome.traced.returncode == -9


@every_sink_and_interpreter
def test_sigterm(sink, interpreter, tmp_path):
    outcome = check_killed("sigterm", sink, interpreter, tmp_path)
    assert outcome.traced.returncode == -15
