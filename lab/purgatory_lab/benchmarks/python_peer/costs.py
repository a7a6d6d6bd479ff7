"""The cost of a stretch of a program, and checks that the stretch did its work."""

import gc
import time
from dataclasses import dataclass

from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Figure, Measurement


@dataclass(frozen=True)
class Costs:
    """Processor time of the thread and of the process, and time by the clock, ns."""

    thread_ns: int
    process_ns: int
    wall_ns: int

    def __add__(self, other: "Costs") -> "Costs":
        """Return the costs of two stretches together."""
        return Costs(
            self.thread_ns + other.thread_ns,
            self.process_ns + other.process_ns,
            self.wall_ns + other.wall_ns,
        )

    def __sub__(self, other: "Costs") -> "Costs":
        """Return the costs of a stretch without another one."""
        return Costs(
            self.thread_ns - other.thread_ns,
            self.process_ns - other.process_ns,
            self.wall_ns - other.wall_ns,
        )

    def answer(self, operations: int, *, one_thread: bool = True, **detail: Figure) -> Measurement:
        """Return the answer; without thread time where other threads did a part of the work."""
        thread_ns = self.thread_ns if one_thread else None
        return Measurement(operations, thread_ns, self.process_ns, self.wall_ns, detail)


class Stopwatch:
    """Measures from its making on; garbage is collected before."""

    __slots__ = ("_process_ns", "_thread_ns", "_wall_ns")

    def __init__(self) -> None:
        """Start the stopwatch after a collection."""
        gc.collect()
        self._wall_ns = time.perf_counter_ns()
        self._process_ns = time.process_time_ns()
        self._thread_ns = time.thread_time_ns()

    def costs(self) -> Costs:
        """Return the costs since the start."""
        thread_ns = time.thread_time_ns()
        return Costs(
            thread_ns - self._thread_ns,
            time.process_time_ns() - self._process_ns,
            time.perf_counter_ns() - self._wall_ns,
        )


class Tally:
    """A count of runs of tasks, all in one thread."""

    __slots__ = ("runs",)

    def __init__(self) -> None:
        """Begin without any run of a benchmark."""
        self.runs = 0

    def ran(self) -> None:
        """Count a run; the task of a timer."""
        self.runs += 1

    def wait_for(self, runs: int, patience_s: float) -> None:
        """Sleep until so many have run, or until patience is at its end."""
        last = time.monotonic() + patience_s
        while self.runs < runs and time.monotonic() < last:
            time.sleep(0.002)


def expect(what: str, expected: int, seen: int) -> None:
    """Compare two counts, and refuse a difference.

    Raises:
        CannotMeasure: they differ.
    """
    if expected != seen:
        raise CannotMeasure(f"{what}: expected {expected}, seen {seen}")
