"""The interposed dlopen: programs that load libraries in unusual ways must not notice it."""
import re
import subprocess

from support import host, paths

OPENER = paths.TEST_PROGRAMS / "loader_opener"
BY_BARE_NAME = paths.TEST_LIBRARIES / "libtorchtrace_test_by_bare_name.so"
FRONT = paths.TEST_LIBRARIES / "libtorchtrace_test_front.so"


def open_library(library, folder, environment=None):
    command = [paths.built(OPENER), paths.built(library)]
    return host.run(command, folder, environment)


def test_bare_name_is_found_by_the_callers_runpath(tmp_path):
    plain = open_library(BY_BARE_NAME, tmp_path)
    assert (plain.returncode, plain.stdout) == (0, "42\n"), "the test's own premise"
    traced = open_library(BY_BARE_NAME, tmp_path, host.agent_environment())
    assert (traced.returncode, traced.stdout, traced.stderr) == (0, "42\n", "")


def first_constructors():
    """Order in which the loader runs the constructors below FRONT, as it says itself."""
    environment = {**host.clean_environment(), "LD_DEBUG": "files"}
    command = [str(OPENER), str(FRONT)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return re.findall(r"calling init: \S*/lib(torchtrace_test_early|torch_cpu)\.so", done.stderr)


def test_registers_after_the_outermost_dlopen(tmp_path):
    plain = open_library(FRONT, tmp_path)
    assert (plain.returncode, plain.stdout) == (0, "0\n"), "nobody registers"
    premise = "the nested dlopen happens before libtorch_cpu's constructors ran"
    assert first_constructors() == ["torchtrace_test_early", "torch_cpu"], premise
    traced = open_library(FRONT, tmp_path, host.agent_environment())
    assert traced.returncode == 0 and traced.stdout == "1\n", traced
