"""The purgatory: operations wait under keys until they can be completed, or until they time out.

    with Purgatory[Partition]() as purgatory:
        if not purgatory.try_complete_else_watch(fetch, fetch.partitions):
            ...  # answered later, by an event or by the time-out
    ...
    purgatory.check_and_complete(partition)  # something has happened there

Theory of operation. An operation is put into the list of each of its keys and into the timer. An
event of a key walks its list and tries each operation. Whoever completes an operation, a walk, the
time-out or anybody by force, leaves its entries in all other lists: that costs nothing, and these
entries are *stale*. A walk removes those that it meets; a purge removes all of them, as soon as
there are too many by the accounting: more than the interval, and more than half of what lives. So
a purge looks at three entries, at most, for each one that it removes, however many live.

No completion is lost, because an operation is in all its lists before it is tried for the second
time: what happens before that try is seen by it, and what happens later by the walk that follows.

Locks, in the order in which they may be taken one inside another:

    operation's own lock   re-entrant; held while its try and its ``on_complete`` run
    operation's word       completed, number of entries; and the time-out with them
    timer, then executor   see there
    shard                  lists and entries; keys are hashed and compared under it
    accounting             the counts

Shard and accounting are taken alone or inside an operation's locks, never one inside the other.
User code runs under an operation's own lock and no other. So callbacks may call anything here. What
needs the own lock of a further operation does not wait for it there: a thread that is trying that
operation does it after its try, see ``left_operations``. A key's ``__hash__`` and ``__eq__`` must
neither fail nor call the purgatory.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import GenericAlias, TracebackType
from typing import Final, Generic, Literal, NoReturn, Self, SupportsIndex, cast

from purgatory_impl.accounting import Accounting, ExactAccounting, ProposalAccounting
from purgatory_impl.arguments import configured, see_kind
from purgatory_impl.clocks import Clock, MonotonicClock, VirtualClock
from purgatory_impl.compiler import TypeVar, mypyc_attr
from purgatory_impl.delayed_operation import (
    DelayedOperation,
    abandon,
    arm,
    attempt,
    belong_to,
    take_time_out,
    withdraw,
)
from purgatory_impl.errors import (
    InvalidConfiguration,
    KeysAreText,
    NoKeys,
    PurgatoryClosed,
    TimerClosed,
    UsedAfterFork,
    refuse_copy,
    refuse_second_init,
)
from purgatory_impl.executors import join
from purgatory_impl.failures import asks_to_leave, log_failure, named_safely
from purgatory_impl.operation_locks import this_thread
from purgatory_impl.task import COMPILED
from purgatory_impl.timer import Timer
from purgatory_impl.walks import walk_under
from purgatory_impl.watcher_lists import WatcherLists
from purgatory_impl.watchers import Key, Shard

Operation = TypeVar("Operation", bound=DelayedOperation, default=DelayedOperation)
"""The class of the operations that a purgatory is for, if it is for those of one class alone."""

_STRATEGIES: Final[dict[str, type[Accounting]]] = {
    "exact": ExactAccounting,
    "proposal": ProposalAccounting,
}


@mypyc_attr(allow_interpreted_subclasses=True)
class Purgatory(Generic[Key, Operation]):
    """Delayed operations, watched under keys; all methods may be called from any thread.

    For type checkers a purgatory has the class of its keys and, where all its operations are of
    one class, that class: ``Purgatory[Partition, Fetch]``.
    """

    def __init__(
        self,
        name: str = "purgatory",
        *,
        purge_interval: SupportsIndex = 1000,
        timer: Timer | None = None,
        time_outs: bool = True,
        accounting: Literal["exact", "proposal"] = "exact",
        purge_due: Literal["amortised", "fixed"] = "amortised",
        reaper: bool | None = None,
    ) -> None:
        """Build the purgatory and start its threads.

        Args:
            name: Begins the names of the purgatory's threads and the lines that it logs.
            purge_interval: A purge is not due before more than so many entries are stale; at
                least 0.
            timer: Where time-outs wait. When absent, a timer with an executor of its own, which is
                closed with the purgatory; a timer that is given stays open.
            time_outs: False for operations that never time out.
            accounting: How stale entries are counted: ``exact``, or ``proposal`` for the estimate
                of the published design.
            purge_due: ``amortised`` for a purge when more is stale than the interval and than half
                of what lives; ``fixed`` for one whenever more is stale than the interval, as
                published, however much there is to look at.
            reaper: Whether threads advance an own timer and purge. When absent, they do unless a
                timer is given whose clock is a ``VirtualClock``. Without them call ``advance``.

        Raises:
            InvalidConfiguration: the interval is negative, there is no such accounting, or a purge
                is never due so.
            TypeError: the purgatory is in use already.
        """
        if getattr(self, "_lists", None) is not None:
            refuse_second_init(self)
        interval = configured("purge_interval", purge_interval, least=0)
        if not COMPILED:
            see_kind("accounting", accounting, str)
            see_kind("purge_due", purge_due, str)
        if accounting not in _STRATEGIES:
            raise InvalidConfiguration(f"there is no accounting {accounting!r}")
        if purge_due not in ("amortised", "fixed"):
            raise InvalidConfiguration(f"purge_due is {purge_due!r}; it is 'amortised' or 'fixed'")
        self.name = name
        self._accounting = _STRATEGIES[accounting](interval, purge_due == "amortised")
        self._lists: WatcherLists[Key] = WatcherLists()
        self._closed = False
        self._own_timer: Timer | None = None
        if timer is None and time_outs:
            timer = self._own_timer = Timer(name=f"{name}-timer", reaper=reaper)
        self._timer = timer
        self._time_outs = timer if time_outs else None
        self._clock: Clock = MonotonicClock() if timer is None else timer.clock
        self._reaper: threading.Thread | None = None
        if not isinstance(self._clock, VirtualClock) if reaper is None else reaper:
            self._reaper = threading.Thread(target=self._reap, name=f"{name}-reaper", daemon=True)
            self._reaper.start()

    @classmethod
    def __class_getitem__(cls, classes: object) -> GenericAlias:
        """Return the class for keys of one class, with or without the class of its operations."""
        return GenericAlias(cls, classes)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to copy or pickle a purgatory.

        Raises:
            TypeError: always.
        """
        refuse_copy(self)

    def __repr__(self) -> str:
        """Return the class, the name, and the counts; each count is read by itself."""
        counts = f"{self.entries} entries under {self.keys} keys"
        try:
            owed = f"{self.pending} time-outs owed"
        except UsedAfterFork:
            owed = "inherited by a fork"
        closed = ", closed" if self._closed else ""
        return f"<{type(self).__name__} {self.name!r}, {counts}, {owed}{closed}>"

    def __enter__(self) -> Self:
        """Return the purgatory itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the purgatory at the end of the block."""
        self.close()

    def try_complete_else_watch(self, operation: Operation, keys: Iterable[Key]) -> bool:
        """Try to complete an operation; where that is not possible yet, watch it under each key.

        It is tried once before it is watched and once after. An exception from the first try leaves
        the operation unwatched; an exception from the second leaves it watched, with a time-out. An
        operation that is completed already is neither tried nor watched. One that is pending is
        watched once more, and its time-out starts anew.

        Args:
            operation: Of this purgatory or of none yet.
            keys: At least one. A key given twice makes two entries.

        Returns:
            Whether this call has completed the operation.

        Raises:
            PurgatoryClosed: the purgatory is closed; the operation was not tried. Where that
                happens in the middle of the call, the operation may be in its lists,
                without a time-out.
            NoKeys: there is no key; the operation was not tried.
            KeysAreText: the keys are a text, whose letters would each be a key.
            OperationOfAnotherPurgatory: the operation was given to another purgatory before.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-WAITS, PURGATORY-NO-KEYS,
        PURGATORY-WATCH-COMPLETED, PURGATORY-REWATCH, PURGATORY-FIRST-TRY-THROWS,
        PURGATORY-SHUTDOWN-CLOSED, PURGATORY-WATCH-INSIDE, PURGATORY-OVERLAPPING-CALLS.
        """
        if self._closed:
            raise PurgatoryClosed
        # A tuple is not copied.
        under = tuple(keys)
        if not under:
            raise NoKeys
        if isinstance(keys, (str, bytes)):
            raise KeysAreText(keys)
        if not COMPILED:
            see_kind("operation", operation, DelayedOperation)
        # Compiled, a short tuple needs no allocation, as a list would.
        shards = tuple(self._lists.shard_of(key) for key in under)
        belong_to(operation, self._accounting)
        me = this_thread()
        return attempt(operation, me) & 1 == 1 or self._watch(operation, under, shards, me)

    def check_and_complete(self, key: Key) -> int:
        """Try all operations watched under a key, oldest first.

        An operation that raises, in its try or its callback, keeps no other from being tried.
        Operations that are watched under the key meanwhile are not tried. Inside a try or a
        callback, an operation that another thread is trying is left to that thread, which tries it
        once more, and counts it.

        Returns:
            How many operations this call has completed.

        Raises:
            BaseException: the first one that an operation has raised, once all have been tried;
                the others are noted in it. A ``KeyboardInterrupt`` or ``SystemExit`` in the main
                thread comes before all others; a second one ends the call at once.

        Rules: PURGATORY-CHECK-ORDER, PURGATORY-CHECK-COUNT, PURGATORY-CHECK-DROPS,
        PURGATORY-CHECK-UNKNOWN, PURGATORY-CHECK-THROWS, PURGATORY-NOT-LOST, PURGATORY-CHECK-INSIDE,
        PURGATORY-SHUTDOWN-COMPLETES, PURGATORY-OVERLAPPING-CALLS, PURGATORY-NO-CIRCLE.
        """
        walk = walk_under(self._lists.shard_of(key), key)
        if walk is None:
            return 0
        completed = 0
        failures: list[BaseException] = []
        leaving = False
        me = this_thread()
        while True:
            operation, dropped = walk.next_live()
            if dropped:
                self._accounting.post(-dropped)
            if operation is None:
                break
            try:
                done = attempt(operation, me, walk)
                completed += done & 1
                # Few are left to others, and so there is nearly never more.
                if done > 1:
                    completed += done >> 1
            except BaseException as failure:
                if not asks_to_leave(failure):
                    failures.append(failure)
                elif leaving:
                    raise
                else:
                    leaving = True
                    failures.insert(0, failure)
        if failures:
            try:
                raise _first_of(failures)
            finally:
                # A failure knows this frame: known here, too, it would keep operations alive.
                failures.clear()
        return completed

    def cancel_for_key(self, key: Key) -> list[Operation]:
        """Watch nothing under a key any more; the operations are not completed.

        An operation that is still watched under another key keeps its time-out. With its last
        entry the time-out is taken, unless it already waits in the executor's queue.

        Returns:
            The operations in the order of the list, completed ones included, and as often as they
            were in it.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN, PURGATORY-CANCEL-INSIDE,
        PURGATORY-SHUTDOWN-COMPLETES, PURGATORY-OVERLAPPING-CALLS.
        """
        operations = self._lists.shard_of(key).detach(key)
        balance = 0
        for operation in operations:
            balance += withdraw(operation, 1)
        self._accounting.post(balance)
        return cast("list[Operation]", operations)

    def abandon(self, operation: Operation) -> bool:
        """Take an operation out of all lists and the timer without completing it.

        Its callbacks are never called, it cannot be forced, and to watch it again does nothing,
        as with a completed one. Its entries are stale from now on: walks and purges remove them.
        The call waits for a try of another thread that is under way, so that what a successful try
        has taken is not lost: then the operation is completed, and the answer is False. Inside a
        try or a callback of another operation it does not wait: the answer is False, and the other
        thread abandons the operation after its try, unless that completes it.

        No rule speaks of this: it is an addition of this implementation. To the rules' counts an
        abandoned operation is a completed one.

        Args:
            operation: Of this purgatory or of none yet.

        Returns:
            Whether this call has ended the operation. False where it was completed or abandoned
            before; then ``on_complete`` has returned, unless it runs in this thread, or this thread
            is inside a try or a callback.

        Raises:
            OperationOfAnotherPurgatory: the operation was given to another purgatory before.
        """
        if not COMPILED:
            see_kind("operation", operation, DelayedOperation)
        belong_to(operation, self._accounting)
        return abandon(operation)

    def advance(self) -> None:
        """Do what is due at the clock's present reading, and purge if a purge is due then.

        Raises:
            Exception: what the executor raised that refused time-outs; the timer keeps them. A
                purge was made all the same, if one was due.

        Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-START.
        """
        try:
            if self._timer is not None:
                self._timer.advance()
        finally:
            self._purge_if_due()

    def close(self, timeout_ms: int = 5000) -> None:
        """Watch nothing any more and drop the time-outs that are pending.

        Operations stay in their lists: they can be checked, forced and cancelled as before. May
        be called again, and from inside a callback.

        Args:
            timeout_ms: How long to wait, at most, for each thread of the purgatory.

        Rules: PURGATORY-SHUTDOWN-DROPS, PURGATORY-SHUTDOWN-COMPLETES, PURGATORY-SHUTDOWN-AGAIN.
        """
        self._closed = True
        self._accounting.close()
        if self._own_timer is not None:
            self._own_timer.close(timeout_ms)
        elif self._time_outs is not None:
            # Not those in the lists alone: the proposal arms what was cancelled meanwhile.
            for task in self._time_outs._waiting():
                if isinstance(task, DelayedOperation) and task._accounting is self._accounting:
                    self._drop_time_out(task)
        if self._reaper is not None:
            join(self._reaper, timeout_ms)

    def watched(self) -> dict[Key, list[Operation]]:
        """Return the contents of each list, completed operations included: slow, for diagnosis.

        Not one instant's picture where other threads are at work.
        """
        lists: dict[Key, list[Operation]] = {}
        for key, operations in self._lists.by_key():
            lists.setdefault(key, []).extend(cast("list[Operation]", operations))
        return lists

    @property
    def entries(self) -> int:
        """Return the sum of the lengths of all lists; Kafka calls it ``PurgatorySize``.

        Not one instant's number where other threads are at work.

        Rules: PURGATORY-ENTRIES, PURGATORY-COUNTS-WHEN-QUIET.
        """
        return self._lists.entries

    @property
    def keys(self) -> int:
        """Return the number of keys under which operations are watched.

        Rules: PURGATORY-EMPTY-LISTS.
        """
        return self._lists.keys

    @property
    def timer_size(self) -> int:
        """Return the number of operations in the timer; Kafka calls it ``NumDelayedOperations``.

        Those whose time-out is due and has not run yet are not among them. Of a timer that serves
        others too, it is the size of all.

        Rules: PURGATORY-TIMER-SIZE, PURGATORY-COUNTS-WHEN-QUIET.
        """
        return 0 if self._time_outs is None else self._time_outs.size

    @property
    def pending(self) -> int:
        """Time-outs owed: in the timer, in the executor's queue, or being decided.

        Rules: PURGATORY-PENDING, PURGATORY-COUNTS-WHEN-QUIET.
        """
        return self._accounting.pending

    @property
    def expired(self) -> int:
        """Return the number of operations completed by their time-outs so far; it never falls."""
        return self._accounting.expired

    @property
    def stale(self) -> int:
        """Return the number of entries of completed operations; exact when no call is under way.

        Rules: PURGATORY-STALE-ENTRIES.
        """
        return self._accounting.stale

    @property
    def estimate(self) -> int:
        """Return the operations in the lists, completed ones included, as the accounting estimates.

        Rules: PURGATORY-ESTIMATE-EXACT, PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-COUNTS-WHEN-QUIET.
        """
        return self._accounting.estimate()

    def _watch(
        self,
        operation: DelayedOperation,
        keys: tuple[Key, ...],
        shards: tuple[Shard[Key], ...],
        me: int,
    ) -> bool:
        """Watch an operation that could not be completed, in the order of the accounting.

        Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS, PURGATORY-SECOND-TRY-THROWS,
        PURGATORY-NOT-LOST, PURGATORY-TIME-OUT, PURGATORY-NO-TIME-OUTS.
        """
        time_out_first = self._accounting.time_out_first
        armed, due = self._arm(operation, len(keys), self._time_outs if time_out_first else None)
        try:
            if armed:
                self._append(operation, keys, shards)
            self._accounting.count_watch()
            try:
                return attempt(operation, me) & 1 == 1
            finally:
                if not time_out_first:
                    _, due = self._arm(operation, 0, self._time_outs)
        finally:
            self._finish_watch(operation, due)

    def _arm(
        self, operation: DelayedOperation, entries: int, timer: Timer | None
    ) -> tuple[bool, bool]:
        try:
            return arm(operation, self._accounting, entries, timer)
        except TimerClosed:
            # Closed meanwhile, or a timer that was given is.
            raise PurgatoryClosed from None

    def _append(
        self, operation: DelayedOperation, keys: tuple[Key, ...], shards: tuple[Shard[Key], ...]
    ) -> None:
        """Put an operation into its lists, until somebody completes it.

        Rules: PURGATORY-WATCH-WAITS, PURGATORY-DUPLICATE-KEYS.
        """
        appended = 0
        try:
            for key in keys:
                if operation._completed:
                    break
                shards[appended].append(key, operation)
                appended += 1
        finally:
            # After a failure too, of a key's ``__eq__`` or for lack of memory.
            if appended < len(keys):
                self._accounting.post(withdraw(operation, len(keys) - appended))

    def _finish_watch(self, operation: DelayedOperation, due: bool) -> None:
        if self._closed:
            # Closing has not met this operation, perhaps.
            self._drop_time_out(operation)
        if due and self._timer is not None:
            self._timer._wake_executor()

    def _drop_time_out(self, operation: DelayedOperation) -> None:
        if take_time_out(operation):
            operation._left()

    def _purge_if_due(self) -> bool:
        """Purge where a purge is due.

        Returns:
            Whether one was due and has removed nothing.

        Rules: PURGATORY-PURGE-START.
        """
        if not self._accounting.begin_purge_if_due(self.timer_size, self._lists.count_entries):
            return False
        return self._lists.sweep(self._accounting.post) == 0

    def _reap(self) -> None:
        """Run the reaper thread: sleep until a purge is due, purge, until closed."""
        found_nothing = False
        goes_on = True
        while goes_on:
            try:
                goes_on = self._accounting.wait_for_purge(
                    self._clock, found_nothing, self._lists.count_entries
                )
                if goes_on:
                    found_nothing = self._purge_if_due()
            except BaseException:
                # A key may fail, a finaliser of what was removed, or a user's clock.
                log_failure("%s: a purge failed", self.name)
                self._accounting.rest()


def _first_of(failures: list[BaseException]) -> BaseException:
    """Return the first failure, with a note of each further one."""
    for further in failures[1:]:
        words = named_safely(further)
        failures[0].add_note(f"another operation of the same walk raised {words}")
    return failures[0]
