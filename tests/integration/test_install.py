"""The installed tree: complete, and independent of the source and build folders."""
import os
import subprocess

import pytest

from support import host, interpreters, paths

PROGRAM = """
import os, torch
torch.ones(2).add(1)
agent = {line.split()[-1] for line in open("/proc/self/maps") if "libtorchtrace.so" in line}
print(*agent)
"""


@pytest.fixture
def prefix(tmp_path):
    """The build, installed into a folder of its own."""
    folder = tmp_path / "prefix"
    subprocess.run(
        ["cmake", "--install", paths.BUILD, "--prefix", folder],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


def test_installed_files(prefix):
    installed = {path.relative_to(prefix) for path in prefix.rglob("*") if path.is_file()}
    names = {str(path) for path in installed if not path.is_relative_to("share")}
    library_folder = os.path.commonpath(sorted(names - {"bin/torchtrace"})).rstrip("/")
    assert names == {
        "bin/torchtrace",
        f"{library_folder}/libtorchtrace.so",
        f"{library_folder}/torchtrace/libtorchtrace-lttng.so",
    }
    shared = {str(path.relative_to("share")) for path in installed if path.is_relative_to("share")}
    documents = {path.name for path in (paths.SOURCE / "docs").glob("*.md")}
    examples = {path.name for path in (paths.SOURCE / "config/examples").iterdir()}
    assert shared == {
        "torchtrace/torchtrace.toml",
        *(f"torchtrace/examples/{name}" for name in examples),
        *(f"doc/torchtrace/{name}" for name in ("CHANGELOG.md", "LICENSE", "README.md")),
        *(f"doc/torchtrace/docs/{name}" for name in documents),
    }


def test_installed_command_traces_with_the_installed_agent(prefix, tmp_path):
    python = interpreters.find_interpreter("debian").python
    command = [prefix / "bin/torchtrace", "run", "--sink", "ctf", "-o", tmp_path / "trace"]
    done = host.run([*command, "--", python, "-c", PROGRAM], tmp_path / "work")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith(f"{prefix}/lib")
    assert "aten::add.Tensor" in done.stdout + done.stderr
