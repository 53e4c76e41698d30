"""A session daemon that is missing, dead or wedged neither delays a program nor makes it talk."""
import os
import signal
import time

import pytest

from support import host, lttng
from support.host import program

# lttng-ust's own default is to wait 3 s for a daemon that does not answer.
UST_WAIT_SECONDS = 3


def leave_dead(daemon):
    """Kills it as a crash would: sockets and pid file stay."""
    daemon.ensure_running()
    pid = daemon.pid
    os.kill(pid, signal.SIGKILL)
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.01)


def leave_wedged(daemon):
    daemon.ensure_running()
    os.kill(daemon.pid, signal.SIGSTOP)


TROUBLE = {"none": lambda daemon: None, "dead": leave_dead, "wedged": leave_wedged}


def run_timed(command, folder, environment):
    started = time.monotonic()
    run = host.run(command, folder, environment)
    return run, time.monotonic() - started


@pytest.mark.parametrize("trouble", TROUBLE)
def test_daemon(trouble, tmp_path):
    command = program("known_loop", "exit", 2000, python="/usr/bin/python3")
    daemon = lttng.private_daemon(tmp_path)
    environment = {**host.agent_environment(output_sink="lttng"), **daemon.environment}
    host.run(command, tmp_path / "warm", environment)  # fills the page cache
    plain, plain_seconds = run_timed(command, tmp_path / "plain", daemon.environment)
    TROUBLE[trouble](daemon)
    try:
        traced, traced_seconds = run_timed(command, tmp_path / "traced", environment)
    finally:
        if trouble == "wedged":
            os.kill(daemon.pid, signal.SIGKILL)
    assert (traced.stdout, traced.returncode) == (plain.stdout, plain.returncode)
    assert traced.other_stderr == [] and len(traced.agent_lines) <= 1, traced.stderr
    # Twice the plain time plus less than lttng-ust's wait: a loaded machine does not fail this.
    assert traced_seconds < 2 * plain_seconds + UST_WAIT_SECONDS - 0.5
