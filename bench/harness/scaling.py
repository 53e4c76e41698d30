"""What an operator costs on many threads, and after many operators: it must not grow."""
import statistics

from . import result, samples
from .build import BenchError, pythons, run_json


def measure(folder, effort):
    """The result of the bench; cases are numbers of threads, then decades of operators."""
    rounds = effort.choose(2, 5, 25)
    operators = 10 ** effort.choose(4, 6, 8)  # with the first PyTorch; a tenth with others
    cases = []
    for name in pythons():
        measured = run_json(
            folder.program(f"scaling_{name}"),
            *("--rounds", rounds, "--operators", operators),
            environment={"TORCHTRACE_OUTPUT_SINK": "none"},
            timeout=3600,
        )
        if measured["dropped"] != 0:
            raise BenchError(f"{measured['dropped']} records were dropped: the figures say nothing")
        torch = f"PyTorch {measured['torch']}"
        cases += _thread_cases(torch, measured["threads"])
        cases += _operator_cases(torch, measured["operators"], operators)
        operators = min(operators, 10 ** effort.choose(4, 6, 7))
    method = {
        "rounds": rounds,
        "pairing": "threads: variants in random order within each round; operators: floor and "
        "torchtrace by turns, at least ten times in each decade; medians of the differences",
        "unit": "ns of CPU time of the threads per x.add_(y) on tensors of their own; none and all "
        "*_absolute: with the operator itself, all others: added to none",
        "sink": "none: rings are drained and ordered by the real flush thread, nothing is written",
    }
    return result.make("scaling", method, cases)


def _thread_cases(torch, measured):
    cases = []
    for one in measured:
        times = one["ns_per_operator"]
        base = samples.means(times["none"], times["none_again"])
        absolute_ns = statistics.median(times["torchtrace"])
        first_ns = statistics.median(measured[0]["ns_per_operator"]["torchtrace"])
        variants = {
            "none": base,
            "noise": samples.differences(times["none"], times["none_again"]),
            "floor": samples.differences(times["floor"], base),
            "torchtrace": samples.differences(times["torchtrace"], base),
            "torchtrace_over_floor": samples.differences(times["torchtrace"], times["floor"]),
            "torchtrace_absolute": times["torchtrace"],
        }
        ratios = {f"to_{measured[0]['threads']}_thread": samples.ratio(absolute_ns, first_ns)}
        threads = "1 thread" if one["threads"] == 1 else f"{one['threads']} threads"
        cases.append(_case(f"{torch}, {threads}", variants, ratios))
    return cases


def _operator_cases(torch, chunks, operators):
    cases, first_ns, begin = [], None, 0
    for power in range(4, len(str(operators))):
        end = 10**power
        decade = [chunk for chunk in chunks if begin <= chunk["recorded_before"] < end]
        floor = [chunk["floor"] for chunk in decade]
        torchtrace = [chunk["torchtrace"] for chunk in decade]
        first_ns = first_ns or statistics.median(torchtrace)
        variants = {
            "torchtrace_over_floor": samples.differences(torchtrace, floor),
            "torchtrace_absolute": torchtrace,
            "floor_absolute": floor,
        }
        ratios = {"to_first_10^4": samples.ratio(statistics.median(torchtrace), first_ns)}
        cases.append(_case(f"{torch}, up to 10^{power} operators", variants, ratios))
        begin = end
    return cases


def _case(name, times, ratios):
    variants = {key: samples.quartiles(values, "median_ns") for key, values in times.items()}
    return {"name": name, "variants": variants, "ratios": ratios}
