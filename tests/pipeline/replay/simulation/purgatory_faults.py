"""List the scenes in which a simulated purgatory breaks a rule, with that rule."""

# Each has an operation and keys that no other thread names.

import msgspec

from purgatory_traces.traces.lines import WaitingOperation

from . import purgatory_threads as calls
from .machine import Script, Thread
from .purgatory_plan import PurgatoryFault, PurgatoryPlan
from .purgatory_run import PurgatoryRun, Scene

Fault = PurgatoryFault


def _watched(
    run: PurgatoryRun,
    thread: Thread,
    fault: PurgatoryFault,
    *,
    keys: int = 1,
    satisfied: bool = False,
    delay_ms: int | None = None,
) -> Script:
    """Watch an operation of the scene's own under keys of its own, the first ``own 1``."""
    # Its time-out is far away, if nothing else is asked for.
    name = run.fresh(fault)
    chosen = tuple(f"own {number}" for number in range(1, keys + 1))
    plan, source = run.purgatory.plan, run.purgatory.machine.source
    if delay_ms is None:
        delay_ms = 100 + plan.tick_ms + source.randrange(40)
    yield from calls.watch(run.purgatory, thread, name, chosen, delay_ms)
    yield run.purgatory.machine.pause(1_000_000)
    if satisfied:
        yield from calls.satisfy(run.purgatory, thread, name)
        yield run.purgatory.machine.pause(1_000_000)


def _own(run: PurgatoryRun) -> str:
    """The operation that the scene has made."""
    return next(reversed([each.name for each in run.purgatory.operations.values() if each.fault]))


def _wait(run: PurgatoryRun, after_ms: int) -> Script:
    """Wait until a time-out is certainly overdue, or for somewhat longer."""
    plan, machine = run.purgatory.plan, run.purgatory.machine
    least_ms = after_ms + plan.lateness_ms + 2 * plan.tick_ms + 3
    yield from machine.until(machine.now_ms + least_ms + machine.source.choice((0, 120)))


def _checked(fault: PurgatoryFault, *, checks: int = 1, satisfied: bool = True) -> Scene:
    """Check what waits, wrongly."""

    def scene(run: PurgatoryRun, thread: Thread) -> Script:
        yield from _watched(run, thread, fault, satisfied=satisfied)
        for _ in range(checks):
            yield from calls.check(run.purgatory, thread, "own 1", fault)
            yield run.purgatory.machine.pause(1_000_000)

    return scene


def _lost_wake_up(run: PurgatoryRun, thread: Thread) -> Script:
    """Leave out the try of what is not satisfied, which shows where tries are told."""
    both = run.purgatory.plan.tells_tries
    satisfied = run.purgatory.machine.source.random() < 0.5 if both else True
    yield from _checked(Fault.LOST_WAKE_UP, satisfied=satisfied)(run, thread)


def _not_tried_again(run: PurgatoryRun, thread: Thread) -> Script:
    yield from _watched(run, thread, Fault.NOT_TRIED_AGAIN)


def _times_out(fault: PurgatoryFault) -> Scene:
    """The time-out of what waits comes, wrongly, or does not come."""

    def scene(run: PurgatoryRun, thread: Thread) -> Script:
        plan = run.purgatory.plan
        delay_ms = 2 * plan.lateness_ms + 2 * plan.tick_ms + 10
        delay_ms += run.purgatory.machine.source.randrange(30)
        yield from _watched(run, thread, fault, delay_ms=delay_ms)
        yield from _wait(run, delay_ms + plan.lateness_ms + plan.tick_ms + 3)

    return scene


def _expires_though_completed(run: PurgatoryRun, thread: Thread) -> Script:
    yield from _watched(run, thread, Fault.EXPIRES_THOUGH_COMPLETED, satisfied=True, delay_ms=60)
    yield from calls.check(run.purgatory, thread, "own 1")
    yield from _wait(run, 60)


def _expires_when_closed(run: PurgatoryRun, thread: Thread) -> Script:
    yield from _watched(run, thread, Fault.EXPIRES_WHEN_CLOSED, delay_ms=50)
    yield from calls.shutdown(run.purgatory, thread)
    yield from _wait(run, 50)


def _cancelled(fault: PurgatoryFault) -> Scene:
    """A cancellation returns the wrong names."""

    def scene(run: PurgatoryRun, thread: Thread) -> Script:
        yield from _watched(run, thread, fault)
        yield from calls.cancel(run.purgatory, thread, "own 1", fault)

    return scene


def _cancelled_yet_tried(run: PurgatoryRun, thread: Thread) -> Script:
    yield from _cancelled(Fault.CANCELLED_YET_TRIED)(run, thread)
    yield from calls.check(run.purgatory, thread, "own 1")


def _cancelled_yet_expires(run: PurgatoryRun, thread: Thread) -> Script:
    yield from _watched(run, thread, Fault.CANCELLED_YET_EXPIRES, delay_ms=50)
    yield from calls.cancel(run.purgatory, thread, "own 1")
    yield from _wait(run, 50)


def _cancel_takes_time_out(run: PurgatoryRun, thread: Thread) -> Script:
    yield from _watched(run, thread, Fault.CANCEL_TAKES_TIME_OUT, keys=2, delay_ms=50)
    yield from calls.cancel(run.purgatory, thread, "own 1", Fault.CANCEL_TAKES_TIME_OUT)
    yield from _wait(run, 50 + run.purgatory.plan.lateness_ms)


def _forced(fault: PurgatoryFault, *, times: int) -> Scene:
    """Force what waits, once or twice."""

    def scene(run: PurgatoryRun, thread: Thread) -> Script:
        yield from _watched(run, thread, fault)
        name = _own(run)
        for _ in range(times):
            yield from calls.force(run.purgatory, thread, name)

    return scene


def _watched_wrongly(fault: PurgatoryFault, *, keys: int = 1, closed: bool = False) -> Scene:
    """A watch that goes wrong, perhaps after shutdown."""

    def scene(run: PurgatoryRun, thread: Thread) -> Script:
        if closed:
            yield from calls.shutdown(run.purgatory, thread)
        yield from _watched(run, thread, fault, keys=keys)

    return scene


def _told(fault: PurgatoryFault) -> Scene:
    """A snapshot tells something else of what waits."""

    def scene(run: PurgatoryRun, thread: Thread) -> Script:
        yield from _watched(run, thread, fault)
        name = _own(run)

        def change(told: WaitingOperation) -> WaitingOperation:
            if told.operation != name:
                return told
            if fault is Fault.SNAPSHOT_NOT_WATCHED:
                return msgspec.structs.replace(told, entries=())
            return msgspec.structs.replace(told, early_ms=None, late_ms=None)

        run.purgatory.snapshot(change)

    return scene


_LATE = {"PURGATORY-TIME-OUT"}

SCENES: dict[PurgatoryFault, tuple[Scene, set[str]]] = {
    Fault.LOST_WAKE_UP: (_lost_wake_up, {"PURGATORY-NOT-LOST"}),
    Fault.TRIED_IN_VAIN: (_checked(Fault.TRIED_IN_VAIN), {"PURGATORY-NOT-LOST"}),
    Fault.NOT_TRIED_AGAIN: (_not_tried_again, {"PURGATORY-WATCH-SECOND-TRY"}),
    Fault.COMPLETED_TWICE: (
        _checked(Fault.COMPLETED_TWICE, checks=2),
        {"PURGATORY-COMPLETED-NOT-TRIED", "PURGATORY-EXACTLY-ONCE"},
    ),
    Fault.COMPLETED_UNTRIED: (
        _checked(Fault.COMPLETED_UNTRIED, satisfied=False),
        {"PURGATORY-OVERLAPPING-CALLS"},
    ),
    Fault.NEVER_EXPIRES: (_times_out(Fault.NEVER_EXPIRES), _LATE),
    Fault.EXPIRES_EARLY: (_times_out(Fault.EXPIRES_EARLY), _LATE),
    Fault.EXPIRES_LATE: (_times_out(Fault.EXPIRES_LATE), _LATE),
    Fault.EXPIRES_TWICE: (_times_out(Fault.EXPIRES_TWICE), {"PURGATORY-EXACTLY-ONCE"}),
    Fault.EXPIRES_THOUGH_COMPLETED: (_expires_though_completed, {"PURGATORY-CALLBACK-ORDER"}),
    Fault.EXPIRES_BEFORE_COMPLETION: (
        _times_out(Fault.EXPIRES_BEFORE_COMPLETION),
        {"PURGATORY-CALLBACK-ORDER"},
    ),
    Fault.EXPIRES_WHEN_CLOSED: (_expires_when_closed, _LATE),
    Fault.COUNTS_TOO_MANY: (
        _checked(Fault.COUNTS_TOO_MANY, satisfied=False),
        {"PURGATORY-CHECK-COUNT"},
    ),
    Fault.COUNTS_TOO_FEW: (_checked(Fault.COUNTS_TOO_FEW), {"PURGATORY-CHECK-COUNT"}),
    Fault.CANCEL_LEAVES_OUT: (_cancelled(Fault.CANCEL_LEAVES_OUT), {"PURGATORY-CANCEL-RESULT"}),
    Fault.CANCEL_REPEATS: (_cancelled(Fault.CANCEL_REPEATS), {"PURGATORY-CANCEL-RESULT"}),
    Fault.CANCELLED_YET_TRIED: (_cancelled_yet_tried, {"PURGATORY-CANCEL-LEAVES"}),
    Fault.CANCELLED_YET_EXPIRES: (_cancelled_yet_expires, {"PURGATORY-CANCEL-LAST-KEY"}),
    Fault.CANCEL_TAKES_TIME_OUT: (_cancel_takes_time_out, {"PURGATORY-CANCEL-KEEPS-TIME-OUT"}),
    Fault.FORCE_LIES: (_forced(Fault.FORCE_LIES, times=1), {"PURGATORY-FORCE"}),
    Fault.FORCED_AGAIN: (_forced(Fault.FORCED_AGAIN, times=2), {"PURGATORY-EXACTLY-ONCE"}),
    Fault.WATCH_LIES: (
        _watched_wrongly(Fault.WATCH_LIES),
        {"PURGATORY-WATCH-FIRST-TRY", "PURGATORY-WATCH-SECOND-TRY"},
    ),
    Fault.TAKEN_WHEN_CLOSED: (
        _watched_wrongly(Fault.TAKEN_WHEN_CLOSED, closed=True),
        {"PURGATORY-SHUTDOWN-CLOSED"},
    ),
    Fault.TAKEN_WITHOUT_KEYS: (
        _watched_wrongly(Fault.TAKEN_WITHOUT_KEYS, keys=0),
        {"PURGATORY-NO-KEYS"},
    ),
    Fault.REFUSED_WHEN_OPEN: (
        _watched_wrongly(Fault.REFUSED_WHEN_OPEN),
        {"PURGATORY-SHUTDOWN-CLOSED"},
    ),
    Fault.SNAPSHOT_NOT_WATCHED: (_told(Fault.SNAPSHOT_NOT_WATCHED), {"PURGATORY-WATCH-WAITS"}),
    Fault.SNAPSHOT_NOT_DELAYED: (_told(Fault.SNAPSHOT_NOT_DELAYED), {"PURGATORY-TIME-OUT"}),
}
"""The play of each fault, and the rules, one of which a verdict has to name for it."""

_NEEDS_TRIES = frozenset(
    {Fault.NOT_TRIED_AGAIN, Fault.COMPLETED_UNTRIED, Fault.CANCELLED_YET_TRIED}
)
_NEEDS_TIME_OUTS = frozenset(
    {
        Fault.NEVER_EXPIRES,
        Fault.EXPIRES_EARLY,
        Fault.EXPIRES_LATE,
        Fault.EXPIRES_TWICE,
        Fault.EXPIRES_THOUGH_COMPLETED,
        Fault.EXPIRES_BEFORE_COMPLETION,
        Fault.EXPIRES_WHEN_CLOSED,
        Fault.CANCELLED_YET_EXPIRES,
        Fault.CANCEL_TAKES_TIME_OUT,
        Fault.SNAPSHOT_NOT_DELAYED,
    }
)


def can_go_wrong(plan: PurgatoryPlan, fault: PurgatoryFault) -> bool:
    """Return whether a purgatory of a plan can have a fault that its trace shows."""
    if fault in _NEEDS_TRIES and not plan.tells_tries:
        return False
    return plan.time_outs or fault not in _NEEDS_TIME_OUTS
