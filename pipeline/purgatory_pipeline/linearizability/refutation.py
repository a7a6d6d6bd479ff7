"""Why no order explains a history: how far one does, and what the calls could have answered there.

Each beginning of a history that is explained is explained itself, so the longest one is found by
halving. Behind it stands the line that cannot be explained. What the calls that are open there
could answer is read off from all orders of that beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from purgatory_pipeline.linearizability.budget import Budget, OutOfBudget
from purgatory_pipeline.linearizability.calls import CallRules, Entry, RecordedCall, Rule
from purgatory_pipeline.linearizability.decision import Explained, Stuck, decide, piece_of
from purgatory_pipeline.linearizability.order import Taken, in_order
from purgatory_pipeline.linearizability.search import PieceSearch
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason

_MOST_ENDS = 20_000
"""So many configurations are looked at for what calls could have answered."""


class ShownAnswer(NamedTuple):
    """What a call could have answered; ``owed`` are events that it would have shown before."""

    result: Value
    raised: Reason | None
    owed: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Refutation:
    """Where nothing explains a history any longer.

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
    """How far a history is explained in which ``decide`` was stuck."""
    began, high = stuck.places
    low = began
    if any(entry.seq >= entries[began].seq for c in stuck.piece.unreturned for entry in c.shown):
        return _without_cutting(entries, rules, budget, high)
    try:
        while high - low > 1:
            middle = (low + high) // 2
            search = _search(entries, rules, budget, stuck, middle)
            if search.more(0):
                low = middle
            else:
                high = middle
            budget.forget(len(search.visited))
    except OutOfBudget:
        return Refutation(high - 1, is_exact=False, all_answers=False)
    return _told(entries, rules, stuck, low)


def _search(
    entries: Sequence[Entry],
    rules: CallRules[Rule],
    budget: Budget,
    stuck: Stuck[Rule],
    until: int,
    *,
    goes_on: bool = False,
) -> PieceSearch[Rule]:
    """A search of the piece in which all was stuck, as far as an entry."""
    piece = stuck.piece
    cut = piece_of(entries[stuck.places[0] : until], piece.first, piece.unreturned)
    search = PieceSearch(cut, rules, budget, goes_on)
    search.start_from(stuck.starts)
    return search


def _told(
    entries: Sequence[Entry], rules: CallRules[Rule], stuck: Stuck[Rule], explained: int
) -> Refutation:
    """What is to be said of the longest beginning."""
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


def _without_cutting(
    entries: Sequence[Entry], rules: CallRules[Rule], budget: Budget, high: int
) -> Refutation:
    """The same, where a call that never returns goes on showing events behind the piece.

    What it shows later must not count against an earlier line, so that each beginning is decided
    anew.
    """
    low = 0
    stuck: Stuck[Rule] | None = None
    order: list[Taken] = []
    try:
        while high - low > 1:
            middle = (low + high) // 2
            decided = decide(entries[:middle], rules, budget)
            if isinstance(decided, Explained):
                low, order = middle, decided.order
            else:
                high, stuck = middle, decided
    except OutOfBudget:
        return Refutation(high - 1, is_exact=False, all_answers=False)
    if stuck is not None and stuck.places[0] <= low and stuck.places[1] == high:
        return _told(entries, rules, stuck, low)
    return Refutation(low, order, all_answers=False)
