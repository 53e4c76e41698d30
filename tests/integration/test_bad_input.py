"""The command line given what it cannot use: one clear sentence and the right exit code."""
import json
import shutil

import pytest

from support import host, sinks
from support.cli import report, torchtrace
from support.host import program

FAILED, USAGE = 1, 2


def check_sentence(done, exit_code, *named):
    """One line on stderr that names what is wrong, nothing on stdout, and the exit code."""
    assert done.returncode == exit_code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert all(str(word) in lines[0] for word in named), done.stderr


def test_unknown_command():
    done = torchtrace("frobnicate")
    assert done.returncode == USAGE and done.stdout == ""
    assert "frobnicate" in done.stderr


def test_no_command():
    assert torchtrace().returncode == USAGE


@pytest.mark.parametrize("command", ["report", "print"])
def test_missing_folder(command, tmp_path):
    missing = tmp_path / "nowhere"
    check_sentence(torchtrace(command, missing), FAILED, missing)


@pytest.mark.parametrize("command", ["report", "print"])
def test_empty_folder(command, tmp_path):
    check_sentence(torchtrace(command, tmp_path), FAILED, tmp_path)


@pytest.mark.parametrize("command", ["report", "print"])
def test_not_a_trace(command, tmp_path):
    (tmp_path / "metadata").write_text("no metadata of any trace\n", encoding="utf-8")
    (tmp_path / "stream").write_bytes(b"\0" * 100)
    check_sentence(torchtrace(command, tmp_path), FAILED, tmp_path)


@pytest.mark.parametrize("command", ["report", "print"])
def test_a_file_instead_of_a_folder(command, tmp_path):
    file = tmp_path / "model.py"
    file.write_text("print(1)\n", encoding="utf-8")
    check_sentence(torchtrace(command, file), FAILED, file)


@pytest.fixture
def real_trace(tmp_path):
    """Folder of a CTF trace of a real program."""
    with sinks.open_sink("ctf", tmp_path) as sink:
        command = program("known_loop", "exit", 5000, python="/usr/bin/python3")
        assert host.run(command, tmp_path / "cwd", sink.environment).returncode == 0
        sink.read()
        yield sink.folder


def stream_of(folder):
    """The largest file of a trace: where its events are."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "metadata"]
    return max(files, key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("keep", [0.999, 0.5, 0.01])
def test_truncated_trace(keep, real_trace):
    """Cut anywhere, as by a full disk or a copy that broke off: what is whole is reported, or one
    sentence says that nothing is."""
    stream = stream_of(real_trace)
    with stream.open("r+b") as file:
        file.truncate(int(stream.stat().st_size * keep))
    done = torchtrace("report", real_trace, "--json")
    if done.returncode == 0:
        assert json.loads(done.stdout)["notes"], "that the trace is cut short is said"
    else:
        check_sentence(done, FAILED, real_trace)


def test_metadata_alone(real_trace):
    for path in list(real_trace.rglob("*")):
        if path.is_file() and path.name != "metadata":
            path.unlink()
    check_sentence(torchtrace("report", real_trace), FAILED, real_trace)


def test_stream_without_metadata(real_trace):
    for path in list(real_trace.rglob("metadata")):
        path.unlink()
    check_sentence(torchtrace("report", real_trace), FAILED, real_trace)


def test_moved_trace(real_trace, tmp_path):
    """A trace can be copied to another folder, or another machine, and reads the same."""
    (inner,) = [path for path in real_trace.iterdir() if path.is_dir()]
    shutil.copytree(inner, tmp_path / "elsewhere" / inner.name)
    here, there = report(real_trace), report(tmp_path / "elsewhere")
    for part in ("receipt", "operators"):
        assert here[part] == there[part]
