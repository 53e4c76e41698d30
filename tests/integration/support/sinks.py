"""The two ways in which a trace is written, behind one interface for tests.

    with sinks.open_sink("lttng", tmp_path) as sink:
        host.run(command, cwd, sink.environment)
        trace = sink.read()
"""
from contextlib import contextmanager
from pathlib import Path

from . import host, lttng, paths, trace


class CtfSink:
    """The agent writes the trace by itself."""

    name = "ctf"

    def __init__(self, folder):
        self.folder = Path(folder)
        self.environment = host.agent_environment(output_sink="ctf", output_directory=self.folder)

    def read(self, may_be_empty=False):
        return trace.read(self.folder, may_be_empty)


class LttngSink:
    """The agent's events go to an LTTng session."""

    name = "lttng"

    def __init__(self, session, daemon):
        self._session = session
        self.folder = session.output
        self.environment = {**host.agent_environment(output_sink="lttng"), **daemon.environment}

    def read(self, may_be_empty=False):
        self._session.stop()
        return trace.read(self.folder, may_be_empty)


def _warm_up(daemon, scratch):
    """Registers a process that emits nothing and waits until the session records it. The first
    one makes the daemon start its consumer and allocate the buffers, which takes longer on a busy
    machine than a short program lives."""
    command = [paths.built(paths.TEST_PROGRAMS / "lttng_host"), paths.built(paths.LTTNG_PROVIDER)]
    done = host.run(command, Path(scratch) / "warm-up", daemon.environment, stdin="wait 20\n")
    assert done.returncode == 0 and '"records": true' in done.stdout, done


@contextmanager
def open_sink(name, scratch, contexts=()):
    """A sink called "ctf" or "lttng" whose trace lies below scratch."""
    folder = Path(scratch) / f"trace-{name}"
    if name == "ctf":
        yield CtfSink(folder)
        return
    daemon = lttng.private_daemon(scratch)
    daemon.ensure_running()
    try:
        with lttng.Session(daemon, folder, contexts) as session:
            _warm_up(daemon, scratch)
            yield LttngSink(session, daemon)
    finally:
        daemon.stop()
