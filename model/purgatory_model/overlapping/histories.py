"""The histories of programs: every one once, and how many there are.

Many runs have the same history. To list each history once, runs are followed together: a *cloud*
is the set of all places where a run may be whose history so far is the same. One event leads from
a cloud to the next one, and steps that cannot be seen stay inside it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias

from purgatory_model.overlapping.interleaving import History, HistoryEvent, State
from purgatory_model.overlapping.programs import Programmed, Progress

LIMIT = 1_000_000
"""The most items that are looked at, unless told otherwise, before an enumeration gives up."""


class LimitReached(Exception):
    """There is more to enumerate than the limit allows."""


class NeverOver(Exception):
    """A search in which no run reaches the programs' end, or histories have no end."""


_Place: TypeAlias = tuple[Progress[State], History]
"""The place of a run, with the events of its latest step that are still to be told."""

_Cloud: TypeAlias = frozenset[_Place[State]]


@dataclass(slots=True)
class _Clouds(Generic[State]):
    """The clouds of programs, each computed once."""

    programmed: Programmed[State]
    limit: int
    moves: dict[_Cloud[State], Mapping[HistoryEvent, _Cloud[State]]] = field(default_factory=dict)
    leaving: dict[Progress[State], tuple[_Place[State], ...]] = field(default_factory=dict)

    def first(self) -> _Cloud[State]:
        return self._closed({(self.programmed.initial(), ())})

    def after(self, cloud: _Cloud[State]) -> Mapping[HistoryEvent, _Cloud[State]]:
        """Return the clouds behind a cloud, by the event that leads there."""
        if cloud not in self.moves:
            if len(self.moves) >= self.limit:
                raise LimitReached(too_many("sets of places", self.limit))
            behind: dict[HistoryEvent, set[_Place[State]]] = {}
            for progress, untold in cloud:
                if untold:
                    behind.setdefault(untold[0], set()).add((progress, untold[1:]))
            self.moves[cloud] = {event: self._closed(found) for event, found in behind.items()}
        return self.moves[cloud]

    def ends(self, cloud: _Cloud[State]) -> bool:
        """Decide whether some run is over in a cloud."""
        return any(not untold and self.programmed.is_over(progress) for progress, untold in cloud)

    def _closed(self, places: set[_Place[State]]) -> _Cloud[State]:
        """Return the given places, and every place that steps from them reach."""
        found = set(places)
        fresh = list(places)
        while fresh:
            progress, untold = fresh.pop()
            if untold:
                continue
            for place in self._leaving(progress):
                if place not in found:
                    found.add(place)
                    fresh.append(place)
        return frozenset(found)

    def _leaving(self, progress: Progress[State]) -> tuple[_Place[State], ...]:
        if progress not in self.leaving:
            if len(self.leaving) >= self.limit:
                raise LimitReached(too_many("states", self.limit))
            self.leaving[progress] = tuple(
                (after, self.programmed.history(progress, step, after))
                for step, after in self.programmed.steps(progress)
            )
        return self.leaving[progress]


def too_many(what: str, limit: int) -> str:
    """Return the message of a limit that was reached."""
    return (
        f"the programs lead to more than {limit} {what}; shorten them, give fewer threads, "
        "hold back threads in the background, or raise the limit"
    )


def histories(programmed: Programmed[State], *, limit: int = LIMIT) -> Iterator[History]:
    """Yield every history of a run that is over, each once, in a fixed order.

    Args:
        programmed: The programs, over their model.
        limit: How many beginnings of histories are looked at, at the most.

    Raises:
        LimitReached: there are more; also where histories have no end.
        NeverOver: no run comes to the end of the programs.
    """
    clouds = _Clouds(programmed, limit)
    waiting: list[tuple[_Cloud[State], History]] = [(clouds.first(), ())]
    beginnings = found = 0
    while waiting:
        cloud, history = waiting.pop()
        beginnings += 1
        if beginnings > limit:
            raise LimitReached(too_many("beginnings of histories", limit))
        if clouds.ends(cloud):
            found += 1
            yield history
        following = sorted(clouds.after(cloud).items(), key=lambda pair: repr(pair[0]))
        waiting.extend((after, (*history, event)) for event, after in reversed(following))
    if not found:
        raise NeverOver(why_never_over(programmed, frozenset(clouds.leaving)))


def count_histories(programmed: Programmed[State], *, limit: int = LIMIT) -> int:
    """Return the number of histories, without a list of them.

    Raises:
        LimitReached: more than ``limit`` states or sets of places are met.
        NeverOver: no run comes to the end of the programs, or histories have no end.
    """
    clouds = _Clouds(programmed, limit)
    counts: dict[_Cloud[State], int | None] = {}

    def count(cloud: _Cloud[State]) -> int:
        if cloud not in counts:
            counts[cloud] = None
            behind = clouds.after(cloud).values()
            counts[cloud] = int(clouds.ends(cloud)) + sum(count(after) for after in behind)
        known = counts[cloud]
        if known is None:
            raise NeverOver("there are histories without end: a thread in the background calls on")
        return known

    total = count(clouds.first())
    if not total:
        raise NeverOver(why_never_over(programmed, frozenset(clouds.leaving)))
    return total


def why_never_over(programmed: Programmed[State], met: frozenset[Progress[State]]) -> str:
    """Return the reason why no run is over, told by a run that comes furthest."""
    furthest = max(met, key=lambda progress: (sum(progress.begun), -len(progress.inside)))
    wanted = programmed.wanted(furthest)
    if wanted:
        thread, operation = min(wanted.items())
        waits = f"thread {thread!r} never gets to call {operation!r}"
    elif furthest.inside:
        waits = f"thread {min(furthest.inside)!r} never returns"
    else:
        waits = "the state never becomes one in which a run may be over"
    return f"no run comes to the end of the programs: in the one that comes furthest {waits}"
