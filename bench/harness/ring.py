"""What a push into the ring costs, and taking records out of it, against other queues."""
from . import result, samples
from .build import BenchError, run_json

SETTINGS = {
    ("hot", 1): "push, 1 producer, drained by another CPU",
    ("hot", 2): "push, 2 producers, drained by another CPU",
    ("same_cpu", 1): "push, 1 producer, drained by the same CPU",
    ("cold", 1): "push, 1 producer, 48 KiB read between two pushes",
    ("cold", 2): "push, 2 producers, 48 KiB read between two pushes",
}
QUEUES = (
    "none",
    "array_store",
    "torchtrace",
    "moodycamel_token",
    "moodycamel_token_blocks_of_1024",
    "moodycamel_no_token",
    "readerwriterqueue",
    "mutex_deque",
)
DRAINED = {("hot", 1): "drain, 1 producer", ("hot", 2): "drain, 2 producers"}


def measure(folder, effort):
    """The result of the bench; cases are settings of push, then of drain."""
    rounds = effort.choose(2, 15, 61)
    runs = run_json(
        folder.program("ring_queues"),
        "--benchmark_format=json",
        f"--benchmark_repetitions={rounds}",
        "--benchmark_enable_random_interleaving=true",
    )["benchmarks"]
    cases = [_push_case(name, _times(runs, key, "push_ns")) for key, name in SETTINGS.items()]
    cases += [_drain_case(name, _times(runs, key, "drain_ns")) for key, name in DRAINED.items()]
    method = {
        "rounds": rounds,
        "pairing": "queues and settings in random order within each round; medians of the "
        "differences to the round's none",
        "unit": "ns of CPU time per record of 64 bytes; push: none is the loop without a queue, "
        "all others added to it; drain: absolute",
        "build": "-O3, all queues in one program; bursts of 8192 records (cold: 1024), each then "
        "drained by a thread of its own",
    }
    return result.make("ring", method, cases)


def _times(runs, key, figure):
    """{queue: values, in the order of the rounds} of one setting and number of producers."""
    values = {queue: [] for queue in QUEUES}
    for run in runs:
        setting, queue = run["run_name"].split("/")[:2]
        if run["run_type"] != "iteration" or (setting, run["threads"]) != key:
            continue
        if run.get("error_occurred"):
            raise BenchError(f"ring_queues, {run['name']}: {run['error_message']}")
        values[queue].append((run["repetition_index"], run[figure]))
    return {queue: [value for _, value in sorted(pairs)] for queue, pairs in values.items()}


def _push_case(name, times):
    base = times.pop("none")
    variants = {"none": samples.quartiles(base, "median_ns")}
    for queue, values in times.items():
        variants[queue] = samples.quartiles(samples.differences(values, base), "median_ns")
    return {"name": name, "variants": variants, "ratios": _ratios(variants)}


def _drain_case(name, times):
    del times["none"]
    variants = {queue: samples.quartiles(values, "median_ns") for queue, values in times.items()}
    return {"name": name, "variants": variants, "ratios": _ratios(variants)}


def _ratios(variants):
    others = ("moodycamel_token", "moodycamel_token_blocks_of_1024", "readerwriterqueue")
    return {
        f"torchtrace_to_{other}": samples.ratio(
            variants["torchtrace"]["median_ns"], variants[other]["median_ns"]
        )
        for other in others
    }
