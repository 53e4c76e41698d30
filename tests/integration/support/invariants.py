"""What holds for every trace, whatever the program did. Every integration test checks it."""
from collections import Counter, defaultdict

from . import trace as t

_DROPPED = "dropped_"
_LOST = "lost_"
_INCOMPLETE = ("filtered", "sampled_out", "open", "inherited")


def sum_of(receipt, prefix):
    return sum(value for key, value in receipt.fields.items() if key.startswith(prefix))


def check_receipt(receipt):
    """started and recorded are made up of their parts, and a final receipt is exact."""
    parts = ("recorded", "filtered", "sampled_out", "open", "settling")
    accounted = sum(receipt[key] for key in parts) + sum_of(receipt, _DROPPED)
    assert receipt["started"] == accounted, receipt.fields
    assert receipt["recorded"] == receipt["written"] + sum_of(receipt, _LOST), receipt.fields
    if receipt["final"]:
        assert receipt["settling"] == 0, receipt.fields


def check_nothing_missing(process):
    """The final receipt knows of no operator that the trace does not hold."""
    receipt = process.final_receipt
    missing = {
        key: value
        for key, value in receipt.fields.items()
        if value and (key.startswith((_DROPPED, _LOST)) or key in _INCOMPLETE)
    }
    assert not missing, missing


def check_written(process):
    """As many operators can be read as the final receipt says were written."""
    written = process.final_receipt["written"]
    assert len(process.operators) == written, process.final_receipt.fields


def check_identities(process):
    """Each op_id stands for one operator, and each begin has one end."""
    ids = Counter(operator.op_id for operator in process.operators)
    assert all(count == 1 for count in ids.values()), [i for i, n in ids.items() if n > 1][:5]
    begun = {event["op_id"] for event in process.named("op_begin")}
    ended = Counter(event["op_id"] for event in process.named("op_end"))
    assert all(count == 1 for count in ended.values()), ended.most_common(3)
    assert set(ended) <= begun, "op_end without op_begin"
    assert not ids.keys() & (begun - ended.keys()), "op for an operator that was begun"
    return begun - ended.keys()


def _is_repeated(event, begun):
    """True for an op_begin that was there before: a new file or session repeats what is open."""
    if event.name != "op_begin":
        return False
    repeated = event["op_id"] in begun
    begun.add(event["op_id"])
    return repeated


def check_order(process):
    """Operators come sorted by `ts`, apart from those flagged late, which the receipt counts."""
    last, late, begun = 0, 0, set()
    for event in process.events:
        if event.name not in ("op", "op_begin", "op_end") or _is_repeated(event, begun):
            continue
        if event["flags"] & t.FLAG_LATE:
            late += 1
            continue
        assert event["ts"] >= last, f"{event} comes {last - event['ts']} ns too late"
        last = event["ts"]
    return late


def check_texts(process):
    """No string field is ever empty, and every thread that ran operators was announced."""
    for event in process.events:
        empty = [key for key, value in event.fields.items() if value == ""]
        assert not empty, (event, empty)
    announced = {event["tid"] for event in process.named("thread")}
    assert {operator.tid for operator in process.operators} <= announced
    assert process.named("process"), "no `process` event"


def is_nested(operator):
    """False for a scope that may outlive the operator around it or end on another thread."""
    return not operator.flags & (t.FLAG_ASYNC | t.FLAG_DETACHED)


def _parents_and_children(process, unfinished):
    """(parent, child) for all whose parent has ended."""
    by_id = {operator.op_id: operator for operator in process.operators}
    for child in process.operators:
        if child.parent == 0 or child.parent in unfinished:
            continue
        assert child.parent in by_id, f"parent of {child} is not in the trace"
        yield by_id[child.parent], child


def _covered_ns(parent, children):
    """How much of the parent's time its children, sorted by start, cover."""
    covered, until = 0, parent.ts
    for child in children:
        end = min(child.end, parent.end)
        covered += max(0, end - max(child.ts, until))
        until = max(until, end)
    return covered


def check_nesting(process, unfinished=frozenset()):
    """Every parent is a recorded operator of the same thread that encloses its child in time, and
    children that are nested for good never overlap. Returns {op_id: self time in ns}."""
    children = defaultdict(list)
    for parent, child in _parents_and_children(process, unfinished):
        assert parent.tid == child.tid and parent.depth < child.depth, (parent, child)
        assert parent.ts <= child.ts, (parent, child)
        if is_nested(child) and is_nested(parent):
            assert child.end <= parent.end, (parent, child)
        children[parent.op_id].append(child)
    self_ns = {}
    for operator in process.operators:
        below = sorted(children[operator.op_id], key=lambda child: child.ts)
        self_ns[operator.op_id] = operator.dur - _covered_ns(operator, below)
        if is_nested(operator) and all(map(is_nested, below)):
            assert self_ns[operator.op_id] == operator.dur - sum(child.dur for child in below)
    assert all(value >= 0 for value in self_ns.values())
    return self_ns


def check_process(process):
    """All of the above for a process that ended by itself."""
    for receipt in process.receipts:
        check_receipt(receipt)
    check_written(process)
    unfinished = check_identities(process)
    assert len(unfinished) == process.final_receipt["open"], "op_begin without op_end"
    assert check_order(process) == process.final_receipt["late"]
    check_texts(process)
    check_nesting(process, unfinished)


def written_before_last_receipt(process):
    """Operators that the trace shows before the last receipt in it."""
    last = max(index for index, event in enumerate(process.events) if event.name == "receipt")
    head = t.ProcessTrace(process.pid, process.events[:last])
    return len(head.operators)


def check_killed_process(process):
    """What holds for a process that could not end its trace: all up to the last packet is right."""
    assert process.receipts, "a killed process leaves at least one periodic receipt"
    assert not any(receipt["final"] for receipt in process.receipts)
    for receipt in process.receipts:
        check_receipt(receipt)
    assert written_before_last_receipt(process) == process.receipts[-1]["written"]
    unfinished = check_identities(process)
    check_order(process)
    check_texts(process)
    check_nesting(process, unfinished)


def check_trace(trace):
    """check_process for every process; at least one must be there."""
    assert trace.processes, "the trace holds no event of torchtrace"
    for process in trace.processes.values():
        check_process(process)
