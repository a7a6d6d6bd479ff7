"""Decision whether an order of one share's calls is allowed: long histories piece by piece.

Theory of operation. Where every call that returns has returned, and the others have shown all that
they show, the history is *quiet*, and can be cut: what follows depends only on the states in which
the pieces before may leave the rules, and on how far calls are that never return. A piece is
searched from all these states. Where finding them all is costly the search goes on with those that
it has, and comes back for more only if nothing explains what follows. A piece without open calls is
forgotten.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from immutables import Map

from purgatory_model.overlapping.interleaving import Called
from purgatory_traces.linearizability.budget import Budget, OutOfBudget
from purgatory_traces.linearizability.calls import (
    CallRules,
    Entry,
    RecordedCall,
    Rule,
    calls_of,
)
from purgatory_traces.linearizability.search import (
    Piece,
    PieceSearch,
    Reached,
    Taken,
    in_order,
)

ALLOWANCE = 100
"""The configurations spent to find all ends of a piece, before some of them have to do."""


@dataclass(frozen=True, slots=True)
class Explained:
    """An order that explains the history."""

    order: list[Taken]


@dataclass(frozen=True, slots=True)
class Stuck(Generic[Rule]):
    """A refuted history: its first unexplained piece, and all states that lead there.

    ``places`` are the indices of the piece's first entry and of the one behind its last,
    ``explained`` is the number of entries that the search has explained.
    """

    places: tuple[int, int]
    explained: int
    piece: Piece
    starts: Sequence[Reached[Rule]]


class Undecided(OutOfBudget):
    """The budget was used up first; the message says of what.

    Attributes:
        cause: What was used up.
        explained: How many entries of the history are explained nevertheless, at least.
        order: An order of parts that explains the entries.
    """

    def __init__(self, cause: OutOfBudget, explained: int = 0, order: Sequence[Taken] = ()) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.explained = explained
        self.order = list(order)


def decide(
    entries: Sequence[Entry], rules: CallRules[Rule], budget: Budget
) -> Explained | Stuck[Rule]:
    """Decide whether rules explain a history.

    Args:
        entries: Calls, events and returns; none of them outside a call.
        rules: What is allowed.
        budget: The allowance of the search.

    Raises:
        Undecided: the budget is used up before it is known.
    """
    searches: deque[_Cut[Rule]] = deque()
    try:
        return _decide(entries, rules, budget, searches)
    except OutOfBudget as problem:
        raise Undecided(problem, *_furthest(entries, searches)) from None
    finally:
        budget.forget(sum(len(each.search.visited) for each in searches))


def _decide(
    entries: Sequence[Entry],
    rules: CallRules[Rule],
    budget: Budget,
    searches: "deque[_Cut[Rule]]",
) -> Explained | Stuck[Rule]:
    """Decide about pieces; ``searches`` are those that hold memory when it is over."""
    pieces = _pieces(entries)
    first = next(pieces, None)
    if first is None:
        return Explained([])
    searches.append(_Cut(*first, rules, budget, [Reached(rules.initial(), Map())]))
    coming = next(pieces, None)
    present = 0
    while True:
        cut = searches[present]
        found = cut.search.more(ALLOWANCE)
        if found and present + 1 < len(searches):
            present += 1
            searches[present].search.start_from(found)
        elif found and coming is None:
            return Explained(in_order(found[0].order))
        elif found and coming is not None:
            searches.append(_Cut(*coming, rules, budget, found))
            coming = next(pieces, None)
            present += 1
        elif present > 0:
            present -= 1
        else:
            stuck = searches[-1]
            explained, _ = _extent(entries, stuck)
            return Stuck(stuck.places, explained, stuck.search.piece, stuck.search.starts)
        while present > 0 and searches[0].search.is_exhausted:
            budget.forget(len(searches.popleft().search.visited))
            present -= 1


def _furthest(
    entries: Sequence[Entry], searches: "deque[_Cut[Rule]]"
) -> tuple[int, Sequence[Taken]]:
    """Return the explained extent of a history, and an order that explains it."""
    return _extent(entries, searches[-1]) if searches else (0, ())


def _extent(entries: Sequence[Entry], cut: "_Cut[Rule]") -> tuple[int, Sequence[Taken]]:
    """Return the explained extent of a history as far as the search of a piece came."""
    (began, behind), search = cut.places, cut.search
    number, order = search.furthest()
    if number is None:
        return behind, in_order(order)
    ended = search.piece.calls[number - search.piece.first].ended
    return next(p for p in range(began, behind) if entries[p] is ended), in_order(order)


class _Cut(Generic[Rule]):
    """A piece of a history, the place of its first entry, and its search."""

    def __init__(
        self,
        places: tuple[int, int],
        piece: Piece,
        rules: CallRules[Rule],
        budget: Budget,
        starts: Sequence[Reached[Rule]],
    ) -> None:
        self.places = places
        self.search = PieceSearch(piece, rules, budget)
        self.search.start_from(starts)


def _pieces(entries: Sequence[Entry]) -> Iterator[tuple[tuple[int, int], Piece]]:
    """Yield the pieces of a history, each with the places where it begins and ends."""
    calls = calls_of(entries)
    last = {id(shown) for call in calls if (shown := _last_entry(call)) is not None}
    unreturned: tuple[RecordedCall, ...] = ()
    begun = first = began = opened = 0
    for place, entry in enumerate(entries):
        if isinstance(entry.event, Called):
            opened += _last_entry(calls[begun]) is not None
            begun += 1
        elif id(entry) in last:
            opened -= 1
            if opened == 0:
                piece = _piece(entries[began : place + 1], calls[first:begun], first, unreturned)
                yield (began, place + 1), piece
                left = (call for call in calls[first:begun] if call.returned is None)
                unreturned = (*unreturned, *left)
                first, began = begun, place + 1


def _last_entry(call: RecordedCall) -> Entry | None:
    """Return the return of a call, or the last event of one that never returns."""
    return call.ended or (call.shown[-1] if call.shown else None)


def piece_of(
    entries: Sequence[Entry], first: int = 0, unreturned: tuple[RecordedCall, ...] = ()
) -> Piece:
    """Return a history that follows a quiet place, as one piece.

    Args:
        entries: What follows.
        first: The number of the first call in it.
        unreturned: The calls before it that never return.
    """
    return _piece(entries, calls_of(entries, first), first, unreturned)


def _piece(
    entries: Sequence[Entry],
    calls: Sequence[RecordedCall],
    first: int,
    unreturned: tuple[RecordedCall, ...],
) -> Piece:
    numbers = {id(call.called): call.number for call in calls}
    numbers |= {id(call.ended): ~call.number for call in calls if call.ended is not None}
    order = [numbers[id(entry)] for entry in entries if id(entry) in numbers]
    return Piece(first, unreturned, calls, order)
