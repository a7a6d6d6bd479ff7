"""Search: all schedules of a scenario up to a number of preemptions, or many random ones.

Most defects of concurrent code show with one or two preemptions in the right places, and there are
few ways to place so many. So schedules are tried in the order of their preemptions: none, one, two.
Every run starts from the beginning and is determined by its choices. After a run that follows a
prefix of choices, each choice behind the prefix that could have been another one gives a prefix for
a further run, and so each schedule is had exactly once.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from purgatory_lab.scheduling.errors import Diverged
from purgatory_lab.scheduling.run import Record, Strategy
from purgatory_lab.scheduling.schedule import as_text, letter


def undisturbed(possible: Sequence[int], running: int | None) -> int:
    """Return the thread that goes on without an interruption."""
    return possible[0] if running is None else running


class Prefix:
    """The choices of a prefix, then nobody interrupts."""

    everywhere = False

    def __init__(self, prefix: Sequence[int] = ()) -> None:
        self._prefix = prefix
        self._made = 0

    def choose(self, possible: Sequence[int], running: int | None) -> int:
        """Choose the next of the prefix, which came from a run with the same beginning."""
        made = self._made
        self._made += 1
        if made >= len(self._prefix):
            return undisturbed(possible, running)
        chosen = self._prefix[made]
        if chosen not in possible:
            raise Diverged(_misfit(self._prefix, made, possible))
        return chosen


class Replay:
    """Exactly the choices of a schedule."""

    everywhere = True

    def __init__(self, choices: Sequence[int]) -> None:
        self._choices = choices
        self._made = 0

    def choose(self, possible: Sequence[int], running: int | None) -> int:
        """Choose the next thread of the schedule.

        Raises:
            Diverged: there is none left, or that thread cannot go on here.
        """
        made = self._made
        if made == len(self._choices):
            raise Diverged(
                f"the schedule {as_text(self._choices)} is over after {made} choices, and the run "
                "is not: the code or the scenario has changed since it was recorded"
            )
        if self._choices[made] not in possible:
            raise Diverged(_misfit(self._choices, made, possible))
        self._made += 1
        return self._choices[made]

    def finish(self) -> None:
        """Refuse the end of the run if choices of the schedule are left.

        Raises:
            Diverged: choices are left.
        """
        if self._made < len(self._choices):
            raise Diverged(
                f"the run was over after {self._made} choices of the schedule "
                f"{as_text(self._choices)}, which has {len(self._choices)}: the code or the "
                "scenario has changed since it was recorded"
            )


class RandomPriorities:
    """Threads have random ranks, the first that can goes on, and now and then it falls behind all.

    With ``changes`` falls at random points, a defect that needs so many plus one of them in the
    right places is met in a run with a probability that does not depend on how many threads wait.
    """

    everywhere = False

    def __init__(self, seed: int, length: int, changes: int) -> None:
        """Draw the ranks and the points.

        Args:
            seed: Determines the run.
            length: About how many choices a run has; at least 1.
            changes: How often the first falls behind.
        """
        self._random = Random(seed)
        self._ranks: dict[int, float] = {}
        self._falls = {self._random.randrange(max(length, 1)) for _ in range(changes)}
        self._made = 0
        self._lowest = 0.0

    def choose(self, possible: Sequence[int], running: int | None) -> int:
        """Choose the first thread in rank."""
        for thread in possible:
            if thread not in self._ranks:
                self._ranks[thread] = 1 + self._random.random()
        if self._made in self._falls:
            self._lowest -= 1
            self._ranks[max(possible, key=self._ranks.__getitem__)] = self._lowest
        self._made += 1
        return max(possible, key=self._ranks.__getitem__)


def _misfit(choices: Sequence[int], made: int, possible: Sequence[int]) -> str:
    able = ", ".join(letter(thread) for thread in possible)
    return (
        f"choice {made + 1} of the schedule {as_text(choices)} is {letter(choices[made])}, and "
        f"only {able} can go on there: the code or the scenario has changed since it was recorded"
    )


LARGEST_CHANGES: Final = 3
"""The most times that the first in rank falls behind in a random run."""

Make = Callable[[Strategy], Record]
"""Makes one run; its record has the failure of the run or of what was checked after it."""


@dataclass(frozen=True, slots=True)
class Search:
    """The result of a search.

    Attributes:
        schedules: How many runs were made.
        by_preemptions: How many of them had none, one, two preemptions and so on.
        failure: The record of the first run that failed, or None.
        complete: Whether no schedule within the bound is left.
    """

    schedules: int
    by_preemptions: tuple[int, ...]
    failure: Record | None
    complete: bool

    @property
    def schedule(self) -> str:
        """Return the schedule of the failure."""
        return "" if self.failure is None else as_text(self.failure.chosen())


def exhaust(
    make: Make,
    preemptions: int,
    limit: int = 1_000_000,
    is_over: Callable[[], bool] = lambda: False,
) -> Search:
    """Make a run of each schedule with at most so many preemptions, until one fails.

    Args:
        make: Makes one run.
        preemptions: How often a thread that could go on may be interrupted.
        limit: The most runs.
        is_over: Asked before each run whether the search ends.
    """
    levels: list[deque[tuple[int, ...]]] = [deque() for _ in range(preemptions + 1)]
    levels[0].append(())
    made = [0] * (preemptions + 1)
    for level, prefixes in enumerate(levels):
        while prefixes:
            if sum(made) == limit or is_over():
                return Search(sum(made), tuple(made), None, complete=False)
            # The longest first: fewer prefixes are kept that way.
            prefix = prefixes.pop()
            record = make(Prefix(prefix))
            made[level] += 1
            if record.failure is not None:
                return Search(sum(made), tuple(made), record, complete=False)
            _branch(record, len(prefix), level, levels)
    return Search(sum(made), tuple(made), None, complete=True)


def _branch(record: Record, behind: int, level: int, levels: list[deque[tuple[int, ...]]]) -> None:
    """Add the prefixes that depart from a run behind its own prefix."""
    chosen = record.chosen()
    for place in range(behind, len(chosen)):
        choice = record.choices[place]
        for other in choice.possible:
            if other != choice.chosen:
                cost = level + choice.is_preemption(other)
                if cost < len(levels):
                    levels[cost].append((*chosen[:place], other))


def sample(make: Make, runs: int, seed: int, is_over: Callable[[], bool] = lambda: False) -> Search:
    """Make random runs until one fails; the same seed makes the same runs."""
    random = Random(seed)
    length = 1
    for made in range(runs):
        if is_over():
            return Search(made, (), None, complete=False)
        strategy = RandomPriorities(random.getrandbits(64), length, made % (LARGEST_CHANGES + 1))
        record = make(strategy)
        length = max(length, len(record.choices))
        if record.failure is not None:
            return Search(made + 1, (), record, complete=False)
    return Search(runs, (), None, complete=False)


def replay(make: Make, choices: tuple[int, ...]) -> Record:
    """Make the run of a schedule.

    Raises:
        Diverged: the schedule does not fit the run.
    """
    strategy = Replay(choices)
    record = make(strategy)
    if isinstance(record.failure, Diverged):
        raise record.failure
    strategy.finish()
    return record
