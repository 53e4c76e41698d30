"""The LTTng provider and its sink in real sessions, driven by a host without PyTorch."""

import time

import pytest

from support import trace
from support.unprivileged_lttng import Daemon, Host, Session
from support.paths import LTTNG_PROVIDER


@pytest.fixture
def daemon():
    daemon = Daemon()
    yield daemon
    daemon.close()


def events_by_name(folder):
    """{name: fields} of a trace in which each event is there once, under any pid."""
    processes = trace.read(folder).processes.values()
    return {event.name: event.fields for process in processes for event in process.events}


@pytest.mark.parametrize("contexts", [(), ("vpid", "vtid", "procname")], ids=["bare", "contexts"])
def test_every_field_of_every_event_reads_back_as_given(daemon, contexts):
    session = Session(daemon.start(), "all", contexts)
    with Host(daemon) as host:
        assert host.tell("wait 10") == {"records": True}
        assert host.tell("sink") == {"wants_state": True}
        given = host.tell("emit")["events"]
    session.stop()
    read = events_by_name(session.trace)
    assert len(given) == len(read) == 7
    for event in given:
        fields = read[event.pop("event")]
        assert fields.keys() - event.keys() == {"cpu_id", *contexts}
        assert {key: fields[key] for key in event} == event


def test_a_session_that_begins_after_the_program_records_from_then_on(daemon):
    daemon.start()
    with Host(daemon) as host:
        assert host.tell("ops 7")["counts"]["lost_elsewhere"] == 7
        assert host.tell("period") == {"wants_state": False}
        session = Session(daemon, "late")
        assert host.tell("wait 10") == {"records": True}
        assert host.tell("period") == {"wants_state": True}
        assert host.tell("period") == {"wants_state": False}
        counts = host.tell("ops 11")["counts"]
        assert (counts["written"], counts["lost_elsewhere"]) == (11, 7)
        assert len(session.events()) == 11


def test_a_later_session_counts_from_its_own_start(daemon):
    daemon.start()
    first = Session(daemon, "first")
    with Host(daemon) as host:
        host.tell("wait 10")
        host.tell("sink")
        assert host.tell("ops 5")["counts"]["written"] == 5
        assert len(first.events()) == 5
        host.tell("period")
        second = Session(daemon, "second")
        host.tell("wait 10")
        assert host.tell("period") == {"wants_state": True}
        counts = host.tell("ops 3")["counts"]
        assert (counts["written"], counts["lost_elsewhere"]) == (3, 5)
        assert len(second.events()) == 3


def test_a_session_that_joins_another_asks_for_the_state(daemon):
    daemon.start()
    first = Session(daemon, "first")
    with Host(daemon) as host:
        host.tell("wait 10")
        assert host.tell("sink") == {"wants_state": True}
        second = Session(daemon, "second")
        deadline = time.monotonic() + 10
        while not host.tell("period")["wants_state"]:
            assert time.monotonic() < deadline, "the second session was never noticed"
        assert host.tell("ops 4")["counts"]["written"] == 4
        assert len(first.events()) == len(second.events()) == 4


def test_what_is_written_is_in_the_trace_from_the_moment_a_session_is_noticed(daemon):
    """LTTng enables the tracepoints before the session is active: nothing may count in between."""
    daemon.start()
    with Host(daemon) as host:
        for attempt in range(3):
            host.send("catch 1000")
            session = Session(daemon, f"s{attempt}")
            assert host.receive()["counts"]["written"] == 1000
            assert len(session.events()) == 1000


def test_operators_alone_can_be_enabled(daemon):
    session = Session(daemon.start(), "ops", events="torchtrace:op")
    with Host(daemon) as host:
        host.tell("wait 10")
        host.tell("sink")
        host.tell("emit")
        # op_end carries the outcome 242: not an ended operator, so it counts nowhere.
        assert host.tell("counts")["counts"]["written"] == 1
    assert [event.name for event in session.events()] == ["op"]


@pytest.mark.parametrize("preload", [False, True], ids=["own_hooks", "ust_fork"])
def test_forked_children_record_under_their_own_pid(daemon, preload):
    session = Session(daemon.start(), "fork", contexts=("vpid",))
    environment = {"LD_PRELOAD": "liblttng-ust-fork.so.1"} if preload else {}
    with Host(daemon, **environment) as host:
        host.tell("wait 10")
        host.tell("sink")
        host.tell("ops 2")
        answers = [host.tell(f"fork 3 {0 if preload else 1}") for _ in range(2)]
        assert [answer["status"] for answer in answers] == [0, 0]
        host.tell("ops 2")
        parent = host.process.pid
    daemon.run("lttng", "stop", "fork")
    text = daemon.run("babeltrace2", str(session.trace)).stdout
    for answer in answers:
        pid = answer["child"]
        assert text.count(f"vpid = {pid} ") == text.count(f" pid = {pid},") == 3
    assert text.count(f"vpid = {parent} ") == text.count(f" pid = {parent},") == 4


def start_dead(daemon):
    daemon.start().kill()


def start_wedged(daemon):
    daemon.start().freeze()


@pytest.mark.parametrize("prepare", [lambda daemon: None, start_dead, start_wedged],
                         ids=["without_daemon", "dead_daemon", "wedged_daemon"])
def test_a_program_is_neither_delayed_nor_disturbed(daemon, prepare):
    with Host(daemon) as healthy:  # what loading the provider takes anyway
        began = time.monotonic()
        healthy.tell("period")
        usual = time.monotonic() - began
        assert healthy.end() == (0, "")
    prepare(daemon)
    began = time.monotonic()
    with Host(daemon) as host:
        assert host.tell("period") == {"wants_state": False}
        assert host.tell("ops 3")["counts"] == {"written": 0, "lost_elsewhere": 3,
                                                "lost_disk_full": 0, "lost_rotated_out": 0}
        assert host.end() == (0, "")
    # lttng-ust's default is to wait 3 s for a daemon that does not answer.
    assert time.monotonic() - began < usual + 2.5


def test_a_provider_that_cannot_be_loaded_is_one_sentence(daemon, tmp_path):
    broken = tmp_path / "libtorchtrace-lttng.so"
    broken.write_text("not a library")
    for path, reason in ((broken, "file too short"), (tmp_path / "missing.so", "cannot open")):
        with Host(daemon, provider=path) as host:
            code, errors = host.end()
        assert code == 1
        assert str(path) in errors and errors.count("\n") == 1


def test_the_provider_exports_its_table_and_nothing_else(daemon):
    symbols = daemon.run("nm", "-D", "--defined-only", str(LTTNG_PROVIDER)).stdout.split()
    assert symbols[2::3] == ["torchtrace_lttng_provider_v1"]
