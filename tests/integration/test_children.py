"""Children made in every way, and at bad moments: each records under its own pid, exactly."""
from collections import Counter

import pytest

from support import host, invariants, libtorch, scenario, sinks, trace
from support.host import program
from support.libtorch import each_sink_and_each_torch, every_torch

COUNT = 20
POOL_TASKS = 8  # programs/start_methods.py
FORKS = 12  # libtorch_program/children.cpp
BESIDE_ONE_LOOP = COUNT + 1  # of the main thread, and of its warming up


def add_counts(read):
    """{operators aten::add_ of a process: how many processes have run as many}"""
    return Counter(process.calls().get("aten::add_", 0) for process in read.processes.values())


def check_fork_beside(what, sink, torch, tmp_path, own, environment=None):
    """own: operators of the parent. Grandchildren run none, and leave no trace.

    What the program does without the agent is no measure: PyTorch 1.13 alone lets some children
    hang, on the mutex of its callbacks.
    """
    with sinks.open_sink(sink, tmp_path) as opened:
        run_forks(what, torch, tmp_path, {**opened.environment, **(environment or {})})
        read = opened.read()
    check_complete(read)
    return read, Counter({COUNT: FORKS, own: 1})


def run_forks(what, torch, tmp_path, environment):
    """All children end by themselves, none by the alarm that waits for one that hangs."""
    command = [libtorch.program(torch), f"fork_beside_{what}", COUNT]
    traced = host.run(command, tmp_path / "traced", environment)
    assert traced.returncode == 0, traced.stderr
    assert traced.stdout == f"children: {FORKS} times 9\n"
    return traced


def check_complete(read):
    invariants.check_trace(read)
    for process in read.processes.values():
        invariants.check_nothing_missing(process)


@every_torch
def test_fork_beside_the_loader(torch, tmp_path):
    own = BESIDE_ONE_LOOP + 2 * COUNT
    read, expected = check_fork_beside("loader", "ctf", torch, tmp_path, own)
    assert add_counts(read) == expected


@every_torch
def test_fork_beside_the_loader_while_a_session_records(torch, tmp_path):
    """A child whose loader is half-way through a library cannot use LTTng, and has a trace of its
    own. In the others lttng-ust begins anew, which reads the loader's lists."""
    own_traces = tmp_path / "own-traces"
    choice = {"TORCHTRACE_OUTPUT_SINK": "auto", "TORCHTRACE_OUTPUT_DIRECTORY": str(own_traces)}
    with sinks.open_sink("lttng", tmp_path) as session:
        run_forks("loader", torch, tmp_path, {**session.environment, **choice})
        reads = [session.read(), trace.read(own_traces, may_be_empty=True)]
    for read in (read for read in reads if read.processes):
        check_complete(read)
    own = BESIDE_ONE_LOOP + 2 * COUNT
    assert sum(map(add_counts, reads), Counter()) == Counter({COUNT: FORKS, own: 1})


@every_torch
def test_fork_beside_callback_changes(torch, tmp_path):
    own = BESIDE_ONE_LOOP + 2 * COUNT
    read, expected = check_fork_beside("callbacks", "ctf", torch, tmp_path, own)
    assert add_counts(read) == expected


@every_torch
def test_fork_beside_new_threads(torch, tmp_path):
    """PyTorch copies its list of callbacks there, under a mutex that the child inherits."""
    own = FORKS * 2 * COUNT
    read, expected = check_fork_beside("new_threads", "ctf", torch, tmp_path, own)
    assert add_counts(read) == expected


@every_torch
def test_fork_beside_exit_handlers(torch, tmp_path):
    """With scopes alone, the agent begins in the first children: those of a parent that has run
    operators, but none for us."""
    scopes = {"TORCHTRACE_FILTERS_SCOPES": "user_scope"}
    read, _ = check_fork_beside("exit_handlers", "ctf", torch, tmp_path, 0, scopes)
    # The main thread and each of 2 * COUNT loops of one turn have a scope of their own.
    calls = Counter(process.calls()["tenth"] for process in read.processes.values())
    assert calls == Counter({COUNT // 10: FORKS, COUNT // 10 + 2 * COUNT: 1})


@each_sink_and_each_torch
def test_nested_forks(sink, torch, tmp_path):
    """They end by exit, quick_exit, _exit and a return from main."""
    outcome = libtorch.trace_work("nested_forks", COUNT, sink, torch, tmp_path)
    assert outcome.traced.returncode == 1 + 2 + 3 + 4
    expected = {2 * level * COUNT: 1 for level in (1, 2, 3, 4)}
    assert add_counts(outcome.trace) == Counter(expected)
    for process in outcome.trace.processes.values():
        invariants.check_nothing_missing(process)


@every_torch
def test_spawned_children(torch, tmp_path):
    """vfork, posix_spawn and system: what shares the parent's memory leaves its trace alone."""
    outcome = libtorch.trace_work("spawn", COUNT, "ctf", torch, tmp_path)
    assert outcome.traced.stdout.endswith("vfork 9 spawn 0 shell 3\n")
    assert add_counts(outcome.trace) == Counter({3 * COUNT: 1, 2 * COUNT: 1})
    for process in outcome.trace.processes.values():
        invariants.check_nothing_missing(process)


def trace_images(kind, torch, tmp_path):
    """Runs a program that becomes another one; {folder of the trace: process}."""
    command = [libtorch.program(torch), kind, COUNT]
    plain = host.run(command, tmp_path / "plain")
    folder = tmp_path / "trace"
    environment = host.agent_environment(output_sink="ctf", output_directory=folder)
    traced = host.run(command, tmp_path / "traced", environment)
    scenario.check_same_behaviour(plain, traced)
    traces = {path.parent.name: trace.read(path.parent) for path in folder.rglob("metadata")}
    return {name: read.only_process for name, read in traces.items()}


def check_image_before(process):
    """It ended without notice: what it ran last is not there, what is there is right."""
    for receipt in process.receipts:
        invariants.check_receipt(receipt)
        assert not receipt["final"]
    assert len(process.operators) <= process.receipts[-1]["started"]


@pytest.mark.parametrize("kind", ["exec", "fork_and_exec"])
def test_exec_with_operators_on_both_sides(kind, tmp_path):
    """exec keeps the pid, and what it becomes has a trace of its own."""
    images = trace_images(kind, "wheel", tmp_path)
    finished = [process for process in images.values() if any(r["final"] for r in process.receipts)]
    for process in images.values():
        if process in finished:
            invariants.check_process(process)
            invariants.check_nothing_missing(process)
        else:
            check_image_before(process)
    counts = sorted(process.calls()["aten::add_"] for process in finished)
    assert counts == ([2 * COUNT] if kind == "exec" else [2 * COUNT, 2 * COUNT])


METHODS = [("fork", "debian"), ("fork", "wheel"), ("forkserver", "wheel"), ("spawn", "debian")]


@pytest.mark.parametrize(
    "method, interpreter", METHODS, indirect=["interpreter"], ids=["_".join(m) for m in METHODS]
)
def test_multiprocessing(method, interpreter, tmp_path):
    """A process that has a child of its own; with fork, which is cheap, also a pool."""
    command = program("start_methods", method, COUNT, python=interpreter.python)
    outcome = scenario.trace_program(command, "ctf", tmp_path)
    for process in outcome.trace.processes.values():
        invariants.check_nothing_missing(process)
    counts = sorted(add_counts(outcome.trace).elements())
    assert counts[:3] == [COUNT] * 3, "the main process, its child and its grandchild"
    assert sum(counts[3:]) == (POOL_TASKS * COUNT if method == "fork" else 0)
