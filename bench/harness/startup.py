"""What the preloaded agent adds to the start of a process, with PyTorch and without."""
import os
import random
import shutil
import subprocess
import tempfile
import time

from . import result, samples
from .build import BenchError, pythons


def measure(folder, effort):
    """The result of the bench; cases are commands, each by CPU time and by wall time."""
    rounds = effort.choose(10, 100, 1000)
    with tempfile.TemporaryDirectory(prefix="torchtrace-bench-") as scratch:
        all_libraries = _libraries(folder, scratch)
        few = {name: all_libraries[name] for name in ("none", "none_again", "torchtrace")}
        cases = _cases("/bin/true", ["/bin/true"], all_libraries, rounds)
        cases += _cases("python3 -c pass", ["/usr/bin/python3", "-c", "pass"], few, rounds // 5)
        for name, python in pythons().items():
            command = [python, "-c", "import torch"]
            imports = effort.choose(2, 2, 9)
            cases += _cases(f"{name}'s python3 -c 'import torch'", command, few, imports)
    method = {
        "rounds": f"{rounds} of /bin/true, fewer of what takes longer",
        "pairing": "variants in random order within each round; medians of the differences to the "
        "mean of the round's two measurements of none",
        "unit": "ns from posix_spawn to wait, and of CPU time of the process; none: absolute, all "
        "others: added to none",
    }
    return result.make("startup", method, cases)


def _libraries(folder, scratch):
    """What is preloaded in each variant; `none` is measured twice, which shows the noise."""
    stripped = os.path.join(scratch, "libtorchtrace.so")
    shutil.copy(folder.agent, stripped)
    subprocess.run(["strip", stripped], check=True)
    return {
        "none": None,
        "none_again": None,
        "empty_library": str(folder.programs / "libempty.so"),
        "torchtrace": str(folder.agent),
        "torchtrace_stripped": stripped,
    }


def _cases(name, command, libraries, rounds):
    cpu_times = {variant: [] for variant in libraries}
    wall_times = {variant: [] for variant in libraries}
    order = list(libraries)
    for _ in range(rounds):
        random.shuffle(order)
        for variant in order:
            cpu_ns, wall_ns = _run(command, libraries[variant])
            cpu_times[variant].append(cpu_ns)
            wall_times[variant].append(wall_ns)
    return [_case(f"{name}, CPU time", cpu_times), _case(f"{name}, wall time", wall_times)]


def _case(name, times):
    base = samples.means(times["none"], times["none_again"])
    noise = samples.differences(times["none"], times["none_again"])
    variants = {
        "none": samples.quartiles(base, "median_ns"),
        "noise": samples.quartiles(noise, "median_ns"),
    }
    for variant in times:
        if variant not in ("none", "none_again"):
            added = samples.differences(times[variant], base)
            variants[variant] = samples.quartiles(added, "median_ns")
    added_ns = variants["torchtrace"]["median_ns"]
    ratios = {"torchtrace_added_to_none": samples.ratio(added_ns, variants["none"]["median_ns"])}
    return {"name": name, "variants": variants, "ratios": ratios}


def _run(command, library):
    """CPU time and wall time in ns."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TORCHTRACE_")}
    if library:
        environment["LD_PRELOAD"] = library
    start_ns = time.perf_counter_ns()
    child = os.posix_spawn(command[0], command, environment)
    _, status, usage = os.wait4(child, 0)
    wall_ns = time.perf_counter_ns() - start_ns
    if status != 0:
        raise BenchError(f"{' '.join(command)} failed")
    return (usage.ru_utime + usage.ru_stime) * 1e9, wall_ns
