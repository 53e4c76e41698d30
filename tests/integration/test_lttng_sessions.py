"""The user's own LTTng sessions: begun before or after the program, with contexts or without."""
import time

import pytest

from support import counting, host, invariants, lttng, trace

# The agent waits a second for a session before it goes on without one.
DECISION_SECONDS = 2
# A session that begins is noticed within a flush period, 10 ms where a core is free.
RESUME_SECONDS = 1

# Runs 100 operators, waits until a file appears, runs 100 more.
WAIT_FOR_FILE = """
import os, sys, time, torch
value, one = torch.zeros(1), torch.ones(1)
def turns(operator):
    for _ in range(100):
        operator(one)
with torch.no_grad():
    turns(value.add_)
    print("ready", flush=True)
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    turns(value.mul_)
"""


@pytest.fixture
def daemon(tmp_path):
    daemon = lttng.private_daemon(tmp_path)
    daemon.ensure_running()
    yield daemon
    daemon.stop()


def start_waiting(daemon, tmp_path, sink):
    """A program that has run 100 operators and waits until the file returned with it exists."""
    flag = tmp_path / "go on"
    environment = {**host.agent_environment(output_sink=sink), **daemon.environment}
    command = ["/usr/bin/python3", "-c", WAIT_FOR_FILE, str(flag)]
    process = host.start(command, tmp_path, environment)
    assert process.stdout.readline() == "ready\n"
    return process, flag


@pytest.mark.parametrize("contexts", ["none", "all"])
def test_session_with_contexts(contexts, daemon, tmp_path):
    wanted = () if contexts == "none" else ("vpid", "vtid", "procname")
    with lttng.Session(daemon, tmp_path / "trace", wanted) as session:
        process, flag = start_waiting(daemon, tmp_path, "auto")
        flag.touch()
        assert host.finish(process).returncode == 0
        session.stop()
    read = trace.read(tmp_path / "trace").only_process
    invariants.check_process(read)
    invariants.check_nothing_missing(read)
    counting.check_calls(read, {"aten::add_": 100, "aten::mul_": 100})
    assert all(("vpid" in event.fields) == bool(wanted) for event in read.events)
    assert all(event.fields.get("vpid", read.pid) == read.pid for event in read.events)


def test_session_after_the_program_started(daemon, tmp_path):
    process, flag = start_waiting(daemon, tmp_path, "lttng")
    time.sleep(DECISION_SECONDS)
    with lttng.Session(daemon, tmp_path / "trace") as session:
        time.sleep(RESUME_SECONDS)
        flag.touch()
        assert host.finish(process).returncode == 0
        session.stop()
    read = trace.read(tmp_path / "trace").only_process
    for receipt in read.receipts:
        invariants.check_receipt(receipt)
    invariants.check_written(read)
    counting.check_calls(read, {"aten::mul_": 100})
    assert read.final_receipt["lost_elsewhere"] >= 100, "what ran before the session is counted"


def test_auto_moves_from_ctf_to_a_later_session(daemon, tmp_path):
    process, flag = start_waiting(daemon, tmp_path, "auto")
    time.sleep(DECISION_SECONDS)
    with lttng.Session(daemon, tmp_path / "session") as session:
        flag.touch()
        assert host.finish(process).returncode == 0
        session.stop()
    later = trace.read(tmp_path / "session").only_process
    (folder,) = tmp_path.glob("torchtrace-*")
    earlier = trace.read(folder).only_process
    total = later.calls().get("aten::mul_", 0) + earlier.calls().get("aten::mul_", 0)
    assert total == 100 and earlier.calls()["aten::add_"] == 100
    final = later.final_receipt
    assert final["written"] == len(later.operators)
    assert final["lost_elsewhere"] == len(earlier.operators), "what stands in the other trace"
