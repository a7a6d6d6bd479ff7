"""The parts of a run: logical threads, their obstacles, the choices, the record."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple, Protocol

from purgatory_lab.scheduling.errors import SchedulingError


class Obstacle:
    """The reason for which a thread cannot go on: until something is so, or until a time."""

    __slots__ = ("_describe", "_is_so", "_until_s", "over")

    def __init__(
        self,
        is_so: Callable[[], bool],
        describe: Callable[[], str],
        until_s: float | None = None,
    ) -> None:
        """Make an obstacle that is gone when something is so.

        Args:
            is_so: Decides whether that is so for which the thread waits.
            describe: Returns the object that the thread waits for, and its holder.
            until_s: The reading of the run's clock at which the wait ends by itself, s.
        """
        self._is_so = is_so
        self._describe = describe
        self._until_s = until_s
        self.over = False

    def is_gone(self) -> bool:
        """Decide whether the thread can go on."""
        return self.over or self._is_so()

    def until_s(self) -> float | None:
        """Return the reading of the run's clock at which the wait ends by itself; None if never."""
        return None if self.over else self._until_s

    def run_out(self) -> None:
        """End the wait, since its time is over."""
        self.over = True

    def describe(self) -> str:
        """Return the object that the thread waits for, and its holder."""
        return self._describe()


def end_of(*threads: "LogicalThread", until_s: float | None = None) -> Obstacle:
    """Return the obstacle of a thread that waits for the end of others."""
    return Obstacle(
        lambda: all(each.ended for each in threads),
        lambda: "the end of " + ", ".join(each.name for each in threads if not each.ended),
        until_s,
    )


class Mark(NamedTuple):
    """An event of a run; the record keeps events in their order."""

    thread: int
    what: str
    about: object = None


class LogicalThread:
    """A thread of a run.

    Attributes:
        number: In the order in which the threads were started, from 0.
        held: The locks that the thread holds, in the order of acquisition.
        background: Whether a run ends without it, as a program does without a daemon thread.
    """

    __slots__ = (
        "_body",
        "background",
        "ended",
        "gate",
        "held",
        "name",
        "number",
        "obstacle",
        "real",
    )

    def __init__(
        self, number: int, name: str, body: Callable[[], object], background: bool = False
    ) -> None:
        self.number = number
        self.name = name
        self.background = background
        self.gate = threading.Semaphore(0)
        self.obstacle: Obstacle | None = None
        self.held: list[object] = []
        self.ended = False
        self.real: threading.Thread | None = None
        self._body = body

    def can_go_on(self) -> bool:
        """Decide whether the thread has no obstacle."""
        return not self.ended and (self.obstacle is None or self.obstacle.is_gone())

    def call(self) -> None:
        """Run the body of the thread."""
        self._body()


class Choice(NamedTuple):
    """A point of a run where more than one thread could go on.

    Attributes:
        chosen: The thread that went on.
        possible: The threads that could go on, in order.
        running: The thread that reached the point; None where that thread cannot go on.
    """

    chosen: int
    possible: tuple[int, ...]
    running: int | None

    def is_preemption(self, thread: int) -> bool:
        """Decide whether choosing a thread here interrupts one that could go on."""
        return self.running is not None and thread != self.running


class Strategy(Protocol):
    """A strategy that chooses the thread that goes on.

    Attributes:
        everywhere: Whether it may switch where a search need not.
    """

    everywhere: bool

    def choose(self, possible: Sequence[int], running: int | None) -> int:
        """Choose among the threads that can go on; ``running`` is None if that thread cannot."""


@dataclass(slots=True)
class Record:
    """The record of a run: the choices, and everything that happened."""

    choices: list[Choice] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    failure: SchedulingError | None = None

    def chosen(self) -> tuple[int, ...]:
        """Return the schedule as numbers."""
        return tuple(choice.chosen for choice in self.choices)


class AtRest(Obstacle):
    """The obstacle of a thread that comes when some have ended and no other can go on."""

    def __init__(self, threads: Sequence[LogicalThread]) -> None:
        """Wait for threads, and then until all others have come to rest."""
        self._end = end_of(*threads)
        super().__init__(lambda: False, self._end.describe)

    def until_s(self) -> float | None:
        """Return a time before all others when the awaited threads have ended."""
        return -inf if not self.over and self._end.is_gone() else None
