"""One scope "training", open for argv[1] seconds, with operators under it all the time.

Prints nothing that depends on speed. The number of operators under the scope, and the resident
memory early and late in it, go to the file named by LONG_SCOPE_FILE.
"""
import json
import os
import sys
import time

import torch
from torch.profiler import record_function


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def run_for(seconds):
    total, one, turns = torch.zeros(1), torch.ones(1), 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(100):
            total.add_(one)
        turns += 100
        time.sleep(0.001)  # keeps the trace of a few seconds small enough to read in a test
    return turns


def main():
    seconds = float(sys.argv[1])
    with torch.no_grad(), record_function("training"):
        turns = run_for(seconds * 0.3)
        early = resident_bytes()
        turns += run_for(seconds * 0.7)
        late = resident_bytes()
    with open(os.environ["LONG_SCOPE_FILE"], "w", encoding="utf-8") as file:
        json.dump({"turns": turns, "early_bytes": early, "late_bytes": late}, file)
    print("done")


if __name__ == "__main__":
    main()
