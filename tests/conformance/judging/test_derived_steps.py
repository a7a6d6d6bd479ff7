"""A subject without a stepped executor is judged by the base steps that explain what it shows."""

import pytest
from msgspec import structs

from purgatory_conformance.judging.timer.judge import TimerJudge
from purgatory_spec.operations import Add, AddInside, Advance, CancelInside, Operation
from purgatory_spec.outcomes import Event, EventKind, Outcome, expired, ran
from purgatory_spec.profiles import (
    AlreadyDue,
    Executor,
    Feature,
    Observable,
    Rounding,
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
    """Given two tasks in one tick and one in a later tick: the order inside the tick is free."""
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
    ("executor", "rule"), [(Executor.THREAD, "TIMER-TICK-ORDER"), (Executor.THREADS, None)]
)
def test_several_threads_show_no_order_but_what_ran(executor: Executor, rule: str | None) -> None:
    """The order is free with several threads alone, and the rest is free with none."""

    def last_rule(*runs: str, size: int = 0) -> str | None:
        judge = TimerJudge(TimerConfiguration(), structs.replace(INLINE, executor=executor))
        judge.step(Add("a", 2), shown(size=1))
        judge.step(Add("b", 1), shown(size=2))
        divergence = judge.step(Advance(2), shown(*map(ran, runs), size=size)).divergence
        return divergence.rule if divergence else None

    assert last_rule("b", "a") is None
    assert last_rule("a", "b") == rule
    assert last_rule("b", size=1) == "TIMER-NOT-LATE"
    assert last_rule("b", "a", "a") == "TIMER-EXACTLY-ONCE"


@pytest.mark.parametrize(
    ("rounding", "ran_at_ms"), [(Rounding.DOWN, 30), (Rounding.UP, 40), (Rounding.EXACT, 35)]
)
@pytest.mark.parametrize("already_due", AlreadyDue)
def test_what_has_no_tick_expires_to_the_millisecond(
    rounding: Rounding, ran_at_ms: int, already_due: AlreadyDue
) -> None:
    """The task is expected at the reading that the rounding says, and no other."""
    profile = TimerProfile(rounding=rounding, already_due=already_due)
    for seen_ms in (30, 35, 40):
        judge = TimerJudge(TimerConfiguration(tick_ms=10), profile)
        judge.step(Add("a", 35), Outcome())
        advances = [
            judge.step(Advance(now), Outcome(events=(ran("a"),) if now == seen_ms else ()))
            for now in range(1, seen_ms + 1)
        ]
        broken = [each.divergence.rule for each in advances if each.divergence]
        assert broken[:1] == ([] if seen_ms == ran_at_ms else ["TIMER-ROUNDING"])


def test_a_ticker_without_a_choice_of_ticks_does_each_millisecond_once() -> None:
    """It is expected in the next millisecond."""
    profile = TimerProfile(rounding=Rounding.EXACT, already_due=AlreadyDue.NEXT_TICK)
    judge = TimerJudge(TimerConfiguration(tick_ms=10, start_ms=5), profile)
    steps = ((Add("a", 0), ()), (Advance(5), ()), (Advance(6), (ran("a"),)))
    assert not any(judge.step(each, Outcome(events=events)).divergence for each, events in steps)


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
    """Given one task that is due and one that is not: the rule that says so is blamed."""
    adds = [(Add("a", 1), shown(size=1)), (Add("b", 5), shown(size=2))]
    assert judged(*adds, (Advance(1), outcome))[-1] == rule


def test_an_event_of_a_stepped_executor_is_a_divergence_at_once() -> None:
    """Given a subject that does not declare a stepped executor: the step that shows it diverges."""
    add = (Add("a", 1), shown(size=1))
    assert judged(add, (Advance(1), shown(expired("a")))) == [None, "TIMER-EXECUTOR-ORDER"]


def test_a_task_added_while_another_runs_is_followed() -> None:
    """It is right; and it is wrong where the second runs first."""
    add = (Add("a", 1, (AddInside("b", 0),)), shown(size=1))
    assert judged(add, (Advance(1), shown(ran("a"), ran("b")))) == [None, None]
    assert judged(add, (Advance(1), shown(ran("a"), size=1))) == [None, None]
    assert judged(add, (Advance(1), shown(ran("b"), ran("a"))))[-1] is not None


def test_a_task_cancelled_while_another_of_its_pass_runs_may_run_all_the_same() -> None:
    """Both run, or the first alone; and never the second alone."""
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
    """That is right with the size that fits, and nothing else."""
    adds = [(Add("a", 1), shown(size=1)), (Add("b", 1, (AddInside("a", 0),)), shown(size=2))]
    outcome = shown(*(ran(task) for task in runs), size=size)
    assert (judged(*adds, (Advance(1), outcome))[-1] is None) == is_right


def test_a_refused_action_must_be_the_expected_one() -> None:
    """Given a running task whose add is fine, when it shows a rejection, that is a divergence."""
    add = (Add("a", 1, (AddInside("b", 5),)), shown(size=1))
    refused = Event(EventKind.REJECTED, "a", reason=Reason.CLOSED)
    assert judged(add, (Advance(1), shown(ran("a"), size=1))) == [None, None]
    assert judged(add, (Advance(1), shown(ran("a"), refused, size=1)))[-1] == "TIMER-ADD-INSIDE"
