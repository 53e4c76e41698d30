"""What an operator costs in Python: nothing registered, PyTorch's floor, torchtrace, others."""
import pathlib
import tempfile

from . import lttng, result, samples
from .build import BenchError, pythons, run_json

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "overhead" / "loops.py"
OTHERS = ("floor", "thapi_style", "kineto", "execution_trace_observer")


def measure(folder, effort):
    """The result of the bench; cases are PyTorch versions times loops."""
    if not lttng.available():
        raise BenchError("lttng-tools is not installed: the bench compares with THAPI's channel")
    rounds = effort.choose(2, 7, 41)
    library = folder.program("libtorchtrace_switch.so")
    cases = []
    for python in pythons().values():
        with tempfile.TemporaryDirectory(prefix="torchtrace-bench-") as scratch:
            with lttng.Session(scratch, lttng.THAPI) as session:
                environment = {"TORCHTRACE_OUTPUT_SINK": "none", **session.environment}
                measured = run_json(
                    *(python, PROGRAM, library, rounds), environment=environment, timeout=3600
                )
        if measured["dropped"] != 0:
            raise BenchError(f"{measured['dropped']} records were dropped: the figures say nothing")
        cases += [_case(measured["torch"], loop) for loop in measured["loops"]]
    method = {
        "rounds": rounds,
        "pairing": "variants in random order within each round; medians of the differences to the "
        "mean of the round's two measurements of none",
        "unit": "ns of the thread's CPU time per turn; none: absolute, all others: added to none",
        "kineto": "torch.profiler's collection alone, its work after the loop not counted; "
        "thapi_style: with a session, waiting for it not counted",
    }
    return result.make("overhead", method, cases)


def _case(torch, loop):
    times = loop["ns_per_turn"]
    base = samples.means(times["none"], times["none_again"])
    added = {
        "noise": samples.differences(times["none"], times["none_again"]),
        "floor": samples.differences(times["floor"], base),
        "torchtrace": samples.differences(times["torchtrace"], base),
        "torchtrace_over_floor": samples.differences(times["torchtrace"], times["floor"]),
    }
    for other in (name for name in OTHERS if name != "floor" and name in times):
        added[other] = samples.differences(times[other], base)
    variants = {"none": samples.quartiles(base, "median_ns")}
    variants.update({name: samples.quartiles(times, "median_ns") for name, times in added.items()})
    return {
        "name": f"PyTorch {torch}, {loop['name']}",
        "operators_per_turn": loop["operators_per_turn"],
        "variants": variants,
        "ratios": _ratios(variants),
    }


def _ratios(variants):
    """What torchtrace adds against what others do, and what of that is PyTorch's own."""
    ratios = {}
    for other in ("none", *(name for name in OTHERS if name in variants)):
        other_ns = variants[other]["median_ns"]
        for ours in ("torchtrace", "floor"):
            if ours != other:
                ratios[f"{ours}_to_{other}"] = samples.ratio(variants[ours]["median_ns"], other_ns)
    return ratios
