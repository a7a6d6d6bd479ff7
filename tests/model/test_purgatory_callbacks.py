"""Callbacks of the purgatory that throw, and those that call it again."""

import pytest
from immutables import Map

from purgatory_spec.operations import (
    Advance,
    CancelForKeyInside,
    Check,
    CheckInside,
    Force,
    ForceInside,
    RunOne,
    Satisfy,
    Script,
    Throw,
    Watch,
    WatchInside,
)
from purgatory_spec.profiles import ThrowingTry
from purgatory_spec.reasons import Reason

from .purgatory_examples import COMPLETE, THROW, WAIT, asked, everything, last, stepped
from .purgatory_strategies import told


@pytest.mark.parametrize("throwing_try", ThrowingTry)
def test_a_check_in_which_one_throws(throwing_try: ThrowingTry) -> None:
    """The exception reaches the caller, and the last is tried only if the check goes on."""
    outcomes, state = asked(
        Watch("a", ("k",), 9),
        Watch("b", ("k",), 9, Script((WAIT, WAIT, COMPLETE))),
        Watch("c", ("k",), 9, Script((WAIT, WAIT, THROW))),
        Watch("d", ("k",), 9),
        Force("a"),
        Satisfy("d"),
        Check("k"),
        profile=stepped(throwing_try=throwing_try),
    )
    assert outcomes[-1].rejected is Reason.THROWN
    if throwing_try is ThrowingTry.STOP:
        assert told(outcomes[-1]) == "tried:b completed:b tried:c"
        assert state.lists == Map({"k": ("c", "d")})
    else:
        assert told(outcomes[-1]) == "tried:b completed:b tried:c tried:d completed:d"
        assert state.lists == Map({"k": ("c",)})


@pytest.mark.parametrize("throwing_try", ThrowingTry)
def test_an_operation_whose_on_complete_throws_is_completed(throwing_try: ThrowingTry) -> None:
    """The exception reaches the caller."""
    outcomes, state = asked(
        Watch("a", ("k",), 9, Script((WAIT, WAIT, COMPLETE), on_complete=(Throw(),))),
        Check("k"),
        profile=stepped(throwing_try=throwing_try),
    )
    assert (outcomes[1].rejected, told(outcomes[1])) == (Reason.THROWN, "tried:a completed:a")
    assert state.completed == {"a"}
    assert state.timer_size == 0
    left = {"k": ("a",)} if throwing_try is ThrowingTry.STOP else {}
    assert state.lists == Map(left)


def test_an_exception_in_the_executor_is_its_own() -> None:
    """on_expiration is skipped where on_complete threw, and the next one runs all the same."""
    outcomes, _ = asked(
        Watch("a", ("k",), 1, Script(on_complete=(Throw(),))),
        Watch("b", ("k",), 2, Script(on_expiration=(Throw(), ForceInside("a")))),
        Watch("c", ("k",), 3),
        Advance(3),
        *(RunOne(),) * 3,
    )
    assert [(outcome.rejected, told(outcome)) for outcome in outcomes[4:]] == [
        (None, "completed:a"),
        (None, "completed:b timed_out:b"),
        (None, "completed:c timed_out:c"),
    ]


def test_a_callback_is_an_ordinary_caller() -> None:
    """Each action has its effect, a refused one is reported, and the script goes on."""
    script = Script(
        on_complete=(
            ForceInside("a"),
            WatchInside("z", (), 3),
            WatchInside("y", ("j",), 3),
            CancelForKeyInside("k"),
            ForceInside("b"),
        )
    )
    outcomes, state = asked(Watch("a", ("k",), 9, script), Watch("b", ("k",), 9), Force("a"))
    assert told(outcomes[-1]) == "completed:a rejected:a tried:y tried:y completed:b"
    assert outcomes[-1].events[1].reason is Reason.INVALID_ARGUMENT
    assert state.lists == Map({"j": ("y",)})
    assert set(state.timer.store.due_ticks) == {"y"}


def test_an_exception_inside_is_caught_by_the_callback() -> None:
    """When it is forced, that is reported as thrown, and the script goes on."""
    outcome = last(
        Watch("b", ("k",), 9, Script((WAIT, WAIT, THROW))),
        Watch("a", ("j",), 9, Script(on_complete=(CheckInside("k"), ForceInside("b")))),
        Force("a"),
    )
    assert told(outcome) == "completed:a tried:b rejected:a completed:b"
    assert outcome.events[2].reason is Reason.THROWN
    assert (outcome.result, outcome.rejected) == (True, None)


def test_a_check_may_miss_what_callbacks_add_to_its_list() -> None:
    """When the check completes it, the new entry is met by this check or not."""
    script = Script((WAIT, WAIT, COMPLETE), on_complete=(WatchInside("b", ("k",), 9),))
    lists = Map({"k": ("b",)})
    assert everything(Watch("a", ("k",), 9, script), Check("k")) == {
        (1, None, "tried:a completed:a tried:b tried:b", lists),
        (1, None, "tried:a completed:a tried:b tried:b tried:b", lists),
    }


def test_a_check_may_miss_what_callbacks_take_from_its_list() -> None:
    """The second is met or not, and a new list under the key is left alone."""
    script = Script(
        (WAIT, WAIT, COMPLETE),
        on_complete=(CancelForKeyInside("k"), WatchInside("a", ("k",), 9)),
    )
    found = everything(
        Watch("a", ("k",), 9, script), Watch("b", ("k",), 9), Satisfy("b"), Check("k")
    )
    met = {words.endswith("tried:b completed:b") for _, _, words, _ in found}
    assert {result for result, *_ in found} == {1, 2}
    assert met == {True, False}
    assert {lists for *_, lists in found} == {Map()}


def test_a_check_inside_a_check_takes_nothing_away_from_it() -> None:
    """The inner check completes the others, and the outer counts the first alone."""
    outcome = last(
        Watch("a", ("k",), 9, Script((WAIT, WAIT, COMPLETE), on_complete=(CheckInside("k"),))),
        Watch("b", ("k",), 9),
        Watch("c", ("k",), 9),
        Satisfy("b"),
        Satisfy("c"),
        Check("k"),
    )
    assert told(outcome) == "tried:a completed:a tried:b completed:b tried:c completed:c"
    assert (outcome.result, outcome.observed["keys"]) == (1, 0)
