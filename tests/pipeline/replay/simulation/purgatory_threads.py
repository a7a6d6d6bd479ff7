"""The calls of a simulated purgatory: each takes effect in the parts that the rules speak of."""

# The parts stand in ``overlapping.calls`` of the model; here they are done by threads that pause
# between any two of them. Where both accountings differ, both are here.

from collections.abc import Generator
from typing import TypeAlias

from purgatory_spec.operations import CancelForKey, Check, Force, Satisfy, Shutdown, Watch
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting
from purgatory_spec.reasons import Reason

from .machine import Script, Thread
from .purgatory import Delayed, SimulatedPurgatory, drop
from .purgatory_plan import PurgatoryFault
from .purgatory_time_outs import arm, latest_ms

Trial: TypeAlias = Generator[int, None, bool]
"""A script that answers whether a try has completed the operation."""

_OVERDUE = frozenset(
    {
        PurgatoryFault.NEVER_EXPIRES,
        PurgatoryFault.EXPIRES_LATE,
        PurgatoryFault.CANCEL_TAKES_TIME_OUT,
    }
)
"""With these a time-out does not come when it should."""


def watch(
    purgatory: SimulatedPurgatory, thread: Thread, name: str, keys: tuple[str, ...], delay_ms: int
) -> Script:
    """Try, then let it wait. Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-NO-KEYS."""
    yield from thread.calls(Watch(name, keys, delay_ms))
    operation = purgatory.named(name)
    purgatory.watched.append(name)
    operation.delay_ms = delay_ms
    fault = operation.fault
    yield from purgatory.pause()
    if purgatory.closed and fault is not PurgatoryFault.TAKEN_WHEN_CLOSED:
        yield from thread.returns(rejected=Reason.CLOSED)
    elif not keys and fault is not PurgatoryFault.TAKEN_WITHOUT_KEYS:
        yield from thread.returns(rejected=Reason.INVALID_ARGUMENT)
    elif fault is PurgatoryFault.REFUSED_WHEN_OPEN:
        yield from thread.returns(rejected=Reason.CLOSED, wrong=True)
    elif purgatory.closed or not keys:
        yield from thread.returns(False, wrong=True)
    else:
        yield from _watch(purgatory, thread, operation, keys)


def _watch(
    purgatory: SimulatedPurgatory, thread: Thread, operation: Delayed, keys: tuple[str, ...]
) -> Script:
    """Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS, PURGATORY-TIME-OUT."""
    completes = yield from _try(purgatory, thread, operation)
    arms_first = purgatory.plan.arms_first or purgatory.plan.accounting is Accounting.EXACT
    yield from purgatory.pause()
    if not completes and not operation.is_completed():
        if arms_first:
            operation.promised = set(keys)
            operation.word += len(keys)
            arm(purgatory, operation)
        for key in keys:
            yield from purgatory.pause()
            if operation.is_completed() and purgatory.machine.source.random() < 0.5:
                operation.promised = set()
                break
            purgatory.lists.setdefault(key, []).append(operation)
            operation.promised.discard(key)
        yield from purgatory.pause()
        if operation.fault is not PurgatoryFault.NOT_TRIED_AGAIN and not operation.is_completed():
            completes = yield from _try(purgatory, thread, operation)
        if not completes and not operation.is_completed() and not arms_first:
            yield from purgatory.pause()
            if not operation.is_completed():
                arm(purgatory, operation)
                yield from purgatory.pause()
                if operation.is_completed():
                    purgatory.leave_timer(operation)
    if completes:
        yield from purgatory.complete(thread, operation)
    yield from purgatory.pause()
    lies = operation.fault is PurgatoryFault.WATCH_LIES
    wrong = lies or operation.fault is PurgatoryFault.NOT_TRIED_AGAIN
    yield from thread.returns(completes != lies, wrong=wrong)
    if operation.fault in _OVERDUE:
        purgatory.machine.plant(overdue_ms=latest_ms(purgatory, operation))


def _try(
    purgatory: SimulatedPurgatory, thread: Thread, operation: Delayed, *, wrong: bool = False
) -> Trial:
    """Call ``try_complete``; whether that has completed it."""
    at_once = purgatory.machine.plant if wrong else None
    yield from thread.shows(EventKind.TRIED, operation.name, at_once=at_once)
    yield from purgatory.pause()
    if operation.completed or not operation.satisfied:
        return False
    if operation.fault is PurgatoryFault.TRIED_IN_VAIN:
        return False
    operation.completed = operation.fault is not PurgatoryFault.COMPLETED_TWICE
    return True


def check(
    purgatory: SimulatedPurgatory, thread: Thread, key: str, fault: PurgatoryFault | None = None
) -> Script:
    """Complete what can be. Rules: PURGATORY-CHECK-COUNT, PURGATORY-NOT-LOST."""
    yield from thread.calls(Check(key))
    yield from purgatory.pause()
    entries, count = purgatory.lists.get(key, []), 0
    for operation in tuple(entries):
        yield from purgatory.pause()
        if operation.completed:
            drop(entries, operation)
            continue
        if fault is PurgatoryFault.LOST_WAKE_UP:
            continue
        if fault is PurgatoryFault.COMPLETED_UNTRIED:
            operation.completed = completes = True
        else:
            again = operation.told or operation.fault is PurgatoryFault.CANCELLED_YET_TRIED
            completes = yield from _try(purgatory, thread, operation, wrong=again)
        if completes:
            count += 1
            wrong = fault is PurgatoryFault.COMPLETED_UNTRIED or operation.told
            at_once = purgatory.machine.plant if wrong else None
            yield from purgatory.complete(thread, operation, at_once, dropping=entries)
        elif operation.completed and purgatory.machine.source.random() < 0.5:
            drop(entries, operation)
    yield from purgatory.pause()
    offset = {PurgatoryFault.COUNTS_TOO_MANY: 1, PurgatoryFault.COUNTS_TOO_FEW: -1}
    lost = fault in (PurgatoryFault.LOST_WAKE_UP, PurgatoryFault.TRIED_IN_VAIN)
    change = 0 if fault is None else offset.get(fault, 0)
    yield from thread.returns(count + change, wrong=bool(change) or lost)


def cancel(
    purgatory: SimulatedPurgatory, thread: Thread, key: str, fault: PurgatoryFault | None = None
) -> Script:
    """Watch nothing under a key. Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LAST-KEY."""
    yield from thread.calls(CancelForKey(key))
    yield from purgatory.pause()
    taken = tuple(purgatory.lists.get(key, ()))
    if fault is not PurgatoryFault.CANCELLED_YET_TRIED:
        purgatory.lists[key] = []
    for operation in taken:
        operation.promised.add(key)
    for operation in dict.fromkeys(taken):
        yield from purgatory.pause()
        _give_up(purgatory, operation, key, taken.count(operation), fault)
    yield from purgatory.pause()
    names = tuple(operation.name for operation in taken)
    if fault is PurgatoryFault.CANCEL_LEAVES_OUT:
        names = names[1:]
    elif fault is PurgatoryFault.CANCEL_REPEATS:
        names = (*names, names[0])
    wrong = names != tuple(operation.name for operation in taken)
    yield from thread.returns(names, wrong=wrong)


def _give_up(
    purgatory: SimulatedPurgatory,
    operation: Delayed,
    key: str,
    count: int,
    fault: PurgatoryFault | None,
) -> None:
    """Give up a key. Rules: PURGATORY-CANCEL-LAST-KEY, PURGATORY-CANCEL-KEEPS-TIME-OUT."""
    operation.word -= count
    operation.promised.discard(key)
    if purgatory.plan.accounting is Accounting.EXACT:
        is_last = operation.word == 0
    else:
        is_last = not operation.promised and not purgatory.keys_of(operation)
    if operation.fault is PurgatoryFault.CANCELLED_YET_EXPIRES:
        is_last = False
    if fault is PurgatoryFault.CANCEL_TAKES_TIME_OUT:
        is_last = True
    if is_last and not operation.completed:
        operation.asked_ms = None


def force(purgatory: SimulatedPurgatory, thread: Thread, name: str) -> Script:
    """Complete it, once. Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN."""
    yield from thread.calls(Force(name))
    operation = purgatory.named(name)
    yield from purgatory.pause()
    completes = not operation.completed
    again = operation.fault is PurgatoryFault.FORCED_AGAIN
    if completes or again:
        operation.completed = True
        yield from purgatory.complete(
            thread, operation, None if completes else purgatory.machine.plant
        )
    yield from purgatory.pause()
    lies = operation.fault is PurgatoryFault.FORCE_LIES
    yield from thread.returns((completes or again) != lies, wrong=lies)


def satisfy(purgatory: SimulatedPurgatory, thread: Thread, name: str) -> Script:
    """Its condition becomes true; a program may not write that down."""
    operation = purgatory.named(name)
    if not purgatory.plan.tells_satisfied and operation.fault is None:
        yield from purgatory.pause()
        operation.satisfied = True
        return
    yield from thread.calls(Satisfy(name))
    yield from purgatory.pause()
    operation.satisfied = True
    yield from purgatory.pause()
    yield from thread.returns()


def shutdown(purgatory: SimulatedPurgatory, thread: Thread) -> Script:
    """Drop the time-outs, take nothing more. Rules: PURGATORY-SHUTDOWN-DROPS."""
    yield from thread.calls(Shutdown())
    yield from purgatory.pause()
    purgatory.closed = True
    for operation in purgatory.operations.values():
        if operation.fault is not PurgatoryFault.EXPIRES_WHEN_CLOSED:
            operation.asked_ms = None
    yield from purgatory.pause()
    yield from thread.returns()
