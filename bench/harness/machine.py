"""The machine that the figures are from, and how busy it was."""
import os
import pathlib
import platform

_CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def state():
    """CPU, kernel, clock source and the load averages of the last 1, 5 and 15 minutes."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "clock_source": _read(_CLOCK_SOURCE),
        "virtual": "hypervisor" in _read("/proc/cpuinfo"),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def _read(path):
    try:
        return pathlib.Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return "unknown"


def _cpu():
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
