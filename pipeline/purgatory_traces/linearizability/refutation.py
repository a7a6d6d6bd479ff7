"""The refutation of a history: its explained extent, and the answers that were possible.

Each beginning of a history that is explained is explained itself, so the longest one is found by
halving, from the place on that the search came to. Behind it stands the line that cannot be
explained. What the calls that are open there could answer is read off from all orders of that
beginning.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.linearizability.budget import Budget, OutOfBudget
from purgatory_traces.linearizability.calls import CallRules, Entry, RecordedCall, Rule
from purgatory_traces.linearizability.decision import Stuck, piece_of
from purgatory_traces.linearizability.search import PieceSearch, Taken, in_order

_MOST_ENDS = 20_000
"""The most configurations looked at for the answers that calls could have given."""


class ShownAnswer(NamedTuple):
    """An answer that a call could have given; ``owed`` are events it would have shown before."""

    result: Value
    raised: Reason | None
    owed: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Refutation:
    """The place beyond which no order explains a history.

    Attributes:
        explained: How many entries the longest beginning has that is explained, at the most.
        order: An order of parts that explains the entries before.
        open_calls: The open calls at that entry, by number.
        answers: The possible answers of each open call, by number.
        is_exact: Whether that beginning is explained; otherwise the budget was used up before that
            was known, and it may be a shorter one.
        all_answers: Whether the answers are all there are.
    """

    explained: int
    order: list[Taken] = field(default_factory=list)
    open_calls: tuple[RecordedCall, ...] = ()
    answers: dict[int, tuple[ShownAnswer, ...]] = field(default_factory=dict)
    is_exact: bool = True
    all_answers: bool = True


def refute(
    entries: Sequence[Entry], rules: CallRules[Rule], budget: Budget, stuck: Stuck[Rule]
) -> Refutation:
    """Return the explained extent of a history in which ``decide`` was stuck."""

    def is_explained(until: int) -> bool:
        search = _search(entries, rules, budget, stuck, until)
        found = search.more(0)
        budget.forget(len(search.visited))
        return bool(found)

    explained, failing = _narrowed(*stuck.places, stuck.explained, is_explained)
    if failing - explained > 1:
        return Refutation(failing - 1, is_exact=False, all_answers=False)
    return _told(entries, rules, stuck, explained)


def _narrowed(
    low: int, high: int, likely: int, is_explained: Callable[[int], bool]
) -> tuple[int, int]:
    """Return the ends of the longest explained beginning, and of the next, unexplained one.

    They are more than one entry apart where the budget was used up before that was known.

    Args:
        low: The end of a beginning that is explained.
        high: The end of one that is not.
        likely: The end of one that is explained too; the longest is mostly little longer.
        is_explained: Decides whether the beginning with this end is explained.
    """
    low = max(low, likely)
    ahead = 1
    try:
        while high - low > 1:
            middle = min(low + ahead, (low + high) // 2)
            if is_explained(middle):
                low, ahead = middle, 2 * ahead
            else:
                high = middle
    except OutOfBudget:
        pass
    return low, high


def _search(
    entries: Sequence[Entry],
    rules: CallRules[Rule],
    budget: Budget,
    stuck: Stuck[Rule],
    until: int,
    *,
    goes_on: bool = False,
) -> PieceSearch[Rule]:
    """Return a search of the piece in which all was stuck, as far as an entry."""
    piece = stuck.piece
    cut = piece_of(entries[stuck.places[0] : until], piece.first, piece.unreturned)
    search = PieceSearch(cut, rules, budget, goes_on)
    search.start_from(stuck.starts)
    return search


def _told(
    entries: Sequence[Entry], rules: CallRules[Rule], stuck: Stuck[Rule], explained: int
) -> Refutation:
    """Return the refutation at the end of the longest explained beginning."""
    budget = Budget(_MOST_ENDS)
    search = _search(entries, rules, budget, stuck, explained, goes_on=True)
    calls = [*search.piece.unreturned, *search.piece.calls]
    opened = tuple(call for call in calls if call.returned is None)
    found: dict[int, set[ShownAnswer]] = {call.number: set() for call in opened}
    order: list[Taken] | None = None
    all_answers = False
    try:
        while not all_answers:
            for reached in search.more(0):
                order = in_order(reached.order) if order is None else order
                for number, progress in reached.calls.items():
                    if progress.part is None and number in found:
                        answer = ShownAnswer(progress.result, progress.raised, progress.owed)
                        found[number].add(answer)
            all_answers = search.is_exhausted
    except OutOfBudget:
        pass
    answers = {number: tuple(sorted(each, key=repr)) for number, each in found.items()}
    return Refutation(explained, order or [], opened, answers, all_answers=all_answers)
