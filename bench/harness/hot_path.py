"""What an operator costs in C++: nothing registered, PyTorch's floor, torchtrace."""
import statistics

from . import result, samples
from .build import BenchError, pythons, run_json

SILENT = {"TORCHTRACE_OUTPUT_SINK": "none"}
WHOLE_RUN_WORKLOAD = "x.add_(y)"


def measure(folder, quick):
    """The result of the bench; cases are PyTorch versions times workloads."""
    rounds = 41 if quick else 301
    cases = []
    for name in pythons():
        program = folder.program(f"hot_path_{name}")
        measured = run_json(program, "--rounds", rounds, environment=SILENT)
        if measured["dropped"] != 0:
            raise BenchError(f"{measured['dropped']} records were dropped: the figures say nothing")
        cases += [_case(measured["torch"], workload) for workload in measured["workloads"]]
        cases.append(_whole_runs(folder, program, measured["torch"], runs=2 if quick else 15))
    method = {
        "rounds": rounds,
        "pairing": "variants in random order within each round; medians of the differences to the "
        "mean of the round's two measurements of none",
        "unit": "ns of the thread's CPU time per operator; none: absolute, all others: added to "
        "none",
        "sink": "none: rings are drained and ordered by the real flush thread, nothing is written",
    }
    return result.make("hot_path", method, cases)


def _case(torch, workload):
    times = {
        variant: [ns / workload["events_per_call"] for ns in per_call]
        for variant, per_call in workload["ns_per_call"].items()
    }
    base = samples.means(times["none"], times["none_again"])
    over_floor = samples.differences(times["torchtrace"], times["floor"])
    return {
        "name": f"PyTorch {torch}, {workload['name']}",
        "operators_per_call": workload["events_per_call"],
        "variants": {
            "none": samples.quartiles(base, "median_ns"),
            "noise": samples.quartiles(
                samples.differences(times["none"], times["none_again"]), "median_ns"
            ),
            "floor": samples.quartiles(samples.differences(times["floor"], base), "median_ns"),
            "torchtrace": samples.quartiles(
                samples.differences(times["torchtrace"], base), "median_ns"
            ),
            "torchtrace_over_floor": samples.quartiles(over_floor, "median_ns"),
        },
        "ratios": _ratios(times, base),
    }


def _ratios(times, base):
    added = {
        variant: statistics.median(samples.differences(times[variant], base))
        for variant in ("floor", "torchtrace")
    }
    return {"torchtrace_to_floor": samples.ratio(added["torchtrace"], added["floor"])}


def _whole_runs(folder, program, torch, runs):
    """The shipped library, preloaded, in processes of its own: has to agree with the switch."""
    variants = {
        "none": ((), {}),
        "floor": (("--variant", "floor"), SILENT),
        "torchtrace": ((), {**SILENT, "LD_PRELOAD": str(folder.agent)}),
        "torchtrace_by_switch": (("--variant", "torchtrace"), SILENT),
    }
    medians = {variant: [] for variant in variants}
    for _ in range(runs):
        for variant, (options, environment) in variants.items():
            measured = run_json(
                program,
                *("--left-alone", "--rounds", 21, "--only", WHOLE_RUN_WORKLOAD),
                *options,
                environment=environment,
            )
            times = measured["workloads"][0]["ns_per_call"]["left_alone"]
            medians[variant].append(statistics.median(times))
    floor = samples.differences(medians["floor"], medians["none"])
    torchtrace = samples.differences(medians["torchtrace"], medians["none"])
    by_switch = samples.differences(medians["torchtrace_by_switch"], medians["none"])
    over_floor = samples.differences(medians["torchtrace"], medians["floor"])
    return {
        "name": f"PyTorch {torch}, {WHOLE_RUN_WORKLOAD}, preloaded agent in whole processes",
        "operators_per_call": 1,
        "variants": {
            "none": samples.quartiles(medians["none"], "median_ns"),
            "floor": samples.quartiles(floor, "median_ns"),
            "torchtrace": samples.quartiles(torchtrace, "median_ns"),
            "torchtrace_over_floor": samples.quartiles(over_floor, "median_ns"),
            "torchtrace_by_switch": samples.quartiles(by_switch, "median_ns"),
        },
        "ratios": {
            "torchtrace_to_floor": samples.ratio(
                statistics.median(torchtrace), statistics.median(floor)
            )
        },
    }
