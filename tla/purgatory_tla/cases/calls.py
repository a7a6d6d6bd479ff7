"""The calls of a behaviour, and an order in which they come one after another.

An operation of the step vocabulary is a whole call. In a behaviour the calls of several threads may
interleave. Two steps *conflict* where one changes what the other reads or changes; neighbouring
steps that do not conflict can be exchanged, and nobody sees a difference. So a behaviour is as good
as one without interleaving exactly where its calls have an order in which, of any two conflicting
steps, the first belongs to the earlier call: where the graph of conflicts has no cycle. (Databases
call this conflict serialisability.)

A cell is the name of a piece of shared memory, words from the large to the small: ``list k1 2`` is
what operation 2 has in the list of k1, and a part of ``list k1``.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from purgatory_tla.cases.behaviours import Move


@dataclass(frozen=True, slots=True)
class Touched:
    """The names of the state's parts that a step reads and changes."""

    reads: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()


@dataclass(slots=True)
class Call:
    """The steps of one call; ``complete`` says whether the behaviour goes on to its end."""

    kind: str
    moves: list[Move] = field(default_factory=list)
    touched: list[Touched] = field(default_factory=list)
    complete: bool = False

    @property
    def first(self) -> int:
        """Return the number of its first step."""
        return self.moves[0].number


class Entangled(Exception):
    """Calls have no order: ``step`` is the first at which that shows."""

    def __init__(self, step: int) -> None:
        """Keep the number of the step."""
        super().__init__(f"step {step} is part of a cycle")
        self.step = step


def serial_order(calls: Sequence[Call]) -> list[Call]:
    """Return the complete calls one after another; the earlier one first where both are free.

    A call that the behaviour does not complete is left out, and every call that must follow it.

    Raises:
        Entangled: there is no such order.
    """
    followers = _followers(calls)
    order = _sorted(followers)
    if len(order) < len(calls):
        raise Entangled(_where(calls, sorted(set(range(len(calls))) - set(order))))
    left_out: set[int] = set()
    for index in order:
        if not calls[index].complete or index in left_out:
            left_out |= {index} | followers[index]
    return [calls[index] for index in order if index not in left_out]


def _followers(calls: Sequence[Call]) -> list[set[int]]:
    """Return for each call the calls that must come later."""
    followers: list[set[int]] = [set() for _ in calls]
    for one, other in combinations(range(len(calls)), 2):
        for earlier, later in ((one, other), (other, one)):
            if _precedes(calls[earlier], calls[later]):
                followers[earlier].add(later)
    return followers


def _precedes(earlier: Call, later: Call) -> bool:
    """Decide whether a step of one call comes before a conflicting step of the other."""
    if earlier.moves[0].number > later.moves[-1].number:
        return False
    return any(
        move.number < other.number and _conflict(touched, others)
        for move, touched in zip(earlier.moves, earlier.touched, strict=True)
        for other, others in zip(later.moves, later.touched, strict=True)
    )


def _conflict(one: Touched, other: Touched) -> bool:
    return _overlap(one.changes, other.changes | other.reads) or _overlap(one.reads, other.changes)


def _overlap(some: Iterable[str], others: frozenset[str]) -> bool:
    return any(
        a == b or a.startswith(f"{b} ") or b.startswith(f"{a} ") for a in some for b in others
    )


def _sorted(followers: Sequence[set[int]]) -> list[int]:
    """Return the calls in an order of all edges, without those on and behind a cycle."""
    waiting = [0] * len(followers)
    for others in followers:
        for other in others:
            waiting[other] += 1
    ready = [index for index, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for other in followers[index]:
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, other)
    return order


def _where(calls: Sequence[Call], entangled: Sequence[int]) -> int:
    """Return the first step at which the calls so far have a cycle."""
    chosen = [calls[index] for index in entangled]
    numbers = sorted(move.number for call in chosen for move in call.moves)
    low, high = 0, len(numbers) - 1
    while low < high:
        middle = (low + high) // 2
        cut = [part for call in chosen if (part := before(call, numbers[middle])).moves]
        if len(_sorted(_followers(cut))) < len(cut):
            high = middle
        else:
            low = middle + 1
    return numbers[low]


def before(call: Call, last: int) -> Call:
    """Return the call up to the step of this number."""
    kept = sum(move.number <= last for move in call.moves)
    complete = call.complete and kept == len(call.moves)
    return Call(call.kind, call.moves[:kept], call.touched[:kept], complete)
