"""A share of a run, which one search explains, and what was found of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

from purgatory_pipeline.linearizability.budget import Budget
from purgatory_pipeline.linearizability.calls import CallRules, Entry, NoHistory, Rule
from purgatory_pipeline.linearizability.decision import Explained, decide
from purgatory_pipeline.linearizability.order import Taken
from purgatory_pipeline.linearizability.refutation import Refutation, refute


@dataclass(frozen=True, slots=True)
class ShareFound:
    """What was found of one share.

    ``refutation`` is None where it is explained; ``order`` then explains it.
    """

    name: str
    entries: Sequence[Entry]
    order: list[Taken] = field(default_factory=list)
    refutation: Refutation | None = None

    @property
    def unexplained(self) -> Entry | None:
        """The first entry that cannot be explained."""
        if self.refutation is None:
            return None
        return self.entries[self.refutation.explained]

    @property
    def fails_at(self) -> int:
        """The number of the first line that cannot be explained.

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
        rules: What is allowed.
    """

    name: str
    entries: Sequence[Entry]
    rules: CallRules[Rule]

    def explained(self, budget: Budget) -> ShareFound:
        """Look for an order; where there is none, find out why.

        Raises:
            OutOfBudget: it is not known when the budget is used up.
        """
        stray: int | None = None
        try:
            decided = decide(self.entries, self.rules, budget)
        except NoHistory as problem:
            stray = problem.place
            decided = decide(self.entries[:stray], self.rules, budget)
        if not isinstance(decided, Explained):
            refutation = refute(self.entries[:stray], self.rules, budget, decided)
            return ShareFound(self.name, self.entries, refutation=refutation)
        if stray is None:
            return ShareFound(self.name, self.entries, decided.order)
        return ShareFound(self.name, self.entries, refutation=Refutation(stray, decided.order))
