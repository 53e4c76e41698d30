"""The Pythons under test: Debian's, with its PyTorch 1.13, and a venv with a wheel."""
import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache

from .availability import unavailable

WHEEL_VARIABLE = "TORCHTRACE_TEST_WHEEL_PYTHON"


@dataclass(frozen=True)
class Interpreter:
    name: str  # "debian" or "wheel"
    python: str
    torch_version: str


@lru_cache(maxsize=None)
def _torch_version(python):
    """The version text of the interpreter's PyTorch; None where it has none. Does not import it."""
    code = "import importlib.metadata as m; print(m.version('torch'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _python(name):
    if name == "debian":
        return "/usr/bin/python3"
    python = os.environ.get(WHEEL_VARIABLE)
    if not python:
        unavailable(f"{WHEEL_VARIABLE} names no Python with a PyTorch wheel; tools/test makes one")
    return python


def find_interpreter(name):
    """The interpreter called name, or a skip (in CI a failure) that says what is missing."""
    python = _python(name)
    if not os.access(python, os.X_OK):
        unavailable(f"{python} cannot be run")
    version = _torch_version(python)
    if version is None:
        unavailable(f"{python} has no PyTorch")
    return Interpreter(name, python, version)
