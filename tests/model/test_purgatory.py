"""The purgatory, call by call: what each rule says, in its shortest example."""

# The examples that repeat a test of Kafka's name it.

import msgspec
import pytest
from immutables import Map

from purgatory_spec.operations import (
    Advance,
    Answer,
    CancelForKey,
    Check,
    Elapse,
    Force,
    ForceInside,
    Operation,
    RunOne,
    Satisfy,
    Script,
    Shutdown,
    Watch,
)
from purgatory_spec.profiles import CancelResult, CheckOrder, FirstTry, PurgatoryConfiguration
from purgatory_spec.reasons import Reason

from .purgatory_examples import COMPLETE, THROW, WAIT, asked, everything, last, stepped
from .purgatory_strategies import told


def test_a_satisfied_operation_is_completed_by_the_next_check_of_its_key() -> None:
    a, b = Watch("a", ("k",), 100), Watch("b", ("j",), 100)
    outcomes, state = asked(
        a, b, Check("k"), Satisfy("a"), Check("k"), Satisfy("b"), Check("j"), Check("k")
    )
    assert [outcome.result for outcome in outcomes] == [False, False, 0, None, 1, None, 1, 0]
    assert told(outcomes[4]) == "tried:a completed:a"
    assert state.lists == Map()
    assert state.timer_size == 0


def test_what_nothing_completes_its_time_out_completes() -> None:
    """The first one expires, when it is run, and the second does not."""
    outcomes, state = asked(
        Watch("a", ("k",), 20),
        Watch("b", ("j",), 200_000),
        Elapse(10),
        Advance(19),
        Advance(20),
        RunOne(),
        RunOne(),
    )
    assert [told(outcome) for outcome in outcomes[2:]] == [
        "",
        "",
        "expired:a",
        "completed:a timed_out:a",
        "",
    ]
    assert state.timer_size == 1


def test_completed_operations_leave_the_timer_at_once_and_the_lists_later() -> None:
    """The timer's size is 3, 2, 1, and the entries are 6, and then 4, 2, 1."""
    outcomes, _ = asked(
        Watch("a", ("1",), 100),
        Watch("b", ("1", "2"), 100),
        Watch("c", ("1", "2", "3"), 100),
        Force("b"),
        Force("c"),
        Check("1"),
        Check("2"),
        Check("3"),
    )
    shown = [outcome.observed for outcome in outcomes[2:]]
    assert [each["timer_size"] for each in shown] == [3, 2, 1, 1, 1, 1]
    assert [each["entries"] for each in shown] == [6, 6, 6, 4, 2, 1]
    assert [outcome.result for outcome in outcomes[3:]] == [True, True, 0, 0, 0]


def test_cancelling_for_a_key_gives_its_operations_back() -> None:
    """The two are the result, and one operation is left, with its time-out."""
    watched = (Watch("a", ("k",), 9), Watch("b", ("k",), 9), Watch("c", ("j",), 9))
    outcome = last(*watched, CancelForKey("k"))
    assert outcome.result == ("a", "b")
    assert told(outcome) == ""
    assert (outcome.observed["entries"], outcome.observed["timer_size"]) == (1, 1)
    assert last(*watched, CancelForKey("nobody's")).result == ()


def test_cancelling_may_leave_out_what_is_completed() -> None:
    """The completed one is in the first answer alone, and nothing is left of any."""
    watches = (Watch(name, ("k",), 9) for name in ("a", "b", "c"))
    asked_for: tuple[Operation, ...] = (*watches, Force("b"), CancelForKey("k"))
    live = msgspec.structs.replace(stepped(), cancel_result=CancelResult.LIVE)
    assert last(*asked_for).result == ("a", "b", "c")
    outcome = last(*asked_for, profile=live)
    assert outcome.result == ("a", "c")
    assert (outcome.observed["entries"], outcome.observed["timer_size"]) == (0, 0)


def test_cancelling_leaves_the_time_out_of_what_is_watched_elsewhere() -> None:
    """It keeps its time-out until it has no entry."""
    outcomes, _ = asked(Watch("a", ("k", "j", "k"), 9), CancelForKey("k"), CancelForKey("j"))
    assert [outcome.result for outcome in outcomes[1:]] == [("a", "a"), ("a",)]
    assert [outcome.observed["timer_size"] for outcome in outcomes] == [1, 1, 0]


def test_a_check_of_a_list_without_order_meets_all_of_it_in_any_order() -> None:
    """Each order of tries is right in which a completed operation is not tried."""
    script = Script(on_try=((), (), (ForceInside("a"),)))
    free = msgspec.structs.replace(stepped(), check_order=CheckOrder.FREE)
    watches = (Watch("a", ("k",), 9), Watch("b", ("k",), 9), Watch("c", ("k",), 9, script))
    ways = everything(*watches, Check("k"), profile=free)
    assert {
        events.replace("tried:c completed:a", "c").replace("tried:", "") for *_, events, _ in ways
    } == {
        "c b",
        "b c",
        "a b c",
        "a c b",
        "b a c",
    }
    assert {lists for *_, lists in ways} == {Map(k=("a", "b", "c")), Map(k=("b", "c"))}
    cancelled = everything(*watches[:2], CancelForKey("k"), profile=free)
    assert {result for result, *_ in cancelled} == {("a", "b"), ("b", "a")}


@pytest.mark.parametrize(
    ("tries", "events", "result", "entries", "pending"),
    [
        ((COMPLETE,), "tried:a completed:a", True, 0, 0),
        ((WAIT, COMPLETE), "tried:a tried:a completed:a", True, 2, 0),
        ((WAIT, WAIT), "tried:a tried:a", False, 2, 1),
        ((THROW,), "tried:a", Reason.THROWN, 0, 0),
        ((WAIT, THROW), "tried:a tried:a", Reason.THROWN, 2, 1),
    ],
    ids=["first-try", "second-try", "waits", "first-throws", "second-throws"],
)
def test_a_watch_tries_before_and_after_it_adds(
    tries: tuple[Answer, ...], events: str, result: bool | Reason, entries: int, pending: int
) -> None:
    """It is added to the lists iff the first try waits, and armed iff it is added and not done."""
    outcome = last(Watch("a", ("k", "j"), 9, Script(tries)))
    assert told(outcome) == events
    assert (outcome.rejected or outcome.result) is result
    assert outcome.observed["entries"] == entries
    assert outcome.observed["pending"] == pending


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
    tries: tuple[Answer, ...], events: str, result: object, entries: int, pending: int
) -> None:
    """It has its entries in any case, and a time-out where it is not completed."""
    once = msgspec.structs.replace(stepped(), first_try=FirstTry.NONE)
    outcome = last(Watch("a", ("k", "j"), 9, Script(tries)), profile=once)
    assert told(outcome) == events
    assert (outcome.rejected or outcome.result) == result
    assert (outcome.observed["entries"], outcome.observed["pending"]) == (entries, pending)


def test_a_watch_without_keys_or_after_shutdown_tries_nothing() -> None:
    """It is rejected without a try; what waited before can still be completed."""
    nowhere = last(Watch("a", (), 9, Script((COMPLETE,))))
    assert (nowhere.rejected, told(nowhere)) == (Reason.INVALID_ARGUMENT, "")
    closed = (Watch("b", ("k",), 9), Shutdown(), Shutdown())
    late = last(*closed, Watch("a", (), 9, Script((COMPLETE,))))
    assert (late.rejected, told(late)) == (Reason.CLOSED, "")
    assert last(*closed, Satisfy("b"), Check("k")).result == 1
    assert set(late.observed) == {"entries", "keys", "stale_entries", "stale_operations", "queued"}


def test_after_shutdown_an_advance_hands_nothing_over() -> None:
    """Nothing expires, whether it purges and is rejected is free, and the queue is still run."""
    before = (
        Watch("a", ("k",), 1),
        Watch("b", ("k",), 5),
        Watch("c", ("j",), 5),
        Force("c"),
        Advance(1),
        Shutdown(),
    )
    waiting: Map[str, tuple[str, ...]] = Map({"k": ("a", "b")})
    kept = waiting.set("j", ("c",))
    assert everything(*before, Advance(9)) == {
        (None, rejected, "", lists)
        for rejected in (None, Reason.CLOSED)
        for lists in (waiting, kept)
    }
    assert told(last(*before, RunOne())) == "completed:a timed_out:a"


def test_forcing_completes_once() -> None:
    """Each is completed once, and its expiry does nothing."""
    outcomes, _ = asked(
        Watch("a", ("k",), 1),
        Advance(1),
        Force("a"),
        Force("a"),
        RunOne(),
        Force("z"),
        Force("z"),
    )
    assert [outcome.result for outcome in outcomes[2:]] == [True, False, None, True, False]
    assert [told(outcome) for outcome in outcomes[2:]] == ["completed:a", "", "", "completed:z", ""]


def test_watching_again_moves_the_time_out_and_adds_entries() -> None:
    """It has three entries and one time-out, 5 ms after the second watch."""
    outcomes, state = asked(
        Watch("a", ("k",), 5),
        Elapse(3),
        Watch("a", ("k", "j"), 999),
        Advance(7),
        Advance(8),
    )
    assert outcomes[2].observed["timer_size"] == 1
    assert state.lists == Map({"k": ("a", "a"), "j": ("a",)})
    assert [told(outcome) for outcome in outcomes[3:]] == ["", "expired:a"]


def test_watching_what_is_completed_may_try_it_and_no_more() -> None:
    """It may be tried never, once or twice, and has neither entry nor time-out."""
    none: Map[str, tuple[str, ...]] = Map()
    assert everything(Watch("a", ("k",), 9, Script((COMPLETE,))), Watch("a", ("k",), 9)) == {
        (False, None, words, none) for words in ("", "tried:a", "tried:a tried:a")
    }
    throwing = Script((COMPLETE, COMPLETE, THROW))
    assert everything(Watch("a", ("k",), 9, throwing), Watch("a", ("k",), 9)) == {
        (False, None, "", none),
        (False, None, "tried:a", none),
        (None, Reason.THROWN, "tried:a tried:a", none),
    }


def test_without_time_outs_nothing_expires() -> None:
    """Given a purgatory without time-outs: it waits, and is completed by a check."""
    outcomes, _ = asked(
        Watch("a", ("k",), 1),
        Advance(9),
        Satisfy("a"),
        Check("k"),
        configuration=PurgatoryConfiguration(time_outs=False),
    )
    assert [told(outcome) for outcome in outcomes[1:]] == ["", "", "tried:a completed:a"]
    assert outcomes[0].observed["pending"] == 0
