"""The two ways in which a trace is written, behind one interface for tests.

    with sinks.open_sink("lttng", tmp_path) as sink:
        host.run(command, cwd, sink.environment)
        trace = sink.read()
"""
from contextlib import contextmanager
from pathlib import Path

from . import host, lttng, trace


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
            yield LttngSink(session, daemon)
    finally:
        daemon.stop()
