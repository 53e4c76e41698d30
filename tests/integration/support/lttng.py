"""LTTng daemons and sessions for tests.

As root there is one fixed run directory for all: tests give themselves mounts of their own
(namespaces.py) and a daemon in them. Where that is not allowed the machine's daemon is used, and
started if there is none. Other users get a daemon in an LTTNG_HOME of their own.
"""
import os
import shutil
import signal
import subprocess
import uuid
from pathlib import Path

from . import namespaces
from .availability import unavailable

RUN_DIRECTORY = Path("/run/lttng")  # of root's daemon; fixed in lttng-tools and lttng-ust
LTTNG_SECONDS = 20


def lttng(*arguments, home=None, check=True):
    """Runs one lttng command, bounded in time; returns its stdout."""
    environment = {**os.environ, **({"LTTNG_HOME": str(home)} if home else {})}
    done = subprocess.run(
        ["lttng", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=LTTNG_SECONDS,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0 or not check, f"lttng {arguments}: {done.stdout}{done.stderr}"
    return done.stdout


class Daemon:
    """A running lttng-sessiond that tests may use."""

    def __init__(self, home, pid_file):
        self.home = home  # None for root
        self._pid_file = pid_file
        self._started = False

    @property
    def environment(self):
        return {"LTTNG_HOME": str(self.home)} if self.home else {}

    @property
    def pid(self):
        return int(self._pid_file.read_text(encoding="ascii"))

    def is_running(self):
        done = subprocess.run(
            ["lttng", "--no-sessiond", "list"],
            env={**os.environ, **self.environment},
            capture_output=True,
            check=False,
            timeout=LTTNG_SECONDS,
        )
        return done.returncode == 0

    def ensure_running(self):
        if not self.is_running():
            subprocess.run(
                ["lttng-sessiond", "--background", "--no-kernel"],
                env={**os.environ, **self.environment},
                check=True,
                timeout=LTTNG_SECONDS,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self._started = True

    def stop(self):
        """Ends the daemon if ensure_running started it; nothing waits until it is gone."""
        if self._started and self._pid_file.exists():
            os.kill(self.pid, signal.SIGTERM)


def private_daemon(scratch):
    """A daemon of the test's own, not yet running; scratch is a folder for its home."""
    if shutil.which("lttng-sessiond") is None:
        unavailable("lttng-sessiond is not installed")
    if os.geteuid() != 0:
        home = Path(scratch) / "lttng-home"
        home.mkdir(parents=True)
        return Daemon(home, home / ".lttng" / "lttng-sessiond.pid")
    try:
        namespaces.enter_private_mounts()
        namespaces.mount_tmpfs(RUN_DIRECTORY)
        namespaces.mount_tmpfs("/dev/shm")
    except OSError:
        pass  # not allowed here: share the machine's daemon
    return Daemon(None, RUN_DIRECTORY / "lttng-sessiond.pid")


class Session:
    """One recording session with the provider's own channel, as docs advise it."""

    def __init__(self, daemon, output, contexts=()):
        self.name = f"torchtrace-test-{uuid.uuid4().hex[:12]}"
        self.output = Path(output)
        self._daemon = daemon
        self._contexts = contexts

    def _lttng(self, *arguments, check=True):
        return lttng(*arguments, home=self._daemon.home, check=check)

    def __enter__(self):
        self._lttng("create", self.name, f"--output={self.output}")
        session, channel = f"--session={self.name}", "--channel=torchtrace"
        size = ("--discard", "--subbuf-size=1M", "--num-subbuf=4")
        self._lttng("enable-channel", "-u", session, *size, "torchtrace")
        self._lttng("enable-event", "-u", session, channel, "torchtrace:*")
        for context in self._contexts:
            self._lttng("add-context", "-u", session, channel, f"--type={context}")
        self._lttng("start", self.name)
        return self

    def stop(self):
        """Ends the recording, so that the trace can be read."""
        self._lttng("stop", self.name)

    def start(self):
        """Goes on after a stop."""
        self._lttng("start", self.name)

    def __exit__(self, *_exception):
        self._lttng("destroy", "--no-wait", self.name, check=False)
