"""`torchtrace run`: the command's own streams, exit code and signals, and a report at the end."""
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from support import cli, counting, host, invariants, lttng, paths, trace
from support.cli import torchtrace
from support.host import program
from support.matrix import every_sink

TURNS = 1000
NOBODY = 65534
LOOP = program("known_loop", "exit", TURNS, python="/usr/bin/python3")
ECHO = "import sys, torch; torch.ones(2).add(1); print(sys.stdin.read()[::-1]); sys.exit(43)"


@pytest.fixture
def environment(tmp_path):
    """A place for LTTng that no other daemon shares; what `run` starts there, `run` ends."""
    daemon = lttng.private_daemon(tmp_path)
    yield {**host.clean_environment(), **daemon.environment}
    assert not daemon.is_running(), "`torchtrace run` left a session daemon behind"


def run(environment, tmp_path, sink, command, *options, stdin=None):
    """torchtrace run into tmp_path/trace; returns the finished process."""
    folder = tmp_path / "trace"
    return torchtrace(
        "run", "--sink", sink, "-o", folder, *options, "--", *command,
        cwd=tmp_path, environment=environment, stdin=stdin,
    )


def read_loop(folder):
    """The only process in folder, checked in full against the known loop."""
    process = trace.read(folder).only_process
    invariants.check_process(process)
    invariants.check_nothing_missing(process)
    counting.check_calls(process, {"aten::add_": TURNS, "hundred": TURNS // 100})
    return process


@every_sink
def test_run_report(sink, environment, tmp_path):
    done = run(environment, tmp_path, sink, LOOP)
    assert done.returncode == 0, done.stderr
    assert f"turns {TURNS}\n" in done.stdout
    shown = done.stdout + done.stderr
    assert "aten::add_.Tensor" in shown and str(TURNS) in shown
    assert str(tmp_path / "trace") in shown, "where the trace lies is said"
    read_loop(tmp_path / "trace")
    cli.check_report(tmp_path / "trace", trace.read(tmp_path / "trace"))


@every_sink
def test_run_streams_and_exit_code(sink, environment, tmp_path):
    command = ["/usr/bin/python3", "-c", ECHO]
    done = run(environment, tmp_path, sink, command, "--no-analysis", stdin="abc")
    assert (done.returncode, done.stdout) == (43, "cba\n"), done.stderr


@every_sink
def test_run_child_killed_by_a_signal(sink, environment, tmp_path):
    command = program("known_loop", "sigterm", TURNS, python="/usr/bin/python3")
    done = run(environment, tmp_path, sink, command, "--no-analysis")
    assert done.returncode == -signal.SIGTERM, "it ends as its command did"


WAIT_FOR_SIGNAL = """
import signal, sys, time, torch
torch.ones(2).add(1)
signal.signal(signal.SIGINT, lambda *_: sys.exit(17))
print("ready", flush=True)
time.sleep(30)
"""


@every_sink
def test_run_passes_signals_on(sink, environment, tmp_path):
    command = [str(paths.built(paths.CLI)), "run", "--sink", sink, "-o", str(tmp_path / "trace")]
    command += ["--no-analysis", "--", "/usr/bin/python3", "-c", WAIT_FOR_SIGNAL]
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 17, stderr


@every_sink
def test_run_two_at_once(sink, environment, tmp_path):
    command = [str(paths.built(paths.CLI)), "run", "--sink", sink, "--no-analysis", "-o"]
    folders = [tmp_path / "one", tmp_path / "two"]
    running = [
        subprocess.Popen(
            [*command, str(folder), "--", *LOOP], env=environment, cwd=tmp_path,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for folder in folders
    ]
    for process in running:
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stderr
    for folder in folders:
        read_loop(folder)


@pytest.fixture
def ordinary_user():
    """(prefix that makes a command run as an ordinary user, a home that only that user has)."""
    home = Path(tempfile.mkdtemp(prefix="torchtrace-test-"))
    prefix = []
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
        prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    yield prefix, home
    shutil.rmtree(home)


def test_run_rootless(ordinary_user):
    prefix, home = ordinary_user
    command = [*prefix, paths.built(paths.CLI), "run", "--sink", "lttng", "-o", home / "trace"]
    environment = {"HOME": str(home), "LTTNG_HOME": str(home)}
    done = host.run([*command, "--", *LOOP], home, environment)
    assert done.returncode == 0, done.stderr
    read_loop(home / "trace")
    search = ["pgrep", "--full", str(home)]
    leftover = subprocess.run(search, capture_output=True, text=True, check=False)
    assert leftover.stdout == "", "a daemon of its own ends with the run"


@every_sink
def test_run_refuses_a_bad_configuration(sink, environment, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("[output]\nhold = 3\n", encoding="utf-8")
    done = run(environment, tmp_path, sink, ["/bin/sh", "-c", "echo started"], "-c", bad)
    assert done.returncode == 2 and "started" not in done.stdout
    assert "bad.toml" in done.stderr and "hold" in done.stderr


@every_sink
def test_run_command_that_does_not_exist(sink, environment, tmp_path):
    done = run(environment, tmp_path, sink, ["/nowhere/python"])
    assert done.returncode == 127, done.stderr
    assert "/nowhere/python" in done.stderr


@every_sink
def test_run_without_torch(sink, environment, tmp_path):
    """A command that never runs an operator: its own output and exit code."""
    done = run(environment, tmp_path, sink, ["/bin/sh", "-c", "echo fine; exit 3"])
    assert done.returncode == 3
    assert "fine\n" in done.stdout
