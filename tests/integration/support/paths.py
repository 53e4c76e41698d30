"""Where the build left what is tested: `build`, or what TORCHTRACE_BUILD_DIR says."""
import os
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("TORCHTRACE_BUILD_DIR", SOURCE / "build")).resolve()

AGENT = BUILD / "lib" / "libtorchtrace.so"
LTTNG_PROVIDER = BUILD / "lib" / "torchtrace" / "libtorchtrace-lttng.so"
CLI = BUILD / "bin" / "torchtrace"
TEST_LIBRARIES = BUILD / "tests" / "lib"
TEST_PROGRAMS = BUILD / "tests" / "bin"
PYTHON_PROGRAMS = Path(__file__).resolve().parents[1] / "programs"


def built(path):
    """Returns path, or stops with a sentence that says what is missing."""
    assert path.exists(), f"{path} is not built; build it, or set TORCHTRACE_BUILD_DIR"
    return path
