"""Strategies: the choice of the next thread, where several can go on.

Left alone, a thread goes on until it cannot; then the first that can. Only departures from this
order find races, and the strategies differ in their departures.
"""

from collections.abc import Sequence
from random import Random

from purgatory_lab.scheduling.errors import Diverged
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
