"""The accounting: how many entries of completed operations are in the lists, and when to purge.

Two strategies. ``ExactAccounting`` counts; ``ProposalAccounting`` estimates as the published design
does, which can forget operations for ever: it is here to be compared and taught. Both keep the two
counts that they share, so that either purgatory can be asked how far the estimate is off:

    stale    entries of completed operations, signed
    pending  time-outs that are owed: in the timer, in the executor's queue, or being decided

Every thread has a *balance* of what it still has to add to *stale*. Here a balance is a local
variable of a call, and is posted before user code runs and before the call returns. So at every
instant *stale* and all balances together are the entries of completed operations.

One lock guards all counts. Nothing else is locked under it and no user code runs under it. The
reaper of the purgatory sleeps under another one, which whoever wakes it takes afterwards.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from purgatory_impl.clocks import Clock
from purgatory_impl.exclusion import SectionLock, pure, refused_after_fork
from purgatory_impl.guarded import GuardedTask
from purgatory_impl.task import COMPILED

_RETRY_MS: Final = 100
"""The time after which a purge that was due and removed nothing is tried again, ms."""

_POLL_MS: Final = 200
"""The reaper's longest sleep where no thread tells it that a purge is due, ms; Kafka's figure."""


class Accounting(ABC):
    """The counts of one purgatory; a strategy says what is estimated and when a purge is due."""

    __slots__ = (
        "__weakref__",
        "_asleep",
        "_changed",
        "_closed",
        "_expired",
        "_lock",
        "_pending",
        "_sleep",
        "_stale",
        "_token",
        "_wake_above",
        "amortised",
        "purge_interval",
    )

    def __init__(self, purge_interval: int, amortised: bool = False) -> None:
        self.purge_interval = purge_interval
        self.amortised = amortised
        # Who raises *stale* above this wakes a reaper that sleeps.
        self._wake_above = purge_interval
        self._lock = SectionLock() if COMPILED else pure(threading.Lock())
        self._token = refused_after_fork(self, self._lock)
        self._sleep = threading.Lock()
        self._changed = threading.Condition(self._sleep)
        self._asleep = False
        self._stale = 0
        self._pending = 0
        self._expired = 0
        self._closed = False

    @property
    @abstractmethod
    def time_out_first(self) -> bool:
        """Decide whether an operation goes into the timer before it goes into the lists."""

    @abstractmethod
    def count_watch(self) -> None:
        """Count an operation that has been put into its lists."""

    @abstractmethod
    def begin_purge_if_due(self, timer_size: int, entries: Callable[[], int]) -> bool:
        """Decide whether a purge is due.

        Args:
            timer_size: The number of operations in the timer.
            entries: Counts the entries of all lists.
        """

    @abstractmethod
    def estimate(self) -> int:
        """Return the estimated number of operations in the lists, completed ones included."""

    @abstractmethod
    def wait_for_purge(self, clock: Clock, found_nothing: bool, entries: Callable[[], int]) -> bool:
        """Sleep until a purge may be due.

        Args:
            clock: Measures the sleep.
            found_nothing: The last purge was due and had nothing to remove.
            entries: Counts the entries of all lists.

        Returns:
            False once the purgatory is closed.
        """

    def threshold(self, live: int) -> int:
        """Return the number of stale entries beyond which a purge is due, beside so many live ones.

        Half of what lives makes a purge look at three entries, at most, for each one it removes.

        Rules: PURGATORY-PURGE-START.
        """
        return max(self.purge_interval, live // 2) if self.amortised else self.purge_interval

    @property
    def stale(self) -> int:
        """Return the entries of completed operations, as far as posted; briefly below zero.

        Rules: PURGATORY-STALE-ENTRIES.
        """
        with self._lock:
            return self._stale

    @property
    def pending(self) -> int:
        """Time-outs that are owed.

        Rules: PURGATORY-PENDING.
        """
        with self._lock:
            return self._pending

    @property
    def expired(self) -> int:
        """Return the number of operations that a time-out has completed so far."""
        with self._lock:
            return self._expired

    def count_expiry(self) -> None:
        """Count an operation that its time-out has completed."""
        with self._lock:
            self._expired += 1

    def rest(self) -> None:
        """Let the reaper rest after a failure, unless the purgatory is closed."""
        with self._sleep:
            if not self._is_closed():
                self._changed.wait(_RETRY_MS / 1000)

    def post(self, balance: int, taken: GuardedTask | None = None) -> None:
        """Add a thread's balance to *stale*.

        Args:
            balance: What the thread still has to add.
            taken: An operation whose time-out was taken, to be counted in the same hold.

        Rules: PURGATORY-STALE-ENTRIES, PURGATORY-PENDING.
        """
        if not balance and taken is None:
            return
        due = False
        try:
            with self._lock:
                if taken is not None:
                    self._count_out(taken)
                self._stale += balance
                due = self._asleep and self._stale > self._wake_above
                if due:
                    self._asleep = False
            if due:
                self._wake_reaper()
        except BaseException:
            # Interrupted: nobody else would wake a reaper that counts as awake.
            if due:
                self._wake_reaper()
            raise

    def begin_time_out(self, task: GuardedTask) -> None:
        """Count a time-out of the task as owed from now on."""
        with self._lock:
            task._owed += 1
            self._pending += 1

    def end_time_out(self, task: GuardedTask) -> None:
        """Count a time-out of the task as owed no longer: it was taken or has been decided.

        Where none is owed, the task was run by somebody else than its timer: nothing is counted.

        Rules: PURGATORY-PENDING, PURGATORY-LOST-EXPIRY.
        """
        with self._lock:
            self._count_out(task)

    def _count_out(self, task: GuardedTask) -> None:
        """Count a time-out as owed no longer; the caller holds the lock."""
        if task._owed:
            task._owed -= 1
            self._pending -= 1

    def close(self) -> None:
        """Let whoever sleeps in ``wait_for_purge`` go."""
        with self._lock:
            self._closed = True
        self._wake_reaper()

    def _wake_reaper(self) -> None:
        with self._sleep:
            self._changed.notify_all()

    def _is_closed(self) -> bool:
        with self._lock:
            return self._closed


class ExactAccounting(Accounting):
    """Purge when more entries are stale than the threshold allows; nothing is ever reset.

    What lives are the entries of the lists that are not stale.
    """

    __slots__ = ()

    @property
    def time_out_first(self) -> bool:
        """Return true: a watched operation has its time-out from its first entry on."""
        return True

    def count_watch(self) -> None:
        """Count nothing: live operations are pending, and need no count of their own."""

    def begin_purge_if_due(self, timer_size: int, entries: Callable[[], int]) -> bool:
        """Decide whether *stale* exceeds the threshold.

        Rules: PURGATORY-PURGE-START, PURGATORY-STALE-ENTRIES, PURGATORY-STALE-OPERATIONS.
        """
        stale = self.stale
        return stale > self.purge_interval and stale > self.threshold(entries() - stale)

    def estimate(self) -> int:
        """Return pending operations and stale entries: never less than the operations in the lists.

        Rules: PURGATORY-ESTIMATE-EXACT.
        """
        with self._lock:
            return self._pending + max(0, self._stale)

    def wait_for_purge(self, clock: Clock, found_nothing: bool, entries: Callable[[], int]) -> bool:
        """Sleep until somebody posts enough, or until less lives.

        Nobody tells when less lives: as soon as more is stale than the interval, look now and then.
        """
        with self._sleep:
            if found_nothing and not self._is_closed():
                # What is counted may not be in the lists yet. Look again soon.
                clock.wait_until(self._changed, clock.now_ms() + _RETRY_MS)
            while True:
                listed = entries() if self.amortised else 0
                with self._lock:
                    if self._closed:
                        return False
                    polls = self._stale > self.purge_interval
                    self._wake_above = self.purge_interval
                    if polls:
                        self._wake_above = self.threshold(listed - self._stale)
                        if self._stale > self._wake_above:
                            return True
                    self._asleep = True
                clock.wait_until(self._changed, clock.now_ms() + _POLL_MS if polls else None)


class ProposalAccounting(Accounting):
    """The published order: count each watch, and forget all but the timer's size at a purge.

    An operation lives as long as the timer holds it.
    """

    __slots__ = ("_estimate",)

    def __init__(self, purge_interval: int, amortised: bool = False) -> None:
        super().__init__(purge_interval, amortised)
        self._estimate = 0

    @property
    def time_out_first(self) -> bool:
        """Return false: the timer comes last, when the second try has failed."""
        return False

    def count_watch(self) -> None:
        """Add one for a watched operation, whatever the number of its keys.

        Rules: PURGATORY-ESTIMATE-PROPOSAL.
        """
        with self._lock:
            self._estimate += 1

    def begin_purge_if_due(self, timer_size: int, entries: Callable[[], int]) -> bool:
        """Decide whether the estimate exceeds the timer's size by the threshold, and then reset it.

        What has left the timer and has not run is forgotten here, and so is what is counted and
        not yet in the timer.

        Rules: PURGATORY-PURGE-START, PURGATORY-ESTIMATE-PROPOSAL.
        """
        with self._lock:
            due = self._estimate - timer_size > self.threshold(timer_size)
            if due:
                self._estimate = timer_size
            return due

    def estimate(self) -> int:
        """Return the watches counted since the last reset, plus the count that the reset left.

        Rules: PURGATORY-ESTIMATE-PROPOSAL.
        """
        with self._lock:
            return self._estimate

    def wait_for_purge(self, clock: Clock, found_nothing: bool, entries: Callable[[], int]) -> bool:
        """Sleep for a fixed time: nobody is told when the timer's size falls."""
        deadline_ms = clock.now_ms() + _POLL_MS
        with self._sleep:
            while True:
                if self._is_closed() or clock.now_ms() >= deadline_ms:
                    break
                clock.wait_until(self._changed, deadline_ms)
            return not self._is_closed()
