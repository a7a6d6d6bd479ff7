"""A call under way, as branches: what each has done so far, and what could be seen of it.

A call continues a branch, and gives all possible continuations: a single branch unless the rules
leave a choice. A branch *returns* with a result or *raises* a reason; one that raises does not go
on, unless its caller catches that.

Choices multiply where callbacks watch. To spare a search among all branches, a branch may know the
events that an observed call has shown: only branches that agree with the events so far are
followed, or, if no branch agrees, the few nearest, so that a report can say what was expected.
"""

from collections.abc import Callable, Hashable, Iterable
from heapq import nlargest
from typing import TypeVar

import msgspec
from immutables import Map

from purgatory_model.kafka_timer import TimerState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_state import NO_SCRIPT, OperationState, PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.watcher_lists import Entry, WatcherLists
from purgatory_spec.operations import CallInside, Script, ThrowSort
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.reasons import Reason

_NEAREST = 4
_FEW = 4

Same = TypeVar("Same", bound=Hashable)


class IntermediateState(msgspec.Struct, frozen=True):
    """A state in the middle of a call: that of the purgatory, with entries told apart."""

    timer: TimerState[Store]
    operations: Map[str, OperationState]
    lists: WatcherLists
    estimate: int
    closed: bool

    def between_calls(self) -> PurgatoryState:
        """Return the state of the purgatory when the call has come to its end."""
        return PurgatoryState(
            self.timer, self.operations, self.lists.names(), self.estimate, self.closed
        )


class Waiting(msgspec.Struct, frozen=True):
    """The call with which another thread waits while a callback of ``owner`` stands still.

    It is a whole call, or where ``found`` is given the rest of a check, whose walk has passed the
    entries of these numbers and which had found these entries at its beginning; ``thrown`` says
    whether a try of it threw.
    """

    owner: str
    call: CallInside
    found: tuple[Entry, ...] | None = None
    at_end: bool = False
    passed: frozenset[int] = frozenset()
    thrown: bool = False


class Branch(msgspec.Struct, frozen=True):
    """The course of a call so far, and its end if it has ended.

    ``due`` are the operations that an advance hands over to an inline executor and that have not
    run, tick by tick; they are handed over together or one by one. ``waiting`` is what another
    thread cannot do yet; it has left tries of ``again``, completions of ``forced``, to the call
    that is trying them, and acts if ``beside``. ``callback_timer_size`` is the last observed one,
    ``is_severe`` the sort of the exception.
    """

    state: IntermediateState
    events: tuple[Event, ...] = ()
    result: Value = None
    raised: Reason | None = None
    is_severe: bool = False
    due: tuple[frozenset[str], ...] = ()
    waiting: tuple[Waiting, ...] = ()
    again: frozenset[str] = frozenset()
    forced: frozenset[str] = frozenset()
    beside: bool = False
    callback_timer_size: int | None = None
    seen: tuple[Event, ...] | None = None

    def __hash__(self) -> int:
        return hash((self.state, self.events, self.result, self.raised))

    @property
    def agreeing_events(self) -> int:
        """Return the number of events that agree with those seen, up to the first difference."""
        pairs = zip(self.events, self.seen or (), strict=False)
        return next((number for number, (a, b) in enumerate(pairs) if a != b), len(self.events))

    @property
    def agrees(self) -> bool:
        """Decide whether the branch's events are a prefix of the events seen, if any were given."""
        return self.seen is None or self.seen[: len(self.events)] == self.events

    def operation(self, name: str) -> OperationState:
        """Return the delayed operation of this name."""
        return self.state.operations[name]

    def tell(self, *events: Event) -> "Branch":
        """This branch with further events."""
        return replace(self, events=self.events + events)

    def returns(self, result: Value) -> "Branch":
        """The branch, ended with a result."""
        return replace(self, result=result, raised=None, is_severe=False)

    def raises(self, reason: Reason, sort: ThrowSort = ThrowSort.ORDINARY) -> "Branch":
        """The branch, ended by an exception."""
        return replace(self, result=None, raised=reason, is_severe=sort is ThrowSort.SEVERE)

    def caught(self, name: str) -> "Branch":
        """Return the course behind an action of a callback, also where the action raised."""
        if self.raised is None:
            return replace(self, result=None)
        seen = self.tell(Event(EventKind.REJECTED, name, reason=self.raised))
        return seen.returns(None)

    def with_timer(self, timer: TimerState[Store]) -> "Branch":
        """This branch with another state of the timer."""
        return replace(self, state=replace(self.state, timer=timer))

    def satisfied(self, name: str) -> "Branch":
        """This branch with a delayed operation that every further try completes."""
        return self.with_operation(name, replace(self.operation(name), satisfied=True))

    def with_lists(self, lists: WatcherLists) -> "Branch":
        """This branch with other watcher lists."""
        return replace(self, state=replace(self.state, lists=lists))

    def with_operation(self, name: str, operation: OperationState) -> "Branch":
        """This branch with another state of a delayed operation."""
        operations = self.state.operations.set(name, operation)
        return replace(self, state=replace(self.state, operations=operations))

    def introduce(self, name: str, delay_ms: int = 0, script: Script = NO_SCRIPT) -> "Branch":
        """Return this course with a delayed operation of a name; a known one stays unchanged."""
        if name in self.state.operations:
            return self
        return self.with_operation(name, OperationState(delay_ms, script))


Branches = tuple[Branch, ...]
Continuation = Callable[[Branch], Iterable[Branch]]


def begin(state: PurgatoryState, seen: tuple[Event, ...] | None = None) -> Branch:
    """The branch of a call that has done nothing yet."""
    lists = WatcherLists(state.lists)
    begun = IntermediateState(state.timer, state.operations, lists, state.estimate, state.closed)
    return Branch(begun, seen=seen)


def distinct(found: Iterable[Same]) -> tuple[Same, ...]:
    """Return the items without duplicates, in the order of their first occurrence.

    A few items are compared pairwise: branches share most of their parts, and hashing would visit
    all parts.
    """
    all_found = tuple(found)
    if len(all_found) < 2:
        return all_found
    if len(all_found) > _FEW:
        return tuple(dict.fromkeys(all_found))
    return tuple(each for place, each in enumerate(all_found) if each not in all_found[:place])


def pruned(branches: Iterable[Branch]) -> Branches:
    """Keep the branches that agree with the events seen, without duplicates; else a few near."""
    return pruned_by(branches, lambda branch: branch)


def pruned_by(found: Iterable[Same], branch_of: Callable[[Same], Branch]) -> tuple[Same, ...]:
    """Keep the items whose branches agree with the events seen; see ``pruned``."""
    each_once = distinct(found)
    if len(each_once) < 2:
        return each_once
    agreeing = tuple(each for each in each_once if branch_of(each).agrees)
    if agreeing:
        return agreeing
    nearest = nlargest(_NEAREST, each_once, lambda each: branch_of(each).agreeing_events)
    return tuple(nearest)


def and_then(branches: Iterable[Branch], call: Continuation) -> Branches:
    """Branches that returned go on with a call; branches that raised are at their end."""
    found = (
        then
        for branch in branches
        for then in ((branch,) if branch.raised is not None else call(branch))
    )
    return pruned(found)
