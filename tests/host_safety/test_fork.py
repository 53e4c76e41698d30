"""Children made in every way record under their own pid, and nothing is written twice."""
import pytest

from support import counting, host, invariants, sinks, trace
from support.matrix import every_sink

# Each process runs a known number of operators; children leave in different ways.
FAMILY = """
import os, subprocess, sys, threading, torch

def turns(count):
    value, one = torch.zeros(1), torch.ones(1)
    for _ in range(count):
        value.add_(one)

torch.set_num_threads(1)
with torch.no_grad():
    turns(100)
    with torch.profiler.record_function("open while forking"):
        child = os.fork()
        if child == 0:
            turns(30)
    if child == 0:
        grandchild = os.fork()
        turns(7)
        if grandchild == 0:
            os._exit(0)
        os.waitpid(grandchild, 0)
        sys.exit(3)
    status = os.waitpid(child, 0)[1]
    subprocess.run(["/bin/true"], check=True)
    turns(50)
print(os.waitstatus_to_exitcode(status), child > 0)
"""

# Three threads run operators as fast as they can, argv[1] times each, or (0) while forks go on.
FORK_WITH_BUSY_THREADS = """
import os, sys, threading, torch
torch.set_num_threads(1)
limit = int(sys.argv[1])
stop = threading.Event()
def busy():
    value, turns = torch.ones(4), 0
    while not stop.is_set() and (limit == 0 or turns < limit):
        value.mul_(0.5)
        turns += 1
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
codes = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        torch.ones(2).add(1)
        os._exit(9)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if limit == 0:
    stop.set()
for thread in threads:
    thread.join()
print(codes)
"""


def fork_with_busy_threads(turns, sink, tmp_path):
    """Returns the folder of the trace."""
    folder = tmp_path / "trace"
    environment = host.agent_environment(output_sink=sink, output_directory=folder)
    command = ["/usr/bin/python3", "-c", FORK_WITH_BUSY_THREADS, turns]
    run = host.run(command, tmp_path / "cwd", environment)
    assert (run.returncode, run.stdout) == (0, f"{[9] * 20}\n"), run.stderr
    return folder


@pytest.mark.parametrize("preload", ["own_hooks", "ust_fork"])
@every_sink
def test_family(sink, preload, tmp_path):
    command = ["/usr/bin/python3", "-c", FAMILY]
    plain = host.run(command, tmp_path / "plain")
    with sinks.open_sink(sink, tmp_path) as opened:
        environment = dict(opened.environment)
        if preload == "ust_fork":
            environment["LD_PRELOAD"] += ":liblttng-ust-fork.so.1"
        traced = host.run(command, tmp_path / "traced", environment)
        read = opened.read()
    assert (traced.stdout, traced.returncode) == (plain.stdout, plain.returncode) == ("3 True\n", 0)
    parent = read.processes.pop(traced.pid)
    counting.check_calls(parent, {"aten::add_": 150, "open while forking": 1})
    invariants.check_process(parent)
    child, grandchild = sorted(read.processes.values(), key=lambda process: -len(process.operators))
    counting.check_calls(child, {"aten::add_": 37, "open while forking": 0})
    counting.check_calls(grandchild, {"aten::add_": 7})
    for process in (child, grandchild):
        invariants.check_process(process)
    assert child.final_receipt["inherited"] == 1, "the end of the scope that the parent opened"


def test_fork_with_busy_threads(tmp_path):
    """No child hangs; nothing is written, so that the threads need not be held back."""
    folder = fork_with_busy_threads(0, "none", tmp_path)
    assert not folder.exists()


def test_fork_with_counted_threads(tmp_path):
    """Nothing that the parent's threads ran is in a child's trace, and none of it is missing."""
    turns = 3000
    read = trace.read(fork_with_busy_threads(turns, "ctf", tmp_path))
    assert len(read.processes) == 21
    for process in read.processes.values():
        invariants.check_process(process)
        invariants.check_nothing_missing(process)
    calls = sorted(process.calls().get("aten::mul_", 0) for process in read.processes.values())
    assert calls == [0] * 20 + [3 * turns]
