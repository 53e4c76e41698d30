"""Every pytest case is a CTest test: one that is forgotten in a CMakeLists.txt would never run."""
import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
BUILD = os.environ["TORCHTRACE_BUILD_DIR"]


def collected():
    """All pytest cases, as PATH::NODE below tests/."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "."]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


def registered():
    """All pytest cases that CTest would run, as PATH::NODE below tests/."""
    command = ["ctest", "--test-dir", BUILD, "--show-only=json-v1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # A test of a program that is not built yet has no command.
    words = [word for test in json.loads(done.stdout)["tests"] for word in test.get("command", [])]
    prefix = f"{TESTS}/"
    return {word[len(prefix) :] for word in words if word.startswith(prefix) and "::" in word}


def test_every_case_is_registered():
    assert collected() == registered()
