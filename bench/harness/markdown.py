"""Results as tables: on the terminal, and as docs/performance.md."""

from . import goals

_TITLES = {
    "ring": "Ring (`ring`)",
    "hot_path": "Cost of an operator in C++ (`hot_path`)",
    "startup": "Start of a process (`startup`)",
    "flush": "Flush thread (`flush`)",
    "scaling": "Many threads, many operators (`scaling`)",
    "analysis": "Reading a trace (`analysis`)",
    "overhead": "Cost in Python (`overhead`)",
}

_INTRODUCTION = """# Performance

Made by `bench/run --markdown docs/performance.md`; [bench/README.md](../bench/README.md) says what
each bench measures and how. Figures are medians with their quartiles [q25 .. q75] of paired,
interleaved rounds: on another machine the absolute figures differ, the ratios much less. *floor* is
an empty callback registered with PyTorch: what PyTorch itself takes for telling anybody at all
about its operators.
"""


def page(results):
    """The whole document."""
    return "\n".join([_INTRODUCTION, goals.table(results), *map(section, results)])


def section(result):
    """One bench: how it was measured, on what, and a table per unit."""
    lines = [
        f"## {_TITLES[result['bench']]}",
        "",
        f"    {result['command']}",
        "",
        f"Machine: {_machine(result['machine'])}.",
        *(f"{key.capitalize()}: {value}." for key, value in result["method"].items()),
        "",
    ]
    for cases in _alike(result["cases"]):
        lines += [*_table(cases), ""]
    return "\n".join(lines)


def _alike(cases):
    """Runs of cases with the same variants: each a table."""
    groups = []
    for case in cases:
        if groups and groups[-1][0]["variants"].keys() == case["variants"].keys():
            groups[-1].append(case)
        else:
            groups.append([case])
    return groups


def _table(cases):
    columns = list(cases[0]["variants"])
    lines = ["| | " + " | ".join(columns) + " | ratios |"]
    lines.append("| --- |" + " --- |" * (len(columns) + 1))
    for case in cases:
        cells = [_cell(case["variants"][column]) for column in columns]
        lines.append(f"| {case['name']} | " + " | ".join([*cells, _ratios(case["ratios"])]) + " |")
    return lines


def _machine(machine):
    kind = "virtual machine" if machine["virtual"] else "machine"
    load = ", ".join(map(str, machine["load"]))
    return (
        f"{machine['cpu']}, {kind} with {machine['cores']} CPUs, Linux {machine['kernel']}, clock "
        f"source {machine['clock_source']}, load averages {load} at the end"
    )


def _cell(variant):
    unit, show = next((unit, show) for unit, show in _UNITS.items() if unit in variant)
    return f"**{show(variant[unit])}** [{show(variant['q25'])} .. {show(variant['q75'])}]"


def _time(ns):
    for limit, unit, scale in ((1e4, "ns", 1), (1e7, "µs", 1e3), (1e10, "ms", 1e6)):
        if abs(ns) < limit:
            return f"{ns / scale:.4g} {unit}"
    return f"{ns / 1e9:.4g} s"


def _rate(per_second):
    return f"{per_second / 1e6:.3g} M/s"


def _size(size_bytes):
    return f"{size_bytes / (1 << 20):.3g} MiB"


_UNITS = {"median_ns": _time, "per_second": _rate, "bytes": _size}


def _ratios(ratios):
    return ", ".join(f"{name.replace('_', ' ')}: {value:.3g}" for name, value in ratios.items())
