"""LTTng sessions of the bench's own.

As root there is one run directory for all daemons of a machine, so the bench first moves into
mounts of its own; other users get a daemon in a home of its own.
"""
import ctypes
import dataclasses
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


@dataclasses.dataclass
class Channel:
    """What is recorded and how."""

    events: str
    options: tuple
    contexts: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)


#: As README.md recommends.
RECOMMENDED = Channel("torchtrace:*", ("--discard", "--subbuf-size=1M", "--num-subbuf=4"))

#: As iprof records PyTorch's operators (THAPI, xprof.rb.in, lttng_setup): the operator's thread
#: waits where there is no room. Only the limit on files is ours, which costs the traced threads
#: nothing.
THAPI = Channel(
    "torchtrace_bench_thapi:*",
    ("--blocking-timeout=inf", "--tracefile-size=64M", "--tracefile-count=1"),
    contexts=("--type=vpid", "--type=vtid"),
    environment={"LTTNG_UST_ALLOW_BLOCKING": "1"},
)


class Session:
    """Records into `folder` while it lasts."""

    def __init__(self, folder, channel=RECOMMENDED):
        self._folder = pathlib.Path(folder)
        self._channel = channel
        self._name = f"torchtrace-bench-{os.getpid()}"
        # Without a limit: the bench starts with what it measures.
        self.environment = {"LTTNG_UST_REGISTER_TIMEOUT": "-1", **channel.environment}

    def __enter__(self):
        self._start_daemon()
        self._lttng("create", self._name, f"--output={self._folder / 'lttng'}")
        session, events = f"--session={self._name}", self._channel.events
        self._lttng("enable-channel", "-u", session, *self._channel.options, "bench")
        if self._channel.contexts:
            contexts = self._channel.contexts
            self._lttng("add-context", "-u", session, "--channel=bench", *contexts)
        self._lttng("enable-event", "-u", session, "--channel=bench", events)
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
