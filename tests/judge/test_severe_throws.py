"""A severe exception that reaches the caller of a step: what may be left, and until when."""

from collections.abc import Sequence

import msgspec
import pytest

from purgatory_judge.timer.judge import TimerJudge
from purgatory_spec.operations import Add, Advance, Cancel, Operation, Shutdown, Throw, ThrowSort
from purgatory_spec.outcomes import Outcome, ran
from purgatory_spec.profiles import (
    AlreadyDue,
    Executor,
    Observable,
    SameTickOrder,
    SevereThrow,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

PROFILE = TimerProfile(
    executor=Executor.INLINE, observables=frozenset({Observable.SIZE, Observable.ADVANCE_RESULT})
)
SEVERE = (Throw(ThrowSort.SEVERE),)
ARMED: Sequence[tuple[Operation, Outcome]] = (
    (Add("a", 1, SEVERE), Outcome(observed={"size": 1})),
    (Add("b", 1), Outcome(observed={"size": 2})),
    (Add("c", 2), Outcome(observed={"size": 3})),
    (Add("d", 9), Outcome(observed={"size": 4})),
)
TICKER = msgspec.structs.replace(PROFILE, already_due=AlreadyDue.NEXT_TICK)
FIFO = msgspec.structs.replace(PROFILE, same_tick_order=SameTickOrder.FIFO)
AS_ORDINARY = msgspec.structs.replace(PROFILE, severe_throw=SevereThrow.AS_ORDINARY)
THREAD = msgspec.structs.replace(PROFILE, executor=Executor.THREAD)


def thrown(*tasks: str, size: int) -> Outcome:
    """The outcome of a step in which these tasks ran and whose caller got an exception."""
    events = tuple(map(ran, tasks))
    return Outcome(rejected=Reason.THROWN, events=events, observed={"size": size})


def done(*tasks: str, size: int, result: bool | None = None) -> Outcome:
    """The outcome of a step in which these tasks ran."""
    return Outcome(result, events=tuple(map(ran, tasks)), observed={"size": size})


def broken(
    *steps: tuple[Operation, Outcome], profile: TimerProfile = PROFILE, armed: int = 4
) -> str:
    """The rule that the steps break behind the armings of tasks; empty if none."""
    judge = TimerJudge(TimerConfiguration(), profile)
    for operation, outcome in (*ARMED[:armed], *steps):
        divergence = judge.step(operation, outcome).divergence
        if divergence is not None:
            return divergence.rule
    return ""


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("profile", [PROFILE, TICKER, FIFO])
def test_what_is_left_may_be_pending_or_handed_over(size: int, profile: TimerProfile) -> None:
    """Given three tasks that are due: behind the first, both others run in the next advance."""
    threw = Advance(2), thrown("a", size=size)
    assert broken(threw, (Advance(3), done("b", "c", size=1, result=True)), profile=profile) == ""


def test_more_tasks_may_have_run_before_the_exception_comes() -> None:
    for ran_by_then in (("b", "a"), ("a", "b"), ("a", "b", "c"), ("b", "a", "c")):
        left = [task for task in "bc" if task not in ran_by_then]
        threw = Advance(2), thrown(*ran_by_then, size=1)
        assert broken(threw, (Advance(3), done(*left, size=1, result=bool(left)))) == ""


def test_what_is_left_may_run_before_the_next_advance() -> None:
    threw = Advance(2), thrown("a", size=1)
    late = Add("e", 5), done("b", "c", size=2)
    assert broken(threw, late, (Advance(3), done(size=2, result=False))) == ""


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        ([(Advance(3), done(size=1, result=False))], "TIMER-THROWING-TASK"),
        ([(Advance(3), done("b", size=1, result=True))], "TIMER-THROWING-TASK"),
        ([(Advance(3), done("c", "b", size=1, result=True))], "TIMER-EXECUTOR-ORDER"),
        ([(Advance(3), done("a", "b", "c", size=1, result=True))], "TIMER-EXACTLY-ONCE"),
        (
            [
                (Advance(3), done("b", "c", size=1, result=True)),
                (Advance(4), done("b", size=1, result=True)),
            ],
            "TIMER-EXACTLY-ONCE",
        ),
        ([(Advance(3), done("b", "c", size=2, result=True))], "TIMER-SIZE"),
        ([(Advance(3), thrown("b", "c", size=1))], "TIMER-THROWING-TASK"),
    ],
)
def test_what_is_left_runs_once_in_the_next_advance(
    steps: list[tuple[Operation, Outcome]], rule: str
) -> None:
    """Lost, late, out of order, twice, or with an exception that no task has thrown: all wrong."""
    assert broken((Advance(2), thrown("a", size=1)), *steps) == rule


def test_a_task_that_is_left_is_cancelled_where_it_is_pending() -> None:
    """A task that was handed over, as the size shows, runs all the same."""
    cancelled = Cancel("b"), done(size=2)
    assert broken((Advance(2), thrown("a", size=3)), cancelled) == ""
    kept = Cancel("b"), done(size=1)
    ran_once = Advance(3), done("b", "c", size=1, result=True)
    assert broken((Advance(2), thrown("a", size=1)), kept, ran_once) == ""
    assert broken((Advance(2), thrown("a", size=3)), cancelled, ran_once) != ""


def test_after_shutdown_what_is_left_may_be_dropped() -> None:
    threw = Advance(2), thrown("a", size=1)
    assert broken(threw, (Shutdown(), done(size=0)), (Advance(3), done(size=0))) == ""


@pytest.mark.parametrize("profile", [AS_ORDINARY, THREAD])
def test_elsewhere_the_exception_reaches_no_caller(profile: TimerProfile) -> None:
    """It does not where it counts as an ordinary one, nor where a thread runs the tasks."""
    threw = Advance(2), thrown("a", "b", "c", size=1)
    assert broken(threw, profile=profile) == "TIMER-THROWING-TASK"


def test_an_ordinary_exception_reaches_no_caller() -> None:
    ordinary = Add("a", 1, (Throw(),)), Outcome(observed={"size": 1})
    assert broken(ordinary, (Advance(2), thrown("a", size=0)), armed=0) == "TIMER-THROWING-TASK"
