"""A program that removes all of PyTorch's callbacks removes torchtrace's too."""
import time

import pytest

from support import host, invariants, trace
from support.matrix import every_interpreter
from support.on_command import Program

THREADS = 3
# Ours is missed within a flush period, 10 ms where a core is free.
NOTICE_SECONDS = 1

clearing = pytest.mark.parametrize("command", ["clear", "clear_global"])


def run_cleared(command, interpreter, folder, **options):
    """Operators before and after two removals; the trace and what the agent said."""
    environment = host.agent_environment(
        output_sink="ctf", output_directory=folder / "trace", **options
    )
    program = Program(interpreter, folder, THREADS, environment)
    program.tell("add_ 100")
    for operator in ("mul_", "sub_"):
        program.tell(command)
        time.sleep(NOTICE_SECONDS)
        program.tell(f"{operator} 100")
    run = program.end()
    process = trace.read(folder / "trace").only_process
    invariants.check_process(process)
    return process, run.agent_lines


@clearing
@every_interpreter
def test_added_again(interpreter, command, tmp_path):
    process, (said,) = run_cleared(command, interpreter, tmp_path)
    calls = process.calls()
    # On every thread, and once each: a callback that is there twice counts every operator twice.
    assert [calls[f"aten::{name}_"] for name in ("add", "mul", "sub")] == [300, 300, 300]
    assert said.endswith("the program removed all of PyTorch's callbacks, ours too: added again")


@clearing
@every_interpreter
def test_left_alone(interpreter, command, tmp_path):
    process, (said,) = run_cleared(command, interpreter, tmp_path, observer_reregister="false")
    assert process.calls()["aten::add_"] == 300
    assert not {"aten::mul_", "aten::sub_"} & process.calls().keys()
    assert "no operator is recorded from now on (observer.reregister = true" in said
