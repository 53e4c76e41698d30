"""Operators that nothing records cost nothing: PyTorch is asked not to report them.

Measured by counts, not by time: what PyTorch does not report is not `started`.
"""
import time

import pytest

from support import host, invariants, lttng, trace
from support.matrix import every_interpreter
from support.on_command import Program

THREADS = 3
UNSEEN = 20_000  # far more than everything else that these programs run
# The flush period is 10 ms. A second, since the machine may have more work than cores.
PERIOD_SECONDS = 1
# The agent waits a second for a session before it goes on without one.
DECISION_SECONDS = 2.5


@pytest.fixture
def daemon(tmp_path):
    daemon = lttng.private_daemon(tmp_path)
    daemon.ensure_running()
    yield daemon
    daemon.stop()


def check_trace(process, calls):
    """Exactly these calls, on every thread, and sums that agree."""
    for receipt in process.receipts:
        invariants.check_receipt(receipt)
    invariants.check_identities(process)
    invariants.check_nesting(process)
    assert process.final_receipt["started"] < UNSEEN, "PyTorch reported what nothing records"
    seen = process.calls()
    assert {name: seen.get(name, 0) for name in calls} == calls


def environment_of(daemon, sink):
    return {**host.agent_environment(output_sink=sink), **daemon.environment}


@every_interpreter
@pytest.mark.parametrize("sink", ["auto", "lttng"])
def test_pauses_between_a_stop_and_a_start(sink, interpreter, daemon, tmp_path):
    with lttng.Session(daemon, tmp_path / "trace") as session:
        program = Program(interpreter, tmp_path, THREADS, environment_of(daemon, sink))
        program.tell("add_ 100")
        time.sleep(PERIOD_SECONDS)
        session.stop()
        time.sleep(PERIOD_SECONDS)
        program.tell(f"mul_ {UNSEEN}")
        session.start()
        time.sleep(PERIOD_SECONDS)
        program.tell("sub_ 100")
        run = program.end()
        session.stop()
    process = trace.read(tmp_path / "trace").only_process
    check_trace(process, {"aten::add_": 300, "aten::mul_": 0, "aten::sub_": 300})
    resumed = [operator for operator in process.operators if operator.name == "aten::sub_.Tensor"]
    assert len({operator.tid for operator in resumed}) == THREADS, "a resume reaches every thread"
    (said,) = run.agent_lines
    assert said.endswith("no LTTng session records: paused until one does")


@every_interpreter
def test_pauses_before_the_first_session(interpreter, daemon, tmp_path):
    program = Program(interpreter, tmp_path, THREADS, environment_of(daemon, "lttng"))
    program.tell("add_ 100")
    time.sleep(DECISION_SECONDS)
    program.tell(f"mul_ {UNSEEN}")
    with lttng.Session(daemon, tmp_path / "trace") as session:
        time.sleep(PERIOD_SECONDS)
        program.tell("sub_ 100")
        run = program.end()
        session.stop()
    process = trace.read(tmp_path / "trace").only_process
    check_trace(process, {"aten::add_": 0, "aten::mul_": 0, "aten::sub_": 300})
    assert process.final_receipt["lost_elsewhere"] >= 300, "what ran before the pause is counted"
    assert len(run.agent_lines) == 1


@every_interpreter
def test_pauses_when_the_session_is_destroyed(interpreter, daemon, tmp_path):
    with lttng.Session(daemon, tmp_path / "first"):
        program = Program(interpreter, tmp_path, THREADS, environment_of(daemon, "auto"))
        program.tell("add_ 100")
        time.sleep(PERIOD_SECONDS)
    time.sleep(PERIOD_SECONDS)
    program.tell(f"mul_ {UNSEEN}")
    with lttng.Session(daemon, tmp_path / "second") as session:
        time.sleep(PERIOD_SECONDS)
        program.tell("sub_ 100")
        program.end()
        session.stop()
    first = trace.read(tmp_path / "first").only_process
    assert first.calls()["aten::add_"] == 300
    second = trace.read(tmp_path / "second").only_process
    check_trace(second, {"aten::add_": 0, "aten::mul_": 0, "aten::sub_": 300})
    invariants.check_written(second)


@every_interpreter
def test_a_child_forked_in_a_pause_records(interpreter, daemon, tmp_path):
    program = Program(interpreter, tmp_path, THREADS, environment_of(daemon, "lttng"))
    program.tell("add_ 100")
    time.sleep(DECISION_SECONDS)
    program.tell(f"fork neg_ 50 {tmp_path / 'go_on'}")
    time.sleep(PERIOD_SECONDS)
    program.tell(f"mul_ {UNSEEN}")
    with lttng.Session(daemon, tmp_path / "trace") as session:
        time.sleep(PERIOD_SECONDS)
        (tmp_path / "go_on").touch()
        program.tell("wait")
        program.tell("sub_ 100")
        run = program.end()
        session.stop()
    processes = trace.read(tmp_path / "trace").processes
    parent = processes.pop(run.pid)
    check_trace(parent, {"aten::mul_": 0, "aten::sub_": 300})
    (child,) = processes.values()
    check_trace(child, {"aten::neg_": 50, "aten::sub_": 0})
    invariants.check_nothing_missing(child)


@every_interpreter
def test_a_scope_open_across_a_pause_ends_once(interpreter, daemon, tmp_path):
    with lttng.Session(daemon, tmp_path / "trace") as session:
        program = Program(interpreter, tmp_path, THREADS, environment_of(daemon, "lttng"))
        program.tell("hold before")
        time.sleep(PERIOD_SECONDS)
        session.stop()
        time.sleep(PERIOD_SECONDS)
        program.tell("hold meanwhile")
        program.tell(f"mul_ {UNSEEN}")
        session.start()
        time.sleep(PERIOD_SECONDS)
        program.tell("release")
        program.tell("sub_ 100")
        program.tell("release")
        program.end()
        session.stop()
    process = trace.read(tmp_path / "trace").only_process
    check_trace(process, {"before": 1, "meanwhile": 0, "aten::mul_": 0, "aten::sub_": 300})
    assert process.final_receipt["open"] == 0
    assert process.final_receipt["dropped_abandoned"] == 0
