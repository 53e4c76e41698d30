"""How a C++ program ends, and what it still runs on its way out. Calls are arithmetic."""
import signal

import pytest

from support import counting, invariants, libtorch
from support.libtorch import each_sink_and_each_torch, every_torch

COUNT = 20
THREADS = 3  # libtorch_program/ways_to_end.cpp


@each_sink_and_each_torch
def test_operators_in_destructors(sink, torch, tmp_path):
    """Exit handlers, static objects, thread_local objects and thread-specific data, whether made
    before the first operator or after it: all are recorded, but for the thread-specific data whose
    destructor runs after ours, which come when the thread has no buffer any more."""
    outcome = libtorch.trace_work("destructors", COUNT, sink, torch, tmp_path)
    process = outcome.trace.only_process
    in_main = 1 + 1 + 2 + 2  # itself, its thread_local object, exit handlers, static objects
    in_thread = 1 + 1 + 1
    counting.check_calls(process, {"aten::add_": (in_main + in_thread) * COUNT})
    receipt = process.final_receipt
    one_loop = receipt["written"] // (in_main + in_thread)
    assert receipt["written"] == (in_main + in_thread) * one_loop
    assert receipt["dropped_no_buffer"] == one_loop
    assert receipt["started"] == (in_main + in_thread + 1) * one_loop


@each_sink_and_each_torch
def test_quick_exit(sink, torch, tmp_path):
    outcome = libtorch.trace_work("quick_exit", COUNT, sink, torch, tmp_path)
    process = outcome.trace.only_process
    invariants.check_nothing_missing(process)
    counting.check_calls(process, {"aten::add_": COUNT + 10})


@each_sink_and_each_torch
def test_main_thread_leaves_first(sink, torch, tmp_path):
    """The process ends with its last thread: ours must not be the one that keeps it."""
    outcome = libtorch.trace_work("main_leaves", COUNT, sink, torch, tmp_path)
    process = outcome.trace.only_process
    invariants.check_nothing_missing(process)
    counting.check_calls(process, {"aten::add_": COUNT})


@every_torch
def test_exit_with_threads_inside_scopes(torch, tmp_path):
    """Three threads run operators until the exit handlers run, and then wait inside a scope."""
    outcome = libtorch.trace_work("open_scopes", COUNT, "ctf", torch, tmp_path)
    process = outcome.trace.only_process
    assert process.final_receipt["open"] == THREADS
    assert process.calls()["aten::add_"] >= 2 * THREADS * COUNT
    held = [event for event in process.named("op_begin") if event["name"] == "held open"]
    assert len({event["tid"] for event in held}) == THREADS


@pytest.mark.parametrize("how", ["quick_exit", "os_exit"])
@every_torch
def test_end_with_busy_threads(how, torch, tmp_path):
    """Threads are caught in the middle of what they do, and the receipt is exact all the same."""
    outcome = libtorch.trace_work(f"busy_threads_{how}", COUNT, "ctf", torch, tmp_path)
    process = outcome.trace.only_process
    assert process.calls()["aten::add_"] >= THREADS * COUNT
    assert process.final_receipt["open"] <= 4 * THREADS


DEATHS = {"abort": signal.SIGABRT, "segv": signal.SIGSEGV}


@pytest.mark.parametrize("how", list(DEATHS))
@every_torch
def test_death_on_another_thread(how, torch, tmp_path):
    """What ran a second before is there; what ran just before the signal may be missing."""
    outcome = libtorch.trace_work(how, COUNT, "ctf", torch, tmp_path, exact=False)
    assert outcome.traced.returncode == -DEATHS[how]
    process = outcome.trace.only_process
    invariants.check_killed_process(process)
    assert COUNT <= process.calls()["aten::add_"] <= 2 * COUNT
