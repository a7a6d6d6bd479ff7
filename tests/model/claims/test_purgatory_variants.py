"""Each variant follows what it is for, and is not taken for the rules."""

import re
from itertools import product

import pytest
from immutables import Map

from purgatory_model.claims.purgatory_variants import VARIANTS, purgatory_variant_model
from purgatory_model.purgatory import purgatory_model
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason

from ..purgatory_strategies import Model, State, only, told

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
    """Decide whether the rules allow an outcome of the last operation."""
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
    """Expect the outcomes of the rules."""
    asked = (op.Watch("a", ("k",), 9), op.Force("a"))
    outcomes, _ = only(variant("stale_uncounted"), *asked)
    assert by_rules(outcomes[-1], *asked)


def test_watching_under_no_key_fails_as_nobody_planned() -> None:
    """It is not tried, and the reason is internal, which the rules never predict."""
    asked = op.Watch("a", (), 9)
    outcomes, _ = only(variant("no_keys_internal"), asked)
    assert (outcomes[0].rejected, told(outcomes[0])) == (Reason.INTERNAL, "")
    assert not by_rules(outcomes[0], asked)


SMALL: tuple[op.Operation, ...] = (
    op.Watch("a", ("k", "j"), 1, op.Script((op.Answer.WAIT, op.Answer.THROW, op.Answer.WAIT))),
    op.Watch("b", ("k",), 1),
    op.Watch("c", (), 1),
    op.Force("b"),
    op.CancelForKey("k"),
    op.Shutdown(),
)
"""The operations of a small instance that reach every variant."""


def beyond(name: str, length: int = 3) -> int:
    """The number of ways through so many operations that leave the rules, and with which step."""
    count = 0
    rules, model = purgatory_model(CONFIGURATION, PROFILE), variant(name)
    ways = [(model.initial(), frozenset({rules.initial()}))]
    for _ in range(length):
        legal = []
        for (state, possible), operation in product(ways, SMALL):
            for outcome, after in model.successors(state, operation):
                allowed = [rules.accept(each, operation, outcome) for each in possible]
                still = frozenset[State]().union(*allowed)
                count += not still
                legal += [(after, still)] if still else []
        ways = legal
    return count


def test_variants_come_in_the_order_of_what_they_allow_beyond_the_rules() -> None:
    """The first only lets a bound be broken, which the model itself never states."""
    counts = [beyond(name) for name in VARIANTS]
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[1]


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
