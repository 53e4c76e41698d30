"""Disks that are full, folders that cannot be written, and a missing or full /dev/shm.

All as root in mounts of the test's own; the traced program must print the same and end the same.
"""
import os
from pathlib import Path

import pytest

from support import host, invariants, namespaces, trace
from support.host import program

TURNS = 20000
COMMAND = program("known_loop", "exit", TURNS, python="/usr/bin/python3")


@pytest.fixture(autouse=True)
def private_mounts():
    namespaces.require_private_mounts()


def run_loop(cwd, environment):
    """Runs the loop with the agent; checks that the program is unharmed and the agent terse."""
    run = host.run(COMMAND, cwd, environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"turns {TURNS}\n"
    assert run.other_stderr == [] and len(run.agent_lines) <= 2, run.stderr
    return run


def check_complete(folder):
    (process,) = trace.read(folder).processes.values()
    invariants.check_process(process)
    invariants.check_nothing_missing(process)
    assert process.calls()["aten::add_"] == TURNS


def test_full_disk(tmp_path):
    folder = tmp_path / "small"
    namespaces.mount_tmpfs(folder, "size=512k")
    environment = host.agent_environment(output_sink="ctf", output_directory=folder)
    run = run_loop(tmp_path / "cwd", environment)
    assert any("No space left" in line or "full" in line for line in run.agent_lines), run.stderr
    read = trace.read(folder, may_have_lost=True)
    assert "discarded" in read.stderr, "stock tools say that events are missing"
    process = read.only_process
    assert 0 < len(process.operators) < TURNS, "what was already written can still be read"
    for receipt in process.receipts:
        invariants.check_receipt(receipt)


def test_no_shared_memory(tmp_path):
    namespaces.mount_bare_dev()
    assert not os.path.exists("/dev/shm")
    folder = tmp_path / "trace"
    environment = host.agent_environment(output_sink="ctf", output_directory=folder)
    run = run_loop(tmp_path / "cwd", environment)
    assert any("/dev/shm" in line for line in run.agent_lines), run.stderr
    check_complete(folder)


def test_unwritable_shared_memory(tmp_path):
    namespaces.mount_tmpfs("/dev/shm")
    namespaces.make_read_only("/dev/shm")
    folder = tmp_path / "trace"
    run = run_loop(
        tmp_path / "cwd", host.agent_environment(output_sink="ctf", output_directory=folder)
    )
    assert any("/dev/shm" in line for line in run.agent_lines), run.stderr
    check_complete(folder)


def test_full_shared_memory(tmp_path):
    namespaces.mount_tmpfs("/dev/shm", "size=64k")
    folder = tmp_path / "trace"
    run = run_loop(
        tmp_path / "cwd", host.agent_environment(output_sink="ctf", output_directory=folder)
    )
    assert any("/dev/shm" in line for line in run.agent_lines), run.stderr
    check_complete(folder)
    assert list(Path("/dev/shm").glob("torchtrace-*/*")) == [], "nothing half-made is left"


def read_only_folder(path):
    namespaces.mount_tmpfs(path)
    namespaces.make_read_only(path)
    return path


def test_read_only_home_and_working_folder(tmp_path):
    here, temporary = read_only_folder(tmp_path / "read-only"), tmp_path / "tmp"
    temporary.mkdir()
    environment = {"HOME": str(here), "TMPDIR": str(temporary)}
    run = run_loop(here, {**host.agent_environment(output_sink="ctf"), **environment})
    assert any(str(temporary) in line for line in run.agent_lines), "where the trace went is said"
    check_complete(temporary)


def test_unwritable_output_directory(tmp_path):
    folder, temporary = read_only_folder(tmp_path / "read-only") / "trace", tmp_path / "tmp"
    temporary.mkdir()
    environment = host.agent_environment(output_sink="ctf", output_directory=folder)
    run = run_loop(tmp_path / "cwd", {**environment, "TMPDIR": str(temporary)})
    (line,) = run.agent_lines
    assert str(folder) in line and str(temporary) in line, line
    check_complete(temporary)


def test_nowhere_to_write(tmp_path):
    here = read_only_folder(tmp_path / "read-only")
    environment = {**host.agent_environment(output_sink="ctf"), "TMPDIR": str(here)}
    run = run_loop(here, environment)
    assert run.agent_lines, "that nothing is kept is said"
