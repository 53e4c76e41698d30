"""A process that runs no operator of PyTorch must not notice the agent at all."""
import json
import re
import shutil
import subprocess
from collections import Counter

import pytest

from support import host, paths
from support.availability import unavailable

# Prints everything that the agent could have added to a process, apart from itself.
SELF_PORTRAIT = """
import glob, json, os
with open("/proc/self/maps") as maps:
    files = sorted({line.split()[5] for line in maps if len(line.split()) > 5 and "/" in line})
tasks = os.listdir("/proc/self/task")
threads = [open(f"/proc/self/task/{task}/comm").read().strip() for task in tasks]
print(json.dumps({
    "files": [file for file in files if not file.endswith("/libtorchtrace.so")],
    "has agent": any(file.endswith("/libtorchtrace.so") for file in files),
    "threads": sorted(threads),
    "descriptors": len(os.listdir("/proc/self/fd")),
    "environment": sorted(os.environ),
    "working folder": os.listdir("."),
    "shared memory": glob.glob(f"/dev/shm/torchtrace-*/{os.getpid()}-*"),
}))
"""


def portrait(python, preamble, folder, environment=None):
    command = [python, "-c", preamble + SELF_PORTRAIT]
    run = host.run(command, folder, environment)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return json.loads(run.stdout)


def check_same_portrait(python, preamble, tmp_path):
    plain = portrait(python, preamble, tmp_path / "plain", {"LD_PRELOAD": ""})
    with_agent = portrait(python, preamble, tmp_path / "with", host.agent_environment())
    assert with_agent.pop("has agent") and not plain.pop("has agent")
    # Set before anybody can look: without it a stopped session daemon holds the loader's lock.
    with_agent["environment"].remove("LTTNG_UST_REGISTER_TIMEOUT")
    assert with_agent == plain
    assert with_agent["shared memory"] == []


def test_python_without_torch(tmp_path):
    check_same_portrait("/usr/bin/python3", "", tmp_path)


@pytest.mark.parametrize("interpreter", ["debian", "wheel"], indirect=True)
def test_torch_imported_but_not_used(interpreter, tmp_path):
    check_same_portrait(interpreter.python, "import torch\n", tmp_path)


def system_calls(command, folder, environment):
    """{system call: how often}, of what a program could notice: files, threads, output."""
    if shutil.which("strace") is None:
        unavailable("strace is not installed")
    folder.mkdir()
    log = folder / "strace.log"
    watched = "trace=open,openat,clone,clone3,fork,vfork,write,socket,connect,unlink"
    preload = [f"-E{name}={value}" for name, value in environment.items()]
    strace = ["strace", "-f", "-o", str(log), "-e", watched, *preload, *command]
    done = subprocess.run(strace, capture_output=True, text=True, check=False, cwd=folder)
    if not log.exists() or "ptrace" in done.stderr:
        unavailable(f"strace cannot trace here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    calls = re.findall(r"^\d+ +(\w+\(.*)", log.read_text(encoding="utf-8"), re.MULTILINE)
    return Counter(calls)


def test_bin_true_opens_the_agent_and_nothing_else(tmp_path):
    plain = system_calls(["/bin/true"], tmp_path / "plain", {})
    traced = system_calls(["/bin/true"], tmp_path / "with", host.agent_environment())
    assert plain, "strace saw nothing"
    (added,) = (traced - plain).elements()
    assert added.startswith("openat(") and str(paths.AGENT) in added
