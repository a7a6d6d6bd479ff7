"""The delayed operations that a purgatory's follower has to remember, and their open calls.

An operation is remembered from its first call until nothing more can come of it: until it is
completed and every call that may still touch it has returned, or until it is in no list and owes no
time-out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from purgatory_spec.operations import CancelForKey, Check, Operation, Watch
from purgatory_traces.replay.overlapping.purgatory.operation_monitor import Memory
from purgatory_traces.replay.overlapping.recent_names import RecentNames

MOST_STALE_KEYS = 64
"""The most keys of which it is kept that their lists may have a completed operation."""


class Fate(Enum):
    """The fate of an operation that is forgotten."""

    COMPLETED = "completed"
    TOLD_COMPLETED = "told completed"
    """It was completed when the trace began."""
    CANCELLED = "cancelled"
    """It is in no list and owes no time-out."""
    LOOSE = "loose"
    """Its end is unknown: the operation was followed loosely."""


@dataclass(slots=True, eq=False)
class FollowedOperation:
    """A delayed operation that is followed through the run.

    Attributes:
        name: Its name in the trace.
        memory: What is known of it; None of one that is followed *loosely*: something was done
            with it that the rules for overlapping calls do not speak of. It is still not completed
            twice, nor too early by its time-out.
        keys: The keys that it was watched under, each with its number.
        early_ms: The earliest reading of the time-out; None without a time-out.
        late_ms: The latest reading of the time-out; None while unknown.
        is_due: Whether the memory was told that ``early_ms`` is reached.
        completed_in: The call that has completed the operation, or the run of the time-out.
    """

    name: str
    memory: Memory | None
    keys: dict[str, int] = field(default_factory=dict)
    early_ms: int | None = None
    late_ms: int | None = None
    is_due: bool = False
    is_completed: bool = False
    completed_in: "PurgatoryCall | None" = None
    was_cancelled: bool = False
    slots: int = 0
    """A bit for each slot that an open call has."""

    def take_slot(self) -> int:
        """Return the smallest slot that is free."""
        free = ~self.slots & (self.slots + 1)
        self.slots |= free
        return free.bit_length() - 1

    def free_slot(self, slot: int) -> None:
        """Free the slot of a call that has returned."""
        self.slots &= ~(1 << slot)


@dataclass(slots=True, eq=False)
class PurgatoryCall:
    """An open call, or the run of a time-out in a thread of the purgatory's own.

    Attributes:
        operation: What was called; None of a run.
        called_ms: When.
        began_closed: Whether the purgatory had been shut down before.
        concerned: The operations that it may touch, each with the slot that the call has there.
        completions: How many operations it has completed.
        tries: How many tries it has made.
        passes_completed: Whether, when it began, a completed operation may have been in its list.
        run: The operation whose time-out runs in it, with the slot, until ``on_expiration``.
        is_whole: Whether all of it is seen; not of a call that began before the trace.
    """

    operation: Operation | None
    called_ms: int = 0
    began_closed: bool = False
    concerned: dict[FollowedOperation, int] = field(default_factory=dict)
    completions: int = 0
    tries: int = 0
    passes_completed: bool = False
    run: tuple[FollowedOperation, int] | None = None
    is_whole: bool = True


@dataclass(slots=True)
class FollowedOperations:
    """All operations that are remembered, by name and by key, and the open calls of keys."""

    by_name: dict[str, FollowedOperation] = field(default_factory=dict)
    recent: RecentNames[Fate] = field(default_factory=RecentNames)
    """The ends of forgotten tasks."""
    satisfied: RecentNames[bool] = field(default_factory=RecentNames)
    """Operations that were satisfied before they were watched."""
    stale_keys: RecentNames[bool] = field(
        default_factory=partial(RecentNames, most=MOST_STALE_KEYS)
    )
    """Keys under which a completed operation was left, and that nobody has checked since."""
    _by_key: dict[str, dict[str, FollowedOperation]] = field(default_factory=dict)
    _calls_of: dict[str, list[PurgatoryCall]] = field(default_factory=dict)

    def under(self, key: str) -> list[FollowedOperation]:
        """Return the operations that were watched under a key."""
        return list(self._by_key.get(key, _NOBODY).values())

    def enter(self, operation: FollowedOperation, key: str) -> None:
        """Enter an operation that is watched under a key."""
        if key not in operation.keys:
            operation.keys[key] = len(operation.keys)
            self._by_key.setdefault(key, {})[operation.name] = operation

    def forget(self, operation: FollowedOperation, fate: Fate) -> None:
        """Forget an operation that can have no further events."""
        del self.by_name[operation.name]
        for key in operation.keys:
            under = self._by_key[key]
            del under[operation.name]
            if not under:
                del self._by_key[key]
        if fate is Fate.COMPLETED:
            for key in _stale_keys(operation):
                self.stale_keys.put(key, True)
        self.recent.put(operation.name, fate)

    def open(self, call: PurgatoryCall) -> None:
        """Open a check or a cancellation of a key."""
        if isinstance(call.operation, Check | CancelForKey):
            self._calls_of.setdefault(call.operation.key, []).append(call)

    def close(self, call: PurgatoryCall) -> None:
        """Close a check or a cancellation of a key."""
        if isinstance(call.operation, Check | CancelForKey):
            calls = self._calls_of[call.operation.key]
            calls.remove(call)
            if not calls:
                del self._calls_of[call.operation.key]

    def open_calls_of(self, operation: FollowedOperation) -> Iterator[PurgatoryCall]:
        """Yield the open calls of an operation's keys that do not know it yet."""
        for key in operation.keys:
            for call in self._calls_of.get(key, ()):
                if operation not in call.concerned:
                    yield call


_NOBODY: dict[str, FollowedOperation] = {}


def _stale_keys(operation: FollowedOperation) -> Iterator[str]:
    """Yield the keys whose lists hold a completed operation, if no purge removes it."""
    by = operation.completed_in
    never_entered = by is not None and isinstance(by.operation, Watch) and by.tries < 2
    if operation.was_cancelled or never_entered:
        return
    for key in operation.keys:
        if by is None or not isinstance(by.operation, Check) or by.operation.key != key:
            yield key
