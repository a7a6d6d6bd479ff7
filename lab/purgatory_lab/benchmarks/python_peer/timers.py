"""The timers that are called directly: what the loops need of each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from purgatory_impl import InlineExecutor, Timer, VirtualClock
from purgatory_lab.benchmarks.python_peer.draws import FAR, NEAR, VIRTUAL, Delays
from purgatory_lab.benchmarks.python_peer.heap_timer import HeapTimer, ThreadedHeapTimer

END_MS: Final = VIRTUAL.lowest_ms + VIRTUAL.span
"""Where every timer of a virtual clock has been due."""


@dataclass(frozen=True)
class MeasuredTimer:
    """A timer, ready to be measured.

    Attributes:
        add: Given a callback and a delay in ms, arms a fresh task; what it returns cancels it.
        cancel: Given that, whether the task was pending.
        size: How many are pending.
        lead_to_end: Leads the clock to the end and runs every task; None on the real clock.
    """

    add: Callable[[Callable[[], object], int], Any]
    cancel: Callable[[Any], bool]
    size: Callable[[], int]
    lead_to_end: Callable[[], None] | None = None


OpenTimer: TypeAlias = Callable[[], AbstractContextManager[MeasuredTimer]]


@dataclass(frozen=True)
class TimerKind:
    """The kind of a timer: its maker, and its delays for measures."""

    open: OpenTimer
    pending: Delays
    expiring: Delays


@contextmanager
def _virtual_timer() -> Iterator[MeasuredTimer]:
    clock = VirtualClock()
    with Timer(clock=clock, executor=InlineExecutor(), reaper=False) as timer:

        def lead_to_end() -> None:
            clock.set_ms(END_MS)
            timer.advance()

        yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size, lead_to_end)


@contextmanager
def _system_timer() -> Iterator[MeasuredTimer]:
    with Timer() as timer:
        yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size)


@contextmanager
def _virtual_heap() -> Iterator[MeasuredTimer]:
    timer = HeapTimer()
    yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size, lambda: timer.lead_to(END_MS))


@contextmanager
def _system_heap() -> Iterator[MeasuredTimer]:
    timer = ThreadedHeapTimer()
    try:
        yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size)
    finally:
        timer.close()


IMPLEMENTATION: Final = {
    "virtual": TimerKind(_virtual_timer, VIRTUAL, VIRTUAL),
    "system": TimerKind(_system_timer, FAR, NEAR),
}
"""Ours: without a thread on a virtual clock, and as made without any argument."""

HEAP: Final = {
    "virtual": TimerKind(_virtual_heap, VIRTUAL, VIRTUAL),
    "system": TimerKind(_system_heap, FAR, NEAR),
}
"""The heap with lazy deletion."""
