"""The purgatory, call by call: what the rules leave free; golden vectors show what they fix."""

import msgspec
import pytest
from immutables import Map

from purgatory_spec import operations as op
from purgatory_spec.profiles import CheckOrder, FirstTry
from purgatory_spec.reasons import Reason

from .purgatory_examples import COMPLETE, THROW, WAIT, everything, last, stepped
from .purgatory_strategies import told


def test_a_check_of_a_list_without_order_meets_all_of_it_in_any_order() -> None:
    """Each order of tries is right in which a completed operation is not tried."""
    script = op.Script(on_try=((), (), (op.ForceInside("a"),)))
    free = msgspec.structs.replace(stepped(), check_order=CheckOrder.FREE)
    watches = (op.Watch("a", ("k",), 9), op.Watch("b", ("k",), 9), op.Watch("c", ("k",), 9, script))
    ways = everything(*watches, op.Check("k"), profile=free)
    assert {
        events.replace("tried:c completed:a", "c").replace("tried:", "") for *_, events, _ in ways
    } == {"c b", "b c", "a b c", "a c b", "b a c"}
    assert {lists for *_, lists in ways} == {Map(k=("a", "b", "c")), Map(k=("b", "c"))}
    cancelled = everything(*watches[:2], op.CancelForKey("k"), profile=free)
    assert {result for result, *_ in cancelled} == {("a", "b"), ("b", "a")}


@pytest.mark.parametrize(
    ("tries", "events", "result", "entries", "pending"),
    [
        ((COMPLETE,), "tried:a completed:a", True, 2, 0),
        ((WAIT, COMPLETE), "tried:a", False, 2, 1),
        ((THROW,), "tried:a", Reason.THROWN, 2, 1),
    ],
    ids=["completes", "waits", "throws"],
)
def test_a_watch_without_a_first_try_adds_and_tries_once(
    tries: tuple[op.Answer, ...], events: str, result: object, entries: int, pending: int
) -> None:
    """It has its entries in any case, and a time-out where it is not completed."""
    once = msgspec.structs.replace(stepped(), first_try=FirstTry.NONE)
    outcome = last(op.Watch("a", ("k", "j"), 9, op.Script(tries)), profile=once)
    assert told(outcome) == events
    assert (outcome.rejected or outcome.result) == result
    assert (outcome.observed["entries"], outcome.observed["pending"]) == (entries, pending)


def test_after_shutdown_an_advance_hands_nothing_over() -> None:
    """Nothing expires, whether it purges and is rejected is free, and the queue is still run."""
    before = (
        op.Watch("a", ("k",), 1),
        op.Watch("b", ("k",), 5),
        op.Watch("c", ("j",), 5),
        op.Force("c"),
        op.Advance(1),
        op.Shutdown(),
    )
    waiting: Map[str, tuple[str, ...]] = Map({"k": ("a", "b")})
    kept = waiting.set("j", ("c",))
    assert everything(*before, op.Advance(9)) == {
        (None, rejected, "", lists)
        for rejected in (None, Reason.CLOSED)
        for lists in (waiting, kept)
    }
    assert told(last(*before, op.RunOne())) == "completed:a timed_out:a"


def test_watching_what_is_completed_may_try_it_and_no_more() -> None:
    """It may be tried never, once or twice, and has neither entry nor time-out."""
    none: Map[str, tuple[str, ...]] = Map()
    assert everything(
        op.Watch("a", ("k",), 9, op.Script((COMPLETE,))), op.Watch("a", ("k",), 9)
    ) == {(False, None, words, none) for words in ("", "tried:a", "tried:a tried:a")}
    throwing = op.Script((COMPLETE, COMPLETE, THROW))
    assert everything(op.Watch("a", ("k",), 9, throwing), op.Watch("a", ("k",), 9)) == {
        (False, None, "", none),
        (False, None, "tried:a", none),
        (None, Reason.THROWN, "tried:a tried:a", none),
    }
