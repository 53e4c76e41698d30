"""Runs operators that are known by arithmetic, and asks the flight recorder for dumps.

Each turn runs exactly one operator, `aten::add_.Tensor`. argv[1]:
  silent   1000 turns, no dump
  signal   FIRST turns, a dump by SIGUSR2, SECOND turns inside the open scope "second", another dump
  slow     steps of an optimizer, of which the last but one takes far longer
  second   the same of one that begins when another, which was first, makes no more steps
"""
import os
import pathlib
import signal
import sys
import time

import torch
from torch.profiler import record_function

FIRST, SECOND = 5000, 300
PATIENCE_SECONDS = 20
FOLDER = pathlib.Path(os.environ.get("TORCHTRACE_OUTPUT_DIRECTORY", "none"))


def turns(total, count):
    one = torch.ones(1)
    for _ in range(count):
        total.add_(one)


def wait_for_dumps(count):
    """The receipt is what a dump ends with; its folder alone says nothing."""
    until = time.monotonic() + PATIENCE_SECONDS
    while FOLDER.exists() or FOLDER.parent.exists():
        dumps = list(FOLDER.glob("*-dump-*/stream-*"))
        if len(dumps) >= count or time.monotonic() > until:
            break
        time.sleep(0.02)
    time.sleep(0.3)


def by_signal(total):
    turns(total, FIRST)
    os.kill(os.getpid(), signal.SIGUSR2)
    wait_for_dumps(1)
    time.sleep(1)  # the least time between two dumps
    with record_function("second"):
        turns(total, SECOND)
        os.kill(os.getpid(), signal.SIGUSR2)
        wait_for_dumps(2)


def slow_step(has_warm_up):
    parameter = torch.nn.Parameter(torch.ones(2))
    if has_warm_up:
        torch.optim.Adam([parameter], lr=0.1).step()
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    for step in range(6):
        parameter.sum().backward()
        if step == 4:
            time.sleep(1.0)
        optimizer.step()
        optimizer.zero_grad()
    wait_for_dumps(1)


def main():
    total = torch.zeros(1)
    if sys.argv[1] in ("slow", "second"):
        slow_step(sys.argv[1] == "second")
    else:
        with torch.no_grad():
            if sys.argv[1] == "silent":
                turns(total, 1000)
            elif "torchtrace" in os.environ.get("LD_PRELOAD", ""):
                by_signal(total)
            print("turns", int(total.item()), flush=True)


if __name__ == "__main__":
    main()
