"""A timer on a hierarchical timing wheel: tasks are added and cancelled in constant time."""

from purgatory_impl.clocks import Clock, MonotonicClock, VirtualClock
from purgatory_impl.errors import (
    DelayTooLarge,
    InvalidConfiguration,
    InvalidDelay,
    TaskOfAnotherTimer,
    TimerClosed,
    TimerError,
)
from purgatory_impl.executors import Executor, InlineExecutor, SteppedExecutor, ThreadExecutor
from purgatory_impl.task import TimerTask
from purgatory_impl.timer import LARGEST_DELAY_MS, Timer

__all__ = [
    "LARGEST_DELAY_MS",
    "Clock",
    "DelayTooLarge",
    "Executor",
    "InlineExecutor",
    "InvalidConfiguration",
    "InvalidDelay",
    "MonotonicClock",
    "SteppedExecutor",
    "TaskOfAnotherTimer",
    "ThreadExecutor",
    "Timer",
    "TimerClosed",
    "TimerError",
    "TimerTask",
    "VirtualClock",
]
