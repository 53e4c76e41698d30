"""`torchtrace recover`: what a program that was killed, crashed or hangs leaves, and that the sums
are exact again. Each test has a /dev/shm of its own: --clean must not meet what others have left.
"""
import json
import os
import re
import signal
import time

import pytest

from support import cli, host, invariants, namespaces, trace
from support.matrix import every_interpreter

TURNS = 3000
ADD = "aten::add_"
STUCK_IN_BACKWARD = [
    "training",
    "autograd::engine::evaluate_function: StuckBackward",
    "StuckBackward",
]
STACKS = [
    STUCK_IN_BACKWARD,
    ["outer first", "inner first"],
    ["outer second", "inner second"],
]


@pytest.fixture(autouse=True)
def own_shared_memory():
    namespaces.require_private_mounts()
    namespaces.mount_tmpfs("/dev/shm")


class Stuck:
    """programs/stuck.py with the agent in it, once it is where it stays."""

    def __init__(self, how, interpreter, tmp_path):
        self.folder = tmp_path / "out"
        self.process = host.start(
            host.program("stuck", how, TURNS, python=interpreter.python),
            tmp_path,
            host.agent_environment(output_sink="ctf", output_directory=self.folder),
            stdin=-1,
        )
        assert self.process.stdout.readline() == "stuck\n", self.process.communicate()
        self.pid = self.process.pid

    def kill(self):
        self.process.kill()
        return self.process.wait(timeout=host.TIMEOUT_SECONDS)


def recover(pid, *arguments):
    done = cli.torchtrace("recover", pid, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["schema"] == "torchtrace.recover/1"
    return result


def open_stacks(result):
    return sorted(
        [operator["name"] for operator in thread["open"]]
        for thread in result["threads"]
        if thread["open"]
    )


def check_exact(folder, result):
    """What stock babeltrace2 and our report read of both traces is what the receipt says."""
    process = trace.read(folder).only_process
    receipt = process.final_receipt
    assert process.named("process")[-1]["torch_layout"] == "verified on the first events"
    invariants.check_receipt(receipt)
    invariants.check_written(process)
    invariants.check_texts(process)
    still_open = invariants.check_identities(process)
    assert receipt.fields == {**result["receipt"], "ts": receipt["ts"]}
    lost = receipt["lost_killed"]
    dropped = invariants.sum_of(receipt, "dropped_")
    assert receipt["started"] == len(process.operators) + receipt["open"] + dropped + lost
    # One that was just starting has no name yet, hence no op_begin.
    starting = sum(thread["was_starting"] for thread in result["threads"])
    assert len(still_open) == receipt["open"] - starting
    report = cli.report(folder)
    assert set(report["receipt"]["checks"].values()) == {0}
    return process


@every_interpreter
def test_killed_in_nested_operators(interpreter, tmp_path):
    stuck = Stuck("wait", interpreter, tmp_path)
    assert stuck.kill() == -signal.SIGKILL
    result = recover(stuck.pid)
    assert open_stacks(result) == sorted(STACKS)
    assert result["process"]["is_dead"]
    assert "stuck.py" in result["process"]["command"]
    assert result["process"]["torch_version"].startswith(interpreter.torch_version[:4])
    process = check_exact(stuck.folder, result)
    assert process.calls()[ADD] == 3 * TURNS
    assert process.final_receipt["lost_killed"] == 0
    again = cli.torchtrace("recover", stuck.pid)
    assert again.returncode == 1 and "recovered before" in again.stderr
    assert "StuckBackward" in again.stdout, "the table comes whatever becomes of the trace"


@every_interpreter
def test_killed_between_any_two_stores(interpreter, tmp_path):
    for turn in range(4):
        folder = tmp_path / str(turn)
        folder.mkdir()
        stuck = Stuck("busy", interpreter, folder)
        time.sleep(0.05 * turn)
        stuck.kill()
        process = check_exact(stuck.folder, recover(stuck.pid))
        assert process.calls()[ADD] >= TURNS


@every_interpreter
def test_a_hung_program_is_read_and_left_alone(interpreter, tmp_path):
    stuck = Stuck("wait", interpreter, tmp_path)
    os.kill(stuck.pid, signal.SIGSTOP)
    result = recover(stuck.pid, "-o", tmp_path / "look")
    assert not result["process"]["is_dead"]
    assert open_stacks(result) == sorted(STACKS)
    assert result["receipt"]["final"] == 0
    trace.read(tmp_path / "look")
    os.kill(stuck.pid, signal.SIGCONT)
    assert open_stacks(recover(stuck.pid, "--no-trace")) == sorted(STACKS)
    run = host.finish(stuck.process)
    assert run.returncode == 0, run.stderr
    assert not run.agent_lines
    process = trace.read(stuck.folder).only_process
    invariants.check_nothing_missing(process)
    invariants.check_written(process)
    assert process.calls()[ADD] == 4 * TURNS
    assert not os.listdir(f"/dev/shm/torchtrace-{os.geteuid()}")


@every_interpreter
@pytest.mark.parametrize("how", ["segv", "abort"])
def test_crashed_in_an_operator(how, interpreter, tmp_path):
    stuck = Stuck(how, interpreter, tmp_path)
    signals = {"segv": signal.SIGSEGV, "abort": signal.SIGABRT}
    assert host.finish(stuck.process).returncode == -signals[how]
    result = recover(stuck.pid)
    assert STUCK_IN_BACKWARD in open_stacks(result)
    check_exact(stuck.folder, result)


@every_interpreter
def test_list_and_clean(interpreter, tmp_path):
    killed = Stuck("wait", interpreter, tmp_path)
    killed.kill()
    other = tmp_path / "other"
    other.mkdir()
    running = Stuck("wait", interpreter, other)
    listed = json.loads(cli.torchtrace("recover", "--list", "--json").stdout)["mappings"]
    assert {row["pid"]: row["state"] for row in listed} == {
        killed.pid: "dead",
        running.pid: "running",
    }
    assert all("stuck.py" in row["command"] for row in listed)
    assert f"torchtrace recover {killed.pid}" in cli.torchtrace("doctor").stdout
    cleaned = cli.torchtrace("recover", "--clean")
    assert cleaned.returncode == 0
    assert re.findall(r"process (\d+)", cleaned.stdout) == [str(killed.pid)]
    gone = cli.torchtrace("recover", killed.pid)
    assert gone.returncode == 1 and gone.stderr.count("\n") == 1, gone.stderr
    assert open_stacks(recover(running.pid, "--no-trace")) == sorted(STACKS)
    assert host.finish(running.process).returncode == 0


@every_interpreter
def test_run_recovers_what_its_program_left(interpreter, tmp_path):
    command = host.program("stuck", "abort", TURNS, python=interpreter.python)
    done = cli.torchtrace("run", "--sink", "ctf", "-o", tmp_path / "out", "--", *command)
    assert done.returncode == -signal.SIGABRT
    said = [line for line in done.stderr.splitlines() if line.startswith("torchtrace")]
    assert len(said) == 2 and "was killed: its last operators are in" in said[0], done.stderr
    assert "Receipt (exact: all sums hold)" in done.stderr
    process = trace.read(tmp_path / "out").only_process
    invariants.check_written(process)
    assert process.final_receipt["open"] == sum(map(len, STACKS))


def test_nothing_to_recover_is_one_sentence(tmp_path):
    for pid, said in ((os.getpid(), "runs without torchtrace"), (999999999, "has left nothing")):
        done = cli.torchtrace("recover", pid, cwd=tmp_path)
        assert done.returncode == 1
        assert said in done.stderr and done.stderr.count("\n") == 1
    for wrong in ((), ("--list", "--clean"), ("1", "--list"), ("1", "2")):
        assert cli.torchtrace("recover", *wrong).returncode == 2
