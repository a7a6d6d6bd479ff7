"""The purgatory on a virtual clock, one thread: watch, check, cancel, close."""

from collections.abc import Callable, Iterable
from typing import Literal

import pytest

from purgatory_impl import (
    DelayedOperation,
    InlineExecutor,
    InvalidConfiguration,
    NoKeys,
    Purgatory,
    PurgatoryClosed,
    PurgatoryError,
    SteppedExecutor,
    TaskOfAnotherTimer,
    Timer,
    VirtualClock,
)
from purgatory_spec.reasons import Reason

from .purgatory_bench import Bench, Planned, Seen, check_law


def throw() -> None:
    raise Planned


class Nth:
    """Does something at the n-th call, counted from 1, and nothing at the others."""

    def __init__(self, number: int, action: Callable[[], object]) -> None:
        self.calls = 0
        self.number = number
        self.action = action

    def __call__(self) -> None:
        self.calls += 1
        if self.calls == self.number:
            self.action()


# Watching


def test_what_can_be_completed_at_once_is_not_watched() -> None:
    """Given an operation whose condition holds.

    When it is to be watched.
    Then it is completed by one try and nothing is counted.
    """
    bench = Bench()
    operation = bench.operation("a")
    operation.ready = True
    assert bench.purgatory.try_complete_else_watch(operation, ["k", "l"]) is True
    assert (bench.log, bench.seen()) == (["try a", "complete a"], Seen())


def test_a_watched_operation_is_in_each_list_and_in_the_timer() -> None:
    """Given an operation whose condition does not hold.

    When it is watched under three keys, one of them twice.
    Then it was tried twice, and every entry, key and time-out is counted.
    """
    bench = Bench()
    operation = bench.operation("a")
    assert bench.purgatory.try_complete_else_watch(operation, ["k", "l", "k"]) is False
    assert (bench.log, bench.seen()) == (["try a", "try a"], Seen(3, 2, 1, 1, 0, 1))
    assert (bench.listed("k"), bench.listed("l")) == ([operation, operation], [operation])


def test_keys_may_be_any_iterable() -> None:
    bench = Bench()
    bench.purgatory.try_complete_else_watch(bench.operation("a"), (key for key in "kl"))
    assert bench.seen() == Seen(2, 2, 1, 1, 0, 1)


def test_no_key_is_refused_before_anything_is_tried() -> None:
    bench = Bench()
    operation = bench.operation("a")
    operation.ready = True
    with pytest.raises(NoKeys) as refusal:
        bench.purgatory.try_complete_else_watch(operation, [])
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert (bench.log, bench.seen(), operation.is_completed) == ([], Seen(), False)


def test_a_key_that_cannot_be_hashed_is_refused_before_anything_is_tried() -> None:
    bench = Bench()
    keys: Iterable[str] = ["k", []]  # type: ignore[list-item]
    with pytest.raises(TypeError):
        bench.purgatory.try_complete_else_watch(bench.operation("a"), keys)
    assert (bench.log, bench.seen()) == ([], Seen())


def test_the_second_try_may_complete_it() -> None:
    """Given an operation whose condition comes to hold while it is being watched.

    When it is watched under two keys.
    Then the call has completed it, and its entries stay behind until a purge.
    """
    bench = Bench()
    operation = bench.operation("a")
    operation.during_try = Nth(2, lambda: setattr(operation, "ready", True))
    assert bench.purgatory.try_complete_else_watch(operation, ["k", "l"]) is True
    assert bench.log == ["try a", "try a", "complete a"]
    assert bench.seen() == Seen(2, 2, 0, 0, 2, 2)
    check_law(bench.purgatory)


def test_a_completed_operation_is_never_watched() -> None:
    """Given an operation that was forced.

    When it is given to the purgatory.
    Then the answer is no, and it is neither tried, watched nor armed.
    """
    bench = Bench()
    operation = bench.operation("a")
    operation.force_complete()
    bench.log.clear()
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    assert (bench.log, bench.seen()) == ([], Seen())


def test_who_completes_it_inside_the_first_try_is_told() -> None:
    """Given an operation that somebody forces while it is first tried, the try saying no.

    When it is to be watched.
    Then it is not, and the answer is no.
    """
    bench = Bench()
    operation = bench.operation("a")
    operation.during_try = operation.force_complete
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    assert (bench.log, bench.seen()) == (["try a", "complete a"], Seen())


def test_a_try_that_only_claims_success_is_not_believed() -> None:
    """Given a class whose try returns True and completes nothing.

    When it is watched and checked.
    Then both say that nothing was completed, and it stays watched.
    """

    class Boastful(DelayedOperation):
        def try_complete(self) -> bool:
            return True

    bench = Bench()
    assert bench.purgatory.try_complete_else_watch(Boastful(10), ["k"]) is False
    assert bench.purgatory.check_and_complete("k") == 0
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)


def test_watching_again_moves_the_time_out_and_adds_entries() -> None:
    """Given an operation with a time-out of 10, watched at 0.

    When it is watched again at 5, under another key.
    Then it has entries under both, one time-out is owed, and it expires at 15.
    """
    bench = Bench()
    operation = bench.watched("a", "k", 10)
    bench.advance(5)
    bench.purgatory.try_complete_else_watch(operation, ["l"])
    assert bench.seen() == Seen(2, 2, 1, 1, 0, 1)
    bench.advance(14)
    assert bench.stepped.queued == 0
    bench.advance(15)
    assert bench.stepped.queued == 1


def test_watching_again_while_the_expiry_is_queued_owes_two_time_outs() -> None:
    """Given an operation whose time-out waits in the executor's queue.

    When it is watched again, and everything then runs.
    Then both are pending until decided, and the callbacks run once.
    """
    bench = Bench()
    operation = bench.watched("a", "k", 10)
    bench.advance(10)
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.seen() == Seen(2, 1, 1, 2, 0, 2)
    bench.log.clear()
    bench.run_all()
    assert (bench.log, bench.seen()) == (["complete a", "expire a"], Seen(2, 1, 0, 0, 2, 2))


def test_what_the_first_try_raises_leaves_it_unwatched() -> None:
    bench = Bench()
    operation = bench.operation("a")
    operation.during_try = throw
    with pytest.raises(Planned):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert (bench.log, bench.seen()) == (["try a"], Seen())


@pytest.mark.parametrize("accounting", ["exact", "proposal"])
def test_what_the_second_try_raises_leaves_it_watched_with_its_time_out(
    accounting: str,
) -> None:
    bench = Bench(accounting="exact" if accounting == "exact" else "proposal")
    operation = bench.operation("a", 10)
    operation.during_try = Nth(2, throw)
    with pytest.raises(Planned):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)
    bench.advance(10)
    bench.run_all()
    assert operation.is_completed


def test_what_the_callback_raises_in_the_second_try_reaches_the_caller() -> None:
    """Given an operation that the second try completes and whose on_complete raises.

    When it is watched.
    Then the caller gets that, and the operation is completed: its entry is stale.
    """
    bench = Bench()
    operation = bench.operation("a")
    operation.during_try = Nth(2, lambda: setattr(operation, "ready", True))
    operation.during_complete = throw
    with pytest.raises(Planned):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert (operation.is_completed, bench.seen()) == (True, Seen(1, 1, 0, 0, 1, 1))


def test_a_time_out_that_is_due_runs_after_the_call() -> None:
    """Given a purgatory whose executor runs tasks in the caller.

    When an operation with time-out 0 is watched.
    Then it is tried twice, and expires before the call returns.
    """
    bench = Bench(executor=InlineExecutor())
    operation = bench.operation("a", 0)
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    assert bench.log == ["try a", "try a", "complete a", "expire a"]
    assert bench.seen() == Seen(1, 1, 0, 0, 1, 1)


def test_without_time_outs_nothing_is_pending() -> None:
    """Given a purgatory without time-outs, with a timer.

    When an operation is watched and time goes on.
    Then the timer stays empty and the operation is never completed by time.
    """
    bench = Bench(time_outs=False)
    operation = bench.watched("a", "kl", 0)
    bench.advance(10**6)
    bench.run_all()
    assert (operation.is_completed, bench.seen()) == (False, Seen(2, 2, 0, 0, 0, 0))
    operation.force_complete()
    assert bench.seen() == Seen(2, 2, 0, 0, 2, 2)


def test_a_failing_key_withdraws_what_was_promised() -> None:
    """Given keys of which one fails when it is compared with another one.

    When an operation is watched under a good key and that one.
    Then the failure reaches the caller, the first entry stays, and the counts are those of one.
    """

    class Key:
        def __init__(self, fails: bool) -> None:
            self.fails = fails

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            if self.fails or (isinstance(other, Key) and other.fails):
                raise Planned
            return self is other

    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[Key] = Purgatory(timer=timer)
    good = Key(False)
    operation = Bench().operation("a")
    with pytest.raises(Planned):
        purgatory.try_complete_else_watch(operation, [good, Key(True), good])
    assert (purgatory.entries, purgatory.pending, operation._entries) == (1, 1, 1)
    assert purgatory.cancel_for_key(good) == [operation]
    assert (purgatory.entries, purgatory.pending, purgatory.timer_size) == (0, 0, 0)


def test_a_task_pending_in_another_timer_is_not_watched() -> None:
    """Given an operation that was put into a timer of its own.

    When it is watched.
    Then that is refused, and no entry and no time-out is counted.
    """
    bench = Bench()
    operation = bench.operation("a")
    Timer(clock=bench.clock, executor=bench.stepped).add(operation, 5)
    with pytest.raises(TaskOfAnotherTimer):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert (bench.seen(), operation._entries) == (Seen(), 0)


# Checking


def test_a_check_tries_in_the_order_of_the_list() -> None:
    """Given four operations under one key; the second and the fourth can be completed.

    When the key is checked, twice.
    Then all are tried, oldest first, two are completed and dropped, and then the two others tried.
    """
    bench = Bench()
    operations = [bench.watched(name, "k") for name in "abcd"]
    operations[1].ready = operations[3].ready = True
    assert bench.purgatory.check_and_complete("k") == 2
    assert bench.taken_log() == ["try a", "try b", "complete b", "try c", "try d", "complete d"]
    assert bench.seen() == Seen(2, 1, 2, 2, 0, 2)
    assert bench.purgatory.check_and_complete("k") == 0
    assert bench.taken_log() == ["try a", "try c"]


def test_an_unknown_key_has_nothing_to_complete() -> None:
    bench = Bench()
    assert bench.purgatory.check_and_complete("k") == 0
    assert bench.purgatory.cancel_for_key("k") == []
    assert bench.seen() == Seen()


def test_entries_under_other_keys_stay_until_they_are_met() -> None:
    """Given an operation under three keys, under one of them twice.

    When it is completed through one key and the others are checked.
    Then each check drops the stale entries that it meets and counts nothing.
    """
    bench = Bench()
    operation = bench.watched("a", "klml")
    operation.ready = True
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.seen() == Seen(3, 2, 0, 0, 3, 3)
    assert bench.purgatory.check_and_complete("l") == 0
    assert bench.seen() == Seen(1, 1, 0, 0, 1, 1)
    assert bench.purgatory.check_and_complete("m") == 0
    assert (bench.log, bench.seen()) == (["try a", "complete a"], Seen())


def test_both_entries_under_a_duplicate_key_go() -> None:
    bench = Bench()
    bench.watched("a", "kk").ready = True
    assert bench.purgatory.check_and_complete("k") == 1
    assert (bench.log, bench.seen()) == (["try a", "complete a"], Seen())


def test_a_throwing_try_keeps_no_other_from_being_tried() -> None:
    """Given three operations: the first's try raises, the second's callback, the third is fine.

    When their key is checked.
    Then all are tried, the first exception is raised and notes the second, and the entries of the
    two that were completed are gone.
    """
    bench = Bench()
    bench.watched("a", "k").during_try = throw
    second = bench.watched("b", "k")
    second.ready = True
    second.during_complete = lambda: [][1]
    bench.watched("c", "k").ready = True
    with pytest.raises(Planned) as raised:
        bench.purgatory.check_and_complete("k")
    assert raised.value.__notes__ == [
        "another operation of the same walk raised IndexError('list index out of range')"
    ]
    assert bench.log == ["try a", "try b", "complete b", "try c", "complete c"]
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)
    check_law(bench.purgatory)


def test_an_interrupt_ends_the_walk_at_once() -> None:
    """Given two operations of which the first raises ``KeyboardInterrupt`` after it is completed.

    When their key is checked.
    Then the second is not tried, and the counts are right.
    """

    def interrupt() -> None:
        raise KeyboardInterrupt

    bench = Bench()
    first = bench.watched("a", "k")
    first.ready = True
    first.during_complete = interrupt
    bench.watched("b", "k").ready = True
    with pytest.raises(KeyboardInterrupt):
        bench.purgatory.check_and_complete("k")
    assert bench.log == ["try a", "complete a"]
    check_law(bench.purgatory)


def test_a_walk_does_not_try_what_is_watched_meanwhile() -> None:
    """Given an operation whose callback watches another one under the same key.

    When the key is checked, twice.
    Then the first walk ends before it, and the second tries it.
    """
    bench = Bench()
    bench.watched("a", "k").ready = True
    late = bench.operation("b")
    bench.watched("c", "k").ready = True
    first = bench.listed("k")[0]
    assert getattr(first, "name", "") == "a"
    bench.log.clear()
    setattr(first, "during_complete", lambda: bench.purgatory.try_complete_else_watch(late, ["k"]))  # noqa: B010
    assert bench.purgatory.check_and_complete("k") == 2
    assert bench.taken_log() == [
        "try a", "complete a", "try b", "try b", "try c", "complete c",
    ]  # fmt: skip
    assert bench.purgatory.check_and_complete("k") == 0
    assert bench.taken_log() == ["try b"]
    check_law(bench.purgatory)


def test_a_callback_may_watch_under_the_key_whose_list_it_has_emptied() -> None:
    """Given one operation under a key, whose callback watches another there.

    When the key is checked.
    Then the list of that key holds the other one.
    """
    bench = Bench()
    operation = bench.watched("a", "k")
    operation.ready = True
    late = bench.operation("b")
    operation.during_complete = lambda: bench.purgatory.try_complete_else_watch(late, ["k"])
    assert bench.purgatory.check_and_complete("k") == 1
    assert (bench.listed("k"), bench.seen()) == ([late], Seen(1, 1, 1, 1, 0, 1))


def test_a_callback_may_check_the_key_that_is_being_walked() -> None:
    """Given three operations under one key; the callback of the first checks that key.

    When the key is checked.
    Then each is completed once, by the inner walk, and each walk counts its own.
    """
    bench = Bench()
    operations = [bench.watched(name, "k") for name in "abc"]
    for operation in operations:
        operation.ready = True
    inner: list[int] = []
    operations[0].during_complete = lambda: inner.append(bench.purgatory.check_and_complete("k"))
    assert (bench.purgatory.check_and_complete("k"), inner) == (1, [2])
    assert bench.log == ["try a", "complete a", "try b", "complete b", "try c", "complete c"]
    assert bench.seen() == Seen()


def test_a_callback_may_cancel_the_key_that_is_being_walked() -> None:
    """Given three operations under one key; the callback of the first cancels that key.

    When the key is checked.
    Then the walk ends: the two others are neither tried nor owed a time-out.
    """
    bench = Bench()
    operations = [bench.watched(name, "k") for name in "abc"]
    operations[0].ready = operations[2].ready = True
    cancelled: list[DelayedOperation] = []
    operations[0].during_complete = lambda: cancelled.extend(bench.purgatory.cancel_for_key("k"))
    assert bench.purgatory.check_and_complete("k") == 1
    assert cancelled == operations[1:]
    assert (bench.log, bench.seen()) == (["try a", "complete a"], Seen())


def test_a_callback_may_force_others_of_the_walk() -> None:
    bench = Bench()
    first, second, third = (bench.watched(name, "k") for name in "abc")
    first.ready = third.ready = True
    first.during_complete = second.force_complete
    assert bench.purgatory.check_and_complete("k") == 2
    assert bench.log == ["try a", "complete a", "complete b", "try c", "complete c"]
    assert bench.seen() == Seen()


def test_a_walk_in_many_holds_of_the_lock_sees_every_entry() -> None:
    """Given a thousand operations under a key, all but every hundredth completed.

    When the key is checked.
    Then the others are tried, each once and in order, and the stale ones are gone.
    """
    bench = Bench()
    operations = [bench.watched(str(number), "k") for number in range(1000)]
    for number, operation in enumerate(operations):
        if number % 100:
            operation.force_complete()
    bench.log.clear()
    assert bench.purgatory.check_and_complete("k") == 0
    assert bench.log == [f"try {number}" for number in range(0, 1000, 100)]
    assert bench.seen() == Seen(10, 1, 10, 10, 0, 10)


# Cancelling a key


def test_a_cancelled_key_gives_its_operations_back_in_order() -> None:
    """Given a key with operations, one of them twice and one completed.

    When the key is cancelled.
    Then they come back in the order of the list, not completed, without time-out or entry.
    """
    bench = Bench()
    first, second, third = (
        bench.watched("a", "k"),
        bench.watched("b", "kk"),
        bench.watched("c", "k"),
    )
    third.force_complete()
    bench.log.clear()
    assert bench.seen() == Seen(4, 1, 2, 2, 1, 3)
    assert bench.purgatory.cancel_for_key("k") == [first, second, second, third]
    assert (bench.log, bench.seen()) == ([], Seen())
    assert not first.is_completed
    assert bench.purgatory.cancel_for_key("k") == []


def test_an_operation_under_another_key_keeps_its_time_out() -> None:
    """Given an operation under two keys.

    When one is cancelled, then the other.
    Then it keeps its time-out until the second.
    """
    bench = Bench()
    operation = bench.watched("a", "kl")
    assert bench.purgatory.cancel_for_key("k") == [operation]
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)
    assert bench.purgatory.cancel_for_key("l") == [operation]
    assert bench.seen() == Seen()


def test_a_queued_expiry_is_not_cancelled() -> None:
    """Given an operation whose time-out waits in the executor's queue.

    When its only key is cancelled.
    Then it expires all the same.
    """
    bench = Bench()
    operation = bench.watched("a", "k", 10)
    bench.advance(10)
    bench.purgatory.cancel_for_key("k")
    assert bench.seen() == Seen(0, 0, 0, 1, 0, 1)
    bench.run_all()
    assert (bench.log, operation.is_completed) == (["complete a", "expire a"], True)
    assert bench.seen() == Seen()


def test_a_cancelled_operation_can_be_watched_again() -> None:
    bench = Bench()
    operation = bench.watched("a", "k", 10)
    bench.purgatory.cancel_for_key("k")
    bench.purgatory.try_complete_else_watch(operation, ["l"])
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)
    bench.advance(10)
    bench.run_all()
    assert operation.is_completed


def test_what_is_watched_can_be_looked_at() -> None:
    bench = Bench()
    first, second = bench.watched("a", "kl"), bench.watched("b", "kk")
    first.force_complete()
    assert bench.purgatory.watched() == {"k": [first, second, second], "l": [first]}
    assert bench.seen() == Seen(4, 2, 1, 1, 2, 3)


# Closing, building


def test_a_closed_purgatory_watches_nothing_and_does_the_rest() -> None:
    """Given operations in the lists, one of them with its expiry queued.

    When the purgatory is closed, twice.
    Then a watch is refused before any try, time-outs in the timer are dropped, the queued one runs,
    and checking, cancelling and forcing work as before.
    """
    bench = Bench()
    checked, cancelled, forced = (bench.watched(name, name) for name in "abc")
    expiring = bench.watched("d", "d", 10)
    bench.advance(10)
    bench.purgatory.close()
    bench.purgatory.close()
    assert bench.seen() == Seen(4, 4, 0, 1, 0, 1)
    with pytest.raises(PurgatoryClosed) as refusal:
        bench.purgatory.try_complete_else_watch(bench.operation("e"), ["k"])
    assert (refusal.value.reason, bench.log) == (Reason.CLOSED, [])
    with pytest.raises(PurgatoryClosed):
        bench.purgatory.try_complete_else_watch(bench.operation("e"), [])
    checked.ready = True
    assert bench.purgatory.check_and_complete("a") == 1
    assert bench.purgatory.cancel_for_key("b") == [cancelled]
    assert forced.force_complete() is True
    bench.run_all()
    assert expiring.is_completed
    assert bench.seen() == Seen(2, 2, 0, 0, 2, 2)


def test_closing_leaves_a_given_timer_open() -> None:
    bench = Bench()
    bench.watched("a", "k")
    ran: list[str] = []
    bench.timer.add(lambda: ran.append("other"), 5)
    bench.purgatory.close()
    bench.advance(5)
    bench.run_all()
    assert ran == ["other"]


def test_closing_keeps_stale_entries_and_drops_every_time_out() -> None:
    """Given a thousand operations in one list, half of them completed.

    When the purgatory is closed.
    Then no list has changed, and nothing is pending.
    """
    bench = Bench()
    operations = [bench.watched(str(number), "k") for number in range(1000)]
    for operation in operations[::2]:
        operation.force_complete()
    bench.purgatory.close()
    assert bench.seen() == Seen(1000, 1, 0, 0, 500, 500)


def test_closing_drops_the_time_out_of_what_is_in_no_list() -> None:
    """Given the proposal's order, and an operation that its second try takes from its only list.

    When it is watched, so that its time-out is armed after that, and the purgatory is closed.
    Then the time-out is dropped, and that of another purgatory on the same timer is not.
    """
    bench = Bench(accounting="proposal")
    other: Purgatory[str] = Purgatory(timer=bench.timer)
    stays = bench.operation("b", 10)
    other.try_complete_else_watch(stays, ["k"])
    operation = bench.operation("a", 10)
    operation.during_try = lambda: bench.purgatory.cancel_for_key("k")
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.seen() == Seen(0, 0, 2, 1, 0, 1)
    bench.purgatory.close()
    assert (bench.purgatory.pending, other.pending) == (0, 1)
    bench.advance(10)
    bench.run_all()
    assert (operation.is_completed, stays.is_completed) == (False, True)


@pytest.mark.parametrize("accounting", ["exact", "proposal"])
def test_a_timer_that_is_closed_owes_no_time_out(
    accounting: Literal["exact", "proposal"],
) -> None:
    """Given two operations that wait, one of them with its expiry queued.

    When the timer that the purgatory was given is closed.
    Then the other one's time-out is not pending any more, and it waits for events.
    """
    bench = Bench(accounting=accounting)
    operation, expiring = bench.watched("a", "k"), bench.watched("b", "k", 10)
    bench.advance(10)
    bench.timer.close()
    assert (bench.purgatory.timer_size, bench.purgatory.pending) == (0, 1)
    bench.run_all()
    assert (bench.purgatory.pending, expiring.is_completed) == (0, True)
    operation.ready = True
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.purgatory.pending == 0


def test_a_watch_that_closing_overtakes_has_no_time_out() -> None:
    """Given an operation whose first try closes the purgatory.

    When it is watched.
    Then it is watched, and no time-out is owed.
    """
    bench = Bench()
    operation = bench.operation("a")
    operation.during_try = Nth(1, bench.purgatory.close)
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    assert bench.seen() == Seen(1, 1, 0, 0, 0, 0)


def test_a_closed_timer_refuses_the_watch() -> None:
    bench = Bench()
    bench.timer.close()
    with pytest.raises(PurgatoryClosed):
        bench.purgatory.try_complete_else_watch(bench.operation("a"), ["k"])
    assert bench.seen() == Seen()


def test_the_block_closes_the_purgatory() -> None:
    bench = Bench()
    with bench.purgatory as purgatory:
        assert purgatory is bench.purgatory
    with pytest.raises(PurgatoryClosed):
        purgatory.try_complete_else_watch(bench.operation("a"), ["k"])


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(InvalidConfiguration) as refusal:
        Purgatory(purge_interval=-1)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    with pytest.raises(InvalidConfiguration):
        Purgatory(accounting="guess")  # type: ignore[arg-type]
    assert isinstance(refusal.value, PurgatoryError)


def test_keys_of_any_kind_spread_over_the_shards() -> None:
    """Given keys that are multiples of the number of shards, and some others.

    When operations are watched under them.
    Then no shard holds more than its share, and every key is found again.
    """
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[int | tuple[str, int]] = Purgatory(timer=timer)
    keys: list[int | tuple[str, int]] = [64 * number for number in range(64)]
    keys += [("topic", number) for number in range(-20, 20)] + [-1, -513, 2**70]
    bench = Bench()
    for key in keys:
        purgatory.try_complete_else_watch(bench.operation("a"), [key])
    assert (purgatory.entries, purgatory.keys) == (len(keys), len(keys))
    assert max(len(shard.lists) for shard in purgatory._lists.shards) < 10
    assert [len(purgatory.cancel_for_key(key)) for key in keys] == [1] * len(keys)
