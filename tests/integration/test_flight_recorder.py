"""output.sink = "snapshot": nothing is written until it is asked for, and then it adds up."""
import pytest

from support import cli, host, invariants, trace
from support.host import program
from support.matrix import every_interpreter

FIRST, SECOND = 5000, 300  # turns, programs/flight.py
RING, BATCH = 1024, 64  # operators that 64 KiB hold; of those, how many may be given up at once


def fly(how, interpreter, tmp_path, **options):
    """Runs the program; returns (run, {number of the dump: its folder})."""
    folder = tmp_path / "dumps"
    environment = host.agent_environment(
        output_sink="snapshot", output_directory=folder, **options
    )
    command = program("flight", how, python=interpreter.python)
    run = host.run(command, tmp_path / "cwd", environment)
    assert run.returncode == 0, run.stderr
    dumps = {int(dump.name.rsplit("-", 1)[1]): dump for dump in folder.glob("*-dump-*")}
    return run, dumps


def read_dump(folder):
    process = trace.read(folder).only_process
    invariants.check_process(process)
    return process


@every_interpreter
def test_nothing_is_written_without_a_trigger(interpreter, tmp_path):
    run, dumps = fly("silent", interpreter, tmp_path)
    assert not dumps and not (tmp_path / "dumps").exists()
    assert not run.agent_lines


@every_interpreter
def test_a_signal_dumps_the_last_operators(interpreter, tmp_path):
    run, dumps = fly("signal", interpreter, tmp_path, buffer_size="64KiB")
    assert sorted(dumps) == [1, 2], run.stderr
    said = zip(sorted(dumps), run.agent_lines, strict=True)
    assert all(line.endswith(str(dumps[number])) for number, line in said)
    first, second = read_dump(dumps[1]), read_dump(dumps[2])
    assert RING - BATCH <= len(first.operators) <= RING
    assert first.calls() == {"aten::add_": len(first.operators)}
    receipt = first.final_receipt
    made = receipt["started"] - FIRST  # tensors, before the first turn
    assert 0 < made <= 20
    assert receipt["dropped_overwritten"] == FIRST + made - len(first.operators)
    assert second.calls()["aten::add_"] == SECOND
    assert second.final_receipt["dropped_overwritten"] == 0
    assert second.final_receipt["open"] == 1
    assert [event["name"] for event in second.named("op_begin")] == ["second"]
    ids = {operator.op_id for operator in first.operators}
    assert not ids & {operator.op_id for operator in second.operators}


@every_interpreter
def test_all_dumps_together_are_one_report(interpreter, tmp_path):
    _, dumps = fly("signal", interpreter, tmp_path)
    receipt = cli.report(tmp_path / "dumps")["receipt"]
    written = sum(len(read_dump(folder).operators) for folder in dumps.values())
    assert receipt["final"] and receipt["written"] == receipt["recorded"] == written


@every_interpreter
@pytest.mark.parametrize("how", ["slow", "second"])
def test_a_slow_step_is_dumped(how, interpreter, tmp_path):
    run, dumps = fly(how, interpreter, tmp_path, snapshot_slow_step="500ms")
    assert list(dumps) == [1], run.stderr
    assert "a step was slow" in run.agent_lines[0]
    calls = read_dump(dumps[1]).calls()
    assert calls["Optimizer.step#SGD.step"] in (5, 6), "the slow one is the fifth"


@every_interpreter
def test_filtered_operators_are_counted_in_each_dump(interpreter, tmp_path):
    _, dumps = fly("signal", interpreter, tmp_path, filters_exclude="aten::add_*")
    for number, turns in ((1, FIRST), (2, SECOND)):
        process = read_dump(dumps[number])
        assert process.final_receipt["final"] and process.final_receipt["filtered"] == turns
        assert "aten::add_" not in process.calls()


def run_snapshot(how, interpreter, folder):
    command = program("flight", how, python=interpreter.python)
    return cli.torchtrace("run", "--sink", "snapshot", "-o", folder, "--", *command)


@every_interpreter
def test_run_says_that_nothing_was_dumped(interpreter, tmp_path):
    done = run_snapshot("silent", interpreter, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "nothing asked the flight recorder for a dump" in done.stderr
    assert not (tmp_path / "out").exists()


@every_interpreter
def test_no_signal_is_taken_where_none_is_wanted(interpreter, tmp_path):
    environment = host.agent_environment(output_sink="snapshot", snapshot_signal="none")
    command = program("flight", "signal", python=interpreter.python)
    run = host.run(command, tmp_path / "cwd", environment)
    assert run.returncode == -12, "SIGUSR2 at its default"
