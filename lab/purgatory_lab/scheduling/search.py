"""Search: all schedules of a scenario up to a number of preemptions, or many random ones.

Most defects of concurrent code show with one or two preemptions in the right places, and there are
few ways to place so many. So schedules are tried in the order of their preemptions: none, one, two.
Every run starts from the beginning and is determined by its choices. After a run that follows a
prefix of choices, each choice behind the prefix that could have been another one gives a prefix for
a further run, and so each schedule is had exactly once.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from purgatory_lab.scheduling.errors import Diverged
from purgatory_lab.scheduling.run import Record, Strategy
from purgatory_lab.scheduling.schedule import as_text
from purgatory_lab.scheduling.strategies import (
    Prefix,
    RandomPriorities,
    Replay,
)

LARGEST_CHANGES: Final = 3
"""How often, at most, the first in rank falls behind in a random run."""

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
