"""The part of a program whose operators are counted twice: by the trace and by PyTorch's profiler.

A program calls `window(body)`. That runs `body` inside a user scope named "window", which tells the
reader of the trace which operators to count. If INDEPENDENT_COUNT_FILE is set, `body` also runs
under `torch.profiler`, and one JSON line {"pid": ..., "calls": {name: n}} is appended to that file.
The count comes from a run without the agent, so the two observers never meet.

What makes the two windows equal, and the counts complete:
 - the scope encloses the profiler, so nothing of `record_function` itself is inside either one;
 - one empty profile() first: the very first one in a process runs operators of its own;
 - raw events, because `events()` and `key_averages()` merge a parent and child of the same name.
"""
import hashlib
import json
import os
import struct
from collections import Counter
from contextlib import contextmanager

import torch
from torch.profiler import ProfilerActivity, profile

WINDOW = "window"


def _profile(all_threads):
    options = {"activities": [ProfilerActivity.CPU]}
    if all_threads:
        experimental = torch.profiler._ExperimentalConfig(profile_all_threads=True)
        options["experimental_config"] = experimental
    return profile(**options)


def can_profile_all_threads():
    """PyTorch 1.13 cannot: `profile()` sees only the thread that opened it."""
    return "profile_all_threads" in (torch.profiler._ExperimentalConfig.__init__.__doc__ or "")


def append_count(calls):
    """Adds one window's {name: calls} to the file of independent counts, if one was asked for."""
    path = os.environ.get("INDEPENDENT_COUNT_FILE")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"pid": os.getpid(), "calls": calls}) + "\n")


def is_counting():
    return "INDEPENDENT_COUNT_FILE" in os.environ


def profiled_calls(body, all_threads=False):
    """Runs body(); returns its result and {name: calls} as the profiler saw them."""
    with _profile(all_threads):
        pass
    with _profile(all_threads) as profiler:
        result = body()
    calls = Counter(event.name() for event in profiler.profiler.kineto_results.events())
    return result, calls


@contextmanager
def _scope(name):
    """record_function(name) without the operators that it runs in PyTorch 1.13 for its handle."""
    handle = torch.ops.profiler._record_function_enter_new(name, None)
    try:
        yield
    finally:
        leave = torch.ops.profiler._record_function_exit
        getattr(leave, "_RecordFunction", leave)(handle)


def window(body, all_threads=False):
    """Runs body() as the counted part of the program and returns its result."""
    if not is_counting():
        with _scope(WINDOW):
            return body()
    with _scope(WINDOW):
        result, calls = profiled_calls(body, all_threads)
    append_count(calls)
    return result


def checksum(tensors):
    """A short text that differs if any bit of any tensor differs."""
    digest = hashlib.sha256()
    for tensor in tensors:
        values = tensor.detach().double().flatten().tolist()
        digest.update(struct.pack(f"{len(values)}d", *values))
    return digest.hexdigest()[:16]
