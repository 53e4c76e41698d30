"""How long torchtrace report takes for a million operators."""
import random
import subprocess
import tempfile
import time

from . import result, samples
from .build import BenchError


def measure(folder, effort):
    """The result of the bench: report, against babeltrace2 reading every event into nothing."""
    operators = effort.choose(10**5, 10**6, 10**6)
    rounds = effort.choose(2, 3, 11)
    with tempfile.TemporaryDirectory(prefix="torchtrace-bench-") as scratch:
        make = folder.path / "tests" / "bin" / "make_trace"
        _run([make, scratch, "--operators", str(operators)])
        commands = {
            "report": [folder.cli, "report", scratch],
            "report_json": [folder.cli, "report", scratch, "--json"],
            "bt2_dummy": ["babeltrace2", scratch, "--component=sink.utils.dummy"],
        }
        times = {name: [] for name in commands}
        order = list(commands)
        for _ in range(rounds):
            random.shuffle(order)
            for name in order:
                times[name].append(_run(commands[name]))
    variants = {name: samples.quartiles(values, "median_ns") for name, values in times.items()}
    ratios = {
        "report_to_bt2_dummy": samples.ratio(
            variants["report"]["median_ns"], variants["bt2_dummy"]["median_ns"]
        )
    }
    method = {
        "rounds": rounds,
        "pairing": "commands in random order within each round",
        "unit": "ns of wall time per run",
        "trace": f"{operators} operators of a made-up training run, built-in CTF sink",
    }
    case = {"name": f"{operators} operators", "variants": variants, "ratios": ratios}
    return result.make("analysis", method, [case])


def _run(command):
    start_ns = time.perf_counter_ns()
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    elapsed_ns = time.perf_counter_ns() - start_ns
    if done.returncode != 0:
        raise BenchError(f"{command[0]} failed: {done.stderr.strip()[-1000:]}")
    return elapsed_ns
