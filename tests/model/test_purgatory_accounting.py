"""The instants of purges, and the part of the executor in them."""

import msgspec
import pytest
from immutables import Map

from purgatory_model.purgatory import purgatory_model
from purgatory_spec.operations import (
    Add,
    Advance,
    CheckInside,
    Elapse,
    Force,
    Operation,
    RunOne,
    Script,
    Watch,
)
from purgatory_spec.profiles import (
    Accounting,
    Executor,
    PurgatoryConfiguration,
    PurgatoryProfile,
    PurgeDue,
    Structure,
)

from .purgatory_examples import COMPLETE, EVERYTHING, THROW, WAIT, asked, everything, last, stepped
from .purgatory_strategies import only, told


def test_time_out_is_armed_before_or_after_the_second_try() -> None:
    """It may have been handed over before that, in vain, or not at all."""
    script = Script((WAIT, COMPLETE))
    lists = Map({"k": ("a",)})
    profile = stepped(structure=Structure.DELAY_QUEUE_WHEEL)
    assert everything(Watch("a", ("k",), 0, script), profile=profile) == {
        (True, None, "tried:a tried:a completed:a", lists),
        (True, None, "tried:a expired:a tried:a completed:a", lists),
    }


def test_proposal_purges_by_its_estimate() -> None:
    """Only the second advance purges, and the estimate is then the timer's size."""
    outcomes, _ = asked(
        Watch("a", ("k", "j"), 9),
        Watch("b", ("k",), 9),
        Watch("c", ("k",), 9),
        Force("a"),
        Advance(0),
        Force("b"),
        Advance(0),
        profile=stepped(Accounting.PROPOSAL),
        configuration=PurgatoryConfiguration(purge_interval=1),
    )
    shown = [(each.observed["estimate"], each.observed["stale_entries"]) for each in outcomes[3:]]
    assert shown == [(3, 2), (3, 2), (3, 3), (1, 0)]


@pytest.mark.parametrize(
    ("accounting", "keys", "left"),
    [
        # One beside six that live, two beside five, three beside four: that is more than half.
        (Accounting.EXACT, ("k",), [1, 2, 0]),
        (Accounting.PROPOSAL, ("k",), [1, 2, 0]),
        # Two entries each: the same shares. The proposal counts operations.
        (Accounting.EXACT, ("k", "j"), [2, 4, 0]),
        (Accounting.PROPOSAL, ("k", "j"), [2, 4, 0]),
    ],
)
def test_amortised_purges_wait_for_half_of_what_lives(
    accounting: Accounting, keys: tuple[str, ...], left: list[int]
) -> None:
    """A purge is made as soon as more is stale than half of what lives."""
    operations: list[Operation] = [Watch(name, keys, 9) for name in "abcdefg"]
    for name in "abc":
        operations += [Force(name), Advance(0)]
    profile = msgspec.structs.replace(stepped(accounting), purge_due=PurgeDue.AMORTISED)
    configuration = PurgatoryConfiguration(purge_interval=0)
    outcomes, _ = asked(*operations, profile=profile, configuration=configuration)
    assert [each.observed["stale_entries"] for each in outcomes[8::2]] == left


def test_any_accounting_purges_by_half_of_what_lives_at_the_latest() -> None:
    """The first advance may purge or not, and the second one must."""
    profile = msgspec.structs.replace(stepped(Accounting.ANY), purge_due=PurgeDue.AMORTISED)
    configuration = PurgatoryConfiguration(purge_interval=0)
    model = purgatory_model(configuration, profile)
    watched = only(model, *(Watch(name, ("k",), 9) for name in "abcd"), Force("a"))[1]
    advanced = [state for _, state in model.successors(watched, Advance(0))]
    assert {state.stale_entries for state in advanced} == {0, 1}
    unpurged = next(state for state in advanced if state.stale_entries)
    ((_, forced),) = model.successors(unpurged, Force("b"))
    assert {state.stale_entries for _, state in model.successors(forced, Advance(0))} == {0}


def test_exact_accounting_purges_by_its_count() -> None:
    """Only the second advance purges, and the estimate is pending plus stale all along."""
    outcomes, state = asked(
        Watch("a", ("k", "j"), 9),
        Watch("b", ("k",), 9),
        Watch("c", ("k",), 9),
        Force("a"),
        Advance(0),
        Force("b"),
        Advance(0),
        configuration=PurgatoryConfiguration(purge_interval=2),
    )
    shown = [(each.observed["estimate"], each.observed["stale_entries"]) for each in outcomes[3:]]
    assert shown == [(4, 2), (4, 2), (4, 3), (1, 0)]
    assert state.lists == Map({"k": ("c",)})


def test_mass_expiry_is_not_counted_by_the_proposal() -> None:
    """The proposal keeps three stale operations and counts none; the exact accounting purges."""
    steps: tuple[Operation, ...] = (
        *(Watch(name, ("k",), time) for name, time in (("a", 1), ("b", 2), ("c", 3))),
        Advance(3),
        *(RunOne(),) * 3,
        Advance(4),
    )
    configuration = PurgatoryConfiguration(purge_interval=2)
    kept, _ = asked(*steps, profile=stepped(Accounting.PROPOSAL), configuration=configuration)
    assert [each.observed["estimate"] for each in kept[2:]] == [3, 0, 0, 0, 0, 0]
    assert kept[-1].observed["stale_operations"] == 3
    purged, _ = asked(*steps, configuration=configuration)
    assert purged[-1].observed["stale_operations"] == 0


def test_an_inline_executor_has_run_when_the_step_returns() -> None:
    """They have run in some order before the purge is tested, so that all is purged."""
    profile = PurgatoryProfile(observables=EVERYTHING)
    model = purgatory_model(PurgatoryConfiguration(purge_interval=2), profile)
    watched = (Watch("a", ("k",), 1), Watch("b", ("k",), 1), Watch("c", ("j",), 1))
    _, state = only(model, *watched)
    pairs = list(model.successors(state, Advance(1)))
    assert len(pairs) == 6
    assert {after.lists for _, after in pairs} == {Map()}
    assert "completed:b timed_out:b completed:a timed_out:a completed:c timed_out:c" in {
        told(outcome) for outcome, _ in pairs
    }


def test_an_inline_executor_may_run_in_the_middle_of_a_watch() -> None:
    """Its time-out may run before the second try, after it, or not in this call."""
    found = everything(Watch("a", ("k",), 0), profile=PurgatoryProfile())
    assert {words for _, _, words, _ in found} == {
        "tried:a tried:a",
        "tried:a tried:a completed:a timed_out:a",
        "tried:a completed:a timed_out:a tried:a",
        "tried:a completed:a timed_out:a",
    }
    assert {result for result, *_ in found} == {False}


def test_a_callback_in_the_middle_of_a_watch_that_throws_is_not_rejected() -> None:
    """The second try's exception is the watch's own, whatever the time-out's callback calls."""
    script = Script((WAIT, THROW), on_complete=(CheckInside("j"),))
    found = everything(Watch("a", ("k",), 0, script), profile=PurgatoryProfile())
    assert "tried:a tried:a completed:a timed_out:a" in {words for _, _, words, _ in found}
    assert not any("rejected" in words for _, _, words, _ in found)


def test_threads_are_not_predicted() -> None:
    """The error says what is wrong."""
    with pytest.raises(ValueError, match="a stepped or an inline executor"):
        purgatory_model(PurgatoryConfiguration(), PurgatoryProfile(executor=Executor.THREAD))
    with pytest.raises(ValueError, match="a purgatory has no operation add"):
        last(Add("a", 1))
    with pytest.raises(ValueError, match="cannot go back"):
        last(Advance(5), Elapse(4))
