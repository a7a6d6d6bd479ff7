"""Follows a timer on a real clock, task by task: what one task does binds no other.

An expiry is an interval, from the readings before and after the add. Never early is a MUST,
lateness is a SHOULD. An arming that is ended when it may already have been handed over leaves both
open: one run of it in its time is right, and none is. See ``timer_armings``.
"""

from collections import Counter
from dataclasses import dataclass, field

from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping.timer.calls import OtherCall, called, returned
from purgatory_pipeline.replay.overlapping.timer.knowledge import TimerKnowledge
from purgatory_pipeline.replay.overlapping.timer.runs import ended, happened, passed
from purgatory_pipeline.replay.overlapping.timer.snapshot import compare, resume
from purgatory_pipeline.replay.overlapping.timer_armings import TimerCall
from purgatory_pipeline.traces.lines import Begin, Snapshot, TimerInstance
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason


@dataclass(slots=True)
class TimerFollower:
    """Follows a timer; see ``Follower``."""

    begin: Begin
    instance: TimerInstance
    visits: Counter[str] = field(default_factory=Counter)
    deviated: set[str] = field(default_factory=set)
    _known: TimerKnowledge = field(init=False)

    def __post_init__(self) -> None:
        self._known = TimerKnowledge(self.begin, self.instance, self.visits, self.deviated)

    @property
    def expiry_rule(self) -> str:
        """The rule that a missing expiry breaks; see ``Follower``."""
        return "TIMER-NOT-LATE"

    def pending_expiries(self) -> int:
        """How many expiries were still awaited; see ``Follower``."""
        return self._known.pending_expiries()

    def called(self, operation: Operation, at_ms: int) -> TimerCall | OtherCall:
        """A call begins; see ``Follower``."""
        return called(self._known, operation, at_ms)

    def happened(
        self,
        thread: str,
        call: TimerCall | OtherCall | None,
        event: Event,
        first_ms: int,
        last_ms: int,
    ) -> Finding | None:
        """A task is handed over or runs. Rules: TIMER-NOT-EARLY, TIMER-EXACTLY-ONCE."""
        return happened(self._known, event, first_ms, last_ms)

    def returned(
        self,
        call: TimerCall | OtherCall,
        result: Value,
        rejected: Reason | None,
        at_ms: int,
    ) -> Finding | None:
        """A call returns; see ``Follower``."""
        return returned(self._known, call, rejected, at_ms)

    def passed(self, now_ms: int) -> Finding | None:
        """What should have run by now, and its line should have come. Rules: TIMER-LATENESS."""
        return passed(self._known, now_ms)

    def ended(self, now_ms: int) -> Finding | None:
        """What should have run by the end: no line comes any more."""
        return ended(self._known, now_ms)

    def resume(
        self, snapshot: Snapshot, now_ms: int
    ) -> list[tuple[str, Operation, TimerCall | OtherCall]]:
        """Begin with what a snapshot says; calls that were open may have taken effect before."""
        return resume(self._known, snapshot, now_ms)

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """A snapshot in the middle must hold what is certainly armed, and nothing else."""
        return compare(self._known, snapshot, now_ms)
