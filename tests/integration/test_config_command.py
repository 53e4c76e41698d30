"""`torchtrace config`: what it prints, where, and its exit code."""
import os
import pathlib
import re

from support.cli import torchtrace

BARE = {"PATH": os.environ["PATH"]}


def config(*arguments, cwd=None, **variables):
    return torchtrace("config", *arguments, cwd=cwd, environment={**BARE, **variables})


def test_init_writes_a_file_once(tmp_path):
    target = tmp_path / "torchtrace.toml"
    done = config("init", target)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert target.read_text() == config("init").stdout

    target.write_text("mine")
    refused = config("init", target)
    assert refused.returncode == 1
    assert refused.stderr == (
        f"torchtrace config: {target} exists already; --force overwrites it\n"
    )
    assert target.read_text() == "mine"

    assert config("init", "--force", target).returncode == 0
    assert target.read_text().startswith("# Options of torchtrace")


def test_init_says_that_it_cannot_write(tmp_path):
    missing = config("init", tmp_path / "nowhere" / "a.toml")
    assert missing.returncode == 1
    assert "nowhere/a.toml: No such file or directory" in missing.stderr

    full = config("init", "--force", "/dev/full")
    assert full.returncode == 1
    assert full.stderr == "torchtrace config: cannot write /dev/full: No space left on device\n"


def test_init_writes_the_shipped_files():
    root = pathlib.Path(__file__).resolve().parents[2]
    assert config("init").stdout == (root / "config/torchtrace.toml").read_text()
    assert config("init", "--markdown").stdout == (root / "docs/configuration.md").read_text()


def test_check_says_what_is_recorded_and_where(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text('[output]\nsink = "ctf"\ndirectory = "/tmp/x"\nwhen_full = "stop"\n')
    done = config("check", file)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"Valid: {file}.\n")
    assert "kinds: function, backward_function, user_scope." in done.stdout
    assert "CTF files in /tmp/x, at most 2GiB; then writing stops." in done.stdout

    off = config("check", TORCHTRACE_OUTPUT_SINK="off")
    assert off.returncode == 0
    assert "defaults and the environment (TORCHTRACE_CONFIG is not set)" in off.stdout
    assert "nothing is recorded" in off.stdout


def test_check_lists_every_problem(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text('[output]\nholdd = "1s"\nperiod = "1h"\n')
    expected = (
        f"error: {file}:2: output.holdd is not an option; did you mean output.hold?\n"
        f'error: {file}:3: output.period = "1h": above the maximum of 1s\n'
    )
    done = config("check", file)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)

    by_variable = config("check", TORCHTRACE_CONFIG=str(file), TORCHTRACE_BUFFER_SIZE="3MiB")
    assert by_variable.returncode == 2
    assert by_variable.stderr == expected + (
        'error: environment: TORCHTRACE_BUFFER_SIZE = "3MiB": not a power of two; '
        "the nearest are 2MiB and 4MiB\n"
    )


def test_check_of_a_file_ignores_the_environment(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("")
    assert config("check", file, TORCHTRACE_BUFFER_SIZE="3MiB").returncode == 0


def test_check_needs_a_file_that_can_be_read(tmp_path):
    done = config("check", tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"error: cannot read {tmp_path}: it is a directory, not a file\n"


def test_show_gives_each_value_with_its_origin(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text('[output]\nperiod = "20ms"\n\nhold = "1s"\n')
    done = config("show", TORCHTRACE_CONFIG=str(file), TORCHTRACE_OUTPUT_HOLD="2000ms")
    assert done.returncode == 0, done.stderr
    shown = {}
    for line in done.stdout.splitlines()[:-1]:
        setting, origin = line.split("  # ")
        name, value = setting.split(" = ")
        shown[name] = (value.strip(), origin)
    assert shown["output.period"] == ('"20ms"', f"{file}:2")
    assert shown["output.hold"] == ('"2s"', "TORCHTRACE_OUTPUT_HOLD")
    assert shown["output.directory"] == ('""', "default")
    sample = config("init").stdout
    assert len(shown) == len(re.findall(r"^#\w+ = ", sample, re.MULTILINE)) > 10


def test_show_prints_a_file_with_the_same_meaning(tmp_path):
    first = config("show", TORCHTRACE_FILTERS_SCOPES="user_scope", TORCHTRACE_OUTPUT_SINK="ctf")
    again = tmp_path / "again.toml"
    again.write_text(first.stdout)
    second = config("show", again)
    assert second.returncode == 0, second.stderr
    assert second.stdout.splitlines()[-1] == first.stdout.splitlines()[-1]
    assert first.stdout.splitlines()[-1].startswith("# digest ")


def test_notes_do_not_fail():
    done = config("show", TORCHTRACE_OUTPT_SINK="ctf")
    assert done.returncode == 0
    assert done.stderr == (
        "note: environment: TORCHTRACE_OUTPT_SINK is ignored: it names no option; "
        "did you mean TORCHTRACE_OUTPUT_SINK?\n"
    )


def test_usage_errors():
    for arguments in ([], ["forget"], ["check", "a", "b"], ["init", "--frce"]):
        assert config(*arguments).returncode == 2, arguments
