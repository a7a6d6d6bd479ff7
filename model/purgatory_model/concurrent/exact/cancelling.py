"""Cancelling a key: detach its list; settle each operation that was in it.

The entries of a completed operation are subtracted from the stale count; an uncompleted operation
loses the entries from its word, and with the last entry the time-out.

Rules: PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY, PURGATORY-CANCEL-KEEPS-TIME-OUT.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.exact.state import without
from purgatory_model.concurrent.exact.turn import Choice, Turn, ended


def begin_cancel(turn: Turn) -> Iterator[Choice]:
    """Detach the list of a key; of an empty one nothing would happen, and nothing does.

    Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-UNKNOWN.
    """
    for key, listed in sorted(turn.state.lists.items()):
        if listed:
            me = replace(turn.noted(listed), stage="cancel", batch=listed)
            yield (key,), replace(turn.after(me), lists=turn.state.lists.set(key, ()))
        elif turn.instance.programs:
            yield (key,), turn.state


def cancel_one(turn: Turn) -> Iterator[Choice]:
    """Settle an operation of the detached list: all its places at once, or one of them.

    Rules: PURGATORY-CANCEL-LAST-KEY, PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-STALE-ENTRIES.
    """
    batch = turn.me.batch
    numbers = batch[:1] if turn.instance.ordered else sorted(set(batch))
    for number in numbers:
        count = 1 if turn.has("cancel-by-entry") else batch.count(number)
        rest = batch
        for _ in range(count):
            rest = without(rest, number)
        me = replace(turn.me, batch=rest, operation=number)
        operation = turn.operation(number)
        if operation.completed:
            yield (number,), turn.after(replace(me, balance=me.balance - count))
            continue
        left = replace(operation, entries=operation.entries - count)
        is_last = left.entries == 0 or turn.is_variant("cancel-takes-time-out")
        yield (
            (number,),
            replace(
                turn.after(me),
                operations=turn.with_operation(number, left),
                timer=turn.state.timer - {number} if is_last else turn.state.timer,
            ),
        )


def end_cancel(turn: Turn) -> Iterator[Choice]:
    """Nothing is left of the detached list."""
    if not turn.me.batch:
        yield (), turn.after(ended(turn.me))
