"""Gets stuck, or dies, inside operators: `stuck.py HOW TURNS`, HOW one of

    wait    three threads stay in their operators until stdin ends, then all ends well
    segv    a SIGSEGV inside an operator
    abort   abort() inside an operator
    busy    the three threads run operators for ever

Each of three threads runs TURNS times aten::add_ before; one of them hangs in a backward function,
the others in user scopes. Writes "stuck" to stdout once all are where they stay.
"""
import ctypes
import os
import sys
import threading

import torch
from torch.autograd.profiler import record_function

END = threading.Event()


class Stuck(torch.autograd.Function):
    """Its backward pass is where the thread stays."""

    how = "wait"
    reached = None

    @staticmethod
    def forward(ctx, tensor):  # pylint: disable=arguments-differ
        return tensor.clone()

    @staticmethod
    def backward(ctx, gradient):  # pylint: disable=arguments-differ
        Stuck.reached()
        if Stuck.how == "segv":
            ctypes.string_at(0)
        if Stuck.how == "abort":
            os.abort()
        END.wait()
        return gradient


def add(turns):
    tensor = torch.zeros(1)
    for _ in range(turns):
        tensor.add_(1)


def stay_busy(barrier):
    barrier.wait()
    while True:
        with record_function("turn"):
            add(100)


def worker(name, turns, barrier):
    add(turns)
    if Stuck.how == "busy":
        stay_busy(barrier)
    with record_function(f"outer {name}"), record_function(f"inner {name}"):
        barrier.wait()
        END.wait()


def main():
    how, turns = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    barrier = threading.Barrier(3)
    Stuck.how = how
    workers = [
        threading.Thread(target=worker, args=(name, turns, barrier), name=name)
        for name in ("first", "second")
    ]
    for thread in workers:
        thread.start()

    def reached():
        barrier.wait()
        print("stuck", flush=True)

    if how == "wait":
        threading.Thread(target=lambda: (sys.stdin.read(), END.set()), daemon=True).start()
    Stuck.reached = reached
    add(turns)
    if how == "busy":
        reached()
        while True:
            add(100)
    with record_function("training"):
        Stuck.apply(torch.ones(1, requires_grad=True)).sum().backward()
    for thread in workers:
        thread.join()
    add(turns)


if __name__ == "__main__":
    main()
