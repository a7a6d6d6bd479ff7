"""Checking a key: its event happens; copy its list; try each operation of the copy.

An operation that is completed, by this walk or by anybody, loses its entry in the list.

Rules: PURGATORY-CHECK-DROPS, PURGATORY-NOT-LOST, PURGATORY-CHECK-INSIDE.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.exact.state import Stage, without
from purgatory_model.concurrent.exact.turn import (
    Choice,
    Turn,
    ended,
    gone_on,
    may_raise,
    raising,
    returned,
    towards_callback,
    tried_and_won,
)


def begin_check(turn: Turn) -> Iterator[Choice]:
    """An event of a key happens."""
    for key, count in sorted(turn.state.events.items()):
        most = turn.instance.max_events
        if count < most or turn.instance.programs:
            begun = turn.after(replace(turn.me, stage="copy-list", key=key))
            yield (key,), replace(begun, events=turn.state.events.set(key, min(count + 1, most)))


def fall(turn: Turn) -> Iterator[Choice]:
    """An event of a key is undone: nobody's step, and a thread called ``world`` takes it."""
    if turn.has("conditions-fall"):
        for key, count in sorted(turn.state.events.items()):
            if count > 0:
                yield (key,), replace(turn.state, events=turn.state.events.set(key, count - 1))


def copy_list(turn: Turn) -> Iterator[Choice]:
    """Copy the list of the key; an empty one is walked at once. Rules: PURGATORY-CHECK-UNKNOWN."""
    assert turn.me.key is not None
    batch = turn.state.lists[turn.me.key]
    copied = replace(turn.me, stage="walk", batch=batch)
    yield (), turn.after(copied if batch else returned(turn.me))


def walk(turn: Turn) -> Iterator[Choice]:
    """Look at an operation of the copy, and try it unless it is completed.

    Any may be the next one; where order is kept, the oldest is.

    Rules: PURGATORY-CHECK-ORDER, PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-CHECK-THROWS.
    """
    batch = turn.me.batch
    numbers = batch[:1] if turn.instance.ordered else sorted(set(batch))
    behind: Stage = "look-behind" if turn.has("walk-looks-again") else "walk"
    for number in numbers:
        passed = turn.as_if(replace(turn.me, batch=without(batch, number)))
        completed = turn.operation(number).completed
        won = tried_and_won(passed, number)
        if won is None:
            stage: Stage = "drop" if completed else behind
            yield (number,), turn.after(replace(passed.me, stage=stage, operation=number))
        else:
            yield (number,), won
        if may_raise(turn, number):
            failed = replace(passed.noted_failure(), stage=behind, operation=number)
            yield (number,), replace(turn.after(failed), operations=raising(turn, number))


def look_behind(turn: Turn) -> Iterator[Choice]:
    """Look again at the operation that was tried in vain: somebody may have completed it.

    Rules: PURGATORY-CHECK-DROPS.
    """
    completed = turn.operation(turn.me.operation).completed
    yield (), turn.after(replace(turn.me, stage="drop" if completed else "walk"))


def end_walk(turn: Turn) -> Iterator[Choice]:
    """Nothing is left of the copy. Rules: PURGATORY-CHECK-COUNT."""
    if not turn.me.batch:
        yield (), turn.after(ended(turn.me))


def drop(turn: Turn) -> Iterator[Choice]:
    """Drop an entry of a completed operation from the list, if there still is one.

    The entry of an operation that this walk has completed goes before its balance is posted.

    Rules: PURGATORY-CHECK-DROPS, PURGATORY-STALE-ENTRIES.
    """
    me = turn.me
    assert me.key is not None
    before = turn.state.lists[me.key]
    after = without(before, me.operation)
    left = replace(me, balance=me.balance - (len(before) - len(after)))
    if me.stage == "drop":
        left = gone_on(left)
    else:
        left = replace(left, stage=towards_callback(left.balance))
    yield (), replace(turn.after(left), lists=turn.state.lists.set(me.key, after))
