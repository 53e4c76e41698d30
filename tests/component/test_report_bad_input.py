"""What `torchtrace report` and `print` say of what they cannot read: one sentence and exit code 1,
or all that can be read and a note on the rest."""
import os
import shutil
import subprocess

import pytest

from support import cli, paths, synthetic, trace

COMMANDS = ["report", "print"]
PACKET = 4096


def assert_refused(command, directory, *parts):
    """One sentence with all parts on stderr, nothing on stdout, exit code 1."""
    done = cli.torchtrace(command, directory)
    assert done.returncode == 1, (done.stdout[-500:], done.stderr)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


@pytest.fixture
def good(tmp_path):
    """A folder with one trace of 2000 operators."""
    folder = tmp_path / "good"
    synthetic.make_trace(folder, "--operators", 2000)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_no_trace_is_one_sentence(tmp_path, command):
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("no trace\n", encoding="utf-8")
    assert_refused(command, tmp_path / "missing", "missing", "no such directory")
    assert_refused(command, tmp_path / "empty", "empty", "it is empty")
    assert_refused(command, tmp_path / "other", "other", "no file 'metadata'")
    assert_refused(command, tmp_path / "other" / "file", "not a directory")


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_metadata_is_one_sentence(good, command):
    (metadata,) = good.glob("*/metadata")
    whole = metadata.read_bytes()
    for content, words in [
        (b"", "its metadata is empty"),
        (whole[: len(whole) // 2], "its metadata is damaged or cut off"),
        (b"\x00\xff" * 300, "its metadata is damaged or cut off"),
    ]:
        metadata.write_bytes(content)
        assert_refused(command, good, str(metadata.parent), words)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_trace_without_packets_is_one_sentence(good, command):
    stream = synthetic.stream_file(good)
    stream.write_bytes(stream.read_bytes()[:100])
    assert_refused(command, good, str(stream), "not even its first packet")
    stream.write_bytes(b"")
    assert_refused(command, good, "holds no event of torchtrace")
    stream.unlink()
    assert_refused(command, good, "holds no event of torchtrace")


def test_a_cut_stream_is_read_up_to_its_last_whole_packet(good):
    """Cut anywhere: what is read is a beginning of the whole, and a note says where it ends."""
    whole = trace.read(good).only_process.operators
    stream = synthetic.stream_file(good)
    content = stream.read_bytes()
    for size in range(len(content) - 1, PACKET, -len(content) // 23):
        stream.write_bytes(content[:size])
        result = cli.report(good)
        notes = " ".join(result["notes"])
        assert f"of {size}: what follows is left out" in notes
        assert "left no receipt" in notes
        written = result["receipt"]["written"]
        assert 0 < written <= len(whole)
        done = cli.torchtrace("print", good)
        assert done.returncode == 0
        lines = [line for line in done.stdout.splitlines() if line.startswith(("op ", "op_end "))]
        ids = [f"op_id={operator.op_id} " for operator in whole[:written]]
        assert len(lines) == written
        assert all(op_id in line for op_id, line in zip(ids, lines))


def test_a_damaged_packet_header_ends_the_stream_there(good):
    stream = synthetic.stream_file(good)
    content = bytearray(stream.read_bytes())
    signature = bytes(content[:20])
    damaged = content.index(signature, len(content) // 2)
    before = content.rindex(signature, 0, damaged)
    content[damaged : damaged + 4] = b"\0\0\0\0"
    stream.write_bytes(content)
    result = cli.report(good)
    assert 0 < result["receipt"]["written"] < 2000
    assert any(f"damaged after byte {before} of" in note for note in result["notes"])


def test_one_bad_trace_leaves_the_others(good):
    shutil.copytree(good, good / "bad")
    (metadata,) = good.glob("bad/*/metadata")
    metadata.write_bytes(b"nothing")
    done = cli.torchtrace("report", good)
    assert done.returncode == 0
    assert f"cannot read the trace '{metadata.parent}'" in done.stdout
    assert cli.report(good)["receipt"]["started"] == 2000


def as_nobody(command, directory):
    """Runs torchtrace as a user who owns nothing. None where that is not possible."""
    if os.geteuid() != 0:
        return subprocess.run(
            [paths.CLI, command, directory], capture_output=True, text=True, check=False
        )
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return subprocess.run(
        [*nobody, paths.CLI, command, directory], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_what_may_not_be_read_is_one_sentence(good, command):
    for folder in [good, *good.parents]:
        if folder.owner() != "root" or folder.stat().st_mode & 0o001:
            continue
        folder.chmod(folder.stat().st_mode | 0o055)
    (metadata,) = good.glob("*/metadata")
    for forbidden in (good, metadata.parent, metadata, synthetic.stream_file(good)):
        for path in (good, metadata.parent):
            path.chmod(0o755)
        for path in metadata.parent.iterdir():
            path.chmod(0o644)
        forbidden.chmod(0o000)
        done = as_nobody(command, good)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.count("\n") == 1 and "Permission denied" in done.stderr, done.stderr
    good.chmod(0o755)


def test_wrong_usage_is_two(good):
    for arguments in (
        ["report"],
        ["print"],
        ["report", good, "--sort", "colour"],
        ["report", good, "--top", "many"],
        ["report", good, "--unknown"],
    ):
        done = cli.torchtrace(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == "" and done.stderr != ""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_no_success(good, command):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [paths.CLI, command, good], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "cannot write" in done.stderr and done.stderr.count("\n") == 1
