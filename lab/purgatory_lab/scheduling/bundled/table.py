"""The table: where the bundled timer, purgatory and memory pool give way when they are scheduled.

It is at the same time the locking discipline of the implementation. Each field that threads share
has its row: *guarded*, with the lock that whoever uses it holds, or *unlocked*, with the reason why
the protocol may use it without.
"""

from typing import Final

import purgatory_impl
from purgatory_lab.scheduling.yield_points import Size, Table, Where, YieldPoint

_PACKAGE: Final = purgatory_impl.__name__


def _lock(module: str, name: str, why: str) -> YieldPoint:
    return YieldPoint(f"{_PACKAGE}.{module}", name, Where.LOCK, why)


def _condition(module: str, name: str, why: str) -> YieldPoint:
    return YieldPoint(f"{_PACKAGE}.{module}", name, Where.CONDITION, why)


def _unlocked(module: str, name: str, why: str, *guards: str) -> YieldPoint:
    return YieldPoint(f"{_PACKAGE}.{module}", name, Where.UNLOCKED, why, guards)


def _guarded(module: str, names: str, why: str, *guards: str) -> tuple[YieldPoint, ...]:
    """Return rows for several fields of one class: ``Class.one two three``."""
    class_name, _, fields = names.partition(".")
    return tuple(
        YieldPoint(f"{_PACKAGE}.{module}", f"{class_name}.{field}", Where.GUARDED, why, guards)
        for field in fields.split()
    )


_LOCKS: Final = (
    _lock("guarded", "OperationLocks.own", "tries exclude each other"),
    _lock("guarded", "OperationLocks.word", "completed, entries and time-out agree"),
    _lock("left_operations", "_LOCK", "what was left to others, and who does it"),
    _lock("watchers", "Shard.lock", "the lists of some keys, and their entries"),
    _lock("accounting", "Accounting._lock", "the counts"),
    _lock("timer", "Timer._lock", "wheel, pending tasks, hand-over to the executor"),
    _lock("accounting", "Accounting._sleep", "whoever finds the reaper asleep wakes it"),
    _lock("timer", "Timer._sleep", "whoever finds the reaper asleep wakes it"),
    _lock("timer", "_OWNER_CHANGE", "a task goes from one timer to another"),
    _lock("executors", "Executor._lock", "the queue"),
    _lock("executors", "ThreadExecutor._sleep", "whoever changes something tells who waits"),
    _lock("clocks", "VirtualClock._lock", "who sleeps until when"),
    _lock("memory_pool", "SimpleMemoryPool._lock", "what is available, and the dry spells"),
    _condition("accounting", "Accounting._changed", "the purgatory's reaper sleeps"),
    _condition("timer", "Timer._earlier", "the timer's reaper sleeps"),
    _condition("executors", "ThreadExecutor._changed", "the executor's thread sleeps"),
)

_UNLOCKED: Final = (
    _unlocked(
        "executors",
        "Executor._unwoken",
        "a flag that asks for one more wake, which does no harm if nothing is queued",
        "Executor._lock",
    ),
    _unlocked(
        "delayed_operation",
        "DelayedOperation._completed",
        "walks, appends and expiries look before they take a lock; it never becomes false again",
        "_locks.own",
        "_locks.word",
    ),
    _unlocked(
        "delayed_operation",
        "DelayedOperation._accounting",
        "set once, before the operation is anywhere; who finds none has nothing to count",
        "_locks.word",
    ),
    _unlocked(
        "guarded",
        "GuardedTask._holder",
        "a thread looks whether the lock is its own, which no other thread can change",
        "_locks.own",
    ),
    _unlocked(
        "task",
        "Task._timer",
        "read to find the lock to take, and once more under that lock; a one-shot task that has "
        "ended forgets it",
        "_OWNER_CHANGE",
        "Timer._lock",
    ),
    _unlocked("timer", "Timer._closed", "says which of two reasons a refused add has", "_lock"),
    _unlocked("clocks", "VirtualClock._now_ms", "the time may go on at any moment", "_lock"),
    _unlocked("watchers", "Shard.lists", "a shard without lists is passed over", "lock"),
    _unlocked("watchers", "Shard.entries", "summed over the shards, one after the other", "lock"),
    _unlocked(
        "chunks",
        "WatcherList.length",
        "a walk that has met an operation looks whether the list was detached; it stays 0",
        "Shard.lock",
    ),
    _unlocked(
        "chunks",
        "WatcherList.only",
        "a purge passes over a list of one pending operation; a detached list is not changed",
        "Shard.lock",
    ),
    _unlocked(
        "chunks", "WatcherList.first", "nobody changes a list that is detached", "Shard.lock"
    ),
    _unlocked("chunks", "WatcherList.last", "the links of a detached list are cut", "Shard.lock"),
    _unlocked("chunks", "Chunk.operations", "a detached list is gone through", "Shard.lock"),
    _unlocked("chunks", "Chunk.next", "a detached list is gone through", "Shard.lock"),
    _unlocked("chunks", "Chunk.previous", "the links of a detached list are cut", "Shard.lock"),
    _unlocked(
        "purgatory",
        "Purgatory._closed",
        "read before a watch and once more after it; closing looks at the lists in between",
    ),
)

_UNLOCKED_IN_POOL: Final = (
    _unlocked(
        "memory_pool",
        "SimpleMemoryPool._lent",
        "a view that dies takes itself out, anywhere and under any lock",
        "_lock",
    ),
    _unlocked(
        "leak_detecting_memory_pool",
        "LeakDetectingMemoryPool._lost_bytes",
        "looked at before the lock is taken, and filled by views that die",
        "_lock",
    ),
)

_GUARDED: Final = (
    *_guarded("delayed_operation", "DelayedOperation._entries", "half of the word", "_locks.word"),
    *_guarded(
        "delayed_operation", "DelayedOperation._place", "the walk that tries it", "_locks.own"
    ),
    *_guarded(
        "task",
        "Cell._next _previous",
        "the rings of tasks",
        "Timer._lock",
    ),
    *_guarded(
        "task",
        "Task._expiry_ms",
        "when the task is due",
        "Timer._lock",
    ),
    *_guarded("bucket", "Bucket.queued expiry_ms", "a bucket", "Timer._lock"),
    *_guarded(
        "wheel",
        "Wheel.size clock_ms levels popped_buckets queued_buckets _emptying _below",
        "the wheel knows no lock",
        "Timer._lock",
    ),
    *_guarded(
        "wheel",
        "Level.above first_ms first_slot limit_ms queued turn_ms",
        "the wheel's levels, and the delay queue",
        "Timer._lock",
    ),
    *_guarded("timer", "Timer._asleep _alarm_ms", "what the timer's reaper waits for", "_lock"),
    *_guarded("task_queue", "TaskQueue._first _head _last _length", "the queue", "Executor._lock"),
    *_guarded("task_queue", "Batch.tasks next", "the queue", "Executor._lock"),
    *_guarded("executors", "InlineExecutor._runner", "one thread runs tasks", "_lock"),
    *_guarded("executors", "ThreadExecutor._closed _running", "the thread's state", "_lock"),
    *_guarded("clocks", "VirtualClock._sleepers", "who sleeps until when", "_lock"),
    *_guarded("chunks", "Chunk.removed moved_to moved_by", "where its entries are", "Shard.lock"),
    *_guarded(
        "accounting",
        "Accounting._stale _pending _closed _asleep _wake_above",
        "the counts",
        "_lock",
    ),
    *_guarded("guarded", "GuardedTask._owed", "the task's share of a count", "Accounting._lock"),
    *_guarded("left_operations", "LeftOperations.ready server", "who serves what", "_LOCK"),
    *_guarded("accounting", "ProposalAccounting._estimate", "the count of watches", "_lock"),
    *_guarded("memory_pool", "SimpleMemoryPool._available", "what is left", "_lock"),
    *_guarded("leak_detecting_memory_pool", "LeakDetectingMemoryPool._leaked", "a count", "_lock"),
    *_guarded(
        "depletion",
        "DrySpells.ended total_ms _since_ms _recent",
        "the spells know no lock",
        "SimpleMemoryPool._lock",
    ),
)

BUNDLED: Final = Table(
    _PACKAGE,
    points=(
        *_LOCKS,
        *_UNLOCKED,
        *_UNLOCKED_IN_POOL,
        *_GUARDED,
        YieldPoint(
            f"{_PACKAGE}.timer", "time.sleep", Where.CALL, "a long pass lets other threads in"
        ),
    ),
    sizes=(
        Size(f"{_PACKAGE}.watcher_lists", "_SHARDS", 2, "of two keys each has its own shard"),
        Size(f"{_PACKAGE}.chunks", "CHUNK", 2, "a list of three entries has two chunks"),
        Size(f"{_PACKAGE}.timer", "_STEPS_PER_HOLD", 2, "a bucket of two tasks is held twice"),
        Size(f"{_PACKAGE}.task_queue", "BATCH", 1, "a second task makes a second batch"),
    ),
    log="purgatory",
)
"""All modules of the bundled implementation."""
