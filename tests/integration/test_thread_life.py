"""Threads that come and go by the thousand, and more threads at once than there are buffers."""
from collections import Counter, defaultdict

from support import counting, libtorch
from support.libtorch import every_torch

TURNS = 2  # of each thread, libtorch_program/many_threads.cpp


def events_by_thread(process):
    """{tid: operators}"""
    return Counter(operator.tid for operator in process.operators)


def check_accounts(process, threads):
    """Threads have all of their operators in the trace or none, and what is missing was counted as
    that of threads without a buffer. Returns the tids of those that are there."""
    recorded = events_by_thread(process)
    per_thread = set(recorded.values())
    assert len(per_thread) == 1, "each thread runs the same operators"
    (events,) = per_thread
    counting.check_calls(process, {"aten::add_": TURNS * len(recorded), "tenth": len(recorded)})
    receipt = process.final_receipt
    assert receipt["started"] == threads * events
    assert receipt["written"] == len(recorded) * events
    assert receipt["dropped_no_buffer"] == (threads - len(recorded)) * events
    return set(recorded)


@every_torch
def test_threads_come_and_go(torch, tmp_path):
    """Buffers are recycled: far more threads are recorded than there are buffers. Where the flush
    thread of a busy machine takes them back too late, that is counted."""
    threads, buffers = 1200, 256
    roll = tmp_path / "roll"
    environment = {
        "THREADS_FILE": str(roll),
        "TORCHTRACE_BUFFER_SIZE": "64KiB",
        "TORCHTRACE_BUFFER_TOTAL": f"{buffers * 64}KiB",
    }
    outcome = libtorch.trace_work(
        "come_and_go", threads, "ctf", torch, tmp_path, environment=environment
    )
    process = outcome.trace.only_process
    recorded = check_accounts(process, threads)
    assert len(recorded) > buffers
    lines = (line.split(" ", 1) for line in roll.read_text(encoding="utf-8").splitlines())
    names = {int(tid): name for tid, name in lines}
    assert len(names) == threads
    announced = defaultdict(set)
    for event in process.named("thread"):
        announced[event["tid"]].add(event["name"])
    assert {tid: {names[tid]} for tid in recorded} == dict(announced)
    slots = Counter(operator.op_id >> 40 for operator in process.operators)
    assert len(slots) == len(recorded), "a slot is never used twice"


@every_torch
def test_thread_10000(torch, tmp_path):
    """10,000 threads at once: the default total has room for 128 rings, the others are counted."""
    outcome = libtorch.trace_work("crowd", 10_000, "ctf", torch, tmp_path)
    assert len(check_accounts(outcome.trace.only_process, 10_000)) == 128
