"""Reads a trace with the stock `babeltrace2` command, as a user would, without any code of ours.

Its text is parsed here; the bt2 module would need about 100 us per event.
"""
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

ENDED, DROPPED, FILTERED, ABANDONED = range(4)  # `outcome` of op_end, src/core/events.h
FLAG_ASYNC, FLAG_ABANDONED, FLAG_DETACHED, FLAG_LATE = 1, 2, 4, 8  # RecordFlag, src/core/record.h
SCOPE_FUNCTION, SCOPE_BACKWARD, SCOPE_USER = 0, 1, 7  # at::RecordScope

_EVENT = re.compile(r"\btorchtrace:(\w+): ")
_FIELD = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|(-?\d+))')
_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True)
class Event:
    name: str
    fields: dict

    def __getitem__(self, key):
        return self.fields[key]


@dataclass(frozen=True)
class Operator:
    """One operator call that ended, whether it came as `op` or as `op_begin` and `op_end`."""

    fields: dict
    is_pair: bool

    def __getattr__(self, key):
        try:
            return self.fields[key]
        except KeyError:
            raise AttributeError(key) from None

    @property
    def end(self):
        return self.ts + self.dur

    @property
    def base_name(self):
        """Name without its overload, as the profiler has it: `aten::add.Tensor` -> `aten::add`.

        Only schema names have an overload; the names of scopes may hold dots of their own.
        """
        is_function = self.scope == SCOPE_FUNCTION
        is_schema_name = is_function and re.fullmatch(r"\w+::\w+\.\w+", self.name)
        return self.name.split(".")[0] if is_schema_name else self.name


@dataclass
class ProcessTrace:
    """What one process wrote, in the order in which babeltrace2 shows it."""

    pid: int
    events: list = field(default_factory=list)

    def named(self, name):
        return [event for event in self.events if event.name == name]

    @cached_property
    def operators(self):
        return [
            Operator(event.fields, event.name == "op_end")
            for event in map(_with_start, self.events)
            if event.name == "op" or (event.name == "op_end" and event["outcome"] == ENDED)
        ]

    @property
    def receipts(self):
        return self.named("receipt")

    @property
    def final_receipt(self):
        finals = [receipt for receipt in self.receipts if receipt["final"]]
        assert len(finals) == 1, f"process {self.pid} has {len(finals)} final receipts"
        return finals[0]

    def calls(self):
        """{base name: operators in this process}"""
        return count_by_name(self.operators)


def _with_start(event):
    """op_end has the end in `ts`; gives all operators their start there."""
    if event.name != "op_end":
        return event
    return Event(event.name, {**event.fields, "ts": event["ts"] - event["dur"]})


@dataclass
class Trace:
    processes: dict  # pid -> ProcessTrace
    stderr: str

    @property
    def only_process(self):
        assert len(self.processes) == 1, f"expected one process, found {sorted(self.processes)}"
        return next(iter(self.processes.values()))


def count_by_name(operators):
    calls = defaultdict(int)
    for operator in operators:
        calls[operator.base_name] += 1
    return dict(calls)


def _unescape(text):
    escapes = {"n": "\n", "t": "\t"}
    return _ESCAPE.sub(lambda match: escapes.get(match[1], match[1]), text)


def _parse_line(line):
    start = _EVENT.search(line)
    if start is None:
        return None
    fields = {
        key: int(number) if number else _unescape(text)
        for key, text, number in _FIELD.findall(line, start.end())
    }
    return Event(start[1], fields)


def parse(text, stderr=""):
    """Trace from babeltrace2's text; events of other providers are left out."""
    processes = {}
    for line in text.splitlines():
        event = _parse_line(line)
        if event is not None:
            pid = event["pid"]
            processes.setdefault(pid, ProcessTrace(pid)).events.append(event)
    return Trace(processes, stderr)


def read(folder, may_be_empty=False, may_have_lost=False):
    """Reads every trace below folder. babeltrace2 must accept it without a word on stderr: that is
    where it says that a packet is broken, or (may_have_lost) that events were discarded."""
    if may_be_empty and not any(folder.rglob("metadata")):
        return Trace({}, "")
    command = ["babeltrace2", "--no-delta", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"babeltrace2 {folder} failed: {done.stderr[-2000:]}"
    lines = done.stderr.splitlines()
    complaints = [line for line in lines if not (may_have_lost and "Tracer discarded" in line)]
    assert not complaints, f"babeltrace2 {folder} complains: {done.stderr[-2000:]}"
    return parse(done.stdout, done.stderr)
