"""An LTTng session daemon that a test may freeze and kill, sessions in it, and the fake host that
they trace.

All of it runs as an ordinary user, even where the test is root: root's daemon has one fixed place
on a machine and may be in use by somebody else.
"""
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from . import namespaces, trace
from .paths import LTTNG_PROVIDER, TEST_PROGRAMS, built

UNPRIVILEGED = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def as_ordinary_user(command):
    """The command, prefixed to give up root where the test runs as root."""
    command = [str(word) for word in command]
    return UNPRIVILEGED + command if os.geteuid() == 0 else command


def scratch_directory():
    """A short path (socket names have at most 107 bytes) that an ordinary user can write."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="tt-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(path, "nobody", "nogroup")
    return path


@functools.lru_cache(maxsize=None)
def hide_roots_daemon():
    """From this process and those that it starts: a session of root's takes every user's events,
    and a program in it counts as recorded before the test's own session has begun."""
    if os.geteuid() != 0:
        return
    try:
        namespaces.enter_private_mounts()
        namespaces.mount_tmpfs("/run/lttng")
    except OSError:
        pass  # not allowed here: tests may meet what root records on this machine


class Daemon:
    """An lttng-sessiond with LTTNG_HOME in a scratch directory."""

    def __init__(self):
        hide_roots_daemon()
        self.home = scratch_directory()
        self.environment = {**os.environ, "LTTNG_HOME": str(self.home), "HOME": str(self.home)}
        self.environment.pop("LD_PRELOAD", None)
        self.pid = None

    def start(self):
        self.run("lttng-sessiond", "--daemonize", "--no-kernel")
        self.pid = int((self.home / ".lttng/lttng-sessiond.pid").read_text())
        return self

    def run(self, *command, **options):
        return subprocess.run(as_ordinary_user(command), env=self.environment, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, **options)

    def freeze(self):
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        """Leaves its sockets behind, as a crash does."""
        os.kill(self.pid, signal.SIGKILL)
        self.pid = None

    def close(self):
        if self.pid is not None:
            self.thaw()
            os.kill(self.pid, signal.SIGTERM)
            wait_until(lambda: not pathlib.Path(f"/proc/{self.pid}").exists())
        shutil.rmtree(self.home, ignore_errors=True)


class Session:
    """A recording session with all of provider torchtrace enabled."""

    def __init__(self, daemon, name, contexts=(), events="torchtrace:*"):
        self.daemon, self.name = daemon, name
        self.trace = daemon.home / f"trace-{name}"
        daemon.run("lttng", "create", name, f"--output={self.trace}")
        daemon.run("lttng", "enable-channel", "-u", f"--session={name}", "--subbuf-size=1M", "ch")
        daemon.run("lttng", "enable-event", "-u", f"--session={name}", "--channel=ch", events)
        for context in contexts:
            daemon.run("lttng", "add-context", "-u", f"--session={name}", "--channel=ch",
                       f"--type={context}")
        daemon.run("lttng", "start", name)

    def stop(self):
        self.daemon.run("lttng", "stop", self.name)

    def start(self):
        self.daemon.run("lttng", "start", self.name)

    def events(self):
        """Ends the session and returns the events of its only process."""
        said = self.daemon.run("lttng", "destroy", self.name).stdout
        files = [str(path.relative_to(self.trace)) for path in self.trace.rglob("*")]
        assert any(name.endswith("metadata") for name in files), f"no trace in {files}: {said}"
        return trace.read(self.trace).only_process.events


class Host:
    """The fake host (tests/fakes/lttng_host.cpp says which commands it knows)."""

    def __init__(self, daemon, provider=LTTNG_PROVIDER, **environment):
        program = built(TEST_PROGRAMS / "lttng_host")
        settings = [f"{name}={value}" for name, value in environment.items()]
        self.process = subprocess.Popen(
            as_ordinary_user(["env", *settings, program, provider]), env=daemon.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def tell(self, command):
        self.send(command)
        return self.receive()

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line, f"the host ended: {self.process.communicate()[1]}"
        return json.loads(line)

    def end(self):
        """Lets it end by itself; its exit code and what it said on stderr."""
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
