"""One delayed operation of a snapshot, as the rules for calls that overlap have it."""

from purgatory_model.overlapping.calls import OverlappedOperation
from purgatory_model.overlapping.exact_calls import CountedOperation
from purgatory_pipeline.traces.lines import WaitingOperation


def counted_operation(told: WaitingOperation, closed: bool) -> CountedOperation:
    """The operation by the rules of the exact accounting; whether the purgatory is shut down."""
    return CountedOperation(
        satisfied=told.satisfied,
        completed=told.completed,
        entries=tuple(sorted(told.entries)),
        armed=told.early_ms is not None,
        queued=told.queued,
        closed=closed,
        word=0 if told.completed else len(told.entries),
    )


def listed_operation(told: WaitingOperation, closed: bool) -> OverlappedOperation:
    """The operation by the rules of the published order."""
    return OverlappedOperation(
        satisfied=told.satisfied,
        completed=told.completed,
        entries=frozenset(told.entries),
        armed=told.early_ms is not None,
        queued=told.queued,
        closed=closed,
    )
