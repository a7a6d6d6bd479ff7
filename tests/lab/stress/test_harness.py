"""The base of a stress run: threads that are watched, and an interpreter that is put back."""

import gc
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from purgatory_impl import SteppedExecutor, Timer, VirtualClock
from purgatory_lab.stress import harness
from purgatory_lab.stress.__main__ import main
from purgatory_lab.stress.harness import counted_log_errors, judge_leaks
from purgatory_lab.stress.hunting import Hunt

pytestmark = pytest.mark.verify


def test_the_interpreter_is_put_back() -> None:
    before = (sys.getswitchinterval(), gc.get_threshold())
    with harness.harsh_interpreter():
        assert sys.getswitchinterval() < before[0]
        assert gc.get_threshold() < before[1]
    assert (sys.getswitchinterval(), gc.get_threshold()) == before
    assert gc.get_freeze_count() == 0


def test_what_a_body_raises_is_found() -> None:
    def failing() -> Iterator[None]:
        yield
        raise ValueError("planned")

    result = harness.Round()
    assert harness.run_together({"one": failing}, result, 30) is True
    assert [finding.kind for finding in result.findings] == [harness.Kind.RAISED]
    assert "in thread one" in result.findings[0].words
    assert "ValueError: planned" in result.findings[0].words


def test_threads_that_wait_for_each_other_are_found_and_slow_ones_are_not() -> None:
    before = set(threading.enumerate())
    for_ever, steps = threading.Event(), list[int]()

    def waiting() -> Iterator[None]:
        for_ever.wait()
        yield

    def slow() -> Iterator[None]:
        for step in range(8):
            threading.Event().wait(0.1)
            steps.append(step)
            yield

    result = harness.Round()
    try:
        assert harness.run_together({"waiting": waiting, "slow": slow}, result, 0.6) is False
        assert len(steps) == 8
        assert [finding.kind for finding in result.findings] == [harness.Kind.STUCK]
        assert "for_ever.wait()" in str(result.findings[0])
    finally:
        for_ever.set()
    assert harness.wait_until(lambda: set(threading.enumerate()) <= before, 30)


def test_an_object_that_stays_is_found() -> None:
    before = harness.Before()
    kept = [Timer(clock=VirtualClock(), executor=SteppedExecutor())]
    result = harness.Round()
    judge_leaks({}, before, result)
    assert "1 purgatory_impl.timer.Timer" in str(result.findings[0])
    kept.clear()
    result = harness.Round()
    judge_leaks({}, before, result)
    assert result.findings == []


def test_a_reference_that_is_alive_is_found() -> None:
    class Held:
        """Nothing."""

    held, result = Held(), harness.Round()
    judge_leaks({"the object": weakref.ref(held)}, harness.Before(), result)
    assert str(result.findings[0]) == "leaked: the object is still there"


def test_failures_of_tasks_are_told_from_others() -> None:
    with counted_log_errors() as errors, Timer(reaper=False) as timer:
        timer.add(lambda: int("planned"), -(10**6))
    assert (errors.of_tasks, errors.others) == (1, [])


@pytest.mark.slow
def test_the_command_says_what_it_did() -> None:
    result = CliRunner().invoke(main, ["--component", "timer", "--rounds", "2"])
    assert result.exit_code == 0
    assert "timer: 2 rounds from seed 0" in result.output


@pytest.mark.slow
def test_the_command_hunts_and_fails_where_a_race_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = ["--race", "checked-then-debited", "--runs", "1", "--rounds", "60"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.output.count("1 of 1")) == (0, 1)
    in_vain = Hunt(60, (), "")
    monkeypatch.setattr("purgatory_lab.stress.__main__.hunt", lambda *_: in_vain)
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.output.count("0 of 1")) == (1, 1)
