"""Scenarios of the timer: what may happen to a task, two things at a time."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from purgatory_impl import LARGEST_DELAY_MS
from purgatory_lab.scheduling.bundled.timer.world import ELSEWHERE, TimerWorld
from purgatory_lab.scheduling.scenario import Program, Scenario, World
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, RunOne, Shutdown

_stepped: Final[Callable[[Scheduler], World]] = TimerWorld
_inline: Final = partial(TimerWorld, executor="inline")
_own_threads: Final = partial(TimerWorld, executor="thread", reaper=True)

TIMER_SCENARIOS: Final = (
    Scenario(
        "timer-add-and-advance",
        "a task is added while the timer is advanced",
        (Program("add", (Add("a", 1),)), Program("advance", (Advance(1), RunOne(), Advance(2)))),
        _stepped,
        setup=(Add("b", 1),),
    ),
    Scenario(
        "timer-add-and-another-add",
        "two threads add the same task, for two different times",
        (Program("add", (Add("a", 1),)), Program("move", (Add("a", 2),))),
        _stepped,
    ),
    Scenario(
        "timer-cancel-and-advance",
        "a task is cancelled while it expires",
        (Program("cancel", (Cancel("a"),)), Program("advance", (Advance(1), RunOne()))),
        _stepped,
        setup=(Add("a", 1), Add("b", 1)),
    ),
    Scenario(
        "timer-cancel-and-run",
        "a task is cancelled, added and cancelled while it is handed over and run",
        (
            Program("cancel", (Cancel("a"), Add("a", 5), Cancel("a"))),
            Program("run", (RunOne(), Advance(1), RunOne())),
        ),
        _stepped,
        setup=(Add("b", 0), Add("a", 1)),
    ),
    Scenario(
        "timer-add-and-cascade",
        "a task is added again while its bucket of the second level is passed down",
        (Program("add", (Add("a", 5),)), Program("advance", (Advance(2), Advance(3)))),
        _stepped,
        setup=(Add("a", 3), Add("b", 3), Add("c", 2)),
    ),
    Scenario(
        "timer-add-and-bucket-reuse",
        "a task is added to the bucket that an advance has just emptied",
        (Program("add", (Add("c", 1),)), Program("advance", (Advance(2),))),
        _stepped,
        setup=(Add("a", 1), Add("b", 2)),
    ),
    Scenario(
        "timer-advance-and-another-advance",
        "two threads advance the timer, and one of them adds a task between",
        (
            Program("advance", (Advance(2), RunOne())),
            Program("another", (Advance(2), Add("d", 1), RunOne())),
        ),
        _stepped,
        setup=(Add("a", 1), Add("b", 1), Add("c", 2)),
    ),
    Scenario(
        "timer-close-and-add",
        "the timer is closed while tasks are added, one of them with a delay that is too large",
        (
            Program("close", (Shutdown(),)),
            Program("add", (Add("a", 1), Add("b", LARGEST_DELAY_MS + 1), Cancel("a"))),
        ),
        _stepped,
    ),
    Scenario(
        "timer-add-and-add-elsewhere",
        "a task is added to two timers, and cancelled in one",
        (
            Program("add", (Add("a", 1), Cancel("a"))),
            Program(ELSEWHERE, (Add("a", 1),)),
        ),
        _stepped,
    ),
    Scenario(
        "timer-inline-runs",
        "two threads make tasks expire that run in the thread itself",
        (Program("add", (Add("a", 0), Add("b", 0))), Program("advance", (Advance(1), Add("c", 0)))),
        _inline,
        setup=(Add("d", 1),),
    ),
    Scenario(
        "timer-own-threads",
        "a task is added while the clock goes on and the timer's own threads wait for that",
        (Program("add", (Add("a", 1),)), Program("elapse", (Elapse(1), Elapse(2)))),
        _own_threads,
    ),
)
"""All of them; where it matters the timer holds its lock for two steps at a time."""

_BEYOND_ONE_TIMER: Final = ("timer-inline-runs", "timer-add-and-add-elsewhere", "timer-own-threads")
"""The scenarios that the rules of one timer with a stepped executor do not explain."""

EXPLAINED_TIMER_SCENARIOS: Final = tuple(
    replace(scenario, name=f"{scenario.name}-explained")
    for scenario in TIMER_SCENARIOS
    if scenario.name not in _BEYOND_ONE_TIMER
)
"""The scenarios whose histories the sequential model of the timing wheel explains."""
