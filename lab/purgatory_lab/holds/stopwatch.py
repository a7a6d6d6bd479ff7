"""The stopwatch: the longest of many holds, by the clock and in processor time.

A section is called by the stopwatch itself, in one thread and without its lock. So a reading is
the hold alone, with what it costs to call a function: about a tenth of a microsecond.

The garbage collector may run inside a hold. Its time is told apart by what the collector itself
reports of its beginnings and ends.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns, thread_time_ns
from typing import TypeVar, TypeVarTuple

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True)
class Section:
    """A part of the code that runs in one hold of a lock.

    Attributes:
        name: The work that the section does.
        lock: The owner of the lock.
        steps: The kind of step that is counted, in words.
        bound: How many of these one hold may take; None where the number is not bounded.
    """

    name: str
    lock: str
    steps: str
    bound: int | None


class CollectorClock:
    """How long the collector has run, as it reports itself.

    Attributes:
        runs: How often.
        spent_ns: In all.
        longest_ns: The longest run.
    """

    def __init__(self) -> None:
        self.runs = 0
        self.spent_ns = 0
        self.longest_ns = 0
        self._began_ns = 0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Note a beginning or an end; the collector calls this."""
        if phase == "start":
            self._began_ns = perf_counter_ns()
        else:
            took_ns = perf_counter_ns() - self._began_ns
            self.runs += 1
            self.spent_ns += took_ns
            self.longest_ns = max(self.longest_ns, took_ns)


@contextmanager
def collector(runs: bool, clock: CollectorClock) -> Iterator[None]:
    """Let the collector run or not, and have its time told; afterwards all is as before."""
    ran = gc.isenabled()
    gc.collect()
    if runs:
        gc.enable()
    else:
        gc.disable()
    gc.callbacks.append(clock)
    try:
        yield
    finally:
        gc.callbacks.remove(clock)
        if ran:
            gc.enable()
        else:
            gc.disable()


class Stopwatch:
    """The statistics of all holds of a section.

    Attributes:
        holds: How many there were.
        total_ns: How long all of them took.
        longest_ns: The longest by the clock.
        longest_at: The number of the longest hold, counted from 0.
        collector_ns: The largest time of the collector in a hold, not necessarily the longest.
        processor_ns: The longest in processor time of the thread; this may be another one.
        most_steps: The most steps counted in one hold; None where none were counted.
    """

    def __init__(self, collected: CollectorClock) -> None:
        self.holds = 0
        self.total_ns = 0
        self.longest_ns = -1
        self.longest_at = 0
        self.collector_ns = 0
        self.processor_ns = 0
        self.most_steps: int | None = None
        self._collected = collected

    def timed(self, section: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Call a section and note how long it took."""
        collected_ns = self._collected.spent_ns
        processor_ns = thread_time_ns()
        began_ns = perf_counter_ns()
        result = section(*arguments)
        took_ns = perf_counter_ns() - began_ns
        processor_ns = thread_time_ns() - processor_ns
        collected_ns = self._collected.spent_ns - collected_ns
        if took_ns > self.longest_ns:
            self.longest_ns = took_ns
            self.longest_at = self.holds
        if collected_ns > self.collector_ns:
            self.collector_ns = collected_ns
        if processor_ns > self.processor_ns:
            self.processor_ns = processor_ns
        self.holds += 1
        self.total_ns += took_ns
        return result

    def count(self, steps: int) -> None:
        """Note how many steps a hold has taken."""
        if self.most_steps is None or steps > self.most_steps:
            self.most_steps = steps


class Stopwatches:
    """A stopwatch for each section of one round."""

    def __init__(self, collected: CollectorClock) -> None:
        self._collected = collected
        self.by_section: dict[Section, Stopwatch] = {}

    def of(self, section: Section) -> Stopwatch:
        """The stopwatch of a section, which is made when it is first asked for."""
        return self.by_section.setdefault(section, Stopwatch(self._collected))
