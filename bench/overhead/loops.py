"""Times two loops with each variant of the switch in interleaved rounds; prints the times as JSON.

Usage: loops.py SWITCH_LIBRARY ROUNDS
"""
import ctypes
import json
import random
import sys
import time

import torch

VARIANTS = ("none", "none_again", "floor", "torchtrace")  # of bench/switch/variants.cpp


class Switch:
    """What PyTorch calls for each operator."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.torchtrace_switch_open.restype = ctypes.c_char_p
        self._library.torchtrace_switch_set.restype = ctypes.c_char_p
        _exit_if(self._library.torchtrace_switch_open())
        self.drain = self._library.torchtrace_switch_drain
        self.close = self._library.torchtrace_switch_close

    def set(self, variant):
        name = "none" if variant == "none_again" else variant
        _exit_if(self._library.torchtrace_switch_set(name.encode()))

    def counts(self):
        """Operators started, and records dropped."""
        started, dropped = ctypes.c_uint64(), ctypes.c_uint64()
        self._library.torchtrace_switch_counts(ctypes.byref(started), ctypes.byref(dropped))
        return started.value, dropped.value


def _exit_if(problem):
    if problem:
        sys.exit(f"loops.py: {problem.decode()}")


def add_loop(turns):
    """One operator per turn, on tensors of one element."""
    x, y = torch.zeros(1), torch.ones(1)
    with torch.no_grad():
        for _ in range(turns):
            x.add_(y)


class MlpStep:
    """A training step of a small network."""

    def __init__(self):
        torch.manual_seed(1)
        self._model = torch.nn.Sequential(
            torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
        )
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)
        self._inputs, self._targets = torch.randn(32, 64), torch.randint(0, 10, (32,))

    def __call__(self, turns):
        for _ in range(turns):
            self._optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(self._model(self._inputs), self._targets)
            loss.backward()
            self._optimizer.step()


def time_ns(loop, turns):
    """CPU time of this thread per turn: what it waits for a CPU is the machine's affair."""
    loop(max(turns // 10, 1))
    start_ns = time.thread_time_ns()
    loop(turns)
    return (time.thread_time_ns() - start_ns) / turns


def operators_per_turn(switch, loop):
    before, _ = switch.counts()
    switch.set("torchtrace")
    loop(10)
    switch.set("none")
    return (switch.counts()[0] - before) / 10


def measure(switch, name, loop, turns, rounds):
    loop(10)
    operators = operators_per_turn(switch, loop)
    times = {variant: [] for variant in VARIANTS}
    order = list(VARIANTS)
    for _ in range(rounds):
        random.shuffle(order)
        for variant in order:
            switch.set(variant)
            times[variant].append(time_ns(loop, turns))
        switch.drain()
    switch.set("none")
    return {"name": name, "operators_per_turn": operators, "ns_per_turn": times}


def main():
    switch, rounds = Switch(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    loops = [
        measure(switch, "x.add_(y)", add_loop, 2000, rounds),
        measure(switch, "MLP training step", MlpStep(), 8, rounds),
    ]
    switch.close()
    _, dropped = switch.counts()
    print(json.dumps({"torch": torch.__version__, "dropped": dropped, "loops": loops}))


if __name__ == "__main__":
    main()
