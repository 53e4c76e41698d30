"""tools/ci/check_include_arrows on small trees: what it lets through, and what it catches."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(root, **files):
    """Runs the check on a tree of files given as path (with __ for /, _dot_ for .) and text."""
    (root / "src").mkdir(parents=True)
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return subprocess.run(
        [sys.executable, ROOT / "tools/ci/check_include_arrows", root],
        capture_output=True,
        text=True,
        check=False,
    )


def test_our_own_tree_is_in_order():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/ci/check_include_arrows"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_includes_along_the_arrows_pass(tmp_path):
    done = check(
        tmp_path,
        src__core__ring_dot_h="#include <atomic>\n",
        src__flush__sink_dot_h='#include "core/ring.h"\n#include "config/config.h"\n',
        src__agent__agent_dot_cpp='#include "flush/sink.h"\n#include "core/ring.h"\n',
    )
    assert (done.returncode, done.stdout) == (0, "")


AGAINST_THE_ARROWS = [
    ("core", "flush/sink.h"),
    ("observer", "flush/sink.h"),
    ("flush", "observer/observer.h"),
    ("flush", "config/load.h"),
    ("config", "agent/agent.h"),
    ("analysis", "core/ring.h"),
]


def test_an_include_against_the_arrows_is_named(tmp_path):
    for number, (folder, header) in enumerate(AGAINST_THE_ARROWS):
        text = f'#include <new>\n#include "{header}"\n'
        done = check(tmp_path / str(number), **{f"src__{folder}__a_dot_cpp": text})
        assert done.returncode == 1
        assert done.stdout.startswith(f'src/{folder}/a.cpp:2: "{header}"')


OUTSIDE_THEIR_FOLDER = [
    ("src__flush__a_dot_cpp", "ATen/record_function.h"),
    ("src__agent__a_dot_cpp", "lttng/tracepoint.h"),
    ("src__core__a_dot_cpp", "toml++/toml.h"),
    ("tools__torchtrace__a_dot_cpp", "babeltrace2/babeltrace.h"),
    ("src__agent__a_dot_cpp", "iostream"),
    ("src__core__a_dot_cpp", "gtest/gtest.h"),
]


def test_a_third_party_header_outside_its_folder_is_named(tmp_path):
    for number, (path, header) in enumerate(OUTSIDE_THEIR_FOLDER):
        done = check(tmp_path / str(number), **{path: f"#include <{header}>\n"})
        assert done.returncode == 1
        assert f"<{header}> belongs to" in done.stdout


def test_a_relative_include_does_not_get_round_the_arrows(tmp_path):
    done = check(
        tmp_path,
        src__flush__sink_dot_h="#include <memory>\n",
        src__core__a_dot_cpp='#include "../flush/sink.h"\n',
    )
    assert done.returncode == 1
    assert "src/core/a.cpp:1" in done.stdout


def test_a_folder_without_a_place_in_the_order_is_named(tmp_path):
    done = check(tmp_path, src__shiny__a_dot_cpp="#include <memory>\n")
    assert done.returncode == 1
    assert "src/shiny: no arrows are defined" in done.stdout
