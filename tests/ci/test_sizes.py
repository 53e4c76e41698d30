"""tools/ci/check_sizes: that each limit is one."""

import pathlib
import subprocess
import sys

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools/ci/check_sizes"


def check(path, text):
    path.write_text(text)
    return subprocess.run(
        [sys.executable, CHECK, path], capture_output=True, text=True, check=False
    )


def python_function(lines):
    return "def f():\n" + "    pass\n" * (lines - 1)


def shell_function(lines):
    return "#!/bin/sh\nf() {\n" + "  :\n" * (lines - 2) + "}\n"


WITHIN = [
    ("a.cpp", "int a;\n" * 400),
    ("b.cpp", "//" + "a" * 98 + "\n"),
    ("a.py", python_function(60)),
    ("a.sh", shell_function(60)),
    ("a.md", "long prose is not code " * 100),
]


def test_what_is_within_the_limits_passes(tmp_path):
    for name, text in WITHIN:
        done = check(tmp_path / name, text)
        assert (name, done.returncode, done.stdout) == (name, 0, "")


BEYOND = [
    ("a.cpp", "int a;\n" * 401, "401 lines, the limit is 400"),
    ("a.h", "//" + "a" * 99 + "\n", "101 characters, the limit is 100"),
    ("a.py", python_function(61), "f has 61 lines, the limit is 60"),
    ("a.sh", shell_function(61), "f has 61 lines, the limit is 60"),
    ("a", shell_function(61), "f has 61 lines, the limit is 60"),
]


def test_what_is_beyond_a_limit_is_named(tmp_path):
    for name, text, said in BEYOND:
        done = check(tmp_path / name, text)
        assert done.returncode == 1
        assert said in done.stdout
