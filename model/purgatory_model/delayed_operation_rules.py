"""The sequential rules of the purgatory for one delayed operation.

What a purgatory does to one operation depends on little: whether it is satisfied, whether it is
completed, under which keys it has an entry, and where its time-out is. These rules say what each
call does to that, and explain the projections of histories (``projection``).

With nothing divided every call is one effect, as in the sequential model. *Divisions* let calls
take effect in parts, each at an instant of its own:

- ``second-try``: a watch tries; later it is in its lists and tries again. So an event between the
  two is met by the second try, as the rules ask (PURGATORY-WATCH-SECOND-TRY).
- ``arming``: where the time-out was not armed before the second try, it is armed some time after.
- ``cancelled-time-out``: a cancellation takes the entries; later it takes the time-out.
- ``purge``: a purge, which any ``Advance`` may make, goes through the lists one by one.

At which point of a watch its time-out is armed is free. Time is left out: an armed time-out may be
handed over as it is armed, by any ``Advance``, or by none, and ``RunOne`` may run this operation's
or another one's. No try and no callback throws.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from purgatory_model.sequential_rules import WHOLE, Effect
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
from purgatory_spec.outcomes import Event, completed, expired, timed_out, tried
from purgatory_spec.reasons import Reason

SECOND_TRY, ARMING = "second-try", "arming"
CANCELLED_TIME_OUT, PURGE = "cancelled-time-out", "purge"

DIVISIONS: Mapping[str, str] = {
    SECOND_TRY: "a watch enters the lists and tries again some time after its first try",
    ARMING: "a watch arms the time-out some time after its second try",
    CANCELLED_TIME_OUT: "a cancellation takes the time-out some time after the entries",
    PURGE: "a purge takes the entries of one key some time after those of another",
}
"""What may take effect in parts, each with a sentence; the later part goes by the same name."""

_SECOND_TRY_ARMED = "second-try, armed"
"""The part ``SECOND_TRY`` of a watch that has armed the time-out before."""


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
        divided: What takes effect in parts, see ``DIVISIONS``.
        any_key_takes_time_out: Cancelling for one key takes the time-out of an operation that is
            watched under others too, as Kafka does it (PURGATORY-CANCEL-KEEPS-TIME-OUT).
    """

    name: str
    divided: frozenset[str] = frozenset()
    any_key_takes_time_out: bool = False

    def __post_init__(self) -> None:
        """Reject a division that there is not."""
        unknown = self.divided - DIVISIONS.keys()
        if unknown:
            raise ValueError(
                f"there is no division {min(unknown)!r}; there are {', '.join(DIVISIONS)}"
            )

    def initial(self) -> OneOperation:
        """It was never watched."""
        return OneOperation()

    def effects(self, state: OneOperation, operation: Operation, part: str) -> _Effects:
        """The ways in which a part of a call may take effect.

        Raises:
            ValueError: the operation is none that a projection keeps.
        """
        match operation:
            case Watch(keys=keys):
                yield from self._watch(state, keys, part)
            case Check(key):
                yield self._check(state, key)
            case CancelForKey(key):
                yield self._cancel(state, key) if part == WHOLE else Effect(disarmed(state))
            case Force():
                yield self._force(state)
            case Satisfy():
                yield Effect(replace(state, satisfied=True))
            case Advance():
                yield from self._advance(state, part)
            case RunOne():
                yield from self._run(state)
            case Shutdown():
                yield Effect(replace(disarmed(state), closed=True))
            case _:
                raise ValueError(f"no delayed operation knows {operation_name(operation)}")

    def _watch(self, state: OneOperation, keys: tuple[str, ...], part: str) -> _Effects:
        """Try, enter the lists and try again, arm: one effect, or one after the other.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-NO-KEYS, PURGATORY-SHUTDOWN-CLOSED.
        """
        if part == ARMING:
            for after, events in self._armed(state):
                yield Effect(after, events, result=False)
        elif part != WHOLE:
            yield from self._second_try(state, keys, (), armed=part == _SECOND_TRY_ARMED)
        elif state.closed:
            yield Effect(state, raised=Reason.CLOSED)
        elif not keys:
            yield Effect(state, raised=Reason.INVALID_ARGUMENT)
        elif state.completed:
            yield from self._watch_completed(state)
        elif state.satisfied:
            yield Effect(done(state), (tried(self.name), completed(self.name)), result=True)
        else:
            yield from self._first_try(state, keys)

    def _watch_completed(self, state: OneOperation) -> _Effects:
        """Never, once or twice tried, and that is all. Rules: PURGATORY-WATCH-COMPLETED."""
        for count in range(3):
            yield Effect(state, (tried(self.name),) * count, result=False)

    def _first_try(self, state: OneOperation, keys: tuple[str, ...]) -> _Effects:
        """Try in vain; perhaps arm; then the second try, at once or later."""
        ways: list[tuple[OneOperation, tuple[Event, ...], bool]]
        ways = [(state, (tried(self.name),), False)]
        ways += [(after, (tried(self.name), *told), True) for after, told in self._armed(state)]
        for after, events, armed in ways:
            if SECOND_TRY not in self.divided:
                yield from self._second_try(after, keys, events, armed=armed)
            else:
                yield Effect(after, events, then=_SECOND_TRY_ARMED if armed else SECOND_TRY)

    def _second_try(
        self, state: OneOperation, keys: tuple[str, ...], before: tuple[Event, ...], *, armed: bool
    ) -> _Effects:
        """Enter the lists and try again; who was completed meanwhile may be entered or not.

        Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS, PURGATORY-WATCH-COMPLETED.
        """
        listed = replace(state, entries=tuple(sorted(state.entries + keys)))
        again = (*before, tried(self.name))
        if state.completed:
            for after in (state, listed):
                yield Effect(after, before, result=False)
                yield Effect(after, again, result=False)
        elif state.satisfied:
            yield Effect(done(listed), (*again, completed(self.name)), result=True)
        elif armed:
            yield Effect(listed, again, result=False)
        elif ARMING in self.divided:
            yield Effect(listed, again, then=ARMING)
        else:
            for after, events in self._armed(listed):
                yield Effect(after, again + events, result=False)

    def _armed(self, state: OneOperation) -> Iterator[tuple[OneOperation, tuple[Event, ...]]]:
        """With its time-out armed or, where that is due at once, handed over.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH.
        """
        if state.completed:
            yield state, ()
            return
        yield replace(state, armed=True), ()
        yield replace(state, armed=False, queued=state.queued + 1), (expired(self.name),)

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
        result = self._entries(state, key)
        if CANCELLED_TIME_OUT in self.divided:
            return Effect(left, result=result, then=CANCELLED_TIME_OUT)
        return Effect(disarmed(left), result=result)

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

    def _advance(self, state: OneOperation, part: str) -> _Effects:
        """Hand it over, if its time-out is armed and due, and perhaps purge.

        Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-REMOVES, PURGATORY-SHUTDOWN-DROPS.
        """
        yield Effect(state)
        if part == WHOLE and state.closed:
            yield Effect(state, raised=Reason.CLOSED)
        if part == WHOLE and state.armed:
            handed_over = replace(state, armed=False, queued=state.queued + 1)
            yield Effect(handed_over, (expired(self.name),))
        if state.completed and state.entries and PURGE not in self.divided:
            yield Effect(replace(state, entries=()))
        elif state.completed:
            for key in sorted(set(state.entries)):
                yield Effect(without(state, key), then=PURGE)

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
