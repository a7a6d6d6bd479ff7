"""Simulate the time-outs of a purgatory: the late hand-over, and the run."""

# The pauses of the two together are shorter than the declared lateness.

from collections.abc import Callable

from purgatory_spec.operations import Advance
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Rounding

from .machine import NS_PER_MS, Script, Thread
from .purgatory import Delayed, SimulatedPurgatory
from .purgatory_plan import PurgatoryFault


def advance(purgatory: SimulatedPurgatory, thread: Thread) -> Script:
    """A user's thread advances the purgatory, runs what is due, and purges."""
    yield from thread.calls(Advance(purgatory.machine.now_ms))
    for operation in _hand_over(purgatory):
        yield purgatory.machine.pause(2_000)
        yield from _run(purgatory, operation, thread)
    _purge(purgatory)
    yield from thread.returns()


def reap(purgatory: SimulatedPurgatory) -> Script:
    """A thread of the purgatory's own advances it again and again, late as it may be."""
    while True:
        yield purgatory.machine.pause(purgatory.plan.lateness_ms * NS_PER_MS * 4 // 10)
        for operation in _hand_over(purgatory):
            purgatory.workers.start(_work_on(purgatory, operation))
        if purgatory.machine.source.random() < 0.2:
            _purge(purgatory)


def _work_on(purgatory: SimulatedPurgatory, operation: Delayed) -> Callable[[Thread], Script]:
    def work(thread: Thread) -> Script:
        yield purgatory.machine.pause(purgatory.plan.lateness_ms * NS_PER_MS * 3 // 10)
        yield from _run(purgatory, operation, thread)

    return work


def _hand_over(purgatory: SimulatedPurgatory) -> list[Delayed]:
    """Take what is due out of the timer, into the executor's queue."""
    due = [each for each in purgatory.operations.values() if _is_due(purgatory, each)]
    for operation in due:
        operation.asked_ms = None
        operation.queued += 1
    return due


def _is_due(purgatory: SimulatedPurgatory, operation: Delayed) -> bool:
    if operation.asked_ms is None:
        return False
    expiry_ms = operation.asked_ms - operation.asked_ms % purgatory.plan.tick_ms
    if purgatory.plan.rounding is Rounding.UP and expiry_ms < operation.asked_ms:
        expiry_ms += purgatory.plan.tick_ms
    return expiry_ms <= purgatory.machine.now_ms


def _purge(purgatory: SimulatedPurgatory) -> None:
    """Remove what is completed from a list. Rules: PURGATORY-PURGE-REMOVES."""
    for entries in purgatory.lists.values():
        entries[:] = [each for each in entries if not each.completed]


def _run(purgatory: SimulatedPurgatory, operation: Delayed, thread: Thread) -> Script:
    """Its time-out runs. Rules: PURGATORY-TIME-OUT, PURGATORY-LOST-EXPIRY."""
    if operation.fault is PurgatoryFault.EXPIRES_THOUGH_COMPLETED:
        yield from thread.shows(
            EventKind.TIMED_OUT, operation.name, at_once=purgatory.machine.plant
        )
    if operation.completed:
        operation.queued -= 1
        return
    operation.completed = True
    yield from _show_run(purgatory, operation, thread)


def _show_run(purgatory: SimulatedPurgatory, operation: Delayed, thread: Thread) -> Script:
    fault = operation.fault
    wrong = fault in (PurgatoryFault.CANCELLED_YET_EXPIRES, PurgatoryFault.EXPIRES_WHEN_CLOSED)
    if fault is PurgatoryFault.EXPIRES_BEFORE_COMPLETION:
        yield from thread.shows(
            EventKind.TIMED_OUT, operation.name, at_once=purgatory.machine.plant
        )
    yield from purgatory.complete(
        thread, operation, purgatory.machine.plant if wrong else None, by_time_out=True
    )
    yield from purgatory.pause()
    yield from thread.shows(EventKind.TIMED_OUT, operation.name)
    if fault is PurgatoryFault.EXPIRES_TWICE:
        yield from purgatory.complete(thread, operation, purgatory.machine.plant)


def _start_run(
    purgatory: SimulatedPurgatory, operation: Delayed, at_ms: int, at_once: Callable[[], None]
) -> None:
    """Let it time out at a time at which it must not."""

    def work(thread: Thread) -> Script:
        yield from purgatory.machine.until(at_ms)
        yield from thread.shows(EventKind.COMPLETED, operation.name, at_once=at_once)
        yield from thread.shows(EventKind.TIMED_OUT, operation.name)

    purgatory.workers.start(work)


def arm(purgatory: SimulatedPurgatory, operation: Delayed) -> None:
    """Arm its time-out; a purgatory that is closed has none."""
    if not purgatory.plan.time_outs or purgatory.closed:
        return
    due_ms = purgatory.machine.now_ms + operation.delay_ms
    shift_ms = purgatory.plan.lateness_ms + purgatory.plan.tick_ms + 3
    if operation.fault is PurgatoryFault.EXPIRES_EARLY:
        _start_run(purgatory, operation, due_ms - shift_ms, purgatory.machine.plant)
    elif operation.fault is PurgatoryFault.EXPIRES_LATE:
        _start_run(purgatory, operation, due_ms + shift_ms, purgatory.machine.plant)
    elif operation.fault is not PurgatoryFault.NEVER_EXPIRES:
        operation.asked_ms = due_ms


def latest_ms(purgatory: SimulatedPurgatory, operation: Delayed) -> int:
    """The last reading at which one may time out whose watch has returned in the last line."""
    at_ns = purgatory.machine.lines[-1].at_ns
    assert at_ns is not None
    latest_ms = at_ns // NS_PER_MS + operation.delay_ms
    if purgatory.plan.rounding is Rounding.UP:
        latest_ms += -latest_ms % purgatory.plan.tick_ms
    return latest_ms + purgatory.plan.lateness_ms
