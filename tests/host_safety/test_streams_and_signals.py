"""stdin, stdout and signals are the program's own."""
import signal
import time

from support import host

ECHO = """
import sys, torch
torch.ones(3).add(1)
sys.stdout.write(sys.stdin.read().upper())
print("an error of the program's own", file=sys.stderr)
sys.exit(41)
"""

# Counts signals in the main thread while operators run; SIGUSR1 ends it.
COUNT_SIGNALS = """
import signal, threading, torch
counts, done = {}, threading.Event()
def count(number, frame):
    assert threading.current_thread() is threading.main_thread()
    counts[number] = counts.get(number, 0) + 1
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR2, signal.SIGALRM):
    signal.signal(number, count)
signal.signal(signal.SIGUSR1, lambda number, frame: done.set())
signal.setitimer(signal.ITIMER_REAL, 0.01)
value = torch.ones(8)
value.add_(1)
print("ready", flush=True)
while not done.is_set():
    value.mul_(0.5)
print(sorted((signal.Signals(number).name, n) for number, n in counts.items()))
"""


def test_streams_and_exit_code(tmp_path):
    command = ["/usr/bin/python3", "-c", ECHO]
    text = "line\nwithout end: \u00e9"
    plain = host.run(command, tmp_path / "plain", stdin=text)
    environment = host.agent_environment(output_sink="ctf")
    traced = host.run(command, tmp_path / "traced", environment, stdin=text)
    assert plain.stdout == text.upper() and plain.returncode == 41
    assert (traced.stdout, traced.returncode) == (plain.stdout, plain.returncode)
    assert traced.other_stderr == plain.stderr.splitlines()


def send_signals(process):
    assert process.stdout.readline() == "ready\n"
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR2):
        process.send_signal(number)
        time.sleep(0.05)  # equal signals would merge
    process.send_signal(signal.SIGUSR1)


def test_signals_reach_the_main_thread(tmp_path):
    command = ["/usr/bin/python3", "-c", COUNT_SIGNALS]
    process = host.start(command, tmp_path, host.agent_environment(output_sink="ctf"))
    send_signals(process)
    run = host.finish(process)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[('SIGALRM', 1), ('SIGHUP', 1), ('SIGINT', 1), ('SIGUSR2', 1)]\n"


CLOSED_FOR_GOOD = """
import os, time, torch
torch.ones(2).add(1)
time.sleep(0.3)
for _ in range(10):
    time.sleep(0.05)
    if not os.path.exists("/proc/self/fd/1"):
        break
else:
    os.write(1, b"open")
"""


def test_stdout_closed(tmp_path):
    """A descriptor that the agent opens must never become the program's stdout.

    While a file is being opened it is, for some microseconds, since the kernel gives the lowest
    number; so the program looks more than once, after the agent has begun to write.
    """
    script = tmp_path / "closed.py"
    script.write_text(CLOSED_FOR_GOOD)
    environment = host.agent_environment(output_sink="ctf")
    for close in ("", ">&-", "<&- >&- 2>&-"):
        command = ["/bin/sh", "-c", f"exec /usr/bin/python3 {script} {close}"]
        plain = host.run(command, tmp_path / f"plain{len(close)}")
        traced = host.run(command, tmp_path / f"traced{len(close)}", environment)
        assert plain.returncode == 0 and plain.stdout == ("" if close else "open")
        assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
