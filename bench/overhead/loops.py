"""Times loops with each variant in interleaved rounds; prints the times as JSON.

Usage: loops.py SWITCH_LIBRARY ROUNDS

The variants are those of the switch, and PyTorch's own profilers. Of these only the collection is
timed: what they do with it afterwards is left out, to their advantage.
"""
import contextlib
import ctypes
import json
import random
import sys
import tempfile
import time

import torch

import models

#: Of bench/switch/variants.cpp; none_again is none a second time.
SWITCHED = ("none", "none_again", "floor", "torchtrace", "thapi_style")


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

    @contextlib.contextmanager
    def registered(self, variant):
        """The variant for as long as the context lasts."""
        self.set(variant)
        try:
            yield
        finally:
            self.set("none")

    def counts(self):
        """Operators started, and records dropped."""
        started, dropped = ctypes.c_uint64(), ctypes.c_uint64()
        self._library.torchtrace_switch_counts(ctypes.byref(started), ctypes.byref(dropped))
        return started.value, dropped.value


def _exit_if(problem):
    if problem:
        sys.exit(f"loops.py: {problem.decode()}")


def kineto():
    """torch.profiler, with its defaults for the CPU."""
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])


@contextlib.contextmanager
def execution_trace():
    """The observer that writes an operator graph, from PyTorch 2 on."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        observer = torch.profiler.ExecutionTraceObserver().register_callback(file.name)
        observer.start()
        try:
            yield
        finally:
            observer.stop()
            observer.unregister_callback()


def recorders(switch):
    """Name of each variant, and what makes its context."""
    made = {name: (lambda name=name: switch.registered(name)) for name in SWITCHED}
    made["kineto"] = kineto
    if hasattr(torch.profiler, "ExecutionTraceObserver"):
        made["execution_trace_observer"] = execution_trace
    return made


def time_ns(loop, turns):
    """CPU time of this thread per turn: what it waits for a CPU is the machine's affair."""
    loop(max(turns // 10, 1))
    start_ns = time.thread_time_ns()
    loop(turns)
    return (time.thread_time_ns() - start_ns) / turns


def operators_per_turn(switch, loop, turns):
    before, _ = switch.counts()
    with switch.registered("torchtrace"):
        loop(turns)
    return (switch.counts()[0] - before) / turns


def measure(switch, name, loop, turns, rounds):
    loop(10)
    operators = operators_per_turn(switch, loop, turns)
    variants = recorders(switch)
    times = {variant: [] for variant in variants}
    order = list(variants)
    for _ in range(rounds):
        random.shuffle(order)
        for variant in order:
            with variants[variant]():
                times[variant].append(time_ns(loop, turns))
        switch.drain()
    return {"name": name, "operators_per_turn": operators, "ns_per_turn": times}


def main():
    switch, rounds = Switch(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    with kineto():
        pass  # its first use takes seconds
    loops = [
        measure(switch, "x.add_(y)", models.add_loop, 2000, rounds),
        measure(switch, "MLP training step", models.mlp_step(), 8, rounds),
        measure(switch, "transformer training step", models.transformer_step(), 2, rounds),
    ]
    switch.close()
    _, dropped = switch.counts()
    print(json.dumps({"torch": torch.__version__, "dropped": dropped, "loops": loops}))


if __name__ == "__main__":
    main()
