"""Ways to start a Python that a user may choose: the agent works in all of them."""
import subprocess

import pytest

from support import counting, host, invariants, sinks
from support.host import program

every_interpreter = pytest.mark.parametrize("interpreter", ["debian", "wheel"], indirect=True)
TURNS = 500


def check_loop(command, tmp_path, environment=None):
    with sinks.open_sink("ctf", tmp_path) as sink:
        run = host.run(command, tmp_path / "cwd", {**sink.environment, **(environment or {})})
        assert run.returncode == 0, run.stderr
        assert run.stdout == f"turns {TURNS}\n" and run.stderr == ""
        process = sink.read().only_process
    invariants.check_process(process)
    counting.check_calls(process, {"aten::add_": TURNS})
    return process


@every_interpreter
def test_inactive_venv(interpreter, tmp_path):
    """path/to/venv/bin/python, with nothing in the environment that says so."""
    venv = tmp_path / "a venv"
    make = ["-m", "venv", "--without-pip", "--system-site-packages", str(venv)]
    subprocess.run([interpreter.python, *make], check=True, timeout=60)
    environment = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": ""}
    if interpreter.name == "wheel":  # a venv of a venv sees only the base's packages
        folder = "import sysconfig; print(sysconfig.get_path('purelib'))"
        site = subprocess.check_output([interpreter.python, "-c", folder], text=True).strip()
        (purelib,) = venv.glob("lib/python*/site-packages")
        (purelib / "wheel.pth").write_text(site + "\n", encoding="utf-8")
    command = program("known_loop", "exit", TURNS, python=venv / "bin" / "python")
    process = check_loop(command, tmp_path, environment)
    assert "a venv" in process.named("process")[0]["command"]


@every_interpreter
def test_isolated_mode(interpreter, tmp_path):
    command = program("known_loop", "exit", TURNS, python=interpreter.python)
    check_loop([command[0], "-I", *command[1:]], tmp_path)


@every_interpreter
def test_started_by_a_shell_script(interpreter, tmp_path):
    """The agent is in the shell too, and says nothing there."""
    script = tmp_path / "job.sh"
    command = program("known_loop", "exit", TURNS, python=interpreter.python)
    script.write_text("#!/bin/sh\ntrue | cat\n\"$@\"\n", encoding="utf-8")
    check_loop(["/bin/sh", str(script), *command], tmp_path)


@every_interpreter
def test_process_says_which_torch_it_is(interpreter, tmp_path):
    command = program("known_loop", "exit", TURNS, python=interpreter.python)
    told = check_loop(command, tmp_path).named("process")[0]
    code = "import torch; print(torch.__version__); print(torch.__file__)"
    version, path = subprocess.check_output([interpreter.python, "-c", code], text=True).split()
    # Debian's library is told by its name alone, 1.13; a wheel says 2.13.0+cpu.
    assert version.startswith(told["torch_version"])
    assert "libtorch_cpu" in told["torch_path"]
    if interpreter.name == "wheel":
        assert told["torch_path"].startswith(path.rsplit("/", 1)[0])
