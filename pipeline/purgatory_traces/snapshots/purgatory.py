"""A purgatory's snapshot, on a manual clock."""

from collections import Counter

from immutables import Map

from purgatory_model.pending_tasks import PendingTasks, Store
from purgatory_model.purgatory import timer_profile
from purgatory_model.purgatory_state import OperationState, PurgatoryState
from purgatory_model.timer import TimerState, timer_model
from purgatory_spec.profiles import Accounting, Executor, SameTickOrder
from purgatory_traces.errors import Unusable
from purgatory_traces.snapshots.mismatch import (
    Mismatch,
    expiry_of,
    names_words,
    reject_other_time,
    reject_parts,
    time_outs_mismatch,
)
from purgatory_traces.traces.lines import PurgatoryInstance, Snapshot


def purgatory_state(snapshot: Snapshot, instance: PurgatoryInstance) -> PurgatoryState:
    """Return the state that a snapshot tells.

    Raises:
        Unusable: it tells too little, or contradicts itself.
    """
    reject_parts(
        "purgatory",
        {
            "tasks": snapshot.tasks,
            "buffers": snapshot.buffers,
            "scripts": snapshot.scripts,
        },
    )
    if instance.profile.accounting is Accounting.PROPOSAL and snapshot.estimate is None:
        raise Unusable("estimate is missing: the next purge depends on it")
    operations: dict[str, OperationState] = {}
    for each in snapshot.operations:
        if each.operation in operations:
            raise Unusable(f"operation {each.operation!r} is told twice")
        operations[each.operation] = OperationState(
            each.delay_ms,
            each.script,
            min(each.tried, each.script.different_tries),
            each.satisfied,
            each.completed,
        )
    proposal = instance.profile.accounting is Accounting.PROPOSAL
    return PurgatoryState(
        _timer(snapshot, instance),
        Map(operations),
        _lists(snapshot),
        snapshot.estimate or 0 if proposal else 0,
        snapshot.closed,
    )


def _timer(snapshot: Snapshot, instance: PurgatoryInstance) -> TimerState[Store]:
    if snapshot.now_ms is None:
        raise Unusable("now_ms is missing: on a manual clock nothing else says what time it is")
    model = timer_model(instance.configuration.timer, timer_profile(instance.profile))
    due_ticks = {
        each.operation: model.due_tick(expiry_of(each.operation, each.early_ms, each.late_ms))
        for each in snapshot.operations
        if each.early_ms is not None
    }
    fifo = instance.profile.same_tick_order is SameTickOrder.FIFO
    return TimerState(
        snapshot.now_ms,
        PendingTasks(Map(due_ticks)),
        _queue(snapshot, instance),
        order=tuple(due_ticks) if fifo else (),
        closed=snapshot.closed,
    )


def _queue(snapshot: Snapshot, instance: PurgatoryInstance) -> tuple[str, ...]:
    """Return the executor's queue, which operations may tell where its order is free."""
    counted = [each.operation for each in snapshot.operations for _ in range(each.queued)]
    queue = snapshot.queued or tuple(counted)
    if queue and instance.profile.executor is not Executor.STEPPED:
        raise Unusable("only a stepped executor has operations queued between two steps")
    if not snapshot.queued and len(counted) > 1:
        raise Unusable("queued is missing: the order of the executor's queue")
    if counted and Counter(counted) != Counter(queue):
        raise Unusable("queued does not agree with what the operations say of the queue")
    unknown = set(queue) - {each.operation for each in snapshot.operations}
    if unknown:
        raise Unusable(f"{min(unknown)!r} is queued and not among the operations")
    return queue


def _lists(snapshot: Snapshot) -> Map[str, tuple[str, ...]]:
    """Return the watcher lists in the operations' order, unless the snapshot tells the lists."""
    lists: dict[str, list[str]] = {}
    for each in snapshot.operations:
        for key in each.entries:
            lists.setdefault(key, []).append(each.operation)
    for key, names in snapshot.lists.items():
        if sorted(lists.get(key, [])) != sorted(names):
            raise Unusable(f"the list of {key!r} does not agree with the operations' entries")
        lists[key] = list(names)
    return Map({key: tuple(names) for key, names in lists.items() if names})


def purgatory_mismatch(told: PurgatoryState, believed: PurgatoryState) -> Mismatch | None:
    """Return the contradiction between a snapshot and a possible state, or None.

    What a delayed operation will answer is not compared: the purgatory has no say in it.
    """
    reject_other_time(told.timer.now_ms, believed.timer.now_ms)
    if told.closed != believed.closed:
        words = ("open", "shut down")
        return Mismatch("PURGATORY-SHUTDOWN-CLOSED", words[believed.closed], words[told.closed])
    both = sorted(name for name in told.operations if name in believed.operations)
    for name in both:
        words = (f"{name} not completed", f"{name} completed")
        seen, expected = told.operations[name].completed, believed.operations[name].completed
        if seen != expected:
            return Mismatch("PURGATORY-EXACTLY-ONCE", words[expected], words[seen])
    return (
        _lists_mismatch(told, believed)
        or time_outs_mismatch(
            believed.timer.store.due_ticks, told.timer.store.due_ticks, ("PURGATORY-TIME-OUT",) * 3
        )
        or _rest_mismatch(told, believed)
    )


def _lists_mismatch(told: PurgatoryState, believed: PurgatoryState) -> Mismatch | None:
    for key in sorted({*told.lists, *believed.lists}):
        expected, seen = believed.lists.get(key, ()), told.lists.get(key, ())
        if expected != seen:
            same = sorted(expected) == sorted(seen)
            rule = "PURGATORY-CHECK-ORDER" if same else "PURGATORY-ENTRIES"
            what = f"under {key}"
            return Mismatch(rule, names_words(what, expected), names_words(what, seen))
    return None


def _rest_mismatch(told: PurgatoryState, believed: PurgatoryState) -> Mismatch | None:
    if told.timer.queue != believed.timer.queue:
        return Mismatch(
            "PURGATORY-TIME-OUT",
            names_words("queued", believed.timer.queue),
            names_words("queued", told.timer.queue),
        )
    if told.estimate != believed.estimate:
        return Mismatch(
            "PURGATORY-ESTIMATE-PROPOSAL",
            f"estimate = {believed.estimate}",
            f"estimate = {told.estimate}",
        )
    return None
