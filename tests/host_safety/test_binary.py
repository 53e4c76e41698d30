"""What the agent brings into every process that it is preloaded into, seen from its file."""
import re
import subprocess

from support import paths

# The interposed functions, and the versioned symbol by which a second agent finds the first.
ALLOWED_EXPORTS = {"dlopen", "_exit", "_Exit"}
AGENT_SYMBOL = re.compile(r"torchtrace_agent_v\d+")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def dynamic_entries(tag):
    text = output_of("readelf", "--dynamic", "--wide", str(paths.built(paths.AGENT)))
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", text))


def exports(library):
    symbols = output_of("nm", "--dynamic", "--defined-only", str(paths.built(library)))
    return {line.split()[-1].split("@")[0] for line in symbols.splitlines()}


def test_needs_libc_alone():
    """The loader is a part of glibc that is in every process; thread-local data need its help."""
    loader = {name for name in dynamic_entries("NEEDED") if name.startswith("ld-linux-")}
    assert dynamic_entries("NEEDED") - loader == {"libc.so.6"}
    assert not dynamic_entries("RUNPATH") and not dynamic_entries("RPATH")


def test_exports_only_its_interface():
    others = exports(paths.AGENT) - ALLOWED_EXPORTS
    assert [name for name in others if not AGENT_SYMBOL.fullmatch(name)] == []
    assert len(others) == 1, "one versioned symbol"


def test_is_never_unloaded():
    text = output_of("readelf", "--dynamic", "--wide", str(paths.built(paths.AGENT)))
    assert "NODELETE" in text, "callbacks that PyTorch still holds would point nowhere"


def test_has_no_executable_stack_or_text_relocation():
    agent = str(paths.built(paths.AGENT))
    assert not re.search(r"\bTEXTREL\b", output_of("readelf", "--dynamic", "--wide", agent))
    stack = re.search(r"GNU_STACK.*", output_of("readelf", "--program-headers", "--wide", agent))
    assert "E" not in stack[0].split()[-2], stack[0]


def test_has_no_static_objects_with_constructors():
    """They would run after the agent's constructor, and undo what it has set."""
    symbols = output_of("nm", str(paths.built(paths.AGENT)))
    assert re.findall(r"_GLOBAL__sub_I_\S*(?:torchtrace|\.cpp)\S*", symbols) == []
