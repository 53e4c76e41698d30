"""How many operators per second the flush thread takes from the rings and writes."""
import statistics
import tempfile

from . import lttng, result, samples
from .build import BenchError, run_json

RECORDS = 600_000

#: Operators per second of one thread at which the loss is counted.
RATES = (500_000, 1_000_000, 2_000_000, 4_000_000)
PIPELINE = ("none", "ctf", "lttng", "bare_tracepoint")
SINKS = ("none", "ctf", "lttng")
QUICK_RATES = (1_000_000, 4_000_000)


def measure(folder, effort):
    """The result of the bench: the pipeline alone, the real thread, and memory."""
    if not lttng.available():
        raise BenchError("lttng-tools is not installed: the bench compares with LTTng")
    rounds = effort.choose(2, 7, 41)
    with tempfile.TemporaryDirectory(prefix="torchtrace-bench-") as scratch:
        with lttng.Session(scratch) as session:
            environment = {**session.environment, "TORCHTRACE_BENCH_DIRECTORY": scratch}
            pipeline = _pipeline(folder, environment, rounds)
            discarded = session.discarded()
        if discarded != 0 and effort.name != "smoke":
            raise BenchError(f"LTTng discarded {discarded} events: the figures say nothing")
        runs = effort.choose(2, 2, 9)
        rates = effort.choose(QUICK_RATES, QUICK_RATES, RATES)
        cases = [pipeline]
        cases += [_thread(folder, scratch, sink, runs, rates) for sink in SINKS]
        cases.append(_memory(folder, scratch, runs))
    method = {
        "rounds": rounds,
        "pairing": "variants in random order, repeated; medians over the repetitions",
        "unit": "operators per second: of the thread's CPU time in the pipeline and where so "
        "named, else of wall time; memory: bytes",
        "loss": "LTTng discarded 0 events in the pipeline, so each was written; lost: in a full "
        "ring or by LTTng, share of all",
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
        "variants": {name: samples.quartiles(rates[name], "per_second") for name in PIPELINE},
        "ratios": {
            "lttng_to_bare_tracepoint": samples.ratio(
                medians["lttng"], medians["bare_tracepoint"]
            ),
            "ctf_to_lttng": samples.ratio(medians["ctf"], medians["lttng"]),
        },
    }


def _thread(folder, scratch, sink, runs, rates):
    """What the real thread takes without loss, then the loss at given rates."""
    with _recording(scratch, sink) as recording:
        loads = [recording.load(folder) for _ in range(runs)]
        discarded = recording.discarded()
    ratios = {}
    if discarded:
        ratios["discarded_by_lttng"] = samples.ratio(discarded, RECORDS * runs)
    for rate in rates:
        with _recording(scratch, sink) as recording:
            loaded = [recording.load(folder, "--rate", rate) for _ in range(runs)]
            lost = sum(one["dropped"] for one in loaded) + recording.discarded()
        share = lost / sum(one["records"] for one in loaded)
        ratios[f"lost_at_{rate / 1e6:g}_M/s"] = float(f"{share:.3g}")
    wall_rates = [RECORDS / one["seconds"] for one in loads]
    cpu_rates = [RECORDS / one["flush_cpu_seconds"] for one in loads]
    variants = {
        f"{sink}_no_loss": samples.quartiles(wall_rates, "per_second"),
        f"{sink}_per_cpu_second": samples.quartiles(cpu_rates, "per_second"),
    }
    return {"name": f"the real flush thread, sink {sink}", "variants": variants, "ratios": ratios}


def _memory(folder, scratch, runs):
    """What the process grows by: rings, what is held back, the sink; while operators come."""
    threads, rate = 8, 1_000_000
    with _recording(scratch, "ctf") as recording:
        loads = [
            recording.load(folder, "--producers", threads, "--rate", rate) for _ in range(runs)
        ]
    added = [one["added_bytes"] for one in loads]
    return {
        "name": f"memory of {threads} threads with {rate // 10**6} M operators/s, defaults",
        "variants": {"added": samples.quartiles(added, "bytes")},
        "ratios": {"of_32_MiB": samples.ratio(statistics.median(added), 32 << 20)},
    }


class _recording:
    """Runs the load generator with one sink, within a session of its own if that is LTTng."""

    def __init__(self, scratch, sink):
        self._folder = tempfile.TemporaryDirectory(dir=scratch)
        self._session = lttng.Session(self._folder.name) if sink == "lttng" else None
        self._environment = {
            "TORCHTRACE_OUTPUT_SINK": sink,
            "TORCHTRACE_OUTPUT_DIRECTORY": f"{self._folder.name}/traces",
            "TORCHTRACE_OUTPUT_MAX_BYTES": "256MiB",
        }

    def __enter__(self):
        if self._session:
            self._session.__enter__()
            self._environment.update(self._session.environment)
        return self

    def load(self, folder, *options):
        """What one run of the load generator measured."""
        program = folder.program("flush_load")
        return run_json(program, "--records", RECORDS, *options, environment=self._environment)

    def discarded(self):
        """Events for which LTTng had no room."""
        return self._session.discarded() if self._session else 0

    def __exit__(self, *exception):
        if self._session:
            self._session.__exit__(*exception)
        self._folder.cleanup()
