"""What calls of the purgatory that overlap do to one delayed operation.

Theory of operation. A call that nothing interrupts is one effect, as in the sequential model. Where
calls overlap, some of them take effect in *parts*, each at an instant of its own between call and
return, in a fixed order; between two parts anything else may happen to the operation. Every part
does what the sequential rules say of it. These are the parts:

    watch      try; for each key: enter its list; try again; arm the time-out, then look whether
               the operation was completed meanwhile, and if so disarm it. Where the time-out is
               armed *first*, that is before the lists, there is nothing to look for afterwards.
    complete   (the end of a try, of force or of a time-out that comes first) the operation is
               completed; then its time-out leaves the timer and, where a check has completed it,
               its entry is dropped, in either order
    check      meet the operation in the list; try it
    cancel     take the list; then give up the key, and with the last key the time-out. What a
               watch under way is still to enter counts as a key, if its time-out is armed, and
               so does what another cancellation is about to give up.
    purge      list by list

So a completed operation may stay for a moment in the timer, and in the list that is checked, and
may even be handed over to the executor; the run then does nothing. With nothing in between, parts
add up to the sequential call.

The rules explain projections of histories on one operation (``projection``). Time is left out: an
armed time-out may be handed over by any ``Advance`` or by none, and ``RunOne`` may run another
operation's. No operation is watched again, and no callback calls or throws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from purgatory_model.overlapping.parts import WHOLE, Part, Stage
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_spec.operations import (
    Advance,
    CancelForKey,
    Check,
    Force,
    Operation,
    RunOne,
    Satisfy,
    Shutdown,
    Watch,
    operation_name,
)
from purgatory_spec.outcomes import Event, Value, completed, expired, timed_out, tried
from purgatory_spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class OverlappedOperation:
    """What the future of one delayed operation depends on, also in the middle of calls.

    Attributes:
        satisfied: Whether every try from now on completes it.
        completed: Whether it is completed.
        entries: The keys in whose lists it is.
        promised: The keys that count as its own though it is not in their lists: still to be
            entered by a watch that has armed the time-out, or just being cancelled.
        armed: Whether it is in the timer.
        queued: How often it is in the executor's queue.
        closed: Whether the purgatory has been shut down.
    """

    satisfied: bool = False
    completed: bool = False
    entries: frozenset[str] = frozenset()
    promised: frozenset[str] = frozenset()
    armed: bool = False
    queued: int = 0
    closed: bool = False

    def disarmed(self) -> "OverlappedOperation":
        """Out of the timer."""
        return replace(self, armed=False)

    def without(self, key: str) -> "OverlappedOperation":
        """Without its entry under a key."""
        return replace(self, entries=self.entries - {key})


_Effect: TypeAlias = Effect[OverlappedOperation]
_Effects: TypeAlias = Iterator[_Effect]


@dataclass(frozen=True, slots=True)
class OverlappingCalls:
    """The rules for the operation of this name.

    Attributes:
        name: The operation's name.
        arms_first: Whether a watch arms the time-out before it enters the lists.
        any_key_takes_time_out: Cancelling for one key takes the time-out of an operation that is
            watched under others too, as Kafka does it (PURGATORY-CANCEL-KEEPS-TIME-OUT).
    """

    name: str
    arms_first: bool = False
    any_key_takes_time_out: bool = False

    def initial(self) -> OverlappedOperation:
        """It was never watched."""
        return OverlappedOperation()

    def effects(self, state: OverlappedOperation, operation: Operation, part: Part) -> _Effects:
        """The ways in which a part of a call may take effect. Rules: PURGATORY-OVERLAPPING-CALLS.

        Raises:
            ValueError: the operation is none that a projection keeps.
        """
        if part.stage is Stage.LEAVE_TIMER and not isinstance(operation, Check):
            yield Effect(state.disarmed())
            return
        match operation:
            case Watch(keys=keys):
                yield from self._watch(state, keys, part)
            case Check(key):
                yield from self._check(state, key, part)
            case CancelForKey(key):
                yield self._cancel(state, key, part)
            case Force():
                yield self._force(state)
            case Advance():
                yield from self._advance(state, part)
            case RunOne():
                yield from self._run_one(state)
            case Satisfy():
                yield Effect(replace(state, satisfied=True))
            case Shutdown():
                yield Effect(replace(state.disarmed(), closed=True))
            case _:
                raise ValueError(f"no delayed operation knows {operation_name(operation)}")

    def _watch(self, state: OverlappedOperation, keys: tuple[str, ...], part: Part) -> _Effects:
        """Try, enter the lists, try again, arm.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS,
        PURGATORY-NO-KEYS, PURGATORY-SHUTDOWN-CLOSED.
        """
        if part.number is not None:
            yield from self._enter(state, keys, part.number)
        elif part.stage is Stage.TRY_AGAIN:
            yield self._second_try(state)
        elif part.stage is Stage.ARM:
            yield from self._arm(state)
        elif part.stage is Stage.LOOK_AGAIN:
            yield Effect(state.disarmed() if state.completed else state, result=False)
        elif state.closed:
            yield Effect(state, raised=Reason.CLOSED)
        elif not keys:
            yield Effect(state, raised=Reason.INVALID_ARGUMENT)
        else:
            yield from self._first_try(state, keys)

    def _first_try(self, state: OverlappedOperation, keys: tuple[str, ...]) -> _Effects:
        if state.completed:
            for count in range(3):
                yield Effect(state, (tried(self.name),) * count, result=False)
        elif state.satisfied:
            yield self._completing(state, result=True)
        elif self.arms_first:
            promised = replace(state, promised=frozenset(keys))
            for after, events in self._armed(promised):
                yield Effect(after, (tried(self.name), *events), then=Part(Stage.ENTER, 0))
        else:
            yield Effect(state, (tried(self.name),), then=Part(Stage.ENTER, 0))

    def _enter(self, state: OverlappedOperation, keys: tuple[str, ...], number: int) -> _Effects:
        """Enter one list, or none any longer where somebody has completed the operation."""
        key, last = keys[number], number + 1 == len(keys)
        following = Part(Stage.TRY_AGAIN) if last else Part(Stage.ENTER, number + 1)
        listed = replace(state, entries=state.entries | {key}, promised=state.promised - {key})
        yield Effect(listed, then=following)
        if state.completed:
            yield Effect(replace(state, promised=frozenset()), then=Part(Stage.TRY_AGAIN))

    def _second_try(self, state: OverlappedOperation) -> _Effect:
        if state.completed:
            return Effect(state, result=False)
        if state.satisfied:
            return self._completing(state, result=True)
        if self.arms_first:
            return Effect(state, (tried(self.name),), result=False)
        return Effect(state, (tried(self.name),), then=Part(Stage.ARM))

    def _arm(self, state: OverlappedOperation) -> _Effects:
        """Who completes the operation just before it is armed finds no time-out to cancel."""
        for after, events in self._armed(state):
            yield Effect(after, events, then=Part(Stage.LOOK_AGAIN))
        if state.completed:
            yield Effect(state, result=False)

    def _armed(
        self, state: OverlappedOperation
    ) -> Iterator[tuple[OverlappedOperation, tuple[Event, ...]]]:
        """With its time-out armed or, where that is due at once, handed over."""
        yield replace(state, armed=True), ()
        yield replace(state, queued=state.queued + 1), (expired(self.name),)

    def _completing(
        self, state: OverlappedOperation, result: Value, then: Stage = Stage.LEAVE_TIMER
    ) -> _Effect:
        """A try completes it; its time-out leaves the timer next.

        Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-TIMER-LEFT.
        """
        events = (tried(self.name), completed(self.name))
        return Effect(replace(state, completed=True), events, result, then=Part(then))

    def _check(self, state: OverlappedOperation, key: str, part: Part) -> _Effects:
        """Meet it, try it, drop it.

        Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED,
        PURGATORY-NOT-LOST, PURGATORY-CHECK-UNKNOWN.
        """
        if part.stage is Stage.LEAVE_TIMER:
            yield Effect(state.disarmed(), then=Part(Stage.DROP))
        elif part.stage is Stage.DROP_THEN_LEAVE:
            yield Effect(state.without(key), then=Part(Stage.DROP))
        elif part.stage is Stage.DROP:
            yield Effect(state.disarmed().without(key))
        elif part == WHOLE and key not in state.entries:
            yield Effect(state, result=0)
        elif state.completed:
            yield Effect(state.without(key), result=0)
            if part.stage is Stage.TRY:
                yield Effect(state, result=0)
        elif part == WHOLE:
            yield Effect(state, then=Part(Stage.TRY))
        elif state.satisfied:
            yield self._completing(state, result=1)
            yield self._completing(state, result=1, then=Stage.DROP_THEN_LEAVE)
        else:
            yield Effect(state, (tried(self.name),), result=0)

    def _cancel(self, state: OverlappedOperation, key: str, part: Part) -> _Effect:
        """Take its entry; then give up the key, and with the last one the time-out.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN.
        """
        if part.stage is Stage.GIVE_UP:
            left = replace(state, promised=state.promised - {key})
            elsewhere = left.entries | left.promised and not self.any_key_takes_time_out
            # The time-out of a completed operation is left to whoever has completed it.
            return Effect(left if elsewhere or state.completed else left.disarmed())
        if key not in state.entries:
            return Effect(state, result=())
        taken = replace(state.without(key), promised=state.promised | {key})
        return Effect(taken, result=(self.name,), then=Part(Stage.GIVE_UP))

    def _force(self, state: OverlappedOperation) -> _Effect:
        """Complete it, once. Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN."""
        if state.completed:
            return Effect(state, result=False)
        after = replace(state, completed=True)
        return Effect(after, (completed(self.name),), result=True, then=Part(Stage.LEAVE_TIMER))

    def _advance(self, state: OverlappedOperation, part: Part) -> _Effects:
        """Hand over what is in the timer, and perhaps purge, list by list.

        Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-REMOVES, PURGATORY-SHUTDOWN-DROPS.
        """
        yield Effect(state)
        if part == WHOLE and state.closed:
            yield Effect(state, raised=Reason.CLOSED)
        if part == WHOLE and state.armed:
            queued = replace(state, armed=False, queued=state.queued + 1)
            yield Effect(queued, (expired(self.name),))
        if state.completed:
            for key in sorted(state.entries):
                yield Effect(state.without(key), then=Part(Stage.PURGE))

    def _run_one(self, state: OverlappedOperation) -> _Effects:
        """Run its time-out, or another one's.

        Rules: PURGATORY-TIME-OUT, PURGATORY-CALLBACK-ORDER, PURGATORY-LOST-EXPIRY.
        """
        yield Effect(state)
        if not state.queued:
            return
        ran = replace(state, queued=state.queued - 1)
        if state.completed:
            yield Effect(ran)
        else:
            events: tuple[Event, ...] = (completed(self.name), timed_out(self.name))
            yield Effect(replace(ran, completed=True), events, then=Part(Stage.LEAVE_TIMER))
