"""Traces of a training run that never took place, with known answers."""
import json
import subprocess

from .paths import TEST_PROGRAMS, built


def make_trace(folder, *options, check=True):
    """Runs make_trace and returns what it says a reader has to find."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [built(TEST_PROGRAMS / "make_trace"), folder, *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=check, timeout=60)
    truth = json.loads(done.stdout) if done.stdout else {}
    return {**truth, "stderr": done.stderr}


def stream_file(folder):
    """The only stream file of the only trace in folder."""
    (path,) = folder.glob("*/stream-*")
    return path
