"""Which LTTng daemon `torchtrace run` uses, and what becomes of it."""
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support import host, lttng, paths, trace
from support.availability import unavailable
from support.unprivileged_lttng import UNPRIVILEGED, scratch_directory, wait_until

ONE_OPERATOR = ["/usr/bin/python3", "-c", "import torch; torch.ones(2)"]


def run_command(*words, sink="lttng"):
    return [str(paths.built(paths.CLI)), "run", "--sink", sink, "--no-analysis", *map(str, words)]


def run(environment, cwd, *words, prefix=(), **options):
    return subprocess.run(
        [*prefix, *run_command(*words, **options)], cwd=cwd, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=100,
    )


@pytest.fixture
def root_daemon(tmp_path):
    """Root's place for a daemon, in mounts of the test's own. None is running in it."""
    if os.geteuid() != 0:
        unavailable("root's daemon can only be tested as root")
    daemon = lttng.private_daemon(tmp_path)
    if daemon.is_running():
        unavailable("root's daemon is running, and mounts of the test's own are not allowed")
    yield daemon
    daemon.stop()


@pytest.fixture
def user():
    """(prefix of a command that gives up root, a folder of that user's own, its environment)"""
    home = scratch_directory()
    environment = {**host.clean_environment(), "HOME": str(home), "TMPDIR": str(home)}
    yield (UNPRIVILEGED if os.geteuid() == 0 else []), home, environment
    shutil.rmtree(home, ignore_errors=True)


def sessions(daemon):
    return lttng.lttng("list", home=daemon.home).count("[")


def test_run_leaves_a_running_root_daemon_and_its_sessions_alone(root_daemon, tmp_path):
    root_daemon.ensure_running()
    pid = root_daemon.pid
    with lttng.Session(root_daemon, tmp_path / "somebody's"):
        done = run(host.clean_environment(), tmp_path, "-o", "trace", "--", *ONE_OPERATOR)
        assert done.returncode == 0, done.stderr
        assert root_daemon.pid == pid and sessions(root_daemon) == 1
    assert trace.read(tmp_path / "trace").only_process.calls()["aten::ones"] == 1


def test_run_leaves_the_daemon_that_it_started_to_a_session_in_it(root_daemon, tmp_path):
    command = ["sh", "-c", f"lttng create left --output={tmp_path}/left"]
    done = run(host.clean_environment(), tmp_path, "--", *command)
    assert done.returncode == 0, done.stderr
    assert root_daemon.is_running() and sessions(root_daemon) == 1
    lttng.lttng("destroy", "left")
    done = run(host.clean_environment(), tmp_path, "--", "true")
    assert done.returncode == 0, done.stderr
    assert not root_daemon.is_running(), "the last run to end stops the daemon of the first"


def test_run_removes_the_session_of_one_that_was_killed(root_daemon, user, tmp_path):
    _, home, environment = user
    process = subprocess.Popen(
        run_command("-o", tmp_path / "killed", "--", "sleep", "60"), cwd=home, env=environment,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )
    wait_until(root_daemon.is_running)
    wait_until(lambda: sessions(root_daemon) == 1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert sessions(root_daemon) == 1
    run(host.clean_environment(), tmp_path, "--", "true")
    assert not root_daemon.is_running()


def test_run_records_without_a_root_daemon_that_is_wedged(root_daemon, tmp_path):
    root_daemon.ensure_running()
    os.kill(root_daemon.pid, signal.SIGSTOP)
    try:
        environment = host.clean_environment()
        done = run(environment, tmp_path, "-o", "ctf", "--", *ONE_OPERATOR, sink="auto")
        assert done.returncode == 0, done.stderr
        assert "recording without LTTng: root's session daemon does not answer" in done.stderr
        done = run(environment, tmp_path, "-o", "none", "--", *ONE_OPERATOR)
        assert done.returncode == 1 and "cannot record with LTTng" in done.stderr
        assert not (tmp_path / "none").exists()
    finally:
        os.kill(root_daemon.pid, signal.SIGCONT)
    assert trace.read(tmp_path / "ctf").only_process.calls()["aten::ones"] == 1


def test_a_session_of_roots_takes_no_other_program(root_daemon, tmp_path):
    """A traced program outside of the run, at the same time, writes its own trace."""
    outside = ["env", f"LD_PRELOAD={paths.AGENT}", f"TORCHTRACE_OUTPUT_DIRECTORY={tmp_path}/out",
               *ONE_OPERATOR]
    script = 'env -u TORCHTRACE_RUN_SOCKET -u TORCHTRACE_OUTPUT_SINK "$@"'
    done = run(host.clean_environment(), tmp_path, "-o", "in", "--", "sh", "-c",
               f'{script}; exec /usr/bin/python3 -c "import torch; torch.zeros(2)"', "-", *outside)
    assert done.returncode == 0, done.stderr
    assert "aten::ones" not in trace.read(tmp_path / "in").only_process.calls()
    assert trace.read(tmp_path / "out").only_process.calls()["aten::ones"] == 1


def test_run_of_an_ordinary_user_leaves_nothing_behind(user):
    prefix, home, environment = user
    done = run(environment, home, "-o", "trace", "--", *ONE_OPERATOR, prefix=prefix)
    assert done.returncode == 0, done.stderr
    assert [entry.name for entry in home.iterdir()] == ["trace"]
    assert trace.read(home / "trace").only_process.calls()["aten::ones"] == 1


def test_the_daemon_of_an_ordinary_users_run_ends_with_it(user):
    """Also where the run is killed."""
    prefix, home, environment = user
    script = "echo $LTTNG_HOME > home; exec sleep 60"
    process = subprocess.Popen(
        [*prefix, *run_command("--", "sh", "-c", script)], cwd=home, env=environment,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )
    wait_until(lambda: (home / "home").exists() and (home / "home").read_text().strip())
    private = Path((home / "home").read_text().strip())
    pid = int((private / ".lttng/lttng-sessiond.pid").read_text())
    assert Path(f"/proc/{pid}").exists()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not Path(f"/proc/{pid}/exe").exists() or is_zombie(pid))


def is_zombie(pid):
    return ") Z " in Path(f"/proc/{pid}/stat").read_text()


def test_run_ends_when_its_daemon_stops_answering(user):
    prefix, home, environment = user
    script = "kill -STOP $(cat $LTTNG_HOME/.lttng/lttng-sessiond.pid); exit 5"
    done = run(environment, home, "--", "sh", "-c", script, prefix=prefix)
    assert done.returncode == 5
    assert "LTTng's session daemon does not answer any more" in done.stderr
    assert list(home.iterdir()) == []


def test_two_runs_of_an_ordinary_user_do_not_meet(user):
    prefix, home, environment = user
    running = [
        subprocess.Popen(
            [*prefix, *run_command("-o", name, "--", *ONE_OPERATOR)], cwd=home, env=environment,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for name in ("one", "two")
    ]
    for process in running:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
    for name in ("one", "two"):
        assert trace.read(home / name).only_process.calls()["aten::ones"] == 1


def test_run_says_once_that_lttng_is_not_installed(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "env"):
        (programs / name).symlink_to(shutil.which(name))
    environment = {**host.clean_environment(), "PATH": str(programs)}
    done = run(environment, tmp_path, "-o", "trace", "--", *ONE_OPERATOR, sink="auto")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "LTTng" in line]
    assert len(lines) == 1 and "LTTng is not installed" in lines[0]
    assert trace.read(tmp_path / "trace").only_process.calls()["aten::ones"] == 1
    done = run(environment, tmp_path, "-o", "none", "--", *ONE_OPERATOR)
    assert done.returncode == 1 and "LTTng is not installed" in done.stderr


def test_an_interrupt_before_the_program_starts_nothing(user):
    """While the daemon is being started; the run then dies as it would have without a program."""
    prefix, home, environment = user
    process = subprocess.Popen(
        [*prefix, *run_command("-o", "trace", "--", "sh", "-c", "echo started")], cwd=home,
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )
    wait_until(lambda: list(home.glob("torchtrace-run-*")))
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output == "" and process.returncode == -signal.SIGINT
    time.sleep(0.1)
    assert not list(home.glob("torchtrace-run-*")), "nothing is left"
