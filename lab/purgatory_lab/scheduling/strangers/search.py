"""The search through all programs: schedules without a preemption first, then with one, with two.

The time that is left is shared out among the programs that are left, so that each has its turn.
What was learnt of the attributes in one run makes further schedules in the next: the search of a
program is begun anew until nothing more is learnt.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_lab.scheduling.run import Record
from purgatory_lab.scheduling.search import Search, exhaust, replay
from purgatory_lab.scheduling.strangers.programs import Shared, programs_for
from purgatory_lab.scheduling.strangers.runs import NotScheduled, Stranger, StrangerRuns


@dataclass(frozen=True, slots=True)
class Searched:
    """What the search of one program has found.

    Attributes:
        program: What was run.
        preemptions: The most that its schedules have.
        search: The search.
    """

    program: Shared
    preemptions: int
    search: Search


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
        for number, program in enumerate(programs):
            now = time.monotonic()
            share = (ends_at - now) / (len(programs) - number)
            search = _search(stranger, program, bound, now + share)
            yield Searched(program, bound, search)
            if search.failure is not None:
                return


def _search(stranger: Stranger, program: Shared, preemptions: int, ends_at: float) -> Search:
    runs = StrangerRuns(stranger, program)
    suspects = stranger.tracing.shared.suspects

    def is_over() -> bool:
        return time.monotonic() > ends_at

    while True:
        known = len(suspects)
        search = exhaust(runs, preemptions, is_over=is_over)
        if search.failure is not None or len(suspects) == known or is_over():
            return search
