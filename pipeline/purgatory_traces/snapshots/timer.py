"""A timer's snapshot, on a manual clock."""

from immutables import Map

from purgatory_model.pending_tasks import PendingTasks, Store
from purgatory_model.timer import TimerState, timer_model
from purgatory_spec.profiles import SameTickOrder
from purgatory_traces.errors import Unusable
from purgatory_traces.snapshots.mismatch import (
    Mismatch,
    expiry_of,
    names_words,
    reject_other_time,
    reject_parts,
    time_outs_mismatch,
)
from purgatory_traces.traces.lines import Snapshot, TimerInstance


def timer_state(snapshot: Snapshot, instance: TimerInstance) -> TimerState[PendingTasks]:
    """Return the state that a snapshot tells.

    Raises:
        Unusable: it tells too little, or contradicts itself.
    """
    reject_parts(
        "timer",
        {
            "operations": snapshot.operations,
            "buffers": snapshot.buffers,
            "lists": snapshot.lists,
        },
    )
    if snapshot.now_ms is None:
        raise Unusable("now_ms is missing: on a manual clock nothing else says what time it is")
    if snapshot.closed and snapshot.tasks:
        raise Unusable("a timer that was shut down has no pending tasks")
    model = timer_model(instance.configuration, instance.profile)
    due_ticks: dict[str, int] = {}
    for each in snapshot.tasks:
        if each.task in due_ticks:
            raise Unusable(f"task {each.task!r} is told twice")
        expiry_ms = expiry_of(each.task, each.early_ms, each.late_ms)
        due_ticks[each.task] = model.due_tick(expiry_ms)
    fifo = instance.profile.same_tick_order is SameTickOrder.FIFO
    return TimerState(
        snapshot.now_ms,
        PendingTasks(Map(due_ticks)),
        snapshot.queued,
        Map({task: script for task, script in snapshot.scripts.items() if script}),
        tuple(due_ticks) if fifo else (),
        snapshot.closed,
    )


def timer_mismatch(told: TimerState[PendingTasks], believed: TimerState[Store]) -> Mismatch | None:
    """Return the contradiction between a snapshot and a possible state, or None."""
    reject_other_time(told.now_ms, believed.now_ms)
    if told.closed != believed.closed:
        words = ("open", "shut down")
        return Mismatch("TIMER-SHUTDOWN-CLOSED", words[believed.closed], words[told.closed])
    rules = "TIMER-EXACTLY-ONCE", "TIMER-NOT-EARLY", "TIMER-NOT-LATE"
    pending = time_outs_mismatch(believed.store.due_ticks, told.store.due_ticks, rules)
    if pending is not None:
        return pending
    if told.queue != believed.queue:
        return Mismatch(
            "TIMER-EXECUTOR-ORDER",
            names_words("queued", believed.queue),
            names_words("queued", told.queue),
        )
    if told.order != believed.order:
        return Mismatch(
            "TIMER-SAME-TICK-ORDER",
            names_words("armed in this order", believed.order),
            names_words("armed in this order", told.order),
        )
    return None
