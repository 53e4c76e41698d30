"""The CPU's counter turns bad while a program runs. The agent goes over to CLOCK_MONOTONIC.

The counter itself cannot be set from here: what it is compared with is.
"""
import time

import pytest

from support import cli, host, invariants, paths, sinks, trace
from support.matrix import every_interpreter, every_sink_and_interpreter
from support.on_command import Program

STEPPED = 64  # kFlagClockStepped, src/core/record.h
SHIM = paths.TEST_LIBRARIES / "libstepping_raw_clock.so"
SETTLED_SECONDS = 1.5  # for the first anchors, and for a period's state events


def with_shim(environment, step):
    preloaded = f"{environment['LD_PRELOAD']}:{paths.built(SHIM)}"
    return {**environment, "LD_PRELOAD": preloaded, "STEP_FILE": str(step)}


def run_over_a_step(program, step):
    program.tell("hold outer")
    program.tell("add_ 200")
    time.sleep(SETTLED_SECONDS)
    program.tell("sub_ 200")
    step.touch()
    for _ in range(20):
        program.tell("mul_ 100")
    time.sleep(SETTLED_SECONDS)
    program.tell("neg_ 200")
    program.tell("release")


def counter_is_in_use(process):
    return process.named("process")[0]["clock"] == "tsc"


@every_sink_and_interpreter
def test_goes_over_to_monotonic(sink, interpreter, tmp_path):
    step = tmp_path / "step"
    with sinks.open_sink(sink, tmp_path) as opened:
        program = Program(interpreter, tmp_path, 2, with_shim(opened.environment, step))
        run_over_a_step(program, step)
        run = program.end()
        read = opened.read()
        process = read.only_process
        if not counter_is_in_use(process):
            pytest.skip("this machine's counter is not trusted to begin with")
        invariants.check_trace(read)
        cli.check_report(opened.folder, read)
    (said,) = run.agent_lines
    assert "using CLOCK_MONOTONIC from now on" in said
    clocks = [event["clock"] for event in process.named("process")]
    assert clocks == sorted(clocks, reverse=True) and clocks[-1] == "monotonic"
    stepped = [operator for operator in process.operators if operator.flags & STEPPED]
    assert process.final_receipt["clock_stepped"] == len(stepped)
    assert all(operator.dur >= 0 for operator in process.operators)
    calls = process.calls()
    assert [calls[f"aten::{name}_"] for name in ("add", "sub", "mul", "neg")] == [
        400, 400, 4000, 400]
    assert not {operator.base_name for operator in stepped} & {"aten::add_", "aten::neg_"}
    (outer,) = [operator for operator in process.operators if operator.name == "outer"]
    assert outer.dur >= 2 * SETTLED_SECONDS * 1e9


@every_interpreter
def test_is_recovered_after_the_switch(interpreter, tmp_path):
    step = tmp_path / "step"
    out = tmp_path / "out"
    environment = host.agent_environment(output_sink="ctf", output_directory=out)
    program = Program(interpreter, tmp_path, 2, with_shim(environment, step))
    run_over_a_step(program, step)
    program.kill()
    done = cli.torchtrace("recover", str(program.pid))
    assert done.returncode == 0, done
    read = trace.read(out)
    process = read.only_process
    if not counter_is_in_use(process):
        pytest.skip("this machine's counter is not trusted to begin with")
    final = process.final_receipt
    invariants.check_receipt(final)
    assert final["lost_killed"] == 0
    assert process.calls()["aten::neg_"] == 400
    assert all(operator.dur >= 0 for operator in process.operators)


@every_interpreter
def test_a_program_that_is_stopped_again_and_again_keeps_its_counter(interpreter, tmp_path):
    with sinks.open_sink("ctf", tmp_path) as opened:
        program = Program(interpreter, tmp_path, 2, opened.environment)
        program.tell("add_ 100")
        for _ in range(40):
            program.stop_for(0.03)
            program.tell("mul_ 100")
        run = program.end()
        process = opened.read().only_process
    if not counter_is_in_use(process):
        pytest.skip("this machine's counter is not trusted to begin with")
    assert not run.agent_lines
    assert process.final_receipt["clock_stepped"] == 0
    assert {event["clock"] for event in process.named("process")} == {"tsc"}
