"""Watching: try; arm, which promises the entries; append to each list; try again.

Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-WAITS, PURGATORY-WATCH-SECOND-TRY,
PURGATORY-NOT-LOST.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.exact.state import ExactState, Thread
from purgatory_model.concurrent.exact.turn import (
    Choice,
    Turn,
    ended,
    may_raise,
    raising,
    returned,
    tried_and_won,
)


def begin_watch(turn: Turn) -> Iterator[Choice]:
    """Try an operation for the first time; one that is completed is not watched.

    Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-COMPLETED, PURGATORY-FIRST-TRY-THROWS.
    """
    for number, operation in turn.state.operations.items():
        if operation.calls == turn.instance.max_calls:
            continue
        counted = replace(operation, calls=operation.calls + 1)
        begun = replace(turn.state, operations=turn.with_operation(number, counted))
        again = replace(turn, state=begun)
        won = tried_and_won(again, number)
        if won is not None:
            yield (number,), won
        elif operation.completed:
            yield (number,), again.after(returned(turn.me))
        else:
            yield (number,), again.after(replace(turn.me, stage="arm", operation=number))
        if may_raise(turn, number):
            yield (number,), _raised(again, number)


def arm(turn: Turn) -> Iterator[Choice]:
    """Start the time-out and promise the entries in the word, both or, once completed, neither.

    Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-WATCH-COMPLETED.
    """
    number = turn.me.operation
    operation = turn.operation(number)
    if operation.completed:
        yield (), turn.after(returned(turn.me))
        return
    keys = turn.instance.entries_per_call
    promised = len(keys) - turn.is_variant("promise-one-too-few")
    armed = replace(operation, entries=operation.entries + promised)
    yield (
        (),
        replace(
            turn.after(replace(turn.me, stage="insert", promised=keys)),
            operations=turn.with_operation(number, armed),
            timer=turn.state.timer | {number},
        ),
    )


def insert(turn: Turn) -> Iterator[Choice]:
    """Append the operation to a list; the keys come in any order, or where order is kept in theirs.

    Rules: PURGATORY-WATCH-WAITS, PURGATORY-DUPLICATE-KEYS.
    """
    me = turn.me
    keys = me.promised[:1] if turn.instance.ordered else sorted(set(me.promised))
    for key in keys:
        place = me.promised.index(key)
        rest = me.promised[:place] + me.promised[place + 1 :]
        listed = turn.bag((*turn.state.lists[key], me.operation))
        after = replace(me, promised=rest)
        if not rest:
            after = _inserted(turn, after)
        yield (key,), replace(turn.after(after), lists=turn.state.lists.set(key, listed))


def stop_inserting(turn: Turn) -> Iterator[Choice]:
    """The operation is seen completed: entries that will not come are subtracted like gone ones.

    The second try would find it completed and is not made. Rules: PURGATORY-STALE-ENTRIES.
    """
    me = turn.me
    if not turn.has("stops-inserting") or not turn.operation(me.operation).completed:
        return
    rest = 0 if turn.is_variant("forgets-to-give-back") else len(me.promised)
    yield (), turn.after(ended(replace(me, promised=(), balance=me.balance - rest)))


def fail_inserting(turn: Turn) -> Iterator[Choice]:
    """Appending to a list raises, and so does the call.

    A live operation loses the entries that will not come, as if their keys were cancelled; a
    completed one's are subtracted.
    """
    me = turn.me
    number = me.operation
    operation = turn.operation(number)
    if not turn.has("insert-fails") or operation.raised:
        return
    rest = len(me.promised)
    kept = replace(turn.noted_failure(), promised=())
    failed = replace(operation, raised=True)
    timer = turn.state.timer
    if operation.completed:
        kept = replace(kept, balance=me.balance - rest)
    else:
        failed = replace(failed, entries=operation.entries - rest)
        if failed.entries == 0:
            timer = timer - {number}
    yield (
        (),
        replace(
            turn.after(ended(kept)), operations=turn.with_operation(number, failed), timer=timer
        ),
    )


def second_try(turn: Turn) -> Iterator[Choice]:
    """Try again, now that the operation is in all its lists.

    Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-NOT-LOST, PURGATORY-SECOND-TRY-THROWS.
    """
    number = turn.me.operation
    won = tried_and_won(turn, number)
    yield (), turn.after(returned(turn.me)) if won is None else won
    if may_raise(turn, number):
        yield (), _raised(turn, number)


def _raised(turn: Turn, number: int) -> ExactState:
    """The state after a try that has raised: the call is over."""
    return replace(turn.after(returned(turn.me)), operations=raising(turn, number))


def _inserted(turn: Turn, me: Thread) -> Thread:
    """A thread that has appended its operation to the last list."""
    return returned(me) if turn.is_variant("no-second-try") else replace(me, stage="second-try")
