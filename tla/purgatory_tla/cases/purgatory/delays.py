"""Delays and readings of the clock by which exactly those operations expire that a behaviour names.

TLA+ leaves to chance which operation is due. Here the delays are chosen afterwards: the operations
that expire in one advance are due at successive readings, in the order in which the executor runs
them, and all others much later. The timer's tick is one millisecond.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from purgatory_tla.cases.behaviours import Move
from purgatory_tla.cases.calls import Call
from purgatory_tla.cases.predictions import CannotDrive
from purgatory_tla.cases.purgatory.calls import Kind, operation_of

FAR_MS = 100_000
"""The delay of an operation that a behaviour does not let expire."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The delay of each operation, ms; for each advance its reading, ms, and what it expires."""

    delays: dict[int, int]
    readings: dict[int, int]
    expired: dict[int, tuple[int, ...]]


def chosen_timing(order: Sequence[Call], expires: str) -> Timing:
    """Return delays and readings for calls in this order; readings go by the calls' places in it.

    Raises:
        CannotDrive: no delays bring this about.
    """
    readings: dict[int, int] = {}
    expired: dict[int, tuple[int, ...]] = {}
    delays: dict[int, int] = {}
    armed: dict[int, int] = {}
    queue: deque[int] = deque()
    now = 0
    for place, call in enumerate(order):
        if call.kind == Kind.WATCH.value:
            operation = operation_of(call.moves[0])
            armed[operation] = now
        elif call.kind == Kind.RUN.value:
            _run(queue, call.moves[0])
        elif call.kind == Kind.ADVANCE.value:
            moves = {operation_of(m): m for m in call.moves if m.step.action == expires}
            expired[place] = _in_order_of_runs(moves, order[place:])
            for due, operation in enumerate(expired[place], start=now + 1):
                _set(delays, operation, due - armed[operation], moves[operation])
            queue.extend(expired[place])
            now += max(1, len(expired[place]))
            readings[place] = now
    timing = Timing({o: delays.get(o, FAR_MS) for o in armed}, readings, expired)
    _verify(order, timing)
    return timing


def _run(queue: deque[int], move: Move) -> None:
    taken = operation_of(move)
    if not queue or queue[0] != taken:
        first = queue[0] if queue else "nothing"
        reason = f"the executor takes operation {taken}, and {first} has waited longest"
        raise CannotDrive(move.number, reason)
    queue.popleft()


def _in_order_of_runs(expired: dict[int, Move], following: Sequence[Call]) -> tuple[int, ...]:
    runs = [operation_of(call.moves[0]) for call in following if call.kind == Kind.RUN.value]
    places = {operation: runs.index(operation) for operation in expired if operation in runs}
    return tuple(sorted(expired, key=lambda o: (places.get(o, len(runs)), o)))


def _set(delays: dict[int, int], operation: int, delay_ms: int, move: Move) -> None:
    if delays.setdefault(operation, delay_ms) != delay_ms:
        reason = f"operation {operation} would need two delays: it keeps the first"
        raise CannotDrive(move.number, reason)


def _verify(order: Sequence[Call], timing: Timing) -> None:
    """Refuse an order in which an operation armed anew may be due too early."""
    due: dict[int, int] = {}
    now = 0
    for place, call in enumerate(order):
        if call.kind == Kind.WATCH.value:
            operation = operation_of(call.moves[0])
            due[operation] = now + timing.delays[operation]
        elif call.kind == Kind.ADVANCE.value:
            now = timing.readings[place]
            wrong = {o for o, at in due.items() if at <= now} - set(timing.expired[place])
            if wrong:
                reason = f"operation {min(wrong)} would be due before it is watched again"
                raise CannotDrive(call.first, reason)
            due = {o: at for o, at in due.items() if o not in timing.expired[place]}
