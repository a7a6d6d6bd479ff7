"""Histories of timers on a manual clock, known to be right or wrong, each with a word why."""

from purgatory_traces.traces.lines import TimerInstance
from purgatory_spec.operations import Add, Advance, Cancel, RunOne, Shutdown
from purgatory_spec.outcomes import EventKind, expired, ran
from purgatory_spec.profiles import Executor, TimerProfile
from purgatory_spec.reasons import Reason

from .known_history import right, wrong
from .traces import back, call, event, step

STEPPED = TimerInstance(profile=TimerProfile(executor=Executor.STEPPED))
INLINE = TimerInstance(profile=TimerProfile(executor=Executor.INLINE))
THREAD = TimerInstance(profile=TimerProfile(executor=Executor.THREAD))
EXPIRED, RAN = EventKind.EXPIRED, EventKind.RAN

TIMERS = {
    # The cancellation overlaps with the advance that hands over: it came too late.
    "a task is handed over while it is cancelled": right(
        STEPPED,
        step("t", Add("a", 1)),
        call("u", Advance(1)),
        call("t", Cancel("a")),
        back("t"),
        event("u", EXPIRED, "a"),
        back("u"),
        step("t", RunOne(), None, ran("a")),
    ),
    # It was cancelled before the advance began. What an advance shows is judged when it returns.
    "a cancelled task is handed over": wrong(
        STEPPED,
        5,
        step("t", Add("a", 1)),
        step("t", Cancel("a")),
        call("u", Advance(1)),
        event("u", EXPIRED, "a"),
        back("u"),
    ),
    # The add read the clock at 0, and armed the task when the clock had reached 5.
    "an add is overtaken by an advance": right(
        STEPPED,
        call("t", Add("a", 3)),
        step("u", Advance(5)),
        back("t"),
        step("u", Advance(6), None, expired("a")),
    ),
    # The add had returned before the advance.
    "a due task is not handed over": wrong(
        STEPPED,
        2,
        step("t", Add("a", 3)),
        step("u", Advance(5)),
        step("u", Advance(6), None, expired("a")),
    ),
    # Two ticks, in one advance that never returned: the order of what follows is free.
    "an advance never returns, and its tasks run": right(
        STEPPED,
        step("t", Add("a", 1)),
        step("t", Add("b", 1)),
        call("u", Advance(1)),
        event("u", EXPIRED, "b"),
        step("t", RunOne(), None, ran("b")),
        step("t", RunOne(), None, ran("a")),
    ),
    # a is due before b, whatever the advance has shown so far.
    "an advance never returns, and its tasks run in the wrong order": wrong(
        STEPPED,
        4,
        step("t", Add("a", 1)),
        step("t", Add("b", 2)),
        call("u", Advance(2)),
        step("t", RunOne(), None, ran("b")),
        step("t", RunOne(), None, ran("a")),
    ),
    # With an inline executor the advance runs what it hands over.
    "an inline advance runs what is due": right(
        INLINE,
        step("t", Add("b", 2)),
        call("u", Advance(2)),
        call("t", Add("c", 1)),
        event("u", RAN, "b"),
        back("t"),
        back("u"),
        step("u", Advance(3), None, ran("c")),
    ),
    "an inline advance runs a task twice": wrong(
        INLINE,
        5,
        step("t", Add("b", 2)),
        call("u", Advance(2)),
        event("u", RAN, "b"),
        event("u", RAN, "b"),
        back("u"),
    ),
    # Two threads of the executor: which of two due tasks begins first is free.
    "threads of the executor run tasks of one advance": right(
        THREAD,
        step("t", Add("a", 1)),
        step("t", Add("b", 1)),
        step("t", Advance(1)),
        event("e1", RAN, "b"),
        event("e2", RAN, "a"),
    ),
    "a thread of the executor runs a task that is not due": wrong(
        THREAD, 3, step("t", Add("a", 2)), step("t", Advance(1)), event("e1", RAN, "a")
    ),
    # Shutdown and add overlap: either may be first.
    "an add is rejected while the timer is shut down": right(
        STEPPED,
        call("t", Add("a", 1)),
        call("u", Shutdown()),
        back("t", rejected=Reason.CLOSED),
        back("u"),
    ),
    "an add is rejected before the timer is shut down": wrong(
        STEPPED, 2, call("t", Add("a", 1)), back("t", rejected=Reason.CLOSED), step("u", Shutdown())
    ),
}
