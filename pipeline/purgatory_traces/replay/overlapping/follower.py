"""The follower of one component through a run on a real clock."""

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.judge import Finding
from purgatory_traces.traces.lines import Begin, Snapshot, WallClock

Kept = TypeVar("Kept")
"""The record that a follower keeps of an open call."""


@dataclass(slots=True)
class Follower(ABC, Generic[Kept]):
    """Follows the calls and callbacks of one component.

    Every method that judges returns a finding where something is not allowed. Findings need not
    name the thread.

    Attributes:
        begin: The first line of the run.
        visits: How often each rule was put to the test so far.
        deviated: The rules of declared deviations that were seen so far.
        variants: The variants of the model that are declared, each with its rule.
    """

    begin: Begin
    visits: Counter[str] = field(default_factory=Counter)
    deviated: set[str] = field(default_factory=set)
    variants: dict[str, str] = field(init=False)

    expiry_rule: ClassVar[str] = ""
    """The rule that a missing expiry breaks; empty where nothing expires."""

    def __post_init__(self) -> None:
        self.variants = {each.variant: each.rule for each in self.begin.deviations}

    def deviates(self, variant: str) -> bool:
        """Decide whether a breach is a declared deviation; then note it."""
        rule = self.variants.get(variant)
        if rule is not None:
            self.deviated.add(rule)
        return rule is not None

    def pending_expiries(self) -> int:
        """Return the number of awaited expiries, not overdue, at the end or at a shutdown."""
        return 0

    @property
    def lateness_ms(self) -> int:
        """Return how late what happens may be seen, ms."""
        clock = self.begin.clock
        return clock.lateness_ms if isinstance(clock, WallClock) else 0

    @abstractmethod
    def called(self, operation: Operation, at_ms: int) -> Kept:
        """Follow a call that begins, and return it.

        Raises:
            Unusable: the component has no such operation on a clock that moves by itself.
        """

    @abstractmethod
    def happened(
        self, thread: str, call: Kept | None, event: Event, first_ms: int, last_ms: int
    ) -> Finding | None:
        """Follow a callback between two readings, in an open call of its thread or in none."""

    @abstractmethod
    def returned(
        self, call: Kept, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """Follow a call that returns, and return a finding."""

    def passed(self, now_ms: int) -> Finding | None:
        """Follow the clock to a reading, and return a finding."""
        return None

    def ended(self, now_ms: int) -> Finding | None:
        """Return no finding at the end."""
        return None

    @abstractmethod
    def resume(self, snapshot: Snapshot, now_ms: int) -> list[tuple[str, Operation, Kept]]:
        """Begin with what a snapshot says; the calls that were open then."""

    @abstractmethod
    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """Compare with what is known already."""
