"""What an operator costs in Python: nothing registered, PyTorch's floor, torchtrace."""
import pathlib
import statistics

from . import result, samples
from .build import BenchError, pythons, run_json

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "overhead" / "loops.py"


def measure(folder, quick):
    """The result of the bench; cases are PyTorch versions times loops."""
    rounds = 41 if quick else 201
    library = folder.program("libtorchtrace_switch.so")
    cases = []
    for python in pythons().values():
        measured = run_json(
            python, PROGRAM, library, rounds, environment={"TORCHTRACE_OUTPUT_SINK": "none"}
        )
        if measured["dropped"] != 0:
            raise BenchError(f"{measured['dropped']} records were dropped: the figures say nothing")
        cases += [_case(measured["torch"], loop) for loop in measured["loops"]]
    method = {
        "rounds": rounds,
        "pairing": "variants in random order within each round; medians of the differences to the "
        "mean of the round's two measurements of none",
        "unit": "ns of the thread's CPU time per turn; none: absolute, all others: added to none",
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
    variants = {"none": samples.quartiles(base, "median_ns")}
    variants.update({name: samples.quartiles(times, "median_ns") for name, times in added.items()})
    return {
        "name": f"PyTorch {torch}, {loop['name']}",
        "operators_per_turn": loop["operators_per_turn"],
        "variants": variants,
        "ratios": {
            "floor_to_none": _share(added["floor"], base),
            "torchtrace_to_none": _share(added["torchtrace"], base),
        },
    }


def _share(added, base):
    """Of the loop's own time."""
    return samples.ratio(statistics.median(added), statistics.median(base))
