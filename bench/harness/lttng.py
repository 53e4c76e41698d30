"""An LTTng session of the bench's own, with the channel that the documentation recommends.

As root there is one run directory for all daemons of a machine, so the bench first moves into
mounts of its own; other users get a daemon in a home of its own.
"""
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess

from .build import BenchError

_CLONE_NEWNS = 0x00020000  # linux/sched.h
_MS_REC, _MS_PRIVATE = 0x4000, 1 << 18  # linux/mount.h
_SECONDS = 30


def available():
    """Whether LTTng's tools are installed."""
    return shutil.which("lttng-sessiond") is not None


class Session:
    """Records torchtrace's events into `folder` while it lasts."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._name = f"torchtrace-bench-{os.getpid()}"
        self.environment = {"LTTNG_UST_REGISTER_TIMEOUT": "-1"}  # wait: the bench starts with it

    def __enter__(self):
        self._start_daemon()
        self._lttng("create", self._name, f"--output={self._folder / 'lttng'}")
        session = f"--session={self._name}"
        size = ("--discard", "--subbuf-size=1M", "--num-subbuf=4")
        self._lttng("enable-channel", "-u", session, *size, "torchtrace")
        self._lttng("enable-event", "-u", session, "--channel=torchtrace", "torchtrace:*")
        self._lttng("start", self._name)
        return self

    def discarded(self):
        """Ends the recording; the number of events that found no room."""
        self._lttng("stop", self._name)
        found = re.search(r"Discarded events: (\d+)", self._lttng("list", self._name))
        return int(found[1]) if found else None

    def __exit__(self, *_exception):
        self._lttng("destroy", "--no-wait", self._name, check=False)
        os.kill(int(self._pid_file.read_text(encoding="ascii")), signal.SIGTERM)

    def _start_daemon(self):
        run = pathlib.Path("/run/lttng")
        if os.geteuid() == 0:
            _enter_private_mounts(run)
        else:
            home = self._folder / "home"
            home.mkdir()
            self.environment["LTTNG_HOME"] = str(home)
            run = home / ".lttng"
        self._pid_file = run / "lttng-sessiond.pid"
        # Its output goes nowhere: it would keep a pipe open for as long as it lives.
        subprocess.run(
            ["lttng-sessiond", "--background", "--no-kernel"],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )

    def _lttng(self, *arguments, check=True):
        command = ["lttng", *arguments]
        done = subprocess.run(
            command,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if check and done.returncode != 0:
            raise BenchError(f"{' '.join(command)} failed: {done.stdout}{done.stderr}")
        return done.stdout


def _enter_private_mounts(run):
    """Gives this process and its children an empty /run/lttng and /dev/shm."""
    run.mkdir(exist_ok=True)
    libc = ctypes.CDLL(None, use_errno=True)
    steps = (
        lambda: libc.unshare(_CLONE_NEWNS),
        lambda: libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None),
        lambda: libc.mount(b"tmpfs", os.fsencode(run), b"tmpfs", 0, None),
        lambda: libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, None),
    )
    for step in steps:
        if step() != 0:
            reason = os.strerror(ctypes.get_errno())
            raise BenchError(f"cannot make mounts for a session daemon of its own: {reason}")
