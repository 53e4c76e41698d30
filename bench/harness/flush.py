"""How many operators per second the flush thread takes from the rings and writes."""
import statistics
import tempfile

from . import lttng, result, samples
from .build import BenchError, run_json

RECORDS = 600_000


def measure(folder, quick):
    """The result of the bench; cases are the pipeline alone and the real thread."""
    if not lttng.available():
        raise BenchError("lttng-tools is not installed: the bench compares with LTTng")
    rounds = 7 if quick else 41
    with tempfile.TemporaryDirectory(prefix="torchtrace-bench-") as scratch:
        with lttng.Session(scratch) as session:
            environment = {**session.environment, "TORCHTRACE_BENCH_DIRECTORY": scratch}
            pipeline = _pipeline(folder, environment, rounds)
            discarded = session.discarded()
        if discarded != 0:
            raise BenchError(f"LTTng discarded {discarded} events: the figures say nothing")
        cases = [pipeline] + [
            _thread(folder, scratch, sink, 2 if quick else 9) for sink in ("none", "ctf")
        ]
    method = {
        "rounds": rounds,
        "pairing": "variants in random order, repeated; medians over the repetitions",
        "unit": "operators per second: of the thread's CPU time in the pipeline, of wall time with "
        "the real thread",
        "loss": "LTTng discarded 0 events in the pipeline, so each was written",
    }
    return result.make("flush", method, cases)


def _pipeline(folder, environment, rounds):
    measured = run_json(
        folder.program("flush_pipeline"),
        "--benchmark_format=json",
        f"--benchmark_repetitions={rounds}",
        "--benchmark_enable_random_interleaving=true",
        environment=environment,
    )
    rates = {}
    for run in measured["benchmarks"]:
        if run.get("error_occurred"):
            raise BenchError(f"flush_pipeline, {run['name']}: {run['error_message']}")
        if run["run_type"] == "iteration":
            name = run["run_name"].split("/")[0]
            rates.setdefault(name, []).append(run["items_per_second"])
    medians = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "name": "from ring to sink, on one thread",
        "variants": {name: samples.quartiles(rates[name], "per_second") for name in rates},
        "ratios": {
            "lttng_to_bare_tracepoint": samples.ratio(
                medians["lttng"], medians["bare_tracepoint"]
            ),
            "ctf_to_lttng": samples.ratio(medians["ctf"], medians["lttng"]),
        },
    }


def _thread(folder, scratch, sink, runs):
    """What the real thread takes without loss, then the loss at given shares of it."""
    environment = {
        "TORCHTRACE_OUTPUT_SINK": sink,
        "TORCHTRACE_OUTPUT_DIRECTORY": f"{scratch}/{sink}",
        "TORCHTRACE_OUTPUT_MAX_BYTES": "256MiB",
    }
    program = folder.program("flush_load")

    def run(*options):
        return run_json(program, "--records", RECORDS, *options, environment=environment)

    rates = [RECORDS / run()["seconds"] for _ in range(runs)]
    rate = statistics.median(rates)
    variants = {f"{sink}_no_loss": samples.quartiles(rates, "per_second")}
    ratios = {}
    for share in (0.5, 1):
        loaded = [run("--rate", int(rate * share)) for _ in range(runs)]
        lost = sum(one["dropped"] for one in loaded) / sum(one["records"] for one in loaded)
        ratios[f"lost_at_{share:.0%}_of_it"] = float(f"{lost:.3g}")
    return {"name": f"the real flush thread, sink {sink}", "variants": variants, "ratios": ratios}
