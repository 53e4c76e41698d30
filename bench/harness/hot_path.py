"""What an operator costs in C++: nothing registered, PyTorch's floor, torchtrace, others."""
import statistics
import tempfile

from . import lttng, result, samples
from .build import BenchError, pythons, run_json

SILENT = {"TORCHTRACE_OUTPUT_SINK": "none"}
WHOLE_RUN_WORKLOAD = "x.add_(y)"
COLD_WORKLOAD = "x.add_(y), 48 KiB each"

#: Those of bench/switch/variants.cpp, measured in one process.
VARIANTS = (
    "none",
    "floor",
    "stamps",
    "torchtrace",
    "other_scope",
    "sampled",
    "sampled_floor",
    "paused",
    "thapi_style",
)

#: THAPI registers for operators and their gradients only: nothing to be compared with.
UNKNOWN_TO_THAPI = "RECORD_USER_SCOPE"

#: All operators: what is left is their count, and their frames for those inside them.
FILTERED = "filters.exclude = *"

#: What a process decides once: measured in processes of their own, each against its own floor.
CONFIGURATIONS = {
    "buffer.policy = overwrite_oldest": {"TORCHTRACE_BUFFER_POLICY": "overwrite_oldest"},
    "buffer.policy = block": {"TORCHTRACE_BUFFER_POLICY": "block"},
    "clock.source = monotonic": {"TORCHTRACE_CLOCK_SOURCE": "monotonic"},
    FILTERED: {"TORCHTRACE_FILTERS_EXCLUDE": "*"},
}


def measure(folder, effort):
    """The result of the bench; cases are PyTorch versions times workloads."""
    if not lttng.available():
        raise BenchError("lttng-tools is not installed: the bench compares with THAPI's channel")
    rounds = effort.choose(2, 15, 201)
    cases = []
    for name in pythons():
        program = folder.program(f"hot_path_{name}")
        with tempfile.TemporaryDirectory(prefix="torchtrace-bench-") as scratch:
            with lttng.Session(scratch, lttng.THAPI) as session:
                environment = {**SILENT, **session.environment}
                measured = _run(program, rounds, VARIANTS, environment)
        cases += [_case(measured["torch"], workload) for workload in measured["workloads"]]
        for configuration, environment in CONFIGURATIONS.items():
            cases += _configured(program, rounds, configuration, {**SILENT, **environment})
        runs = effort.choose(2, 2, 9)
        cases.append(_whole_runs(folder, program, measured["torch"], runs))
    method = {
        "rounds": rounds,
        "pairing": "variants in random order within each round; medians of the differences to the "
        "mean of the round's two measurements of none",
        "unit": "ns of the thread's CPU time per operator; none: absolute, all others: added to "
        "none",
        "sink": "none: rings are drained and ordered by the real flush thread, nothing is written; "
        "thapi_style: a session with THAPI's channel records, waiting for it is not counted",
    }
    return result.make("hot_path", method, cases)


def _run(program, rounds, variants, environment, only=()):
    chosen = [word for name in only for word in ("--only", name)]
    measured = run_json(
        *(program, "--rounds", rounds, "--variants", ",".join(variants), *chosen),
        environment=environment,
    )
    if measured["dropped"] != 0:
        raise BenchError(f"{measured['dropped']} records were dropped: the figures say nothing")
    return measured


def _configured(program, rounds, configuration, environment):
    workloads = (WHOLE_RUN_WORKLOAD, COLD_WORKLOAD)
    variants = ("none", "floor", "torchtrace")
    measured = _run(program, rounds, variants, environment, only=workloads)
    cases = [_case(measured["torch"], workload) for workload in measured["workloads"]]
    if configuration == FILTERED:
        cases = [_named_filtered(case) for case in cases]
    return [{**case, "name": f"{case['name']}, {configuration}"} for case in cases]


def _named_filtered(case):
    """The case with the variant called by what it then does."""
    return {
        **case,
        **{
            part: {name.replace("torchtrace", "filtered"): of for name, of in case[part].items()}
            for part in ("variants", "ratios")
        },
    }


def _case(torch, workload):
    times = {
        variant: [ns / workload["events_per_call"] for ns in per_call]
        for variant, per_call in workload["ns_per_call"].items()
    }
    if workload["name"] == UNKNOWN_TO_THAPI:
        times.pop("thapi_style", None)
    again = times.pop("none_again")
    first = times.pop("none")
    base = samples.means(first, again)
    variants = {
        "none": samples.quartiles(base, "median_ns"),
        "noise": samples.quartiles(samples.differences(first, again), "median_ns"),
    }
    for variant in (name for name in VARIANTS if name in times):
        added = samples.differences(times[variant], base)
        variants[variant] = samples.quartiles(added, "median_ns")
    for low in (name for name in ("floor", "stamps") if name in times):
        over = samples.differences(times["torchtrace"], times[low])
        variants[f"torchtrace_over_{low}"] = samples.quartiles(over, "median_ns")
    if "stamps" in times:
        over = samples.differences(times["stamps"], times["floor"])
        variants["stamps_over_floor"] = samples.quartiles(over, "median_ns")
    return {
        "name": f"PyTorch {torch}, {workload['name']}",
        "operators_per_call": workload["events_per_call"],
        "variants": variants,
        "ratios": _ratios(variants),
    }


def _ratios(variants):
    added_ns = variants["torchtrace"]["median_ns"]
    return {
        f"torchtrace_to_{other}": samples.ratio(added_ns, variants[other]["median_ns"])
        for other in ("floor", "thapi_style")
        if other in variants
    }


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
