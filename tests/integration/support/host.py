"""Runs a program, with or without the agent in it, and keeps what can be seen from outside."""
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import paths

TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Run:
    pid: int
    returncode: int  # as subprocess has it: -N for signal N
    stdout: str
    stderr: str

    @property
    def agent_lines(self):
        """What the agent said on stderr."""
        return [line for line in self.stderr.splitlines() if line.startswith("torchtrace")]

    @property
    def other_stderr(self):
        """stderr without the agent's lines: what the program itself said."""
        return [line for line in self.stderr.splitlines() if not line.startswith("torchtrace")]


def clean_environment():
    """The caller's environment without anything that changes what the agent or the loader does."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("TORCHTRACE_", "LTTNG_UST_", "PYTHON")) and key != "LD_PRELOAD"
    }


def agent_environment(**options):
    """Variables that preload the agent. options are configuration keys: output_sink="ctf"."""
    environment = {"LD_PRELOAD": str(paths.built(paths.AGENT))}
    for key, value in options.items():
        environment[f"TORCHTRACE_{key.upper()}"] = str(value)
    return environment


def program(name, *arguments, python):
    """Command line of tests/integration/programs/NAME.py."""
    return [str(python), str(paths.PYTHON_PROGRAMS / f"{name}.py"), *map(str, arguments)]


def start(command, cwd, environment=None, **popen_options):
    """Starts command in a process group of its own. stdin is empty unless popen_options differ."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {**pipes, **popen_options}
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**clean_environment(), **(environment or {})},
        text=True,
        errors="replace",
        start_new_session=True,
        **options,
    )


def finish(process, timeout=TIMEOUT_SECONDS, stdin=None):
    """Waits for a started process; one that hangs is killed with its group and fails the test."""
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        said = f"stdout: {stdout[-2000:]!r} stderr: {stderr[-2000:]!r}"
        raise AssertionError(f"{process.args} did not end within {timeout} s; {said}") from None
    return Run(process.pid, process.returncode, stdout, stderr)


def run(command, cwd, environment=None, timeout=TIMEOUT_SECONDS, stdin=None, **popen_options):
    """Runs command to its end in folder cwd, which is created."""
    Path(cwd).mkdir(parents=True, exist_ok=True)
    if stdin is not None:
        popen_options["stdin"] = subprocess.PIPE
    return finish(start(command, cwd, environment, **popen_options), timeout, stdin)
