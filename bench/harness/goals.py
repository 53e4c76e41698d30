"""What torchtrace wants to reach, beside what was measured."""
import typing


class Goal(typing.NamedTuple):
    """A bound on one figure of some cases of a bench."""

    figure: str
    bench: str
    case: str  #: All of a case's name, or its last part after a comma.
    read: typing.Callable
    bound: str
    unit: str


def _variant(name):
    return lambda case: case["variants"][name]["median_ns"]


def _ratio(name):
    return lambda case: case["ratios"][name]


_ADD, _COLD_ADD = "x.add_(y)", "x.add_(y), 48 KiB each"
_FILTERED_ADD = "x.add_(y), filters.exclude = *"
_TRUE = "/bin/true, CPU time"
_PUSH = "push, 1 producer, drained by another CPU"
_PUSH_COLD = "push, 1 producer, 48 KiB read between two pushes"
_PIPELINE = "from ring to sink, on one thread"
_OVER_FLOOR = _variant("torchtrace_over_floor")
_STAMPS = _variant("stamps_over_floor")
_FILTERED = _variant("filtered_over_floor")
_TO_THAPI = _ratio("torchtrace_to_thapi_style")
_TO_KINETO = _ratio("torchtrace_to_kineto")
_TO_TOKEN = _ratio("torchtrace_to_moodycamel_token")
_TO_TRACEPOINT = _ratio("lttng_to_bare_tracepoint")

_GOALS = (
    Goal("added over floor by an operator, hot", "hot_path", _ADD, _OVER_FLOOR, "≤ 10", "ns"),
    Goal("of that, reading the clock twice", "hot_path", _ADD, _STAMPS, "no goal,", "ns"),
    Goal("the same where it thrashes L1", "hot_path", _COLD_ADD, _OVER_FLOOR, "≤ 25", "ns"),
    Goal("filtered by name, over floor", "hot_path", _FILTERED_ADD, _FILTERED, "≤ 8", "ns"),
    Goal("sampled at 1 %, over none", "hot_path", _ADD, _variant("sampled"), "≤ 2", "ns"),
    Goal("other scope, over none", "hot_path", _ADD, _variant("other_scope"), "≤ 1", "ns"),
    Goal("paused, over none", "hot_path", _ADD, _variant("paused"), "≤ 1", "ns"),
    Goal("added, against THAPI's events", "hot_path", _ADD, _TO_THAPI, "≤ 0.35", "×"),
    Goal("the same in a Python loop", "overhead", _ADD, _TO_THAPI, "≤ 0.35", "×"),
    Goal("added in it, against Kineto", "overhead", _ADD, _TO_KINETO, "≤ 0.35", "×"),
    Goal("push, against moodycamel's", "ring", _PUSH, _TO_TOKEN, "≤ 1", "×"),
    Goal("the same, cold", "ring", _PUSH_COLD, _TO_TOKEN, "≤ 1", "×"),
    Goal("LTTng, against the tracepoint", "flush", _PIPELINE, _TO_TRACEPOINT, "≥ 0.7", "×"),
    Goal("CTF, against LTTng", "flush", _PIPELINE, _ratio("ctf_to_lttng"), "≥ 2", "×"),
    Goal("memory of 8 threads, of 32 MiB", "flush", "defaults", _ratio("of_32_MiB"), "≤ 1", "×"),
    Goal("start without PyTorch", "startup", _TRUE, _variant("torchtrace"), "≤ 200000", "ns"),
)


def table(results):
    """Each goal that these results tell of, with the figure of each case that it is about."""
    lines = ["| figure | bench | goal | measured |", "| --- | --- | --- | --- |"]
    for goal in _GOALS:
        figures = [
            f"{goal.read(case):.3g}" for case in _cases(results, goal) if _is_meant(case, goal)
        ]
        if figures:
            measured = ", ".join(figures)
            lines.append(
                f"| {goal.figure} | `{goal.bench}` | {goal.bound} {goal.unit} | {measured} |"
            )
    note = "Two figures are those of both PyTorch versions, in the order of the tables below."
    return "\n".join(["## Goals", "", *lines, "", note, ""])


def _cases(results, goal):
    return [
        case for result in results if result["bench"] == goal.bench for case in result["cases"]
    ]


def _is_meant(case, goal):
    return case["name"] == goal.case or case["name"].endswith(f", {goal.case}")
