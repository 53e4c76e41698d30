"""`torchtrace run` cannot be told apart from the program: signals, terminal, words, open files."""
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from support import host, paths
from support.cli import torchtrace
from support.terminal import Terminal

COUNT_SIGNALS = """
import signal, sys, time
counts = {}
def count(number, frame):
    counts[number] = counts.get(number, 0) + 1
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, count)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(
    ' '.join(f'{signal.Signals(n).name}={c}' for n, c in sorted(counts.items()))))
print('ready', flush=True)
while True:
    time.sleep(0.05)
"""


def run_command(*words):
    return [str(paths.built(paths.CLI)), "run", "--sink", "none", "--", *map(str, words)]


def start(*words):
    process = subprocess.Popen(
        run_command(*words), env=host.clean_environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_signals_sent_to_run_reach_the_program_once():
    process = start(sys.executable, "-c", COUNT_SIGNALS)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        process.send_signal(number)
        time.sleep(0.2)
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert "SIGHUP=1 SIGINT=1 SIGQUIT=1 SIGUSR1=1 SIGUSR2=1" in errors
    assert process.returncode == 1


def test_an_interrupt_key_reaches_the_program_once(tmp_path):
    command = run_command(sys.executable, "-c", COUNT_SIGNALS)
    with Terminal(command, tmp_path, host.clean_environment()) as terminal:
        terminal.wait_for(b"ready")
        terminal.type(b"\x03")
        time.sleep(0.5)
        terminal.process.terminate()
        terminal.wait_for(b"SIGINT=")
        assert terminal.end() == 1
        assert b"SIGINT=1" in terminal.output


def test_a_stop_key_stops_both_and_the_shell_continues_both(tmp_path):
    script = "import time; print('ready', flush=True); time.sleep(1); print('went on', flush=True)"
    command = shlex.join(run_command(sys.executable, "-c", script))
    environment = {**host.clean_environment(), "PS1": "$ "}
    shell = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
    with Terminal(shell, tmp_path, environment) as terminal:
        terminal.type(command.encode() + b"\n")
        terminal.wait_for(b"ready")
        terminal.type(b"\x1a")
        terminal.wait_for(b"Stopped")
        terminal.type(b"fg\n")
        terminal.wait_for(b"went on")
        terminal.type(b"echo code=$?\n")
        terminal.wait_for(b"code=0")
        terminal.type(b"exit\n")
        assert terminal.end() == 0


def test_an_interrupt_that_ends_the_program_ends_run_the_same_way(tmp_path):
    command = run_command("sh", "-c", "echo ready; exec sleep 30")
    with Terminal(command, tmp_path, host.clean_environment()) as terminal:
        terminal.wait_for(b"ready")
        terminal.type(b"\x03")
        assert terminal.end() == -signal.SIGINT


def test_ignored_signals_stay_ignored():
    """nohup: what the caller ignores the program ignores too."""
    script = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    done = subprocess.run(
        ["nohup", *run_command(sys.executable, "-c", script)], env=host.clean_environment(),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_blocked_signals_and_open_files_are_the_callers(tmp_path):
    script = ("import os, signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []), "
              "sorted(os.listdir('/proc/self/fd'))[:-1])")
    plain = host.run([sys.executable, "-c", script], tmp_path)
    under = host.run(run_command(sys.executable, "-c", script), tmp_path)
    assert under.stdout == plain.stdout


def test_words_reach_the_program_as_they_are(tmp_path):
    words = ["[1,2]", "[a]", "", "--", "-o", "x y", "--sink", "\x01", "--config=[b]", "%%"]
    script = "import json, sys; print(json.dumps(sys.argv[1:]))"
    for separator in (["--"], []):
        done = torchtrace("run", "--sink", "none", *separator, sys.executable, "-c", script, *words,
                          cwd=tmp_path, environment=host.clean_environment())
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == words


def test_the_agent_stands_before_what_is_preloaded_already(tmp_path):
    environment = {**host.clean_environment(), "LD_PRELOAD": "libm.so.6"}
    done = torchtrace("run", "--sink", "none", "--", "sh", "-c", "echo $LD_PRELOAD",
                      cwd=tmp_path, environment=environment)
    assert done.stdout == f"{paths.AGENT}:libm.so.6\n"


@pytest.mark.parametrize("case", ["missing", "directory", "interpreter"])
def test_a_program_that_cannot_be_started_is_one_sentence(case, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/nonexistent/interpreter\n", encoding="utf-8")
    script.chmod(0o755)
    program, code = {"missing": ("no-such-command", 127), "directory": (tmp_path, 126),
                     "interpreter": (script, 127)}[case]
    done = torchtrace("run", "--sink", "ctf", "--", program, cwd=tmp_path,
                      environment=host.clean_environment())
    assert done.returncode == code
    assert done.stderr.startswith(f"torchtrace: {program}: ") and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["script"], "no empty folder is left"
