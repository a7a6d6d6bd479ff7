"""The demands on results, observables and events of each component."""

from collections.abc import Callable

import pytest

from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.outcome_rules import OutcomeRules
from purgatory_conformance.subjects.subject import FailureKind
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.messages import Reply
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value, ran
from purgatory_spec.reasons import Reason

PURGATORY = OutcomeRules(profiles.PurgatoryProfile())
POOL = OutcomeRules(profiles.MemoryPoolProfile())
SILENT = OutcomeRules(profiles.TimerProfile())
TIMER = OutcomeRules(
    profiles.TimerProfile(observables=frozenset({profiles.Observable.ADVANCE_RESULT}))
)
PROFILES_BY: dict[type, Callable[..., profiles.Profile]] = {
    profiles.PurgatoryObservable: profiles.PurgatoryProfile,
    profiles.MemoryPoolObservable: profiles.MemoryPoolProfile,
    profiles.Observable: profiles.TimerProfile,
}
WATCH = op.Watch("a", ("k",), 5)


@pytest.mark.parametrize(
    ("rules", "operation", "result"),
    [
        (PURGATORY, op.Check("k"), 0),
        (PURGATORY, WATCH, False),
        (PURGATORY, op.Force("a"), True),
        (PURGATORY, op.CancelForKey("k"), ("a", "b")),
        (PURGATORY, op.CancelForKey("k"), ()),
        (POOL, op.Allocate("b", 5), False),
        (TIMER, op.Advance(5), True),
    ],
)
def test_a_result_of_its_type_is_taken(
    rules: OutcomeRules, operation: op.Operation, result: Value
) -> None:
    """The outcome has it, and a rejection stands without any."""
    assert rules.outcome(Reply(1, result=result), operation, closed=False).result == result
    refused = rules.outcome(Reply(1, rejected=Reason.CLOSED), operation, closed=False)
    assert (refused.result, refused.rejected) == (None, Reason.CLOSED)


@pytest.mark.parametrize(
    ("rules", "operation", "result", "problem"),
    [
        (PURGATORY, op.Check("k"), True, "the result of 'check' is true; it must be an integer"),
        (PURGATORY, op.Check("k"), -1, "the result of 'check' is -1; it must be an integer that"),
        (PURGATORY, op.Check("k"), None, "'check' has no 'result'; answer an integer"),
        (PURGATORY, WATCH, 1, "the result of 'watch' is 1; it must be true or false"),
        (PURGATORY, op.Force("a"), None, "'force' has no 'result'; answer true or false"),
        (PURGATORY, op.CancelForKey("k"), 2, "is 2; it must be a list of names"),
        (POOL, op.Allocate("b", 5), 5, "the result of 'allocate' is 5; it must be true or false"),
        (TIMER, op.Advance(5), 1, "the result of 'advance' is 1; it must be true or false"),
    ],
)
def test_a_result_of_another_type_is_named(
    rules: OutcomeRules, operation: op.Operation, result: Value, problem: str
) -> None:
    """The fault names the operation and what the result must be."""
    with pytest.raises(Fault) as raised:
        rules.outcome(Reply(1, result=result), operation, closed=False)
    assert raised.value.kind is FailureKind.WRONG_TYPES
    assert problem in raised.value.explanation


def test_lists_of_names_have_no_order() -> None:
    """Given names in the order of UTF-16, as Java has it."""
    shown = frozenset({profiles.ChannelMutingObservable.OPEN})
    rules = OutcomeRules(profiles.ChannelMutingProfile(observables=shown))
    names = ("a", "\U0001f600", "\ufffd")
    reply = Reply(1, observed={"open": names})
    assert rules.outcome(reply, op.Poll(), closed=False).observed == {"open": tuple(sorted(names))}
    assert tuple(sorted(names)) != names


@pytest.mark.parametrize(
    ("rules", "operation"),
    [
        (PURGATORY, op.Advance(5)),
        (POOL, op.Release("b")),
        (SILENT, op.Advance(5)),
        (TIMER, op.Cancel("a")),
    ],
)
def test_other_operations_have_no_result(rules: OutcomeRules, operation: op.Operation) -> None:
    """Given an operation that has no result, or none that is declared: nobody looks at it."""
    assert rules.outcome(Reply(1, result=True), operation, closed=False).result is None


@pytest.mark.parametrize(
    ("observable", "right", "wrong"),
    [
        (profiles.PurgatoryObservable.ENTRIES, 0, -1),
        (profiles.PurgatoryObservable.PENDING, 3, None),
        (profiles.PurgatoryObservable.ESTIMATE, -7, True),
        (profiles.MemoryPoolObservable.AVAILABLE, -5, None),
        (profiles.MemoryPoolObservable.OUT_OF_MEMORY, False, 0),
        (profiles.MemoryPoolObservable.BUFFER, None, False),
        (profiles.MemoryPoolObservable.DEPLETED_TIME, 12, None),
        (profiles.Observable.SIZE, 1, None),
        (profiles.Observable.QUEUED, 0, True),
        (profiles.Observable.WHEEL_CLOCK, 0, None),
        (profiles.Observable.QUEUED_BUCKETS, 1, True),
        (profiles.Observable.NEXT_EXPIRY, None, True),
        (profiles.Observable.LEVELS, 1, None),
    ],
)
def test_observables_have_their_types(
    observable: profiles.PurgatoryObservable | profiles.MemoryPoolObservable | profiles.Observable,
    right: Value,
    wrong: Value,
) -> None:
    """The first is taken, the second is a wrong type, the third is missing: after shutdown too."""
    profile = PROFILES_BY[type(observable)](observables=frozenset({observable}))
    rules, operation = OutcomeRules(profile), op.Cancel("a")
    shown = {observable.value: right, "other": 1}
    outcome = rules.outcome(Reply(1, observed=shown), operation, closed=False)
    assert outcome.observed == {observable.value: right}
    with pytest.raises(Fault) as raised:
        rules.outcome(Reply(1, observed={observable.value: wrong}), operation, closed=False)
    assert raised.value.kind is FailureKind.WRONG_TYPES
    assert f"'{observable.value}'" in raised.value.explanation
    spared = (
        isinstance(observable, profiles.Observable) and observable is not profiles.Observable.QUEUED
    )
    with pytest.raises(Fault) as raised:
        rules.outcome(Reply(1), operation, closed=not spared)
    assert raised.value.kind is FailureKind.MISSING_OBSERVABLE
    assert not spared or rules.outcome(Reply(1), operation, closed=True).observed == {}


@pytest.mark.parametrize(
    "event", [Event(EventKind.REJECTED, "a"), Event(EventKind.RAN, "a", Reason.CLOSED)]
)
def test_only_rejected_events_have_a_reason(event: Event) -> None:
    with pytest.raises(Fault, match="events of kind 'rejected' have one and no others"):
        OutcomeRules(profiles.TimerProfile()).outcome(
            Reply(1, events=(event,)), op.Advance(1), closed=False
        )


def test_readings_of_a_real_clock_are_owed_and_those_of_a_manual_one_dropped() -> None:
    timed = Event(EventKind.RAN, "a", at_ms=5)
    manual = OutcomeRules(profiles.TimerProfile())
    reply = Reply(1, events=(timed,), called_ms=4, returned_ms=6)
    assert manual.outcome(reply, op.Advance(1), closed=False) == Outcome(events=(ran("a"),))
    real = OutcomeRules(profiles.TimerProfile(clock=profiles.Clock.WALL))
    complete = Outcome(events=(timed,), called_ms=4, returned_ms=6)
    assert real.outcome(reply, op.Advance(1), closed=False) == complete
    for lacking in (
        Reply(1, events=(timed,), called_ms=4),
        Reply(1, events=(ran("a"),), called_ms=4, returned_ms=6),
    ):
        with pytest.raises(Fault, match="with the clock 'wall'"):
            real.outcome(lacking, op.Advance(1), closed=False)
