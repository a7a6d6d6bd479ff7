"""A share of a run, which one search explains, and the search's finding."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias

from purgatory_model.overlapping.interleaving import Called
from purgatory_traces.linearizability.budget import Budget
from purgatory_traces.linearizability.calls import CallRules, Entry, NoHistory, Rule
from purgatory_traces.linearizability.decision import Explained, Undecided, decide
from purgatory_traces.linearizability.refutation import Refutation, refute
from purgatory_traces.linearizability.search import Taken


@dataclass(frozen=True, slots=True)
class ShareFound:
    """The result of one share.

    ``refutation`` is None for an explained share; ``order`` is the explanation. Where that was not
    known when the budget was used up, ``undecided`` says how far it is explained.
    """

    name: str
    entries: Sequence[Entry]
    order: list[Taken] = field(default_factory=list)
    refutation: Refutation | None = None
    undecided: Undecided | None = None

    @property
    def unexplained(self) -> Entry | None:
        """Return the first entry that cannot be explained."""
        if self.refutation is None:
            return None
        return self.entries[self.refutation.explained]

    @property
    def last_explained(self) -> Entry | None:
        """Return the last entry of an undecided share's explained beginning, or None."""
        if self.undecided is None or self.undecided.explained == 0:
            return None
        return self.entries[self.undecided.explained - 1]

    @property
    def fails_at(self) -> int:
        """Return the number of the first line that cannot be explained.

        Raises:
            ValueError: all of it is explained.
        """
        entry = self.unexplained
        if entry is None:
            raise ValueError("all of it is explained")
        return entry.seq


@dataclass(frozen=True, slots=True)
class Share(Generic[Rule]):
    """A part of a run that one search explains.

    Attributes:
        name: The task or the delayed operation; empty where it is the whole run.
        entries: What of the history belongs to it.
        rules: The alternatives; one of them has to explain the whole share.
    """

    name: str
    entries: Sequence[Entry]
    rules: Sequence[CallRules[Rule]]

    def until(self, seq: int) -> "Share[Rule]":
        """Return the share before the line of this number."""
        lines = enumerate(self.entries)
        told = (
            place for place, each in lines if not isinstance(each.event, Called) and each.seq >= seq
        )
        return replace(self, entries=self.entries[: next(told, len(self.entries))])

    def explained(self, budget: Budget, allowance: int | None = None) -> ShareFound:
        """Look for an order; where there is none, find out why.

        Args:
            budget: The allowance of the search.
            allowance: How many configurations it may take to know whether there is one.
        """
        found: list[ShareFound] = []
        for rules in self.rules:
            budget.allow(allowance)
            try:
                found.append(self._explained(rules, budget))
            except Undecided as problem:
                aside = ShareFound(self.name, self.entries, problem.order, undecided=problem)
                found.append(aside)
            finally:
                budget.allow(None)
            if found[-1].refutation is None and found[-1].undecided is None:
                break
        return max(found, key=_goodness)

    def _explained(self, rules: CallRules[Rule], budget: Budget) -> ShareFound:
        stray: int | None = None
        try:
            decided = decide(self.entries, rules, budget)
        except NoHistory as problem:
            stray = problem.place
            decided = decide(self.entries[:stray], rules, budget)
        if not isinstance(decided, Explained):
            budget.allow(None)
            refutation = refute(self.entries[:stray], rules, budget, decided)
            return ShareFound(self.name, self.entries, refutation=refutation)
        if stray is None:
            return ShareFound(self.name, self.entries, decided.order)
        return ShareFound(self.name, self.entries, refutation=Refutation(stray, decided.order))


def _goodness(found: ShareFound) -> tuple[bool, bool, int]:
    """Return a sort key: explained, undecided, refuted; then the longest explained extent."""
    if found.refutation is not None:
        return False, False, found.refutation.explained
    if found.undecided is not None:
        return False, True, found.undecided.explained
    return True, True, len(found.entries)


AnyShare: TypeAlias = Share[Any]
"""A share, whatever its rules remember."""
