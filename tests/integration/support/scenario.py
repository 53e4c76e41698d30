"""One experiment: a program without and with the agent, and everything that must hold for both."""
from collections import Counter
from dataclasses import dataclass

from . import cli, counting, host, invariants, sinks
from .trace import Trace


@dataclass(frozen=True)
class Outcome:
    plain: host.Run
    traced: host.Run
    trace: Trace
    independent: Counter  # {name: calls} inside the program's windows


def check_same_behaviour(plain, traced):
    """The program cannot be told apart by its output and exit code with and without the agent."""
    assert traced.returncode == plain.returncode, traced.stderr
    assert traced.stdout == plain.stdout
    assert len(traced.agent_lines) <= 1, traced.agent_lines


def trace_program(command, sink_name, scratch, environment=None, exact=True):
    """Runs command without the agent (counting) and with it, and checks every invariant.

    exact: every process ends in a way that leaves a final receipt. If not, the trace may be empty,
    and the caller checks what it holds.
    """
    count_file = scratch / "independent-count.json"
    extra = environment or {}
    counting_on = {"INDEPENDENT_COUNT_FILE": str(count_file)}
    plain = host.run(command, scratch / "plain", {**extra, **counting_on})
    with sinks.open_sink(sink_name, scratch) as sink:
        traced = host.run(command, scratch / "traced", {**extra, **sink.environment})
        trace = sink.read(may_be_empty=not exact)
        check_same_behaviour(plain, traced)
        if exact:
            invariants.check_trace(trace)
            cli.check_report(sink.folder, trace)
    counted = count_file.exists()
    independent = counting.read_independent_counts(count_file) if counted else Counter()
    return Outcome(plain, traced, trace, independent)


def check_counted_program(command, sink_name, scratch):
    """trace_program for a program that counts the operators inside its windows itself."""
    outcome = trace_program(command, sink_name, scratch)
    for process in outcome.trace.processes.values():
        invariants.check_nothing_missing(process)
    counting.check_window_calls(outcome.trace, outcome.independent)
    return outcome
