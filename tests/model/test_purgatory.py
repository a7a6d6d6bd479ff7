"""The purgatory, call by call: what each rule says, in its shortest example."""

# The examples that repeat a test of Kafka's name it.

import msgspec
import pytest
from immutables import Map

from purgatory_spec import operations as op
from purgatory_spec.profiles import CancelResult, CheckOrder, FirstTry, PurgatoryConfiguration
from purgatory_spec.reasons import Reason

from .purgatory_examples import COMPLETE, THROW, WAIT, asked, everything, last, stepped
from .purgatory_strategies import told


def test_a_satisfied_operation_is_completed_by_the_next_check_of_its_key() -> None:
    a, b = op.Watch("a", ("k",), 100), op.Watch("b", ("j",), 100)
    outcomes, state = asked(
        a,
        b,
        op.Check("k"),
        op.Satisfy("a"),
        op.Check("k"),
        op.Satisfy("b"),
        op.Check("j"),
        op.Check("k"),
    )
    assert [outcome.result for outcome in outcomes] == [False, False, 0, None, 1, None, 1, 0]
    assert told(outcomes[4]) == "tried:a completed:a"
    assert state.lists == Map()
    assert state.timer_size == 0


def test_what_nothing_completes_its_time_out_completes() -> None:
    """The first one expires, when it is run, and the second does not."""
    outcomes, state = asked(
        op.Watch("a", ("k",), 20),
        op.Watch("b", ("j",), 200_000),
        op.Elapse(10),
        op.Advance(19),
        op.Advance(20),
        op.RunOne(),
        op.RunOne(),
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
        op.Watch("a", ("1",), 100),
        op.Watch("b", ("1", "2"), 100),
        op.Watch("c", ("1", "2", "3"), 100),
        op.Force("b"),
        op.Force("c"),
        op.Check("1"),
        op.Check("2"),
        op.Check("3"),
    )
    shown = [outcome.observed for outcome in outcomes[2:]]
    assert [each["timer_size"] for each in shown] == [3, 2, 1, 1, 1, 1]
    assert [each["entries"] for each in shown] == [6, 6, 6, 4, 2, 1]
    assert [outcome.result for outcome in outcomes[3:]] == [True, True, 0, 0, 0]


def test_cancelling_for_a_key_gives_its_operations_back() -> None:
    """The two are the result, and one operation is left, with its time-out."""
    watched = (op.Watch("a", ("k",), 9), op.Watch("b", ("k",), 9), op.Watch("c", ("j",), 9))
    outcome = last(*watched, op.CancelForKey("k"))
    assert outcome.result == ("a", "b")
    assert told(outcome) == ""
    assert (outcome.observed["entries"], outcome.observed["timer_size"]) == (1, 1)
    assert last(*watched, op.CancelForKey("nobody's")).result == ()


def test_cancelling_may_leave_out_what_is_completed() -> None:
    """The completed one is in the first answer alone, and nothing is left of any."""
    watches = (op.Watch(name, ("k",), 9) for name in ("a", "b", "c"))
    asked_for: tuple[op.Operation, ...] = (*watches, op.Force("b"), op.CancelForKey("k"))
    live = msgspec.structs.replace(stepped(), cancel_result=CancelResult.LIVE)
    assert last(*asked_for).result == ("a", "b", "c")
    outcome = last(*asked_for, profile=live)
    assert outcome.result == ("a", "c")
    assert (outcome.observed["entries"], outcome.observed["timer_size"]) == (0, 0)


def test_cancelling_leaves_the_time_out_of_what_is_watched_elsewhere() -> None:
    """It keeps its time-out until it has no entry."""
    outcomes, _ = asked(
        op.Watch("a", ("k", "j", "k"), 9), op.CancelForKey("k"), op.CancelForKey("j")
    )
    assert [outcome.result for outcome in outcomes[1:]] == [("a", "a"), ("a",)]
    assert [outcome.observed["timer_size"] for outcome in outcomes] == [1, 1, 0]


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
        ((COMPLETE,), "tried:a completed:a", True, 0, 0),
        ((WAIT, COMPLETE), "tried:a tried:a completed:a", True, 2, 0),
        ((WAIT, WAIT), "tried:a tried:a", False, 2, 1),
        ((THROW,), "tried:a", Reason.THROWN, 0, 0),
        ((WAIT, THROW), "tried:a tried:a", Reason.THROWN, 2, 1),
    ],
    ids=["first-try", "second-try", "waits", "first-throws", "second-throws"],
)
def test_a_watch_tries_before_and_after_it_adds(
    tries: tuple[op.Answer, ...], events: str, result: bool | Reason, entries: int, pending: int
) -> None:
    """It is added to the lists iff the first try waits, and armed iff it is added and not done."""
    outcome = last(op.Watch("a", ("k", "j"), 9, op.Script(tries)))
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
    tries: tuple[op.Answer, ...], events: str, result: object, entries: int, pending: int
) -> None:
    """It has its entries in any case, and a time-out where it is not completed."""
    once = msgspec.structs.replace(stepped(), first_try=FirstTry.NONE)
    outcome = last(op.Watch("a", ("k", "j"), 9, op.Script(tries)), profile=once)
    assert told(outcome) == events
    assert (outcome.rejected or outcome.result) == result
    assert (outcome.observed["entries"], outcome.observed["pending"]) == (entries, pending)


def test_a_watch_without_keys_or_after_shutdown_tries_nothing() -> None:
    """It is rejected without a try; what waited before can still be completed."""
    nowhere = last(op.Watch("a", (), 9, op.Script((COMPLETE,))))
    assert (nowhere.rejected, told(nowhere)) == (Reason.INVALID_ARGUMENT, "")
    closed = (op.Watch("b", ("k",), 9), op.Shutdown(), op.Shutdown())
    late = last(*closed, op.Watch("a", (), 9, op.Script((COMPLETE,))))
    assert (late.rejected, told(late)) == (Reason.CLOSED, "")
    assert last(*closed, op.Satisfy("b"), op.Check("k")).result == 1
    assert set(late.observed) == {"entries", "keys", "stale_entries", "stale_operations", "queued"}


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


def test_forcing_completes_once() -> None:
    """Each is completed once, and its expiry does nothing."""
    outcomes, _ = asked(
        op.Watch("a", ("k",), 1),
        op.Advance(1),
        op.Force("a"),
        op.Force("a"),
        op.RunOne(),
        op.Force("z"),
        op.Force("z"),
    )
    assert [outcome.result for outcome in outcomes[2:]] == [True, False, None, True, False]
    assert [told(outcome) for outcome in outcomes[2:]] == ["completed:a", "", "", "completed:z", ""]


def test_watching_again_moves_the_time_out_and_adds_entries() -> None:
    """It has three entries and one time-out, 5 ms after the second watch."""
    outcomes, state = asked(
        op.Watch("a", ("k",), 5),
        op.Elapse(3),
        op.Watch("a", ("k", "j"), 999),
        op.Advance(7),
        op.Advance(8),
    )
    assert outcomes[2].observed["timer_size"] == 1
    assert state.lists == Map({"k": ("a", "a"), "j": ("a",)})
    assert [told(outcome) for outcome in outcomes[3:]] == ["", "expired:a"]


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


def test_without_time_outs_nothing_expires() -> None:
    """Given a purgatory without time-outs: it waits, and is completed by a check."""
    outcomes, _ = asked(
        op.Watch("a", ("k",), 1),
        op.Advance(9),
        op.Satisfy("a"),
        op.Check("k"),
        configuration=PurgatoryConfiguration(time_outs=False),
    )
    assert [told(outcome) for outcome in outcomes[1:]] == ["", "", "tried:a completed:a"]
    assert outcomes[0].observed["pending"] == 0
