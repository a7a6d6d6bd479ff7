"""The calls of the concurrent purgatory with the exact accounting, step by step."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from purgatory_model.concurrent.exact.instance import CALLBACK, ExactInstance
from purgatory_model.concurrent.exact.state import ExactState, Stage, Thread, without
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
    won,
)

# Watching: try; arm, which promises the entries; append to each list; try again.
#
# Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-WAITS, PURGATORY-WATCH-SECOND-TRY,
# PURGATORY-NOT-LOST.


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
    """Yield the stop of an insertion into lists once the operation is seen completed.

    The second try would find it completed and is not made. Rules: PURGATORY-STALE-ENTRIES.
    """
    me = turn.me
    if not turn.has("stops-inserting") or not turn.operation(me.operation).completed:
        return
    rest = 0 if turn.is_variant("forgets-to-give-back") else len(me.promised)
    yield (), turn.after(ended(replace(me, promised=(), balance=me.balance - rest)))


def fail_inserting(turn: Turn) -> Iterator[Choice]:
    """Yield a failed append to a list, which fails the call.

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
    """Return the state after a failed try, which ends the call."""
    return replace(turn.after(returned(turn.me)), operations=raising(turn, number))


def _inserted(turn: Turn, me: Thread) -> Thread:
    """Return a thread that has appended its operation to the last list."""
    return returned(me) if turn.is_variant("no-second-try") else replace(me, stage="second-try")


# Checking a key: its event happens; copy its list; try each operation of the copy.
#
# An operation that is completed, by this walk or by anybody, loses its entry in the list.
#
# Rules: PURGATORY-CHECK-DROPS, PURGATORY-NOT-LOST, PURGATORY-CHECK-INSIDE.


def begin_check(turn: Turn) -> Iterator[Choice]:
    """Yield the event of a key, and the check that it begins."""
    for key, count in sorted(turn.state.events.items()):
        most = turn.instance.max_events
        if count < most or turn.instance.programs:
            begun = turn.after(replace(turn.me, stage="copy-list", key=key))
            yield (key,), replace(begun, events=turn.state.events.set(key, min(count + 1, most)))


def fall(turn: Turn) -> Iterator[Choice]:
    """Yield the undoing of a key's event, taken by a thread called ``world``."""
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
    """Yield the end of a walk whose copy is empty. Rules: PURGATORY-CHECK-COUNT."""
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


# Completing: from the word to the end of the callback, for all who can win.
#
# The winner of the word owes the entries that it has taken out of it. It posts them before the
# callback runs; a walk first drops its own entry, which costs no addition then. The callback of
# operation 1 may make a call of its own, where the instance lets it: the thread that runs it waits,
# and the call is that of the pseudo-thread ``callback``.


def swap_word(turn: Turn) -> Iterator[Choice]:
    """Complete the operation, unless somebody has since the try looked.

    Rules: PURGATORY-EXACTLY-ONCE.
    """
    me = turn.me
    if not turn.operation(me.operation).completed or turn.is_variant("test-then-set"):
        yield (), won(turn, me.operation)
    elif turn.walks:
        yield (), turn.after(replace(me, stage="drop"))
    else:
        yield (), turn.after(returned(me))


def post(turn: Turn) -> Iterator[Choice]:
    """Add the balance to the shared count, before the callback.

    Rules: PURGATORY-STALE-ENTRIES.
    """
    settled = turn.after(replace(turn.me, stage="call-back", balance=0))
    yield (), replace(settled, stale=turn.state.stale + turn.me.balance)


def call_back(turn: Turn) -> Iterator[Choice]:
    """Leave the timer, then run the callback.

    Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-TIMER-LEFT, PURGATORY-CALLBACK-THROWS.
    """
    number = turn.me.operation
    operation = turn.operation(number)
    called = replace(operation, callbacks=operation.callbacks + 1)
    me = turn.noted_failure() if number in turn.instance.throwing else turn.me
    if turn.instance.reenters(number):
        after = turn.after(replace(me, stage="nested"))
        nested = replace(after.threads[CALLBACK], stage="begin")
        after = replace(after, threads=after.threads.set(CALLBACK, nested))
    else:
        after = turn.after(gone_on(me))
    stays = turn.is_variant("winner-stays-in-timer")
    timer = turn.state.timer if stays else turn.state.timer - {number}
    yield (), replace(after, timer=timer, operations=turn.with_operation(number, called))


def resume(turn: Turn) -> Iterator[Choice]:
    """Yield the end of the call that the callback has made, and of the callback."""
    if turn.state.threads[CALLBACK].stage == "idle":
        yield (), turn.after(gone_on(turn.me))


def settle(turn: Turn) -> Iterator[Choice]:
    """Add the balance to the shared count, and return. Rules: PURGATORY-STALE-ENTRIES."""
    settled = turn.after(returned(replace(turn.me, balance=0)))
    yield (), replace(settled, stale=turn.state.stale + turn.me.balance)


def post_early(turn: Turn) -> Iterator[Choice]:
    """Add the balance to the shared count in the middle of something."""
    if not turn.has("post-early") or not turn.me.balance or turn.me.stage in ("post", "settle"):
        return
    settled = turn.after(replace(turn.me, balance=0))
    yield (), replace(settled, stale=turn.state.stale + turn.me.balance)


def nested_nothing(turn: Turn) -> Iterator[Choice]:
    """Yield a callback that does nothing."""
    yield (), turn.after(returned(turn.me))


# Cancelling a key: detach its list; settle each operation that was in it.
#
# The entries of a completed operation are subtracted from the stale count; an uncompleted operation
# loses the entries from its word, and with the last entry the time-out.
#
# Rules: PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY, PURGATORY-CANCEL-KEEPS-TIME-OUT.


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
    """Yield the end of a cancel whose detached list is empty."""
    if not turn.me.batch:
        yield (), turn.after(ended(turn.me))


# Purging: when more entries are stale than the interval allows, take them out list by list.
#
# Any number of purges may run, and nothing is ever reset.
#
# Rules: PURGATORY-PURGE-START, PURGATORY-PURGE-REMOVES, PURGATORY-STALE-ENTRIES.


def purge_is_due(instance: ExactInstance, state: ExactState) -> bool:
    """Decide whether stale entries exceed the interval. Rules: PURGATORY-PURGE-START."""
    return state.stale > instance.interval(state.entries - state.stale)


def begin_purge(turn: Turn) -> Iterator[Choice]:
    """Read the count of stale entries: a purge is due. Rules: PURGATORY-PURGE-START."""
    if purge_is_due(turn.instance, turn.state):
        pairs = ((key, number) for key in turn.instance.keys for number in turn.state.operations)
        yield (), turn.after(replace(turn.me, stage="sweep", unswept=frozenset(pairs)))


def sweep(turn: Turn) -> Iterator[Choice]:
    """Take the entries of completed operations out of a list, or those of one of them.

    Rules: PURGATORY-PURGE-REMOVES, PURGATORY-STALE-ENTRIES.
    """
    by_operation = turn.has("sweep-by-operation")
    for key, pairs in groupby(sorted(turn.me.unswept), key=lambda pair: pair[0]):
        numbers = tuple(number for _, number in pairs)
        glances = [(number,) for number in numbers] if by_operation else [numbers]
        for seen in glances:
            yield _swept(turn, key, seen, (key, *seen) if by_operation else (key,))


def _swept(turn: Turn, key: str, seen: tuple[int, ...], choice: tuple[str | int, ...]) -> Choice:
    gone = turn.state.completed.intersection(seen)
    before = turn.state.lists[key]
    after = tuple(number for number in before if number not in gone)
    removed = 0 if turn.is_variant("purge-subtracts-nothing") else len(before) - len(after)
    rest = turn.me.unswept - {(key, number) for number in seen}
    me = replace(turn.me, balance=turn.me.balance - removed, unswept=rest)
    done = turn.after(me if rest else ended(me))
    return choice, replace(done, lists=turn.state.lists.set(key, after))


# Time-outs, from the timer over the executor's queue to the decision; and completing by force.


def expire(turn: Turn) -> Iterator[Choice]:
    """Yield expiries of operations in the timer. Rules: PURGATORY-TIME-OUT, PURGATORY-PENDING."""
    if turn.has("time-outs"):
        for number in sorted(turn.state.timer - turn.state.queue):
            yield (
                (number,),
                replace(
                    turn.state,
                    timer=turn.state.timer - {number},
                    queue=turn.state.queue | {number},
                ),
            )


def take(turn: Turn) -> Iterator[Choice]:
    """Yield the executor's takes from its queue: any operation. Rules: PURGATORY-TIME-OUT."""
    for number in sorted(turn.state.queue):
        taken = turn.after(replace(turn.me, stage="decide", operation=number))
        yield (number,), replace(taken, queue=turn.state.queue - {number})


def decide(turn: Turn) -> Iterator[Choice]:
    """Yield the decision of an expiry: it completes the operation unless it is completed.

    Rules: PURGATORY-TIME-OUT, PURGATORY-LOST-EXPIRY.
    """
    number = turn.me.operation
    if turn.operation(number).completed:
        yield (), turn.after(returned(turn.me))
    else:
        yield (), won(turn, number)


def begin_force(turn: Turn) -> Iterator[Choice]:
    """Complete an operation, whatever its condition.

    Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN.
    """
    for number, operation in turn.state.operations.items():
        if not operation.completed:
            yield (number,), won(turn, number)
        elif turn.instance.programs:
            yield (number,), turn.state
