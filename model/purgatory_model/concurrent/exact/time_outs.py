"""Time-outs, from the timer over the executor's queue to the decision; and completing by force."""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.exact.turn import Choice, Turn, returned, won


def expire(turn: Turn) -> Iterator[Choice]:
    """A time-out is due: any that is in the timer. Rules: PURGATORY-TIME-OUT, PURGATORY-PENDING."""
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
    """The executor takes an operation from its queue: any one. Rules: PURGATORY-TIME-OUT."""
    for number in sorted(turn.state.queue):
        taken = turn.after(replace(turn.me, stage="decide", operation=number))
        yield (number,), replace(taken, queue=turn.state.queue - {number})


def decide(turn: Turn) -> Iterator[Choice]:
    """The expiry completes the operation, unless somebody has.

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
