"""The snapshot that an instance would write of itself, made of the model's state."""

from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.timer import TimerState
from purgatory_traces.traces.lines import HeldBuffer, PendingTask, Snapshot, WaitingOperation


def snapshot_of(state: object, run: str, seq: int) -> Snapshot:
    """All that is live in a state."""
    match state:
        case TimerState():
            return _of_timer(state, run, seq)
        case PurgatoryState():
            return _of_purgatory(state, run, seq)
        case MemoryPoolState():
            buffers = tuple(HeldBuffer(name, size) for name, size in sorted(state.held.items()))
            return Snapshot(
                run=run,
                seq=seq,
                now_ms=state.now_ms,
                buffers=buffers,
                available_bytes=state.available_bytes,
            )
    raise TypeError(f"{state!r} is no state")


def _of_timer(state: TimerState[Store], run: str, seq: int) -> Snapshot:
    due_ticks = state.store.due_ticks
    return Snapshot(
        run=run,
        seq=seq,
        now_ms=state.now_ms,
        tasks=tuple(
            PendingTask(task, due_ticks[task], due_ticks[task])
            for task in state.order or sorted(due_ticks)
        ),
        queued=state.queue,
        closed=state.closed,
        scripts=dict(state.scripts),
    )


def _of_purgatory(state: PurgatoryState[Store], run: str, seq: int) -> Snapshot:
    due_ticks = state.timer.store.due_ticks
    entries: dict[str, list[str]] = {}
    for key, names in sorted(state.lists.items()):
        for name in names:
            entries.setdefault(name, []).append(key)
    ordered = dict.fromkeys((*state.timer.order, *sorted(state.operations)))
    operations = []
    for name in ordered:
        each = state.operations[name]
        operations.append(
            WaitingOperation(
                name,
                tuple(entries.get(name, ())),
                each.delay_ms,
                each.completed,
                each.satisfied,
                due_ticks.get(name),
                due_ticks.get(name),
                state.timer.queue.count(name),
                each.tries,
                each.script,
            )
        )
    return Snapshot(
        run=run,
        seq=seq,
        now_ms=state.timer.now_ms,
        operations=tuple(operations),
        queued=state.timer.queue,
        lists=dict(state.lists),
        estimate=state.estimate,
        closed=state.closed,
    )
