"""Completing: from the word to the end of the callback, for all who can win.

The winner of the word owes the entries that it has taken out of it. It posts them before the
callback runs; a walk first drops its own entry, which costs no addition then. The callback of
operation 1 may make a call of its own, where the instance lets it: the thread that runs it waits,
and the call is that of the pseudo-thread ``callback``.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.exact.instance import CALLBACK
from purgatory_model.concurrent.exact.turn import Choice, Turn, gone_on, returned, won


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
    """The call that the callback has made is over, and so is the callback."""
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
    """The callback does nothing."""
    yield (), turn.after(returned(turn.me))
