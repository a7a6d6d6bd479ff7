"""Each variant follows what it is for, and is not taken for the rules."""

import re

import pytest
from immutables import Map

from purgatory_model.claims.purgatory_variants import VARIANTS, purgatory_variant_model
from purgatory_model.purgatory import purgatory_model
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason

from ..purgatory_strategies import Model, only, told

PROFILE = profiles.PurgatoryProfile(
    check_drops=profiles.CheckDrops.AS_PASSED,
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    observables=frozenset(profiles.PurgatoryObservable),
)
CONFIGURATION = profiles.PurgatoryConfiguration()


def variant(*names: str) -> Model:
    return purgatory_variant_model(CONFIGURATION, PROFILE, frozenset(names))


def by_rules(outcome: Outcome, *asked: op.Operation) -> bool:
    """Whether the rules allow an outcome of the last operation."""
    model = purgatory_model(CONFIGURATION, PROFILE)
    states = {model.initial()}
    for operation in asked[:-1]:
        states = {after for state in states for _, after in model.successors(state, operation)}
    return any(model.accept(state, asked[-1], outcome) for state in states)


@pytest.mark.parametrize(
    ("name", "asked", "seen"),
    [
        (
            "time_out_taken_with_key",
            (op.Watch("a", ("k", "j"), 9), op.CancelForKey("k")),
            {"entries": 1, "timer_size": 0},
        ),
        (
            "second_try_unarmed",
            (op.Watch("a", ("k",), 9, op.Script((op.Answer.WAIT, op.Answer.THROW))),),
            {"entries": 1, "timer_size": 0, "estimate": 1},
        ),
        (
            "completed_uncounted",
            (op.Force("a"), op.Watch("a", ("k", "j"), 9)),
            {"entries": 0, "estimate": 0, "timer_size": 0},
        ),
        (
            "completed_watched",
            (op.Force("a"), op.Watch("a", ("k", "j"), 9)),
            {"entries": 2, "stale_entries": 2, "estimate": 1, "timer_size": 0},
        ),
    ],
)
def test_variant_follows_what_the_rules_forbid(
    name: str, asked: tuple[op.Operation, ...], seen: dict[str, int]
) -> None:
    """There is one outcome, which shows it, and which the rules do not allow."""
    outcomes, _ = only(variant(name), *asked)
    assert {each: outcomes[-1].observed[each] for each in seen} == seen
    assert not by_rules(outcomes[-1], *asked)


def test_completed_operations_are_tried_twice_where_they_are_watched() -> None:
    """It is tried twice and the result is false."""
    outcomes, state = only(
        variant("completed_watched"), op.Force("a"), op.Satisfy("a"), op.Watch("a", ("k",), 9)
    )
    assert (outcomes[-1].result, told(outcomes[-1])) == (False, "tried:a tried:a")
    assert state.lists == Map({"k": ("a",)})


def test_after_shutdown_a_watch_is_taken_or_refused_at_its_end() -> None:
    """It is tried twice and has its entry, and its time-out is lost or refused."""
    model = variant("open_after_shutdown")
    _, closed = only(model, op.Shutdown())
    outcomes = [outcome for outcome, _ in model.successors(closed, op.Watch("a", ("k",), 9))]
    assert {(outcome.result, outcome.rejected) for outcome in outcomes} == {
        (False, None),
        (None, Reason.CLOSED),
    }
    assert {outcome.observed["entries"] for outcome in outcomes} == {1}
    assert not any(
        by_rules(outcome, op.Shutdown(), op.Watch("a", ("k",), 9)) for outcome in outcomes
    )


def test_stale_uncounted_changes_nothing_in_the_model() -> None:
    """What comes of it is what the rules say."""
    asked = (op.Watch("a", ("k",), 9), op.Force("a"))
    outcomes, _ = only(variant("stale_uncounted"), *asked)
    assert by_rules(outcomes[-1], *asked)


def test_watching_under_no_key_fails_as_nobody_planned() -> None:
    """It is not tried, and the reason is internal, which the rules never predict."""
    asked = op.Watch("a", (), 9)
    outcomes, _ = only(variant("no_keys_internal"), asked)
    assert (outcomes[0].rejected, told(outcomes[0])) == (Reason.INTERNAL, "")
    assert not by_rules(outcomes[0], asked)


@pytest.mark.parametrize("name", VARIANTS)
def test_variant_does_not_follow_everything(name: str) -> None:
    """Given a variant, when an operation is completed twice, it does not follow that."""
    model = variant(name)
    (first, _), state = only(model, op.Force("a"), op.Force("a"))
    assert model.accept(state, op.Force("a"), first) == frozenset()


def test_unknown_variant_is_an_error() -> None:
    """Given a name that no variant has, when a model is asked for, the error names it."""
    with pytest.raises(ValueError, match=re.escape("there is no variant 'late'")):
        variant("late")
