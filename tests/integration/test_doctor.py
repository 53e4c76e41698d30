"""`torchtrace doctor`: what it says of a machine on which this or that is missing or broken."""
import json
import os
import shutil
import signal
import stat
import struct
import subprocess
from pathlib import Path

import pytest

from support import cli, host, namespaces, paths, unprivileged_lttng
from support.availability import unavailable
from support.host import program

OK, FAILED, USAGE = 0, 1, 2
NO_PYTHON = ["true", "lttng", "lttng-sessiond"]


@pytest.fixture
def private_memory():
    """An empty /dev/shm and no root's daemon, whatever else runs on this machine."""
    try:
        namespaces.enter_private_mounts()
        namespaces.mount_tmpfs("/dev/shm")
        namespaces.mount_tmpfs("/run/lttng")
    except OSError as error:
        unavailable(f"needs mounts of its own: {error}")


class Examination:
    """One run of the command with --json."""

    def __init__(self, done):
        self.returncode = done.returncode
        self.json = json.loads(done.stdout)
        assert done.stderr == ""

    def of(self, name):
        """The findings with that name."""
        return [check for check in self.json["checks"] if check["name"] == name]

    def only(self, name):
        (check,) = self.of(name)
        return check

    def has(self, name, verdict, *words):
        """Exactly one finding with that name has that verdict and all these words."""
        matching = [
            check
            for check in self.of(name)
            if check["verdict"] == verdict and all(str(word) in check["found"] for word in words)
        ]
        assert len(matching) == 1, self.of(name)
        # What is not in order comes with advice, what is in order without.
        assert (matching[0]["advice"] is None) == (verdict == "ok")
        return matching[0]


def run_doctor(*arguments, cwd, prefix=(), **environment):
    command = [*prefix, paths.built(paths.CLI), "doctor", *arguments]
    return host.run(command, cwd, environment)


def examine(*arguments, cwd, prefix=(), **environment):
    return Examination(run_doctor("--json", *arguments, cwd=cwd, prefix=prefix, **environment))


def path_with(folder, programs):
    """A PATH with these programs and no others: so doctor finds no python3 to try, for example."""
    folder.mkdir()
    for name in programs:
        found = shutil.which(name)
        if found is None:
            unavailable(f"{name} is not installed")
        (folder / name).symlink_to(found)
    return str(folder)


def fake_torch(folder, text):
    """A module `torch` of our own; returns the variable that makes Python find it first."""
    module = folder / "modules" / "torch.py"
    module.parent.mkdir()
    module.write_text(text, encoding="utf-8")
    return {"PYTHONPATH": str(module.parent)}


@pytest.mark.parametrize("interpreter", ["debian", "wheel"], indirect=True)
def test_doctor_tries_a_python(interpreter, tmp_path):
    done = examine("--python", interpreter.python, cwd=tmp_path)
    assert done.returncode == OK and done.json["problems"] == 0
    done.has("agent", "ok", paths.AGENT, "libc.so.6")
    done.has("interpreter", "ok", interpreter.python)
    # Debian's library says 1.13 where the package says 1.13.1.
    assert interpreter.torch_version.startswith(done.only("PyTorch")["found"].split(",")[0])
    done.has("layout", "ok", "verified")
    assert done.only("clock")["verdict"] == "ok"
    done.has("flush", "ok", "10ms", "50ms")
    done.has("operators", "ok", "64 of the trial's 64")
    assert list(tmp_path.iterdir()) == []


def test_doctor_uses_the_configuration(tmp_path):
    python = ("--python", "/usr/bin/python3")
    done = examine(*python, cwd=tmp_path, TORCHTRACE_OUTPUT_HOLD="70ms")
    done.has("flush", "ok", "10ms", "70ms")
    # Without operators the trial would show nothing.
    done = examine(*python, cwd=tmp_path, TORCHTRACE_FILTERS_SCOPES="user_scope")
    done.has("interpreter", "ok", "default configuration")
    done.has("operators", "ok")


def test_doctor_says_the_same_as_text(private_memory, tmp_path):
    environment = {"PATH": path_with(tmp_path / "bin", NO_PYTHON), "TORCHTRACE_CLOCK_SOURCE": "sun"}
    structured = examine(cwd=tmp_path, **environment)
    text = run_doctor(cwd=tmp_path, **environment)
    assert structured.json["schema"] == "torchtrace.doctor/1"
    assert text.returncode == structured.returncode == FAILED
    checks = structured.json["checks"]
    for check in checks:
        assert f"{check['verdict']:<8} {check['name']}: " in text.stdout
        assert check["advice"] is None or f"-> {check['advice']}\n" in text.stdout
    for verdict in ("problem", "warning"):
        count = sum(check["verdict"] == verdict for check in checks)
        assert structured.json[f"{verdict}s"] == count
        assert f"{count} {verdict}" in text.stdout.splitlines()[-1]


def test_doctor_without_lttng(private_memory, tmp_path):
    only_true = path_with(tmp_path / "bin", ["true"])
    done = examine(cwd=tmp_path, PATH=only_true)
    assert done.returncode == OK
    done.has("commands", "warning", "lttng")
    done.has("session daemon", "ok", "none runs")
    done.has("interpreter", "warning", "python3")
    wanted = examine(cwd=tmp_path, PATH=only_true, TORCHTRACE_OUTPUT_SINK="lttng")
    assert wanted.returncode == FAILED
    wanted.has("commands", "problem", "lttng")


@pytest.fixture
def daemon():
    if shutil.which("lttng-sessiond") is None:
        unavailable("lttng-sessiond is not installed")
    running = unprivileged_lttng.Daemon().start()
    yield running
    running.close()


def examine_as_user_of(daemon, tmp_path):
    environment = {
        "LTTNG_HOME": str(daemon.home),
        "HOME": str(daemon.home),
        "PATH": path_with(tmp_path / "bin", NO_PYTHON),
    }
    setpriv = [shutil.which("setpriv"), *unprivileged_lttng.UNPRIVILEGED[1:]]
    prefix = setpriv if os.geteuid() == 0 else ()
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    return examine(cwd=daemon.home, prefix=prefix, **environment)


def test_doctor_with_a_daemon(private_memory, daemon, tmp_path):
    done = examine_as_user_of(daemon, tmp_path)
    done.has("user's session daemon", "ok", f"pid {daemon.pid}", "answers")


def test_doctor_with_a_stopped_daemon(private_memory, daemon, tmp_path):
    daemon.freeze()
    done = examine_as_user_of(daemon, tmp_path)
    assert done.returncode == OK
    found = done.has("user's session daemon", "warning", f"pid {daemon.pid}", "stopped")
    assert f"kill -CONT {daemon.pid}" in found["advice"]


def test_doctor_with_a_dead_daemon(private_memory, daemon, tmp_path):
    daemon.kill()
    done = examine_as_user_of(daemon, tmp_path)
    done.has("session daemon", "ok", "none runs")


def test_doctor_with_a_broken_configuration(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text('[output]\nhold = "soon"\nperiodd = "1ms"\n', encoding="utf-8")
    done = examine("--python", "/usr/bin/python3", cwd=tmp_path, TORCHTRACE_CONFIG=str(file))
    assert done.returncode == FAILED
    assert done.json["problems"] == 2
    done.has("configuration", "problem", file, "soon")
    done.has("configuration", "problem", file, "periodd")
    # What the machine can do is told all the same.
    done.has("interpreter", "ok", "default configuration")
    done.has("operators", "ok")


def test_doctor_where_nothing_is_written(tmp_path):
    environment = {"PATH": path_with(tmp_path / "bin", ["true"]), "TORCHTRACE_OUTPUT_SINK": "off"}
    examine(cwd=tmp_path, **environment).has("configuration", "warning", '"off"')


def test_doctor_with_a_python_without_torch(tmp_path):
    make_venv = ["/usr/bin/python3", "-m", "venv", "--without-pip", tmp_path / "venv"]
    subprocess.run(make_venv, check=True)
    python = tmp_path / "venv" / "bin" / "python"
    done = examine("--python", python, cwd=tmp_path)
    assert done.returncode == FAILED
    done.has("trial", "problem", python, "no PyTorch")
    # Unasked it is not held against the machine.
    done = examine(cwd=tmp_path, PATH=f"{path_with(tmp_path / 'bin', ['true'])}:{path_to(python)}")
    assert done.returncode == OK
    done.has("trial", "warning", "python3", "no PyTorch")


def path_to(python):
    return str(Path(python).parent)


@pytest.mark.parametrize(
    "module, found",
    [
        ("raise OSError('libcudart.so.99: missing')", "libcudart.so.99: missing; without"),
        (
            "import ctypes, os\n"
            "if 'libtorchtrace' in os.environ.get('LD_PRELOAD', ''): ctypes.string_at(0)\n"
            "def ones(count): return count",
            "Segmentation fault; without the agent it works",
        ),
        ("def ones(count): return count", "nothing was recorded"),
        ("import time\ntime.sleep(300)", "did not end within 2 s"),
    ],
    ids=["broken", "crashes_with_the_agent", "not_torch", "hangs"],
)
def test_doctor_with_a_torch_that(module, found, tmp_path):
    environment = fake_torch(tmp_path, module)
    arguments = ("--python", "/usr/bin/python3", "--timeout", 2 if "sleep" in module else 60)
    done = examine(*arguments, cwd=tmp_path, **environment)
    assert done.returncode == FAILED
    done.has("trial", "problem", found)


def test_doctor_ends_when_it_is_interrupted(tmp_path):
    pid_file = tmp_path / "pid"
    write_pid = f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))"
    environment = fake_torch(tmp_path, f"import os, time\n{write_pid}\ntime.sleep(300)")
    command = [paths.built(paths.CLI), "doctor", "--python", "/usr/bin/python3"]
    process = host.start(command, tmp_path, environment)
    unprivileged_lttng.wait_until(lambda: pid_file.exists() and pid_file.read_text())
    process.send_signal(signal.SIGINT)
    assert host.finish(process).returncode == -signal.SIGINT
    assert not Path(f"/proc/{pid_file.read_text()}").exists()


def elf_header(elf_class, machine):
    """The first 64 bytes of an ELF program without program headers; elf(5)."""
    identity = b"\x7fELF" + bytes([elf_class, 1, 1]) + bytes(9)
    return identity + struct.pack("<HHI", 2, machine, 1) + bytes(40)


def own_machine():
    return struct.unpack_from("<H", paths.built(paths.CLI).read_bytes(), 18)[0]


@pytest.mark.parametrize(
    "kind",
    ["32-bit", "another kind of CPU", "statically linked"],
    ids=["32_bit", "foreign", "static"],
)
def test_doctor_with_a_program_that_is(kind, tmp_path):
    elf_class = 1 if kind == "32-bit" else 2
    machine = 0xF3 if kind == "another kind of CPU" else own_machine()  # EM_RISCV
    python = tmp_path / "python"
    python.write_bytes(elf_header(elf_class, machine))
    python.chmod(0o755)
    done = examine("--python", python, cwd=tmp_path)
    assert done.returncode == FAILED
    done.has("interpreter", "problem", python, kind, "nothing is recorded")


def test_doctor_with_a_program_that_gains_rights(tmp_path):
    if os.geteuid() != 0:
        unavailable("only root can make a program of another user's")
    python = tmp_path / "python"
    shutil.copy(os.path.realpath("/usr/bin/python3"), python)
    shutil.chown(python, "nobody")
    python.chmod(0o755 | stat.S_ISUID)
    done = examine("--python", python, cwd=tmp_path)
    assert done.returncode == FAILED
    done.has("interpreter", "problem", python, "set-uid")


def test_doctor_with_what_is_no_python(tmp_path):
    done = examine("--python", "true", cwd=tmp_path)
    assert done.returncode == FAILED
    done.has("trial", "problem", "true", "-c")
    done = examine("--python", tmp_path / "nowhere", cwd=tmp_path)
    assert done.returncode == FAILED
    done.has("interpreter", "problem", tmp_path / "nowhere")


def test_doctor_lists_what_killed_programs_left(private_memory, tmp_path):
    killed = host.run(
        program("known_loop", "sigkill", 100, python="/usr/bin/python3"),
        tmp_path / "killed",
        host.agent_environment(output_sink="ctf"),
    )
    assert killed.returncode == -signal.SIGKILL
    path = path_with(tmp_path / "bin", ["true"])
    found = examine(cwd=tmp_path, PATH=path).has("leftover", "warning", f"process {killed.pid},")
    assert f"torchtrace recover {killed.pid};" in found["advice"]
    assert found["advice"].endswith("torchtrace recover --clean")
    assert cli.torchtrace("recover", "--clean").returncode == 0
    assert examine(cwd=tmp_path, PATH=path).of("leftover") == []


def test_doctor_with_little_shared_memory(private_memory, tmp_path):
    path = path_with(tmp_path / "bin", ["true"])
    namespaces.mount_tmpfs("/dev/shm", "size=4m")
    examine(cwd=tmp_path, PATH=path).has("/dev/shm", "warning", "4096 KiB free", "buffer.total")
    namespaces.unmount("/dev/shm")
    namespaces.mount_tmpfs("/dev/shm", "ro")
    examine(cwd=tmp_path, PATH=path).has("/dev/shm", "warning", "cannot be written")


def test_doctor_with_a_folder_that_others_may_enter(private_memory, tmp_path):
    folder = Path(f"/dev/shm/torchtrace-{os.geteuid()}")
    folder.mkdir()
    folder.chmod(0o755)
    path = path_with(tmp_path / "bin", ["true"])
    examine(cwd=tmp_path, PATH=path).has("folder", "warning", folder, "others may enter it")


def test_doctor_with_other_preloads(tmp_path):
    other = tmp_path / "libtorchtrace.so"
    shutil.copy(paths.built(paths.AGENT), other)
    path = path_with(tmp_path / "bin", ["true"])
    done = examine(cwd=tmp_path, PATH=path, LD_PRELOAD=f"{other}:{paths.AGENT}")
    done.has("LD_PRELOAD", "warning", "another agent", other)
    missing = tmp_path / "missing.so"
    done = run_doctor("--json", cwd=tmp_path, PATH=path, LD_PRELOAD=str(missing))
    assert f"'{missing}' from LD_PRELOAD cannot be preloaded" in done.stderr  # of doctor itself
    checks = json.loads(done.stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "LD_PRELOAD"]
    assert check["verdict"] == "warning" and str(missing) in check["found"]


def test_doctor_usage(tmp_path):
    assert run_doctor("--timeout", 0, cwd=tmp_path).returncode == USAGE
    assert run_doctor("now", cwd=tmp_path).returncode == USAGE
