"""Callbacks of the purgatory that throw, and those that call it again."""

import pytest
from immutables import Map

from purgatory_spec import operations as op
from purgatory_spec.profiles import ThrowingTry
from purgatory_spec.reasons import Reason

from .purgatory_examples import COMPLETE, THROW, WAIT, asked, everything, last, stepped
from .purgatory_strategies import told


@pytest.mark.parametrize("throwing_try", ThrowingTry)
def test_an_operation_whose_on_complete_throws_is_completed(throwing_try: ThrowingTry) -> None:
    """The exception reaches the caller."""
    outcomes, state = asked(
        op.Watch("a", ("k",), 9, op.Script((WAIT, WAIT, COMPLETE), on_complete=(op.Throw(),))),
        op.Check("k"),
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
        op.Watch("a", ("k",), 1, op.Script(on_complete=(op.Throw(),))),
        op.Watch("b", ("k",), 2, op.Script(on_expiration=(op.Throw(), op.ForceInside("a")))),
        op.Watch("c", ("k",), 3),
        op.Advance(3),
        *(op.RunOne(),) * 3,
    )
    assert [(outcome.rejected, told(outcome)) for outcome in outcomes[4:]] == [
        (None, "completed:a"),
        (None, "completed:b timed_out:b"),
        (None, "completed:c timed_out:c"),
    ]


def test_a_callback_is_an_ordinary_caller() -> None:
    """Each action has its effect, a refused one is reported, and the script goes on."""
    script = op.Script(
        on_complete=(
            op.ForceInside("a"),
            op.WatchInside("z", (), 3),
            op.WatchInside("y", ("j",), 3),
            op.CancelForKeyInside("k"),
            op.ForceInside("b"),
        )
    )
    outcomes, state = asked(
        op.Watch("a", ("k",), 9, script), op.Watch("b", ("k",), 9), op.Force("a")
    )
    assert told(outcomes[-1]) == "completed:a rejected:a tried:y tried:y completed:b"
    assert outcomes[-1].events[1].reason is Reason.INVALID_ARGUMENT
    assert state.lists == Map({"j": ("y",)})
    assert set(state.timer.store.due_ticks) == {"y"}


def test_an_exception_inside_is_caught_by_the_callback() -> None:
    outcome = last(
        op.Watch("b", ("k",), 9, op.Script((WAIT, WAIT, THROW))),
        op.Watch("a", ("j",), 9, op.Script(on_complete=(op.CheckInside("k"), op.ForceInside("b")))),
        op.Force("a"),
    )
    assert told(outcome) == "completed:a tried:b rejected:a completed:b"
    assert outcome.events[2].reason is Reason.THROWN
    assert (outcome.result, outcome.rejected) == (True, None)


def test_a_check_may_miss_what_callbacks_add_to_its_list() -> None:
    """The new entry is met by this check or not."""
    script = op.Script((WAIT, WAIT, COMPLETE), on_complete=(op.WatchInside("b", ("k",), 9),))
    lists = Map({"k": ("b",)})
    assert everything(op.Watch("a", ("k",), 9, script), op.Check("k")) == {
        (1, None, "tried:a completed:a tried:b tried:b", lists),
        (1, None, "tried:a completed:a tried:b tried:b tried:b", lists),
    }


def test_a_check_may_miss_what_callbacks_take_from_its_list() -> None:
    """The second is met or not, and a new list under the key is left alone."""
    script = op.Script(
        (WAIT, WAIT, COMPLETE),
        on_complete=(op.CancelForKeyInside("k"), op.WatchInside("a", ("k",), 9)),
    )
    found = everything(
        op.Watch("a", ("k",), 9, script), op.Watch("b", ("k",), 9), op.Satisfy("b"), op.Check("k")
    )
    met = {words.endswith("tried:b completed:b") for _, _, words, _ in found}
    assert {result for result, *_ in found} == {1, 2}
    assert met == {True, False}
    assert {lists for *_, lists in found} == {Map()}
