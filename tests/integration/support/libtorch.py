"""The C++ program that is linked to libtorch, built once for each libtorch under test."""
import pytest

from . import paths, scenario
from .availability import unavailable

every_torch = pytest.mark.parametrize("torch", ["debian", "wheel"])


def _sinks_and_torches(pairs):
    ids = [f"{sink}_{torch}" for sink, torch in pairs]
    return pytest.mark.parametrize("sink, torch", pairs, ids=ids)


every_sink_and_torch = _sinks_and_torches(
    [(sink, torch) for sink in ("ctf", "lttng") for torch in ("debian", "wheel")]
)
# Where the sink matters and each run is dear.
each_sink_and_each_torch = _sinks_and_torches([("ctf", "debian"), ("lttng", "wheel")])


def program(torch):
    """Path of the program; a skip (in CI a failure) where it could not be built."""
    path = paths.TEST_PROGRAMS / f"libtorch_program_{torch}"
    if not path.exists():
        unavailable(f"{path} is not built: CMake found no libtorch of that kind")
    return path


def trace_work(kind, count, sink, torch, tmp_path, exact=True, environment=None):
    """scenario.trace_program of `libtorch_program KIND COUNT`."""
    command = [program(torch), kind, count]
    return scenario.trace_program(command, sink, tmp_path, environment, exact)
