"""Histories of timers on a real clock, known to be right or wrong, each with a word why."""

from purgatory_pipeline.traces.lines import TimerInstance
from purgatory_spec.operations import Add, Cancel
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Executor, TimerConfiguration, TimerProfile

from .known_history import WALL, Known
from .known_timers import THREAD
from .traces import back, call, event, step

TICKS = TimerInstance(
    configuration=TimerConfiguration(tick_ms=10), profile=TimerProfile(executor=Executor.THREAD)
)
RAN = EventKind.RAN

REAL_CLOCKS = {
    # Added between 100 and 103, so due between 110 and 113.
    "a task runs in its interval": Known(
        THREAD,
        None,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            event("e", RAN, "a", 110),
        ),
        WALL,
        500,
    ),
    "a task runs too early": Known(
        THREAD,
        3,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            event("e", RAN, "a", 109),
        ),
        WALL,
        500,
    ),
    # 113 and 50 ms of declared lateness.
    "a task runs too late": Known(
        THREAD,
        3,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            event("e", RAN, "a", 164),
        ),
        WALL,
        500,
    ),
    "a task never runs": Known(
        THREAD,
        3,
        (call("t", Add("a", 10), 100), back("t", None, 103)),
        WALL,
        500,
    ),
    # The run ends before it is overdue.
    "a task has not run yet": Known(
        THREAD, None, (call("t", Add("a", 10), 100), back("t", None, 103)), WALL, 120
    ),
    # Due at 110 at the earliest, and the cancellation had returned at 109.
    "a task runs that was cancelled in time": Known(
        THREAD,
        4,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            step("t", Cancel("a"), at_ms=109),
            event("e", RAN, "a", 111),
        ),
        WALL,
        500,
    ),
    # It may have been handed over before, since the cancellation returned at 112.
    "a task runs that was cancelled too late": Known(
        THREAD,
        None,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            call("t", Cancel("a"), 108),
            back("t", None, 112),
            event("e", RAN, "a", 113),
        ),
        WALL,
        500,
    ),
    # Each arming may run once.
    "a task that was cancelled too late runs twice": Known(
        THREAD,
        6,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            call("t", Cancel("a"), 108),
            back("t", None, 112),
            event("e", RAN, "a", 113),
            event("e", RAN, "a", 114),
        ),
        WALL,
        500,
    ),
    # Of two adds that overlap either may be the one that counts: due at 105 or at 130.
    "two threads add one task": Known(
        THREAD,
        None,
        (
            call("t", Add("a", 5), 100),
            call("u", Add("a", 30), 100),
            back("u", None, 101),
            back("t", None, 101),
            event("e", RAN, "a", 131),
        ),
        WALL,
        500,
    ),
    "two threads add one task, and it runs at neither time": Known(
        THREAD,
        5,
        (
            call("t", Add("a", 5), 100),
            call("u", Add("a", 90), 100),
            back("u", None, 101),
            back("t", None, 101),
            event("e", RAN, "a", 180),
        ),
        WALL,
        500,
    ),
    # Rounded down to the tick of 10 ms: due at 100 already.
    "a task runs at its tick": Known(
        TICKS,
        None,
        (
            call("t", Add("a", 9), 100),
            back("t", None, 100),
            event("e", RAN, "a", 100),
        ),
        WALL,
        500,
    ),
}
