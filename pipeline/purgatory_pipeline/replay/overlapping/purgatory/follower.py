"""Follows a purgatory on a real clock, operation by operation.

Theory of operation. What a call does to one delayed operation has nothing to do with what it does
to another, so each is followed by itself, by what the model says of calls that overlap
(``operation_monitor``). A call is told to every operation that it concerns: a check or cancellation
of a key to those watched under it, the others to the one they name. Two things are judged here:
that a check counts what it has completed, and the time. An operation's time-out comes neither
before its due tick nor later than the lateness allows, as a timer's tasks do. If an operation is
completed outside every call that concerns it, the time-out completed it; ``on_expiration`` follows.
"""

from collections import Counter
from dataclasses import dataclass, field

from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping.purgatory.callbacks import happened
from purgatory_pipeline.replay.overlapping.purgatory.calls import called
from purgatory_pipeline.replay.overlapping.purgatory.followed_operations import PurgatoryCall
from purgatory_pipeline.replay.overlapping.purgatory.knowledge import PurgatoryKnowledge
from purgatory_pipeline.replay.overlapping.purgatory.returns import returned
from purgatory_pipeline.replay.overlapping.purgatory.snapshot import compare, resume
from purgatory_pipeline.replay.overlapping.purgatory.time_outs import (
    ended,
    passed,
    pending_expiries,
)
from purgatory_pipeline.traces.lines import Begin, PurgatoryInstance, Snapshot
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason


@dataclass(slots=True)
class PurgatoryFollower:
    """Follows a purgatory; see ``Follower``."""

    begin: Begin
    instance: PurgatoryInstance
    visits: Counter[str] = field(default_factory=Counter)
    deviated: set[str] = field(default_factory=set)
    _known: PurgatoryKnowledge = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is watched.

        Raises:
            Unusable: the trace leaves out what cannot be done without.
        """
        self._known = PurgatoryKnowledge(self.begin, self.instance, self.visits, self.deviated)

    @property
    def expiry_rule(self) -> str:
        """The rule that a missing expiry breaks; see ``Follower``."""
        return "PURGATORY-TIME-OUT"

    def pending_expiries(self) -> int:
        """How many expiries were still awaited; see ``Follower``."""
        return pending_expiries(self._known)

    def called(self, operation: Operation, at_ms: int) -> PurgatoryCall:
        """A call begins; see ``Follower``."""
        return called(self._known, operation, at_ms)

    def happened(
        self, thread: str, call: PurgatoryCall | None, event: Event, first_ms: int, last_ms: int
    ) -> Finding | None:
        """A callback begins; see ``Follower``."""
        return happened(self._known, thread, call, event, first_ms, last_ms)

    def returned(
        self, call: PurgatoryCall, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """A call returns; see ``Follower``."""
        return returned(self._known, call, result, rejected, at_ms)

    def passed(self, now_ms: int) -> Finding | None:
        """What should have timed out by now, and its line should have come."""
        return passed(self._known, now_ms)

    def ended(self, now_ms: int) -> Finding | None:
        """What should have timed out by the end: no line comes any more."""
        return ended(self._known, now_ms)

    def resume(self, snapshot: Snapshot, now_ms: int) -> list[tuple[str, Operation, PurgatoryCall]]:
        """Begin with what a snapshot says; the calls that were open then."""
        return resume(self._known, snapshot, now_ms)

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """A snapshot in the middle must tell what is known of every operation that nobody calls."""
        return compare(self._known, snapshot, now_ms)
