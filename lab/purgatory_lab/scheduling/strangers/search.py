"""The search through all programs: schedules without a preemption first, then with one, with two.

More than half of the time that is left is for the next number of preemptions, and is shared out
among the programs, so that each has its turn. With the last number, where half of a share is not
enough for all schedules, the other half is for random ones.

What was learnt of the attributes in one run makes further schedules in the next: the search of a
program is begun anew until nothing more is learnt.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from purgatory_lab.scheduling.run import Record
from purgatory_lab.scheduling.search import Search, exhaust, replay, sample
from purgatory_lab.scheduling.strangers.programs import Shared, programs_for
from purgatory_lab.scheduling.strangers.runs import NotScheduled, Stranger, StrangerRuns

_SHARE: Final = 0.6
"""The part of the time that is left that one more preemption may take, but for the last."""

_MANY: Final = 1_000_000
"""A number of random runs for which no search has the time."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The findings of the search of one program.

    Attributes:
        program: What was run.
        preemptions: The largest number of preemptions in its schedules.
        search: The search.
        random: The random runs after it, if any.
    """

    program: Shared
    preemptions: int
    search: Search
    random: Search | None = None

    @property
    def failure(self) -> Record | None:
        """Return the record of the run that failed."""
        if self.search.failure is None and self.random is not None:
            return self.random.failure
        return self.search.failure

    @property
    def schedules(self) -> int:
        """Return how many runs were made."""
        return self.search.schedules + (self.random.schedules if self.random else 0)


def programs_of(stranger: Stranger, name: str | None = None) -> list[Shared]:
    """Return the programs for a class, or the one of a name.

    Raises:
        NotScheduled: there is none.
    """
    programs = [each for profile in stranger.profiles.values() for each in programs_for(profile)]
    if not programs:
        raise NotScheduled(
            "threads share a timer, a purgatory or a memory pool of a declared kind; "
            "the subject offers none"
        )
    found = [program for program in programs if name in (None, program.name)]
    if not found:
        names = ", ".join(program.name for program in programs)
        raise NotScheduled(f"there is no program {name!r} for this class; there are {names}")
    return found


def replayed(stranger: Stranger, program: Shared, choices: tuple[int, ...]) -> Record:
    """Return the run of a schedule.

    It is made twice: which attributes threads share, and are therefore shown, is known after one.

    Raises:
        Diverged: the schedule does not fit the run.
    """
    runs = StrangerRuns(stranger, program)
    replay(runs, choices)
    return replay(runs, choices)


def search_all(
    stranger: Stranger, programs: list[Shared], preemptions: int, seconds: float
) -> Iterator[Searched]:
    """Yield what the search of each program has found, until one fails or the time is over.

    Args:
        stranger: The class, whose stand-ins are in place.
        programs: What is run.
        preemptions: The most that a schedule has.
        seconds: How long the search goes on, s.
    """
    ends_at = time.monotonic() + seconds
    for bound in range(preemptions + 1):
        is_last = bound == preemptions
        now = time.monotonic()
        stops_at = ends_at if is_last else now + _SHARE * (ends_at - now)
        for number, program in enumerate(programs):
            share = (stops_at - time.monotonic()) / (len(programs) - number)
            searched = _search(stranger, program, bound, share, with_random=is_last)
            yield searched
            if searched.failure is not None:
                return


def _search(
    stranger: Stranger, program: Shared, preemptions: int, seconds: float, *, with_random: bool
) -> Searched:
    runs = StrangerRuns(stranger, program)
    suspects = stranger.tracing.shared.suspects
    is_over = _is_over(seconds / 2 if with_random else seconds)
    while True:
        known = len(suspects)
        search = exhaust(runs, preemptions, is_over=is_over)
        if search.failure is not None or len(suspects) == known or is_over():
            break
    if search.failure is not None or search.complete or not with_random:
        return Searched(program, preemptions, search)
    sampled = sample(runs, _MANY, seed=preemptions, is_over=_is_over(seconds / 2))
    return Searched(program, preemptions, search, sampled)


def _is_over(seconds: float) -> Callable[[], bool]:
    """Return whether so much time has passed, now and later."""
    ends_at = time.monotonic() + seconds
    return lambda: time.monotonic() > ends_at
