"""What the benches run: a release build with TORCHTRACE_BUILD_BENCH."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEEL_VARIABLE = "TORCHTRACE_TEST_WHEEL_PYTHON"


class BenchError(Exception):
    """A sentence for the user: what is missing or went wrong."""


class Folder:
    """Where the build left things."""

    def __init__(self, path):
        self.path = path
        self.programs = path / "bench"
        self.agent = path / "lib" / "libtorchtrace.so"
        self.provider = path / "lib" / "torchtrace" / "libtorchtrace-lttng.so"
        self.cli = path / "bin" / "torchtrace"

    def program(self, name):
        program = self.programs / name
        if not program.exists():
            raise BenchError(f"{program} has not been built")
        return program


def make(build):
    """Configures and builds what is not up to date; returns the folder."""
    folder = ROOT / build
    if not (folder / "CMakeCache.txt").exists():
        _run("cmake", "--preset", "release", "-B", str(folder))
    _run("cmake", "--build", str(folder), "--target", "torchtrace_bench")
    return Folder(folder)


def pythons():
    """Name and path of each Python whose PyTorch is measured: Debian's, and a wheel's if named."""
    found = {"debian": "/usr/bin/python3"}
    if os.environ.get(WHEEL_VARIABLE):
        found["wheel"] = os.environ[WHEEL_VARIABLE]
    return found


def _run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def run_json(*command, environment=None, timeout=600):
    """Runs a program of ours without any TORCHTRACE_ variable of the user's; returns its JSON."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TORCHTRACE_")}
    done = subprocess.run(
        [str(word) for word in command],
        env={**clean, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"{command[0]} failed: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)
