"""The exact accounting as counts: the numbers of one operation, the totals, and every step.

The identity of keys, lists and threads is abstracted away. A step is a function from the numbers
before it to its guard and the numbers after it, all of them symbolic; ``n`` is a number that the
step may choose. ``ExactAccounting.tla`` has the same steps under the same names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

import z3


@dataclass(frozen=True, slots=True)
class Operation:
    """The numbers of one operation.

    ``entries`` is the word's count; ``in_lists``, ``promised`` and ``detached`` say where its
    entries are. Its time-out is owed ``in_timer``, ``queued`` for the executor, or ``deciding``.
    ``to_call`` counts callbacks owed by whoever completed it, ``called`` those that were made.
    """

    completed: z3.BoolRef
    entries: z3.ArithRef
    in_lists: z3.ArithRef
    promised: z3.ArithRef
    detached: z3.ArithRef
    in_timer: z3.ArithRef
    queued: z3.ArithRef
    deciding: z3.ArithRef
    to_call: z3.ArithRef
    called: z3.ArithRef


@dataclass(frozen=True, slots=True)
class Totals:
    """The shared count, the sum of all threads' balances, and the sum the law speaks of."""

    stale: z3.ArithRef
    balances: z3.ArithRef
    stale_entries: z3.ArithRef


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a thread: the guard, and the numbers after the step."""

    guard: z3.BoolRef
    operation: Operation
    totals: Totals


def any_operation() -> Operation:
    """Return an operation whose numbers are unknown."""
    numbers = {each.name: z3.Int(each.name) for each in fields(Operation)[1:]}
    return Operation(completed=z3.Bool("completed"), **numbers)


def any_totals() -> Totals:
    """Return totals that are unknown."""
    return Totals(**{each.name: z3.Int(each.name) for each in fields(Totals)})


Action = Callable[[Operation, Totals, z3.ArithRef], Step]


def arm(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Promise n entries in a watch and add to the timer, in one step; refused when completed."""
    armed = replace(o, entries=o.entries + n, promised=o.promised + n, in_timer=z3.IntVal(1))
    return Step(z3.And(z3.Not(o.completed), n >= 1), armed, totals)


def insert(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Append one promised entry to a list, whether or not the operation is completed."""
    inserted = replace(o, promised=o.promised - 1, in_lists=o.in_lists + 1)
    return Step(o.promised >= 1, inserted, totals)


def give_back_live(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Give n promised entries of a live operation back; the last takes the time-out."""
    left = o.entries - n
    given = replace(
        o,
        entries=left,
        promised=o.promised - n,
        in_timer=z3.If(left == 0, z3.IntVal(0), o.in_timer),
    )
    return Step(z3.And(z3.Not(o.completed), n >= 1, n <= o.promised), given, totals)


def give_back_completed(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Subtract n promised entries of a completed operation that will not come."""
    given = replace(o, promised=o.promised - n)
    guard = z3.And(o.completed, n >= 1, n <= o.promised)
    return Step(guard, given, replace(totals, balances=totals.balances - n))


def win(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Win the word: complete the operation and take its entries into a balance."""
    won = replace(o, completed=z3.BoolVal(True), entries=z3.IntVal(0), to_call=o.to_call + 1)
    return Step(z3.Not(o.completed), won, replace(totals, balances=totals.balances + o.entries))


def remove(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Take n entries of a completed operation out of a list, by a walk or a purge."""
    removed = replace(o, in_lists=o.in_lists - n)
    guard = z3.And(o.completed, n >= 1, n <= o.in_lists)
    return Step(guard, removed, replace(totals, balances=totals.balances - n))


def post(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Add a thread's balance n, of either sign, to stale."""
    posted = replace(totals, stale=totals.stale + n, balances=totals.balances - n)
    return Step(z3.BoolVal(True), o, posted)


def leave_timer(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Take a completed operation out of the timer."""
    return Step(o.completed, replace(o, in_timer=z3.IntVal(0)), totals)


def call_back(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Make the callback of a completed operation; an exception in it changes nothing.

    ``n`` = 1 leaves the timer in the same step, since a callback touches nothing shared.
    """
    in_timer = z3.If(n == 1, z3.IntVal(0), o.in_timer)
    made = replace(o, to_call=o.to_call - 1, called=o.called + 1, in_timer=in_timer)
    return Step(o.to_call >= 1, made, totals)


def detach(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Take n entries away with a key's list, by a cancel."""
    detached = replace(o, in_lists=o.in_lists - n, detached=o.detached + n)
    return Step(z3.And(n >= 1, n <= o.in_lists), detached, totals)


def cancel_live(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Settle n detached entries of a live operation; the last takes the time-out."""
    left = o.entries - n
    settled = replace(
        o,
        entries=left,
        detached=o.detached - n,
        in_timer=z3.If(left == 0, z3.IntVal(0), o.in_timer),
    )
    return Step(z3.And(z3.Not(o.completed), n >= 1, n <= o.detached), settled, totals)


def cancel_completed(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Settle n detached entries of a completed operation in a cancel's balance."""
    settled = replace(o, detached=o.detached - n)
    guard = z3.And(o.completed, n >= 1, n <= o.detached)
    return Step(guard, settled, replace(totals, balances=totals.balances - n))


def expire(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Hand a due operation over to the executor's queue."""
    handed = replace(o, in_timer=z3.IntVal(0), queued=o.queued + 1)
    return Step(o.in_timer >= 1, handed, totals)


def take(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Take an expired operation out of the executor's queue."""
    taken = replace(o, queued=o.queued - 1, deciding=o.deciding + 1)
    return Step(o.queued >= 1, taken, totals)


def decide_won(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Win the word in the executor; with the decision the time-out stops being owed."""
    step = win(o, totals, n)
    decided = replace(step.operation, deciding=o.deciding - 1)
    return Step(z3.And(step.guard, o.deciding >= 1), decided, step.totals)


def decide_lost(o: Operation, totals: Totals, n: z3.ArithRef) -> Step:
    """Find the operation completed in the executor; the time-out stops being owed, too."""
    return Step(z3.And(o.completed, o.deciding >= 1), replace(o, deciding=o.deciding - 1), totals)


ACTIONS: Mapping[str, Action] = {
    "Arm": arm,
    "Insert": insert,
    "GiveBackLive": give_back_live,
    "GiveBackCompleted": give_back_completed,
    "Win": win,
    "Remove": remove,
    "Post": post,
    "LeaveTimer": leave_timer,
    "CallBack": call_back,
    "Detach": detach,
    "CancelLive": cancel_live,
    "CancelCompleted": cancel_completed,
    "Expire": expire,
    "Take": take,
    "DecideWon": decide_won,
    "DecideLost": decide_lost,
}
"""Every step, by the name of the action of ``ExactAccounting.tla`` that it is."""
