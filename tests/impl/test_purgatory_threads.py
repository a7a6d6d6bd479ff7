"""The purgatory in a real program: its threads, many callers at once, the real clock."""

import gc
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from purgatory_impl import DelayedOperation, Purgatory, SteppedExecutor, Timer, VirtualClock
from purgatory_impl.accounting import ExactAccounting, ProposalAccounting
from purgatory_impl.walks import walk_under
from purgatory_impl.watcher_lists import WatcherLists

from .purgatory_bench import Recorded, check_law, sweep
from .threads import (
    LONG_S,
    Sleeps,
    gets_through_while_held,
    in_threads,
    let_others_run,
    through_while_held,
)

pytestmark = [pytest.mark.verify, pytest.mark.usefixtures("no_thread_left")]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


class Counted(DelayedOperation):
    """Counts its callbacks; can be completed once a shared event has happened often enough."""

    def __init__(self, delay_ms: int, events: list[int], key: int, threshold: int) -> None:
        super().__init__(delay_ms)
        self.events = events
        self.key = key
        self.threshold = threshold
        self.completions = 0
        self.expirations = 0
        self.wins = 0

    def try_complete(self) -> bool:
        return self.events[self.key] >= self.threshold and self.force_complete()

    def on_complete(self) -> None:
        self.completions += 1

    def on_expiration(self) -> None:
        self.expirations += 1


# Its own threads


def test_time_outs_and_purges_happen_by_themselves() -> None:
    """All expire and the reaper leaves no more stale entries than the interval."""
    events = [0]
    operations = [Counted(number % 7, events, 0, 1) for number in range(100)]
    with Purgatory[str](purge_interval=10) as purgatory:
        for operation in operations:
            assert purgatory.try_complete_else_watch(operation, ["k", "l"]) is False
        wait_until(lambda: purgatory.pending == 0 and purgatory.stale <= 10)
        assert purgatory.estimate == purgatory.stale == purgatory.entries
    assert {(one.completions, one.expirations) for one in operations} == {(1, 1)}


def test_the_reaper_of_the_proposal_looks_by_the_clock() -> None:
    """Given the accounting of the proposal, with a reaper on a virtual clock: it purges."""
    clock = VirtualClock()
    timer = Timer(clock=clock, executor=SteppedExecutor())
    with Purgatory[str](
        purge_interval=0, timer=timer, accounting="proposal", reaper=True
    ) as purgatory:
        operation = Recorded("a", [])
        purgatory.try_complete_else_watch(operation, ["k"])
        operation.force_complete()
        while purgatory.entries:
            clock.set_ms(clock.now_ms() + 200)
            time.sleep(0.001)
        assert (purgatory.estimate, purgatory.stale) == (0, 0)


def test_the_reaper_wakes_for_a_purge_and_for_nothing_else() -> None:
    """It purges after the second, without the clock having moved."""
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    with Purgatory[str](purge_interval=1, timer=timer, reaper=True) as purgatory:
        operations = [Recorded(name, []) for name in "ab"]
        for operation in operations:
            purgatory.try_complete_else_watch(operation, ["k"])
        operations[0].force_complete()
        let_others_run()
        assert purgatory.entries == 2
        operations[1].force_complete()
        wait_until(lambda: purgatory.entries == 0)


def test_who_reaps_is_a_choice() -> None:
    before = set(threading.enumerate())

    def threads(timer: Timer | None, reaper: bool | None, time_outs: bool = True) -> int:
        with Purgatory[str](timer=timer, reaper=reaper, time_outs=time_outs):
            return len(set(threading.enumerate()) - before)

    virtual = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    assert (threads(virtual, None), threads(virtual, True)) == (0, 1)
    # The timer's reaper, its executor, and ours.
    assert (threads(None, None), threads(None, False)) == (3, 1)
    assert threads(None, None, time_outs=False) == 1


def test_the_reaper_waits_for_half_of_what_lives_and_looks_again_when_less_lives() -> None:
    """It purges after the sixth, and not before; and it purges the five that are left."""

    def complete(purgatory: Purgatory[str], others: int) -> None:
        for _ in range(others):
            operation = Recorded("goes", [])
            purgatory.try_complete_else_watch(operation, ["other"])
            operation.force_complete()

    with Purgatory[str](purge_interval=0, time_outs=False) as purgatory:
        stays = [Recorded("stays", []) for _ in range(10)]
        for operation in stays:
            purgatory.try_complete_else_watch(operation, ["k"])
        # What it does not do it has had the time for: it sleeps, and asks to be woken above five.
        wait_until(lambda: purgatory._accounting._asleep)
        complete(purgatory, 5)
        wait_until(lambda: purgatory._accounting._asleep)
        assert purgatory.entries == 15
        complete(purgatory, 1)
        wait_until(lambda: purgatory.entries == 10)
        complete(purgatory, 5)
        wait_until(lambda: purgatory._accounting._asleep)
        assert purgatory.entries == 15
        for operation in stays:
            operation.ready = True
        assert purgatory.check_and_complete("k") == 10
        wait_until(lambda: purgatory.entries == 0)


@pytest.mark.pure
def test_the_reaper_survives_a_failing_purge(
    logged: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a purgatory whose first purge fails: the failure is logged, and the next one purges."""
    sweep = WatcherLists.sweep
    failures = [OSError("planned")]

    def failing(lists: WatcherLists[str], post: Callable[[int], None]) -> int:
        if failures:
            raise failures.pop()
        return sweep(lists, post)

    monkeypatch.setattr(WatcherLists, "sweep", failing)
    with Purgatory[str](purge_interval=0, time_outs=False) as purgatory:
        operation = Recorded("a", [])
        purgatory.try_complete_else_watch(operation, ["k"])
        operation.force_complete()
        wait_until(lambda: purgatory.entries == 0)
    assert [record.message for record in logged.records] == ["purgatory: a purge failed"]


def test_a_purge_that_finds_nothing_is_tried_again_later() -> None:
    virtual = VirtualClock()
    clock = Sleeps(virtual)
    timer = Timer(clock=clock, executor=SteppedExecutor(), reaper=False)
    with Purgatory[str](purge_interval=0, timer=timer, reaper=True) as purgatory:
        clock.await_next()
        purgatory._accounting.post(1)
        clock.await_next()
        assert clock.until == [None, 100]
        operation = Recorded("a", [])
        purgatory.try_complete_else_watch(operation, ["k"])
        # Completed with an entry that is counted by the line above.
        operation._entries = 0
        operation.force_complete()
        let_others_run()
        assert purgatory.entries == 1
        virtual.set_ms(100)
        wait_until(lambda: purgatory.entries == 0)
        assert purgatory.stale == 0


def test_closing_from_a_callback() -> None:
    """Closing waits for no thread that it runs in, and all threads end."""
    with Purgatory[str]() as purgatory:
        operation = Recorded("a", [], 1)
        closed = threading.Event()

        def close() -> None:
            purgatory.close()
            closed.set()

        operation.during_expiration = close
        purgatory.try_complete_else_watch(operation, ["k"])
        assert closed.wait(LONG_S)


# Locks


def test_no_lock_but_its_own_is_held_while_user_code_runs() -> None:
    """The other thread is never kept waiting: it can watch, check, cancel and purge."""
    clock, executor = VirtualClock(), SteppedExecutor()
    timer = Timer(clock=clock, executor=executor)
    purgatory: Purgatory[str] = Purgatory(timer=timer, purge_interval=0)
    rounds: list[int] = []

    def elsewhere() -> None:
        def use() -> None:
            other = Recorded("other", [])
            purgatory.try_complete_else_watch(other, ["k", "m"])
            purgatory.cancel_for_key("m")
            other.force_complete()
            purgatory.check_and_complete("none")
            purgatory.advance()
            assert purgatory.entries + purgatory.keys + purgatory.pending >= 0
            rounds.append(1)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join(LONG_S)
        assert not thread.is_alive()

    operations = [Recorded(name, [], 10) for name in "abc"]
    for operation in operations:
        operation.during_try = operation.during_complete = elsewhere
        operation.during_expiration = elsewhere
        purgatory.try_complete_else_watch(operation, ["k", "l"])
    operations[0].ready = True
    assert purgatory.check_and_complete("k") == 1
    operations[1].force_complete()
    clock.set_ms(10)
    purgatory.advance()
    while executor.run_one():
        pass
    # Two tries of each watch, three of the walk, three completions, one expiry.
    assert len(rounds) == 6 + 3 + 3 + 1
    purgatory.advance()
    check_law(purgatory)


def still_purgatory() -> tuple[Purgatory[str], Recorded]:
    """A purgatory with one operation, watched under ``k``."""
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[str] = Purgatory(timer=timer)
    operation = Recorded("a", [])
    purgatory.try_complete_else_watch(operation, ["k"])
    return purgatory, operation


@pytest.mark.pure
def test_what_changes_the_word_waits_for_its_lock() -> None:
    """None of that gets through before the word is free, and the counts are right in the end."""
    purgatory, operation = still_purgatory()
    calls: list[Callable[[], object]] = [
        partial(purgatory.try_complete_else_watch, operation, ["l"]),
        partial(purgatory.cancel_for_key, "k"),
        operation.force_complete,
        operation.run,
    ]
    assert operation._locks is not None
    assert through_while_held(operation._locks.word, calls) == []
    assert operation.is_completed
    check_law(purgatory)


def test_what_reads_or_changes_a_list_waits_for_its_shard() -> None:
    purgatory, operation = still_purgatory()
    walk = walk_under(purgatory._lists.shard_of("k"), "k")
    assert walk is not None
    calls: list[Callable[[], object]] = [
        partial(purgatory.check_and_complete, "k"),
        partial(purgatory.try_complete_else_watch, Recorded("b", []), ["k"]),
        partial(purgatory.cancel_for_key, "k"),
        walk.drop,
        partial(sweep, purgatory),
        purgatory.watched,
    ]
    assert through_while_held(purgatory._lists.shard_of("k").lock, calls) == []
    assert gets_through_while_held(purgatory._lists.shard_of("k").lock, operation.force_complete)


def test_what_reads_or_changes_a_count_waits_for_the_accounting() -> None:
    for accounting in (ExactAccounting(0), ProposalAccounting(0)):
        calls: list[Callable[[], object]] = [
            partial(accounting.post, 1),
            partial(accounting.begin_time_out, Recorded("a", [])),
            partial(accounting.end_time_out, Recorded("a", [])),
            lambda accounting=accounting: accounting.stale,  # type: ignore[misc]
            lambda accounting=accounting: accounting.pending,  # type: ignore[misc]
            accounting.estimate,
            partial(accounting.begin_purge_if_due, 0, lambda: 0),
            accounting.close,
        ]
        assert through_while_held(accounting._lock, calls) == []
    proposal = ProposalAccounting(0)
    assert through_while_held(proposal._lock, [proposal.count_watch]) == []


def test_cancelling_a_key_does_not_wait_for_a_try() -> None:
    """Given an operation that is being tried: that returns at once, and the time-out is taken."""
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[str] = Purgatory(timer=timer)
    operation = Recorded("a", [])
    purgatory.try_complete_else_watch(operation, ["k"])

    def cancel_elsewhere() -> None:
        thread = threading.Thread(target=purgatory.cancel_for_key, args=("k",))
        thread.start()
        thread.join(LONG_S)
        assert not thread.is_alive()

    operation.during_try = cancel_elsewhere
    assert purgatory.check_and_complete("k") == 0
    assert (purgatory.entries, purgatory.pending) == (0, 0)


def test_what_leaves_a_list_is_let_go_outside_its_lock() -> None:
    """The finalisers run, without being kept waiting by a lock."""
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[str] = Purgatory(timer=timer, purge_interval=0)
    gone: list[int] = []

    def use() -> None:
        gone.append(purgatory.check_and_complete("k") + purgatory.check_and_complete("l"))

    def leave_behind(key: str) -> None:
        operation = Recorded("a", [])
        purgatory.try_complete_else_watch(operation, [key])
        operation.force_complete()
        weakref.finalize(operation, use)

    for _ in range(3):
        leave_behind("k")
    purgatory.check_and_complete("k")
    assert len(gone) == 3
    for _ in range(3):
        leave_behind("l")
    purgatory.advance()
    assert (len(gone), purgatory.entries) == (6, 0)


def test_no_operation_outlives_its_last_entry() -> None:
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[str] = Purgatory(timer=timer, purge_interval=0)
    gc.collect()
    gc.disable()
    try:
        left: list[weakref.ref[DelayedOperation]] = []
        for key in "kllmm":
            operation = Recorded("a", [])
            purgatory.try_complete_else_watch(operation, [key, key])
            operation.ready = True
            left.append(weakref.ref(operation))
        operation.force_complete()
        del operation
        purgatory.check_and_complete("k")
        purgatory.cancel_for_key("l")
        purgatory.advance()
        assert [reference() is None for reference in left] == [True, True, True, False, True]
        purgatory.check_and_complete("m")
        assert left[3]() is None
    finally:
        gc.enable()


def test_what_a_walk_raises_keeps_no_operation() -> None:
    """The operations are gone without the help of the garbage collector."""
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[str] = Purgatory(timer=timer)
    left: list[weakref.ref[DelayedOperation]] = []
    for _ in range(3):
        operation = Recorded("a", [])
        purgatory.try_complete_else_watch(operation, ["k"])
        operation.during_try = partial(int, "planned")
        left.append(weakref.ref(operation))
    del operation
    gc.collect()
    gc.disable()
    try:
        with suppress(ValueError):
            purgatory.check_and_complete("k")
        assert None not in [reference() for reference in left]
        purgatory.cancel_for_key("k")
        assert [reference() for reference in left] == [None] * 3
    finally:
        gc.enable()


# Many callers at once


@pytest.mark.slow
@pytest.mark.usefixtures("eager_switching")
def test_no_completion_is_lost() -> None:
    """Every operation whose condition holds is completed."""
    purgatory: Purgatory[int] = Purgatory(time_outs=False, purge_interval=3)
    for _ in range(300):
        events = [0, 0]
        operations = [Counted(0, events, key, 1) for key in (0, 1, 0, 1)]

        def watch(operations: list[Counted] = operations) -> None:
            for operation in operations:
                purgatory.try_complete_else_watch(operation, [operation.key])

        def happen(key: int, events: list[int] = events) -> None:
            events[key] = 1
            purgatory.check_and_complete(key)

        in_threads(watch, partial(happen, 0), partial(happen, 1))
        assert [operation.completions for operation in operations] == [1] * 4
    purgatory.close()
