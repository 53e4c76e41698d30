"""A configuration that cannot be used turns tracing off with one sentence; the program goes on."""
import os

import pytest

from support import host

PROGRAM = "import torch; print(torch.ones(2).add(1).tolist())"

BROKEN_FILES = {
    "broken_syntax": ("[output\nsink = 3\n", ["broken_syntax.toml", "1"]),
    "unknown_key": ('[output]\nsinc = "ctf"\n', ["unknown_key.toml", "2", "sinc", "sink"]),
    "wrong_type": ("[output]\nhold = true\n", ["wrong_type.toml", "2", "hold", "true"]),
    "out_of_range": ('[output]\nperiod = "99h"\n', ["out_of_range.toml", "2", "period", "99h"]),
}


def run_with(tmp_path, **environment):
    """The program with the agent and environment: it must be unharmed. Returns the sentence."""
    folder = tmp_path / "cwd"
    run = host.run(
        ["/usr/bin/python3", "-c", PROGRAM],
        folder,
        {**host.agent_environment(output_sink="ctf"), **environment},
    )
    assert run.returncode == 0 and run.stdout == "[2.0, 2.0]\n"
    assert os.listdir(folder) == [], "tracing is off"
    assert len(run.stderr.splitlines()) == 1 and run.agent_lines, run.stderr
    return run.stderr


@pytest.mark.parametrize("case", BROKEN_FILES)
def test_broken_file(case, tmp_path):
    text, named = BROKEN_FILES[case]
    file = tmp_path / f"{case}.toml"
    file.write_text(text, encoding="utf-8")
    sentence = run_with(tmp_path, TORCHTRACE_CONFIG=str(file))
    assert all(word in sentence for word in named), sentence


def test_missing_file(tmp_path):
    missing = tmp_path / "nowhere.toml"
    assert str(missing) in run_with(tmp_path, TORCHTRACE_CONFIG=str(missing))


def test_folder_instead_of_a_file(tmp_path):
    assert str(tmp_path) in run_with(tmp_path, TORCHTRACE_CONFIG=str(tmp_path))


def test_bad_variable(tmp_path):
    sentence = run_with(tmp_path, TORCHTRACE_OUTPUT_HOLD="soon")
    assert "TORCHTRACE_OUTPUT_HOLD" in sentence and "soon" in sentence


def test_not_read_without_torch(tmp_path):
    missing = str(tmp_path / "nowhere.toml")
    environment = {**host.agent_environment(), "TORCHTRACE_CONFIG": missing}
    run = host.run(["/usr/bin/python3", "-c", "print(1)"], tmp_path / "cwd", environment)
    assert (run.returncode, run.stdout, run.stderr) == (0, "1\n", "")
