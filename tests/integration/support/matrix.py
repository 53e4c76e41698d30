"""Decorators that run a test for each sink and interpreter; the ids are part of the CTest names."""
import pytest

every_sink = pytest.mark.parametrize("sink", ["ctf", "lttng"])
every_interpreter = pytest.mark.parametrize("interpreter", ["debian", "wheel"], indirect=True)


def every_sink_and_interpreter(test):
    """Ids: ctf_debian, ctf_wheel, lttng_debian, lttng_wheel."""
    pairs = [(sink, name) for sink in ("ctf", "lttng") for name in ("debian", "wheel")]
    ids = [f"{sink}_{name}" for sink, name in pairs]
    mark = pytest.mark.parametrize("sink, interpreter", pairs, indirect=["interpreter"], ids=ids)
    return mark(test)
