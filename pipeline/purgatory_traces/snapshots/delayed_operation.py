"""A delayed operation of a snapshot, for the rules of overlapping calls."""

from purgatory_model.overlapping.calls import OverlappedOperation
from purgatory_traces.traces.lines import WaitingOperation


def delayed_operation(told: WaitingOperation, *, closed: bool = False) -> OverlappedOperation:
    """Return the operation; ``closed`` tells whether the purgatory is shut down."""
    return OverlappedOperation(
        satisfied=told.satisfied,
        completed=told.completed,
        entries=tuple(sorted(told.entries)),
        armed=told.early_ms is not None,
        queued=told.queued,
        closed=closed,
        word=0 if told.completed else len(told.entries),
    )
