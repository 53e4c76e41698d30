"""The built-in CTF sink's traces, read by stock babeltrace2: its command and its Python module."""

import itertools
import json
import os
import re
import signal
import subprocess
import time

import bt2
import pytest

from support import namespaces, trace
from support.availability import unavailable
from support.paths import TEST_PROGRAMS, built
from support.synthetic import make_trace, stream_file
from support.unprivileged_lttng import Daemon, Host, Session

PACKET = 4096
KIB = 1024


def start_make_trace(folder, *options):
    folder.mkdir(parents=True, exist_ok=True)
    command = [built(TEST_PROGRAMS / "make_trace"), folder, *map(str, options)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def read_lines(*folders):
    """(lines, stderr) of `babeltrace2 folders`, which must succeed."""
    command = ["babeltrace2", "--no-delta", *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines(), done.stderr


def count_operators(lines):
    ended = re.compile(r"torchtrace:(op:|op_end: .* outcome = 0,)")
    return sum(1 for line in lines if ended.search(line))


def last_receipt(lines):
    line = [line for line in lines if "torchtrace:receipt:" in line][-1]
    return {key: int(number) for key, number in re.findall(r"(\w+) = (-?\d+)", line)}


def as_valid(text):
    """What a reader finds of `text`, a string given as hexadecimal digits or None."""
    if not text:
        return "unknown"
    valid = ""
    data = bytes.fromhex(text)
    while data:
        try:
            return valid + data.decode("utf-8")
        except UnicodeDecodeError as error:
            valid += data[: error.start].decode("utf-8") + "?" * (error.end - error.start)
            data = data[error.end :]
    return valid


def test_every_field_of_every_event_of_the_ctf_sink_reads_back(tmp_path):
    command = [built(TEST_PROGRAMS / "write_extremes"), tmp_path]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    given = [json.loads(line) for line in output.splitlines()]
    messages = bt2.TraceCollectionMessageIterator(str(tmp_path))
    read = [m.event for m in messages if isinstance(m, bt2._EventMessageConst)]
    assert len(read) == len(given) == 7 * 18
    for expected, event in zip(given, read):
        name = expected.pop("event")
        assert event.name == f"torchtrace:{name}"
        fields = event.payload_field
        assert list(fields) == list(expected)
        for key, value in expected.items():
            if not isinstance(value, int):
                value = as_valid(value)
                longest = 1024 if name != "process" else len(str(fields[key]))
                assert longest >= min(len(value), 128)
                value = value[:longest]
            assert fields[key] == value, f"{name}.{key}"


def test_the_environment_names_host_process_and_format(tmp_path):
    make_trace(tmp_path, "--operators", 1)
    messages = bt2.TraceCollectionMessageIterator(str(tmp_path))
    beginning = next(m for m in messages if isinstance(m, bt2._StreamBeginningMessageConst))
    environment = dict(beginning.stream.trace.environment.items())
    assert environment["hostname"] == os.uname().nodename
    assert environment["tracer_name"] == "torchtrace"
    assert environment["torchtrace_format"] == 1
    assert environment["trace_name"] == "synthetic-4242-1"
    assert environment["procname"] == "make_trace"
    versions = {"tracer_major", "tracer_minor", "tracer_patchlevel"}
    assert versions | {"domain", "vpid"} < set(environment)
    clock = beginning.stream.cls.default_clock_class
    assert clock.name == "monotonic" and clock.frequency == 10**9 and clock.origin_is_unix_epoch
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot_id:
        assert str(clock.uuid) == boot_id.read().strip()
    offset_ns = clock.offset.seconds * 10**9 + clock.offset.cycles
    assert abs(time.time_ns() - time.monotonic_ns() - offset_ns) < 10**8


def test_operators_read_back_exactly(tmp_path):
    truth = make_trace(tmp_path, "--operators", 20_000, "--seed", 7)
    process = trace.read(tmp_path).only_process
    assert len(process.operators) == truth["written"] == 20_000
    totals = {}
    for operator in process.operators:
        calls, total_ns = totals.get(operator.name, (0, 0))
        totals[operator.name] = (calls + 1, total_ns + operator.dur)
    expected = {name: (t["calls"], t["total_ns"]) for name, t in truth["operators"].items()}
    assert totals == expected
    assert process.final_receipt["written"] == 20_000


def test_late_operators_keep_their_own_time(tmp_path):
    def times(folder):
        return {op.op_id: (op.ts, op.dur) for op in trace.read(folder).only_process.operators}

    make_trace(tmp_path / "sorted", "--operators", 5000)
    make_trace(tmp_path / "late", "--operators", 5000, "--late-every", 7)
    process = trace.read(tmp_path / "late").only_process
    late = [op for op in process.operators if op.flags & trace.FLAG_LATE]
    assert len(late) == process.final_receipt["late"] == 5000 // 7
    assert times(tmp_path / "late") == times(tmp_path / "sorted")
    starts = [op.ts for op in process.operators if not op.is_pair]
    assert starts != sorted(starts)
    lines, _ = read_lines(tmp_path / "late")
    stamps = [line[: line.index("]")] for line in lines]
    assert stamps == sorted(stamps)


def test_a_trace_can_be_read_while_it_is_written(tmp_path):
    writer = start_make_trace(tmp_path, "--operators", 150_000, "--real-time")
    seen = []
    try:
        while writer.poll() is None:
            if (tmp_path / "synthetic-4242-1" / "stream-000000").exists():
                lines, stderr = read_lines(tmp_path)
                assert stderr == ""
                seen.append(len(lines))
    finally:
        writer.kill()
        assert writer.wait() == 0
    assert seen == sorted(seen) and len(set(seen)) > 1, seen
    assert count_operators(read_lines(tmp_path)[0]) == 150_000


def kill_writer_at(folder, size):
    """Kills make_trace once its stream file has size bytes. False if it had ended before."""
    writer = start_make_trace(folder, "--operators", 60_000)
    path = folder / "synthetic-4242-1" / "stream-000000"
    while writer.poll() is None and not (path.exists() and path.stat().st_size > size):
        pass
    writer.send_signal(signal.SIGKILL)
    return writer.wait() == -signal.SIGKILL


def test_killed_while_it_writes_leaves_whole_packets(tmp_path):
    """SIGKILL at whatever point of a write: never half a packet, the file's length says it all."""
    folders = (tmp_path / str(attempt) for attempt in range(20))
    killed = (folder for folder in folders if kill_writer_at(folder, 300 * KIB))
    for folder in itertools.islice(killed, 5):
        assert stream_file(folder).stat().st_size % PACKET == 0
        lines, stderr = read_lines(folder)
        assert stderr == ""
        assert count_operators(lines) > 1000
    assert len(list(tmp_path.iterdir())) >= 5


def test_a_killed_trace_ends_with_its_last_packet(tmp_path):
    truth = make_trace(tmp_path, "--operators", 50_000, "--killed")
    lines, stderr = read_lines(tmp_path)
    assert stderr == ""
    assert not any("final = 1" in line for line in lines)
    lost = truth["recorded"] - count_operators(lines)
    assert 0 <= lost < 64 * PACKET / 80, "more than what is in memory at most"


def test_every_prefix_of_whole_packets_is_readable(tmp_path):
    make_trace(tmp_path, "--operators", 1500)
    path = stream_file(tmp_path)
    packets = path.stat().st_size // PACKET
    complete, _ = read_lines(tmp_path)
    assert packets > 30
    numbers = []
    for count in reversed(range(packets)):
        os.truncate(path, count * PACKET)
        lines, stderr = read_lines(tmp_path)
        assert stderr == ""
        assert lines == complete[: len(lines)]
        numbers.append(len(lines))
    assert numbers == sorted(set(numbers), reverse=True) and numbers[-1] == 0


def test_rotation_keeps_the_newest_and_counts_the_rest(tmp_path):
    truth = make_trace(tmp_path, "--operators", 200_000, "--max-bytes", 1024 * KIB)
    lines, stderr = read_lines(tmp_path)
    assert stderr == "" and truth["stderr"] == ""
    receipt = last_receipt(lines)
    assert receipt["final"] == 1
    assert count_operators(lines) == truth["written"] == receipt["written"]
    assert receipt["written"] + receipt["lost_rotated_out"] == receipt["recorded"] == 200_000
    assert receipt["lost_rotated_out"] == truth["lost_rotated_out"] > 100_000
    size = sum(path.stat().st_size for path in tmp_path.rglob("*"))
    assert size <= 1024 * KIB + PACKET
    names = {match[1] for match in map(re.compile(r"torchtrace:(\w+):").search, lines)}
    assert {"process", "thread", "op_begin"} <= names, "state of the files that are left"


def check_stopped(folder, truth, operators):
    """A trace that met its end before the program did says exactly what is missing."""
    lines, stderr = read_lines(folder)
    receipt = last_receipt(lines)
    assert receipt["final"] == 1
    assert count_operators(lines) == receipt["written"] == truth["written"] > 0
    assert receipt["lost_disk_full"] == truth["lost_disk_full"] > 0
    assert receipt["written"] + receipt["lost_disk_full"] == receipt["recorded"] == operators
    assert "Tracer discarded" in stderr, "stock readers are told too"
    assert truth["stderr"].count("\n") == 1, truth["stderr"]


def test_stop_ends_the_trace_at_its_budget(tmp_path):
    options = ("--operators", 50_000, "--max-bytes", 512 * KIB, "--when-full", "stop")
    truth = make_trace(tmp_path, *options)
    check_stopped(tmp_path, truth, 50_000)
    assert f"output.max_bytes ({512 * KIB} bytes)" in truth["stderr"]
    assert sum(path.stat().st_size for path in tmp_path.rglob("stream-*")) <= 512 * KIB


@pytest.fixture(name="small_disk")
def fixture_small_disk(tmp_path):
    """Returns a function that mounts a tmpfs of a number of KiB; it is gone when the test is."""
    try:
        namespaces.enter_private_mounts()
    except OSError as error:
        unavailable(f"a mount namespace of the test's own: {error}")
    numbers = itertools.count()
    mounted = []

    def mount(kib):
        folder = tmp_path / f"disk{next(numbers)}"
        namespaces.mount_tmpfs(folder, f"size={kib}k")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        namespaces.unmount(folder)


def test_a_full_disk_ends_the_trace_with_exact_counts(small_disk):
    for kib in (64, 100, 516, 1000):
        disk = small_disk(kib)
        truth = make_trace(disk, "--operators", 30_000)
        check_stopped(disk, truth, 30_000)
        assert "No space left on device" in truth["stderr"]


def test_a_disk_that_fills_up_elsewhere_is_the_same(small_disk):
    disk = small_disk(2048)
    writer = start_make_trace(disk, "--operators", 400_000, "--real-time")
    path = disk / "synthetic-4242-1" / "stream-000000"
    while not (path.exists() and path.stat().st_size > 100 * KIB):
        time.sleep(0.005)
    with open(disk / "something else", "wb") as other:
        try:
            other.write(bytes(2048 * KIB))
            other.flush()
        except OSError:
            pass  # now it is full
    assert writer.wait() == 0
    lines, _ = read_lines(disk / "synthetic-4242-1")
    receipt = last_receipt(lines)
    assert receipt["final"] == 1
    assert count_operators(lines) == receipt["written"]
    assert receipt["written"] + receipt["lost_disk_full"] == receipt["recorded"] == 400_000


def test_a_disk_that_is_full_from_the_start_is_one_sentence(small_disk):
    disk = small_disk(8)
    (disk / "full").write_bytes(bytes(8 * KIB))
    truth = make_trace(disk, "--operators", 10, check=False)
    assert truth["stderr"].count("\n") == 1 and "No space left on device" in truth["stderr"]
    assert [path.name for path in disk.iterdir()] == ["full"], "nothing is left behind"


def test_traces_of_two_processes_are_read_as_one(tmp_path):
    make_trace(tmp_path, "--operators", 3000, "--pid", 100, "--name", "host-100-1")
    make_trace(tmp_path, "--operators", 2000, "--pid", 200, "--name", "host-200-1", "--seed", 2)
    processes = trace.read(tmp_path).processes
    assert {pid: len(p.operators) for pid, p in processes.items()} == {100: 3000, 200: 2000}


@pytest.fixture(name="daemon")
def fixture_daemon():
    daemon = Daemon()
    yield daemon
    daemon.close()


def test_sorts_together_with_an_lttng_trace_of_the_machine(daemon, tmp_path):
    session = Session(daemon.start(), "both")
    with Host(daemon) as host:
        assert host.tell("wait 10") == {"records": True}
        host.tell("sink")
        host.tell("ops 10")
        now_ns = time.monotonic_ns()
        make_trace(tmp_path, "--operators", 100, "--start-ns", now_ns)
        assert time.monotonic_ns() > now_ns + 10**6, "else the two overlap"
        host.tell("ops 10")
    session.stop()
    lines, stderr = read_lines(session.trace, tmp_path)
    assert stderr == ""
    tracers = [
        "ours" if "pid = 4242," in line else "lttng"
        for line in lines
        if re.search(r"torchtrace:op(_end)?:", line)
    ]
    assert tracers == ["lttng"] * 10 + ["ours"] * 100 + ["lttng"] * 10
