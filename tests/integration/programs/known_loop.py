"""A loop whose operators are known by arithmetic, left in the way that argv[1] names.

Each turn runs exactly one operator, `aten::add_.Tensor`, and every hundredth one a scope "hundred"
around it. argv[2] is the number of turns.
  exit      returns normally
  os_exit   os._exit(7), as forked workers leave: no atexit, no destructor
  sigkill   after a pause longer than the period of the receipts, as many turns again, then SIGKILL
  sigterm   the same with SIGTERM and its default action
"""
import os
import signal
import sys
import time

import torch
from torch.profiler import record_function

EXIT_CODE = 7
PAUSE_SECONDS = 1.6


def turns(total, count):
    one = torch.ones(1)
    for turn in range(count):
        if turn % 1000 == 999:
            time.sleep(0.002)  # a starved flush thread of a busy machine may not lose anything here
        if turn % 100 == 0:
            with record_function("hundred"):
                total.add_(one)
        else:
            total.add_(one)


def main():
    how, count = sys.argv[1], int(sys.argv[2])
    total = torch.zeros(1)
    with torch.no_grad():
        turns(total, count)
        print("turns", int(total.item()), flush=True)
        if how in ("sigkill", "sigterm"):
            time.sleep(PAUSE_SECONDS)
            turns(total, count)
            os.kill(os.getpid(), getattr(signal, how.upper()))
    if how == "os_exit":
        os._exit(EXIT_CODE)


if __name__ == "__main__":
    main()
