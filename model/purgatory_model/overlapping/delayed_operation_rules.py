"""The sequential rules of the purgatory for one delayed operation.

What a purgatory does to one operation depends on little: whether it is satisfied, whether it is
completed, under which keys it has an entry, and where its time-out is. These rules say what each
call does to that, all at once, as in the sequential model, and explain the projections of histories
(``projection``) in which it takes effect so. What calls do that overlap is in
``overlapping.calls``.

At which point of a watch its time-out is armed is free. Time is left out: an armed time-out may be
handed over as it is armed, by any ``Advance``, or by none, and ``RunOne`` may run this operation's
or another one's. No try and no callback throws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
from purgatory_spec.outcomes import completed, expired, timed_out, tried
from purgatory_spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class OneOperation:
    """What the future of one delayed operation depends on.

    Attributes:
        satisfied: Whether every try from now on completes it.
        completed: Whether it is completed.
        entries: The keys in whose lists it is, once for each entry, in alphabetical order.
        armed: Whether it is in the timer.
        queued: How often it is in the executor's queue.
        closed: Whether the purgatory has been shut down.
    """

    satisfied: bool = False
    completed: bool = False
    entries: tuple[str, ...] = ()
    armed: bool = False
    queued: int = 0
    closed: bool = False


_Effects = Iterator[Effect[OneOperation]]


@dataclass(frozen=True, slots=True)
class DelayedOperationRules:
    """The rules for the operation of this name.

    Attributes:
        name: The operation's name.
        any_key_takes_time_out: Cancelling for one key takes the time-out of an operation that is
            watched under others too, as Kafka does it (PURGATORY-CANCEL-KEEPS-TIME-OUT).
    """

    name: str
    any_key_takes_time_out: bool = False

    def initial(self) -> OneOperation:
        """It was never watched."""
        return OneOperation()

    def effects(self, state: OneOperation, operation: Operation, part: str) -> _Effects:
        """The ways in which a call may take effect; it has one part.

        Raises:
            ValueError: the operation is none that a projection keeps.
        """
        match operation:
            case Watch(keys=keys):
                yield from self._watch(state, keys)
            case Check(key):
                yield self._check(state, key)
            case CancelForKey(key):
                yield self._cancel(state, key)
            case Force():
                yield self._force(state)
            case Satisfy():
                yield Effect(replace(state, satisfied=True))
            case Advance():
                yield from self._advance(state)
            case RunOne():
                yield from self._run(state)
            case Shutdown():
                yield Effect(replace(disarmed(state), closed=True))
            case _:
                raise ValueError(f"no delayed operation knows {operation_name(operation)}")

    def _watch(self, state: OneOperation, keys: tuple[str, ...]) -> _Effects:
        """Try; else enter the lists, try again and arm.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS,
        PURGATORY-WATCH-COMPLETED, PURGATORY-NO-KEYS, PURGATORY-SHUTDOWN-CLOSED.
        """
        if state.closed:
            yield Effect(state, raised=Reason.CLOSED)
        elif not keys:
            yield Effect(state, raised=Reason.INVALID_ARGUMENT)
        elif state.completed:
            for count in range(3):
                yield Effect(state, (tried(self.name),) * count, result=False)
        elif state.satisfied:
            yield Effect(done(state), (tried(self.name), completed(self.name)), result=True)
        else:
            listed = replace(state, entries=tuple(sorted(state.entries + keys)))
            yield from self._waits(listed)

    def _waits(self, state: OneOperation) -> _Effects:
        """Tried twice in vain, and armed; what is due at once is handed over in between or after.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH.
        """
        once, due = tried(self.name), expired(self.name)
        yield Effect(replace(state, armed=True), (once, once), result=False)
        for events in ((once, due, once), (once, once, due)):
            yield Effect(handed_over(state), events, result=False)

    def _check(self, state: OneOperation, key: str) -> Effect[OneOperation]:
        """Try it once for each entry in the list; drop them if it is completed.

        Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED,
        PURGATORY-NOT-LOST, PURGATORY-CHECK-UNKNOWN, PURGATORY-DUPLICATE-KEYS.
        """
        count = state.entries.count(key)
        if count == 0 or state.completed:
            return Effect(without(state, key), result=0)
        if state.satisfied:
            events = (tried(self.name), completed(self.name))
            return Effect(done(without(state, key)), events, result=1)
        return Effect(state, (tried(self.name),) * count, result=0)

    def _cancel(self, state: OneOperation, key: str) -> Effect[OneOperation]:
        """Take its entry, and with the last one its time-out.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN.
        """
        left = without(state, key)
        if left == state or (left.entries and not self.any_key_takes_time_out):
            return Effect(left, result=self._entries(state, key))
        return Effect(disarmed(left), result=self._entries(state, key))

    def _entries(self, state: OneOperation, key: str) -> tuple[str, ...]:
        """What a cancellation returns of it."""
        return (self.name,) * state.entries.count(key)

    def _force(self, state: OneOperation) -> Effect[OneOperation]:
        """Complete it, once.

        Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN, PURGATORY-EXACTLY-ONCE.
        """
        if state.completed:
            return Effect(state, result=False)
        return Effect(done(state), (completed(self.name),), result=True)

    def _advance(self, state: OneOperation) -> _Effects:
        """Hand it over, if its time-out is armed and due, and perhaps purge.

        Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-REMOVES, PURGATORY-SHUTDOWN-DROPS.
        """
        yield Effect(state)
        if state.closed:
            yield Effect(state, raised=Reason.CLOSED)
        if state.armed:
            yield Effect(handed_over(state), (expired(self.name),))
        if state.completed:
            yield Effect(replace(state, entries=()))

    def _run(self, state: OneOperation) -> _Effects:
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
            yield Effect(done(ran), (completed(self.name), timed_out(self.name)))


def without(state: OneOperation, key: str) -> OneOperation:
    """Without its entries under a key."""
    return replace(state, entries=tuple(each for each in state.entries if each != key))


def done(state: OneOperation) -> OneOperation:
    """Completed, and out of the timer; what was handed over stays in the executor's queue.

    Rules: PURGATORY-TIMER-LEFT, PURGATORY-LOST-EXPIRY.
    """
    return replace(disarmed(state), completed=True)


def disarmed(state: OneOperation) -> OneOperation:
    """Out of the timer."""
    return replace(state, armed=False)


def handed_over(state: OneOperation) -> OneOperation:
    """Out of the timer, and once more in the executor's queue."""
    return replace(state, armed=False, queued=state.queued + 1)
