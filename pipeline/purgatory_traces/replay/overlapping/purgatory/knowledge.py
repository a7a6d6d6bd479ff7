"""Knowledge about a purgatory on a real clock, and about each of its operations.

Theory of operation. An operation is *told* of everything seen that concerns it, and its memory says
whether anything explains that. It is told first that it is due, once the clock has reached its
``early_ms``. When the last call that concerns it has returned and nothing more can come of it, it
is forgotten but for what became of it.

What begins, happens, returns and is due is brought here by the modules beside this one, each for
one of these.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from purgatory_judge.components import narrowed
from purgatory_spec.outcomes import EventKind
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.expiries import ExpiryFollower
from purgatory_traces.replay.overlapping.purgatory import blame
from purgatory_traces.replay.overlapping.purgatory.followed_operations import (
    Fate,
    FollowedOperation,
    FollowedOperations,
    PurgatoryCall,
)
from purgatory_traces.replay.overlapping.purgatory.operation_monitor import (
    ANY_KEY_TAKES_TIME_OUT,
    Seen,
    System,
    fresh,
)
from purgatory_traces.replay.overlapping.recent_names import RecentNames
from purgatory_traces.traces.lines import PurgatoryInstance

_OPEN_AFTER_SHUTDOWN = "open_after_shutdown"
_NEVER_OMITTED = (EventKind.COMPLETED, EventKind.TIMED_OUT)


@dataclass(slots=True)
class PurgatoryKnowledge(ExpiryFollower[PurgatoryCall]):
    """The knowledge about a purgatory.

    Attributes:
        time_outs: Whether its operations time out.
        system: What decides how its operations are explained.
        operations: Those that are remembered.
        runs: By thread, the time-out that runs outside of every call.
        runs_since_snapshot: The threads that have run time-outs since the snapshot with which the
            trace begins, each with the operation whose run has begun before and has not ended, or
            an empty name; None where the trace begins with the run.
        snapshot_ms: When that snapshot was taken.
        now_ms: The latest reading of the clock.
    """

    time_outs: bool = field(init=False)
    system: System = field(init=False)
    operations: FollowedOperations = field(default_factory=FollowedOperations)
    runs: dict[str, PurgatoryCall] = field(default_factory=dict)
    runs_since_snapshot: RecentNames[str] | None = None
    snapshot_ms: int = 0
    now_ms: int = 0

    expiry_rule: ClassVar[str] = "PURGATORY-TIME-OUT"

    def __post_init__(self) -> None:
        """Begin without a watched operation.

        Raises:
            Unusable: the trace leaves out what cannot be done without.
        """
        ExpiryFollower.__post_init__(self)
        for kind in _NEVER_OMITTED:
            if kind in self.begin.omitted:
                raise Unusable(f"a purgatory cannot be judged without {kind.value}")
        instance = narrowed(self.begin.instance, PurgatoryInstance)
        self.time_outs = instance.configuration.time_outs
        self.system = System.of(self.begin, instance.profile)

    @property
    def live(self) -> int:
        """Return the number of operations that are remembered."""
        return len(self.operations.by_name)

    @property
    def awaited(self) -> int:
        """Return the number of operations that have to time out, if no call completes them."""
        return sum(1 for _ in self.waited_for())

    def waited_for(self) -> Iterator[tuple[int, str]]:
        """Yield the awaited time-outs' operations, with their latest times."""
        for name, followed in self.operations.by_name.items():
            if followed.late_ms is not None and not followed.is_completed:
                yield followed.late_ms, name

    def overdue(self, name: str, over_ms: int, now_ms: int) -> Finding | None:
        """Return a finding if an operation should have timed out by a reading."""
        followed = self.operations.by_name.get(name)
        if followed is None or followed.is_completed:
            return None
        if followed.late_ms is None or followed.late_ms >= over_ms:
            return None
        self.read(now_ms)
        if not self.tell(followed, ("late",)):
            return blame.late(followed, f"it has not by {now_ms}")
        self.forget_if_settled(followed)
        return None

    def has_to_time_out(self, followed: FollowedOperation) -> bool:
        """Decide whether an operation must time out if no call completes it."""
        memory = followed.memory
        return not self.closing and memory is not None and memory.after(("late",)) is None

    def read(self, at_ms: int) -> None:
        """Note a reading that the clock has shown."""
        if at_ms > self.now_ms:
            self.now_ms = at_ms

    def named(self, name: str, *, is_new: bool = False) -> FollowedOperation:
        """Return the operation of a name; watched again after its end, it may be a new one."""
        followed = self.operations.by_name.get(name)
        if followed is None:
            followed = FollowedOperation(name, fresh(self.system))
            fate = self.operations.recent.take(name)
            if fate in (Fate.COMPLETED, Fate.TOLD_COMPLETED, Fate.LOOSE):
                followed.memory = None
                followed.is_completed = fate is not Fate.LOOSE and not is_new
            self.operations.by_name[name] = followed
        return followed

    def named_by_force(self, name: str) -> FollowedOperation:
        """Return the operation of a name; an unknown one may have been completed long ago."""
        is_known = name in self.operations.by_name
        followed = self.named(name)
        if not is_known and self.operations.recent.has_forgotten:
            followed.memory = None
        return followed

    def concern(self, call: PurgatoryCall, followed: FollowedOperation, seen: Seen) -> None:
        """Tell an operation of the beginning of a call that concerns the operation."""
        slot = call.concerned[followed] = followed.take_slot()
        if followed.memory is not None:
            word, *rest = seen
            followed.memory = followed.memory.after((word, slot, *rest))

    def tell(self, followed: FollowedOperation, seen: Seen) -> bool:
        """Tell an operation of something seen; whether that is explained."""
        memory = followed.memory
        if memory is None:
            return True
        early_ms = followed.early_ms
        if not followed.is_due and early_ms is not None and self.now_ms >= early_ms:
            followed.is_due = True
            told = memory.after(("due",))
            assert told is not None
            memory = told
        after = memory.after(seen)
        if after is None:
            return False
        followed.memory = after
        if not after.is_strict and memory.is_strict:
            self.deviates(ANY_KEY_TAKES_TIME_OUT)
        return True

    def settle(self, followed: FollowedOperation, slot: int) -> None:
        """Settle a returned call that concerns an operation."""
        followed.free_slot(slot)
        if followed.slots:
            self.visits["PURGATORY-OVERLAPPING-CALLS"] += 1
        self.forget_if_settled(followed)

    def let_go(self, call: PurgatoryCall) -> None:
        """Let a call of unknown extent go: its operations are followed loosely."""
        for followed, slot in call.concerned.items():
            followed.memory = None
            followed.free_slot(slot)
            self.forget_if_settled(followed)

    def forget_if_settled(self, followed: FollowedOperation) -> None:
        """Forget an operation of which nothing more can come."""
        if followed.slots or self.operations.by_name.get(followed.name) is not followed:
            return
        memory = followed.memory
        if followed.is_completed:
            self.operations.forget(followed, Fate.COMPLETED)
            if not self.time_outs:
                self.visits["PURGATORY-NO-TIME-OUTS"] += 1
        elif memory is None:
            late_ms = followed.late_ms
            if late_ms is None or late_ms + self.interval.lateness_ms < self.now_ms:
                self.operations.forget(followed, Fate.LOOSE)
        elif memory.is_settled:
            self.operations.forget(followed, Fate.CANCELLED)
            if followed.was_cancelled and followed.late_ms is not None:
                self.passing.put(followed.late_ms, frozenset({"PURGATORY-CANCEL-LAST-KEY"}))

    def is_unknown(self, name: str) -> bool:
        """Decide whether the fate of a forgotten operation is unknown."""
        return self.operations.recent.get(name) is Fate.LOOSE or (
            self.closed and _OPEN_AFTER_SHUTDOWN in self.variants
        )

    def was_never_watched(self, name: str) -> bool:
        """Decide whether an operation that is not followed was certainly never watched."""
        recent = self.operations.recent
        return recent.get(name) is None and not recent.has_forgotten and not self.is_unknown(name)

    def runs_seen(self, thread: str) -> None:
        """Note that a thread runs a time-out that it has begun since the snapshot."""
        if self.runs_since_snapshot is not None:
            self.runs_since_snapshot.put(thread, "")

    def may_run_unseen(
        self, thread: str, call: PurgatoryCall | None, name: str, *, ends: bool
    ) -> bool:
        """Decide whether a callback may belong to a run that began before the trace.

        That is the first run of which the thread shows anything since the snapshot, of an operation
        that was then completed or is not known at all. A completion is shown when it has just taken
        effect, or as late as the lateness allows.
        """
        if self.runs_since_snapshot is None or name in self.operations.by_name:
            return False
        if self.operations.recent.get(name) not in (None, Fate.TOLD_COMPLETED):
            return False
        if call is not None and call.is_whole:
            return False
        if not ends and self.now_ms > self.snapshot_ms + self.interval.lateness_ms:
            return False
        first = self.runs_since_snapshot.get(thread)
        if first is not None and not (ends and first == name):
            return False
        self.runs_since_snapshot.put(thread, "" if ends else name)
        return True
