"""Histories of timers on a real clock, known to be right or wrong, each with a word why."""

from purgatory_traces.traces.lines import TimerInstance, TraceLine
from purgatory_spec.operations import Add, Cancel
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Executor, TimerConfiguration, TimerProfile

from .known_history import Known, wrong
from .known_timers import THREAD
from .traces import back, call, event, step

TICKS = TimerInstance(
    configuration=TimerConfiguration(tick_ms=10), profile=TimerProfile(executor=Executor.THREAD)
)
RAN = EventKind.RAN

ADDED = (call("t", Add("a", 10), 100), back("t", None, 103))
"""A task is added between 100 and 103, so it is due between 110 and 113."""


def on_real_clock(
    wrong_at: int | None,
    *lines: TraceLine,
    instance: TimerInstance = THREAD,
    ended_ms: int = 500,
) -> Known:
    """A run that ends at a time."""
    return wrong(instance, wrong_at, *lines, ended_ms=ended_ms)


REAL_CLOCKS = {
    "a task runs in its interval": on_real_clock(None, *ADDED, event("e", RAN, "a", 110)),
    "a task runs too early": on_real_clock(3, *ADDED, event("e", RAN, "a", 109)),
    # 113 and 50 ms of declared lateness.
    "a task runs too late": on_real_clock(3, *ADDED, event("e", RAN, "a", 164)),
    "a task never runs": on_real_clock(3, *ADDED),
    # The run ends before it is overdue.
    "a task has not run yet": on_real_clock(None, *ADDED, ended_ms=120),
    # Due at 110 at the earliest, and the cancellation had returned at 109.
    "a task runs that was cancelled in time": on_real_clock(
        4, *ADDED, step("t", Cancel("a"), at_ms=109), event("e", RAN, "a", 111)
    ),
    # It may have been handed over before, since the cancellation returned at 112.
    "a task runs that was cancelled too late": on_real_clock(
        None, *ADDED, call("t", Cancel("a"), 108), back("t", None, 112), event("e", RAN, "a", 113)
    ),
    # Each arming may run once.
    "a task that was cancelled too late runs twice": on_real_clock(
        6,
        *ADDED,
        call("t", Cancel("a"), 108),
        back("t", None, 112),
        event("e", RAN, "a", 113),
        event("e", RAN, "a", 114),
    ),
    # Of two adds that overlap either may be the one that counts: due at 105 or at 130.
    "two threads add one task": on_real_clock(
        None,
        call("t", Add("a", 5), 100),
        call("u", Add("a", 30), 100),
        back("u", None, 101),
        back("t", None, 101),
        event("e", RAN, "a", 131),
    ),
    "two threads add one task, and it runs at neither time": on_real_clock(
        5,
        call("t", Add("a", 5), 100),
        call("u", Add("a", 90), 100),
        back("u", None, 101),
        back("t", None, 101),
        event("e", RAN, "a", 180),
    ),
    # Rounded down to the tick of 10 ms: due at 100 already.
    "a task runs at its tick": on_real_clock(
        None,
        call("t", Add("a", 9), 100),
        back("t", None, 100),
        event("e", RAN, "a", 100),
        instance=TICKS,
    ),
}
