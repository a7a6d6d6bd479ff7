"""A subject without a stepped executor is judged by the base steps that explain what it shows."""

import pytest

from purgatory_conformance.judging.timer.judge import TimerJudge
from purgatory_spec.operations import Add, AddInside, Advance, CancelInside, Operation
from purgatory_spec.outcomes import Event, EventKind, Outcome, expired, ran
from purgatory_spec.profiles import (
    Executor,
    Feature,
    Observable,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

INLINE = TimerProfile(
    executor=Executor.INLINE,
    features=frozenset(
        {Feature.CANCEL, Feature.READD, Feature.SCRIPT_ADD, Feature.SCRIPT_CANCEL, Feature.ELAPSE}
    ),
    observables=frozenset({Observable.SIZE}),
)


def judged(*steps: tuple[Operation, Outcome]) -> list[str | None]:
    """For each step the rule that it breaks, or None; nothing after the first divergence."""
    judge = TimerJudge(TimerConfiguration(), INLINE)
    rules: list[str | None] = []
    for operation, outcome in steps:
        divergence = judge.step(operation, outcome).divergence
        rules.append(divergence.rule if divergence else None)
        if divergence:
            break
    return rules


def shown(*events: Event, size: int = 0) -> Outcome:
    return Outcome(events=events, observed={"size": size})


def test_tasks_of_one_tick_may_run_in_any_order() -> None:
    """
    Given two tasks in one tick and one in a later tick
    When they run in one advance
    Then the order inside the tick is free
    """
    adds = [
        (Add("a", 1), shown(size=1)),
        (Add("b", 1), shown(size=2)),
        (Add("c", 2), shown(size=3)),
    ]
    assert judged(*adds, (Advance(2), shown(ran("b"), ran("a"), ran("c")))) == [None] * 4
    assert judged(*adds, (Advance(2), shown(ran("a"), ran("b"), ran("c")))) == [None] * 4
    assert (
        judged(*adds, (Advance(2), shown(ran("a"), ran("c"), ran("b"))))[-1] == "TIMER-TICK-ORDER"
    )


@pytest.mark.parametrize(
    ("outcome", "rule"),
    [
        (shown(ran("a"), size=1), None),
        (shown(size=2), "TIMER-NOT-LATE"),
        (shown(ran("a"), ran("b")), "TIMER-NOT-EARLY"),
        (shown(ran("a"), ran("a"), size=1), "TIMER-EXACTLY-ONCE"),
        (shown(ran("a"), size=2), "TIMER-SIZE"),
        (shown(ran("zz"), ran("a"), size=1), "TIMER-EXACTLY-ONCE"),
    ],
)
def test_each_mismatch_is_blamed_on_its_rule(outcome: Outcome, rule: str | None) -> None:
    """
    Given one task that is due and one that is not
    When an advance shows too little, too much or a wrong count
    Then the rule that says so is blamed
    """
    adds = [(Add("a", 1), shown(size=1)), (Add("b", 5), shown(size=2))]
    assert judged(*adds, (Advance(1), outcome))[-1] == rule


def test_an_event_of_a_stepped_executor_is_a_divergence_at_once() -> None:
    """
    Given a subject that does not declare a stepped executor
    When it shows that a task was handed over
    Then the step that shows it diverges
    """
    add = (Add("a", 1), shown(size=1))
    assert judged(add, (Advance(1), shown(expired("a")))) == [None, "TIMER-EXECUTOR-ORDER"]


def test_a_task_added_while_another_runs_is_followed() -> None:
    """
    Given a task that adds a task which is due at once
    When both run in one advance, in this order
    Then it is right; and it is wrong where the second runs first
    """
    add = (Add("a", 1, (AddInside("b", 0),)), shown(size=1))
    assert judged(add, (Advance(1), shown(ran("a"), ran("b")))) == [None, None]
    assert judged(add, (Advance(1), shown(ran("a"), size=1))) == [None, None]
    assert judged(add, (Advance(1), shown(ran("b"), ran("a"))))[-1] is not None


def test_a_task_cancelled_while_another_of_its_pass_runs_may_run_all_the_same() -> None:
    """
    Given two tasks that one advance finds due, of which the first cancels the second
    When they are handed over together, or one at a time
    Then both run, or the first alone; and never the second alone
    """
    adds = [
        (Add("a", 1, (CancelInside("b"),)), shown(size=1)),
        (Add("b", 2), shown(size=2)),
    ]
    assert judged(*adds, (Advance(2), shown(ran("a"), ran("b")))) == [None, None, None]
    assert judged(*adds, (Advance(2), shown(ran("a")))) == [None, None, None]
    assert judged(*adds, (Advance(2), shown(ran("a"), size=1)))[-1] is not None
    assert judged(*adds, (Advance(2), shown(ran("b"))))[-1] is not None


@pytest.mark.parametrize(
    ("runs", "size", "is_right"),
    [
        ("ba", 1, True),
        ("baa", 0, True),
        ("ba", 0, True),
        ("ab", 1, True),
        ("aba", 0, True),
        ("b", 1, True),
        ("b", 0, False),
        ("baa", 1, False),
        ("aab", 0, False),
    ],
)
def test_a_task_that_is_due_may_be_added_while_another_of_its_pass_runs(
    runs: str, size: int, is_right: bool
) -> None:
    """
    Given two tasks of one tick, of which one adds the other again, due at once
    When what was handed over runs, and what was added runs, or waits for the next advance
    Then that is right with the size that fits, and nothing else
    """
    adds = [(Add("a", 1), shown(size=1)), (Add("b", 1, (AddInside("a", 0),)), shown(size=2))]
    outcome = shown(*(ran(task) for task in runs), size=size)
    assert (judged(*adds, (Advance(1), outcome))[-1] is None) == is_right


def test_a_refused_action_must_be_the_expected_one() -> None:
    """
    Given a running task whose add is fine
    When it shows a rejection
    Then that is a divergence
    """
    add = (Add("a", 1, (AddInside("b", 5),)), shown(size=1))
    refused = Event(EventKind.REJECTED, "a", reason=Reason.CLOSED)
    assert judged(add, (Advance(1), shown(ran("a"), size=1))) == [None, None]
    assert judged(add, (Advance(1), shown(ran("a"), refused, size=1)))[-1] == "TIMER-ADD-INSIDE"
