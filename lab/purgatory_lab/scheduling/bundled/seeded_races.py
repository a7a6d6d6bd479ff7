"""Races planted on purpose: each is the implementation with one method done as it must not be.

No single thread can tell these from the original. Only an interleaving of two threads finds a race,
and each race names a scenario with such an interleaving. The yield points are those of the table
alone: where a race leaves a lock out, the fields of the table are interrupted by themselves.

In the compiled build nothing can be substituted. There a race can be planted in a class that users
may subclass: the worlds then make objects of a subclass.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Final
from unittest.mock import patch

from purgatory_impl import COMPILED, DelayedOperation, OneShotEnded, Purgatory, Task, Timer
from purgatory_impl import delayed_operation as delayed_operation_module
from purgatory_impl import purgatory as purgatory_module
from purgatory_impl.accounting import Accounting, ProposalAccounting
from purgatory_impl.delayed_operation import take_time_out
from purgatory_impl.guarded import GuardedTask, OperationLocks
from purgatory_impl.left_operations import LEFT, LeftOperations
from purgatory_impl.walks import Walk
from purgatory_impl.watchers import Shard
from purgatory_lab.scheduling.bundled.purgatory import world as purgatory_world
from purgatory_lab.scheduling.bundled.timer import world as timer_world

_SUBCLASSED: Final = (Purgatory, Timer)
_UNDER_TEST: Final = (purgatory_world, timer_world)


@dataclass(frozen=True, slots=True)
class SeededRace:
    """A race that can be planted in the implementation.

    Attributes:
        owner: The class or module of the implementation whose method or function is substituted.
        method: Its name.
        substitute: The function put in the method's place.
        scenario: The name of a scenario that finds the race.
        in_fields: Whether it shows between two uses of a field alone; there compiled code does not
            give way, so that it has no such race.
    """

    name: str
    about: str
    owner: type | ModuleType
    method: str
    substitute: Callable[..., object]
    scenario: str
    in_fields: bool = False

    @property
    def can_be_planted(self) -> bool:
        """Decide whether the race can be planted in this build."""
        return not COMPILED or (self.owner in _SUBCLASSED and not self.in_fields)

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Have the race in the implementation; afterwards it is as it was."""
        if COMPILED:
            assert isinstance(self.owner, type)
            racy = type(f"Racy{self.owner.__name__}", (self.owner,), {self.method: self.substitute})
            with ExitStack() as stack:
                for module in _UNDER_TEST:
                    if vars(module).get(self.owner.__name__) is self.owner:
                        stack.enter_context(patch.object(module, self.owner.__name__, racy))
                yield
            return
        try:
            with patch.object(self.owner, self.method, self.substitute):
                yield
        finally:
            # A run that was broken off has forgotten nothing, and all purgatories share this.
            LEFT.forget()


def watch_without_second_try(
    purgatory: Purgatory[str],
    operation: DelayedOperation,
    keys: tuple[str, ...],
    shards: tuple[Shard[str], ...],
    _me: int,
) -> bool:
    """Watch without a second try after the entries were appended."""
    armed, due = purgatory._arm(operation, len(keys), purgatory._time_outs)
    if armed:
        purgatory._append(operation, keys, shards)
    purgatory._accounting.count_watch()
    purgatory._finish_watch(operation, due)
    return False


def _post_in_two_steps(
    accounting: Accounting, balance: int, taken: GuardedTask | None = None
) -> None:
    """Post the balance by a read and a write under the lock, with a gap between them."""
    if taken is not None:
        accounting.end_time_out(taken)
    if not balance:
        return
    with accounting._lock:
        stale = accounting._stale
    with accounting._lock:
        accounting._stale = stale + balance


def _count_in_two_steps(accounting: ProposalAccounting) -> None:
    """Count in the estimate by a read and a write under the lock, with a gap between them."""
    with accounting._lock:
        estimate = accounting._estimate
    with accounting._lock:
        accounting._estimate = estimate + 1


_DROP: Final = Walk.drop


def _drop_list_without_lock(walk: Walk[str]) -> int:
    """Take the last entry under the list's lock, and drop the list from its shard after it."""
    shard, watched = walk._shard, walk._list
    with shard.lock:
        last = watched.only is not None and walk._chunk is None
        if last:
            watched.only = None
            watched.length = 0
            shard.entries -= 1
    if not last:
        return _DROP(walk)
    del shard.lists[watched.key]
    return 1


def _force_by_test_then_set(operation: DelayedOperation) -> bool:
    """Complete the operation after a look whether it is completed, without a lock between."""
    if operation._completed:
        return False
    operation._completed = True
    assert operation._locks is not None
    with operation._locks.word:
        balance, operation._entries = operation._entries, 0
    if operation._place is not None:
        balance -= operation._place.drop()
    if operation._accounting is not None:
        operation._accounting.post(balance)
    take_time_out(operation)
    operation.on_complete()
    return True


def _finish_watch_without_look(
    purgatory: Purgatory[str], _operation: DelayedOperation, due: bool
) -> None:
    """Finish a watch without a look whether the purgatory was closed meanwhile."""
    if due and purgatory._timer is not None:
        purgatory._timer._executor.wake()


def _withdraw_without_lock(operation: DelayedOperation, entries: int) -> int:
    """Read, subtract and write the count of entries without a lock."""
    if operation._completed:
        return -entries
    operation._entries -= entries
    if operation._entries == 0:
        take_time_out(operation)
    return 0


def _cancel_under_shard(purgatory: Purgatory[str], key: str) -> list[DelayedOperation]:
    """Take the operations' own locks while the shard's is held: the wrong order."""
    shard = purgatory._lists.shard_of(key)
    with shard.lock:
        watched = shard.lists.get(key)
        if watched is not None and watched.only is not None:
            assert watched.only._locks is not None
            with watched.only._locks.own:
                pass
    return _CANCEL(purgatory, key)


_CANCEL: Final = Purgatory.cancel_for_key


def add_without_lock(
    timer: Timer, task: Task, delay_ms: int, only_move: bool = False
) -> tuple[bool, bool]:
    """Use the wheel without the timer's lock."""
    expiry_ms = timer._clock.now_ms() + delay_ms
    timer._adopt(task)
    was_pending = task._next is not None
    if only_move and not was_pending:
        raise OneShotEnded
    return was_pending, timer._arm(task, expiry_ms)


def _cancel_answering_early(timer: Timer, task: Task) -> bool:
    """Look whether the task was pending before the lock is taken."""
    pending = task._timer is timer and task._next is not None
    with timer._lock:
        if task._timer is timer:
            timer._wheel.remove(task)
    return pending


def _advance_resetting_late(timer: Timer) -> bool:
    """Note that a bucket was popped when all have been emptied, after the lock."""
    now_ms = timer._clock.now_ms()
    expired: list[Task] = []
    with timer._lock:
        levels = timer._wheel.all_levels()
        queued = [bucket for level in levels for bucket in level.buckets if bucket.queued]
        while timer._wheel.advance(now_ms, 1, expired):
            pass
        popped = [bucket for bucket in queued if not bucket.queued]
        for bucket in popped:
            bucket.queued = True
        timer._executor.hand_over(expired)
    for bucket in popped:
        bucket.queued = False
    timer._executor.wake()
    return bool(popped)


def _sleep_without_second_look(timer: Timer) -> bool:
    """Look for the first expiry before the lock is taken in which the reaper sleeps."""
    with timer._lock:
        earliest_ms = timer._wheel.next_expiry_ms
    if earliest_ms is not None and earliest_ms <= timer._clock.now_ms():
        return True
    with timer._lock:
        if timer._closed:
            return False
        timer._alarm_ms = earliest_ms
        timer._asleep = True
    with timer._earlier:
        timer._clock.wait_until(timer._earlier, earliest_ms)
    with timer._lock:
        timer._asleep = False
    return True


def _wait_for_own_lock(
    operation: GuardedTask,
    locks: OperationLocks,
    body: Callable[[], int],
    waits: bool = True,
) -> int:
    """Wait for a further operation's lock inside a try or a callback."""
    del operation, waits
    with locks.own:
        return body()


def _begin_nothing(_left: LeftOperations, _operation: GuardedTask, _me: int) -> bool:
    """Begin nothing: left operations stay left."""
    return False


SEEDED_RACES: Final = (
    SeededRace(
        "no-second-try",
        "an operation that was put into its lists is not tried again",
        Purgatory,
        "_watch",
        watch_without_second_try,
        "model-watch-and-check",
    ),
    SeededRace(
        "count-in-two-steps",
        "the count of stale entries is read, and later written",
        Accounting,
        "post",
        _post_in_two_steps,
        "exact-purge-and-watch",
    ),
    SeededRace(
        "estimate-in-two-steps",
        "the estimate of the proposal is read, and later written",
        ProposalAccounting,
        "count_watch",
        _count_in_two_steps,
        "model-proposal-watch-and-purge",
    ),
    SeededRace(
        "list-dropped-without-lock",
        "a list is found empty under the lock of its shard, and dropped after it",
        Walk,
        "drop",
        _drop_list_without_lock,
        "exact-check-and-append",
    ),
    SeededRace(
        "test-then-set",
        "an operation is completed by whoever has seen that it is not",
        DelayedOperation,
        "force_complete",
        _force_by_test_then_set,
        "exact-check-and-force",
    ),
    SeededRace(
        "no-look-after-close",
        "a watch does not look whether the purgatory was closed meanwhile",
        Purgatory,
        "_finish_watch",
        _finish_watch_without_look,
        "exact-close-and-watch",
    ),
    SeededRace(
        "withdrawn-without-lock",
        "entries of a cancelled key are taken out of the word without its lock",
        purgatory_module,
        "withdraw",
        _withdraw_without_lock,
        "exact-rewatch-and-cancel",
    ),
    SeededRace(
        "locks-in-wrong-order",
        "cancelling a key takes the operations' locks under the lock of the shard",
        Purgatory,
        "cancel_for_key",
        _cancel_under_shard,
        "exact-cancel-and-check",
    ),
    SeededRace(
        "timer-add-without-lock",
        "a task is put into the wheel without the timer's lock",
        Timer,
        "_add_quietly",
        add_without_lock,
        "timer-add-and-another-add",
        in_fields=True,
    ),
    SeededRace(
        "timer-cancel-answers-early",
        "a cancel looks whether the task is pending before it takes the timer's lock",
        Timer,
        "cancel",
        _cancel_answering_early,
        "timer-cancel-and-advance-explained",
    ),
    SeededRace(
        "timer-bucket-reset-late",
        "that a bucket was popped is noted after it was emptied, without the lock",
        Timer,
        "advance",
        _advance_resetting_late,
        "timer-add-and-bucket-reuse",
        in_fields=True,
    ),
    SeededRace(
        "timer-reaper-looks-early",
        "the reaper looks what is due first, and takes the lock to sleep later",
        Timer,
        "_sleep_until_due",
        _sleep_without_second_look,
        "timer-own-threads",
    ),
    SeededRace(
        "waits-inside",
        "a thread inside a try or a callback waits for another operation's own lock",
        delayed_operation_module,
        "under_own_lock",
        _wait_for_own_lock,
        "crossing-tries-check",
    ),
    SeededRace(
        "left-and-forgotten",
        "who has let go of an operation does not look at what others have left there",
        LeftOperations,
        "begin",
        _begin_nothing,
        "crossing-tries-check",
    ),
)
"""All of them."""
