"""Effects of overlapping calls of the purgatory on one delayed operation.

Theory of operation. A call that nothing interrupts is one effect, as in the sequential model. Where
calls overlap, some of them take effect in *parts*, each at an instant of its own between call and
return, in a fixed order; between two parts anything else may happen to the operation. Every part
does what the sequential rules say of it. One thing more is to be remembered, the operation's
*word*: how many entries it has, in lists or in lists that are being cancelled, and how many a watch
that has armed its time-out is still to give it. These are the parts:

    watch      try, or leave that out; for each key: enter its list; try again. Who sees the
               operation completed enters no more. The time-out is armed *first*, before the lists,
               or else at the end; there the watch looks once more whether the operation was
               completed meanwhile, and if so disarms it
    check      meet the entries in the list; for each: try it, and drop it where somebody has
               completed it, before or perhaps since
    complete   the operation is completed; then its time-out leaves the timer and, where a check has
               completed it, its entry is dropped, in either order
    cancel     take the list; then take its entries out of the word, and with the last one the
               time-out: an entry that is still to come keeps it. Where completed operations are
               left out of the result, it is seen there or before whether the operation is one
    purge      list by list

So a completed operation may stay for a moment in the timer, and in the list that is checked, and
may even be handed over to the executor; the run then does nothing. With nothing in between, parts
add up to the sequential call. Rules: PURGATORY-OVERLAPPING-CALLS.

The bundled exact accounting arms first, the published order at the end; either is legal for any
accounting.

The rules explain projections of histories on one operation (``projection``). Time is left out: an
armed time-out may be handed over as it is armed, by any ``Advance``, or by none, and ``RunOne`` may
run another operation's. No callback calls or throws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from purgatory_model.overlapping.parts import WHOLE, Part, Stage
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, Value, completed, expired, timed_out, tried
from purgatory_spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class OverlappedOperation:
    """The state of one delayed operation under overlapping calls.

    Attributes:
        satisfied: Whether every try from now on completes it.
        completed: Whether it is completed.
        entries: The keys in whose lists it is, once for each entry, in alphabetical order.
        armed: Whether it is in the timer.
        queued: How often it is in the executor's queue.
        closed: Whether the purgatory has been shut down.
        word: Its entries: in lists, in lists that are being cancelled, and those that a watch which
            arms first is still to give it; of no meaning once it is completed.
    """

    satisfied: bool = False
    completed: bool = False
    entries: tuple[str, ...] = ()
    armed: bool = False
    queued: int = 0
    closed: bool = False
    word: int = 0


_Effects = Iterator[Effect[OverlappedOperation]]


@dataclass(frozen=True, slots=True)
class OverlappingCalls:
    """The rules for the operation of this name.

    Attributes:
        name: The operation's name.
        arms_first: Whether a watch arms the time-out before it enters the lists.
        any_key_takes_time_out: Cancelling for one key takes the time-out of an operation that is
            watched under others too, as Kafka does it (PURGATORY-CANCEL-KEEPS-TIME-OUT).
        tries_first: Whether a watch tries before it enters the lists (PURGATORY-WATCH-FIRST-TRY).
        cancels_live: Whether a cancellation leaves the operation out of its result once it is
            completed (PURGATORY-CANCEL-RESULT).
    """

    name: str
    arms_first: bool = False
    any_key_takes_time_out: bool = False
    tries_first: bool = True
    cancels_live: bool = False

    def initial(self) -> OverlappedOperation:
        """Return the state before any watch."""
        return OverlappedOperation()

    def effects(self, state: OverlappedOperation, operation: op.Operation, part: Part) -> _Effects:
        """Yield the ways in which a part of a call may take effect.

        Raises:
            ValueError: the operation is none that a projection keeps.
        """
        match operation:
            case op.Watch(keys=keys):
                yield from self._watch(state, keys, part)
            case op.Check(key):
                yield from self._check(state, key, part)
            case op.CancelForKey(key):
                yield from self._cancel(state, key, part)
            case op.Force():
                yield self._force(state, part)
            case op.Satisfy():
                yield Effect(replace(state, satisfied=True))
            case op.Advance():
                yield from self._advance(state, part)
            case op.RunOne():
                yield from self._run(state, part)
            case op.Shutdown():
                yield Effect(replace(_disarmed(state), closed=True))
            case _:
                raise ValueError(f"no delayed operation knows {op.operation_name(operation)}")

    def _watch(self, state: OverlappedOperation, keys: tuple[str, ...], part: Part) -> _Effects:
        """Try and arm, enter the lists, try again.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS,
        PURGATORY-NO-KEYS, PURGATORY-SHUTDOWN-CLOSED.
        """
        match part:
            case Part(Stage.WHOLE) if state.closed:
                yield Effect(state, raised=Reason.CLOSED)
            case Part(Stage.WHOLE) if not keys:
                yield Effect(state, raised=Reason.INVALID_ARGUMENT)
            case Part(Stage.WHOLE) if self.tries_first or state.completed:
                yield from self._first_try(state)
            case Part(Stage.WHOLE) if not self.arms_first:
                yield from self._enter(state, keys, 0)
            case Part(Stage.WHOLE):
                yield from self._arm(state, len(keys))
            case Part(Stage.ARM):
                yield from self._arm(state, len(keys))
            case Part(Stage.ENTER, int(number)):
                yield from self._enter(state, keys, number)
            case Part(Stage.TRY_AGAIN):
                yield self._second_try(state)
            case Part(Stage.LOOK_AGAIN):
                yield Effect(_disarmed(state) if state.completed else state, result=False)
            case _:
                yield Effect(_disarmed(state))

    def _first_try(self, state: OverlappedOperation) -> _Effects:
        """Try; whether one that is completed is tried is free. Rules: PURGATORY-WATCH-COMPLETED."""
        if state.completed:
            for tries in range(3 if self.tries_first else 2):
                yield Effect(state, (tried(self.name),) * tries, result=False)
        elif state.satisfied:
            yield self._completing(state, True, Part(Stage.LEAVE_TIMER))
        else:
            then = Part(Stage.ARM) if self.arms_first else Part(Stage.ENTER, 0)
            yield Effect(state, (tried(self.name),), then=then)

    def _arm(self, state: OverlappedOperation, count: int) -> _Effects:
        """Arm or move the time-out, or hand over what is due at once.

        Who completes the operation just before it is armed at the end finds no time-out to cancel.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH.
        """
        if state.completed:
            yield Effect(state, result=False)
        if not (state.completed and self.arms_first):
            then = Part(Stage.ENTER, 0) if self.arms_first else Part(Stage.LOOK_AGAIN)
            promised = replace(state, word=state.word + count) if self.arms_first else state
            yield Effect(replace(promised, armed=True), then=then)
            yield Effect(_handed_over(promised), (expired(self.name),), then=then)

    def _enter(self, state: OverlappedOperation, keys: tuple[str, ...], number: int) -> _Effects:
        """Enter one list, or no more where somebody has completed the operation."""
        last = number + 1 == len(keys)
        following = Part(Stage.TRY_AGAIN) if last else Part(Stage.ENTER, number + 1)
        entries = tuple(sorted((*state.entries, keys[number])))
        word = state.word if self.arms_first else state.word + 1
        yield Effect(replace(state, entries=entries, word=word), then=following)
        if state.completed:
            yield Effect(state, result=False)

    def _second_try(self, state: OverlappedOperation) -> Effect[OverlappedOperation]:
        if state.completed:
            return Effect(state, result=False)
        if state.satisfied:
            return self._completing(state, True, Part(Stage.LEAVE_TIMER))
        if self.arms_first:
            return Effect(state, (tried(self.name),), result=False)
        return Effect(state, (tried(self.name),), then=Part(Stage.ARM))

    def _completing(
        self,
        state: OverlappedOperation,
        result: Value,
        then: Part,
        events: tuple[Event, ...] | None = None,
    ) -> Effect[OverlappedOperation]:
        """Complete the operation; the time-out goes next. Rules: PURGATORY-CALLBACK-ORDER."""
        shown = (tried(self.name), completed(self.name)) if events is None else events
        return Effect(replace(state, completed=True, word=0), shown, result, then=then)

    def _check(self, state: OverlappedOperation, key: str, part: Part) -> _Effects:
        """Meet the entries of the key; try the operation, drop completed entries, one by one.

        Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED,
        PURGATORY-NOT-LOST, PURGATORY-CHECK-UNKNOWN, PURGATORY-DUPLICATE-KEYS.
        """
        if part == WHOLE:
            count = state.entries.count(key)
            met = Stage.PASS if state.completed else Stage.MEET
            decided = 0 if state.completed or not count else None
            yield Effect(state, result=decided, then=_next(met, count))
            return
        stage, left = part.stage, part.number
        assert left is not None
        if stage is Stage.DROP:
            yield Effect(_without_one(state, key), then=Part(Stage.LEAVE_TIMER, left))
        elif stage is Stage.LEAVE_TIMER_FIRST:
            yield Effect(_disarmed(state), then=Part(Stage.PASS, left))
        elif stage is Stage.LEAVE_TIMER:
            yield Effect(_disarmed(state), then=_next(Stage.PASS, left - 1))
        elif stage is Stage.PASS:
            yield Effect(_without_one(state, key), then=_next(Stage.PASS, left - 1))
        else:
            yield from self._met(state, key, left, again=stage is Stage.LOOK_AGAIN)

    def _met(self, state: OverlappedOperation, key: str, left: int, *, again: bool) -> _Effects:
        """Yield the effects on an entry that a check has met, before it completes the operation.

        Where it was tried in vain a check may look again, and drop it if it is completed by then.
        """
        then = _next(Stage.MEET, left - 1)
        result = 0 if then is None else None
        if state.completed:
            yield Effect(_without_one(state, key), result=result, then=then)
            yield Effect(state, result=result, then=then)
        elif again:
            yield Effect(state, result=result, then=then)
        elif state.satisfied:
            yield self._completing(state, 1, Part(Stage.DROP, left))
            yield self._completing(state, 1, Part(Stage.LEAVE_TIMER_FIRST, left))
        else:
            yield Effect(state, (tried(self.name),), result=result, then=then)
            yield Effect(state, (tried(self.name),), then=Part(Stage.LOOK_AGAIN, left))

    def _cancel(self, state: OverlappedOperation, key: str, part: Part) -> _Effects:
        """Take the list, then lower the word.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN.
        """
        if part == WHOLE:
            count = state.entries.count(key)
            entries = tuple(each for each in state.entries if each != key)
            then = _next(Stage.SETTLE, count)
            names: Value = (self.name,) * count
            if self.cancels_live and count:
                names, then = ((), None) if state.completed else (None, then)
            yield Effect(replace(state, entries=entries), result=names, then=then)
            return
        assert part.number is not None
        if state.completed:
            yield from self.cancelled_and_completed(state, part.number)
            return
        result = (self.name,) * part.number if self.cancels_live else None
        lowered = replace(state, word=state.word - part.number)
        elsewhere = lowered.word and not self.any_key_takes_time_out
        yield Effect(lowered if elsewhere else _disarmed(lowered), result=result)

    def cancelled_and_completed(self, state: OverlappedOperation, number: int) -> _Effects:
        """Yield a cancellation of so many entries of an operation that is completed by now.

        Rules: PURGATORY-CANCEL-RESULT.
        """
        if not self.cancels_live:
            yield Effect(state)
            return
        yield Effect(state, result=())
        yield Effect(state, result=(self.name,) * number)

    def _force(self, state: OverlappedOperation, part: Part) -> Effect[OverlappedOperation]:
        """Complete it, once. Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN."""
        if part != WHOLE:
            return Effect(_disarmed(state))
        if state.completed:
            return Effect(state, result=False)
        return self._completing(state, True, Part(Stage.LEAVE_TIMER), (completed(self.name),))

    def _advance(self, state: OverlappedOperation, part: Part) -> _Effects:
        """Hand over what is in the timer, and perhaps purge, list by list.

        Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-REMOVES, PURGATORY-SHUTDOWN-DROPS,
        PURGATORY-SHUTDOWN-AGAIN.
        """
        yield Effect(state)
        if part == WHOLE and state.closed:
            yield Effect(state, raised=Reason.CLOSED)
        if part == WHOLE and state.armed:
            yield Effect(_handed_over(state), (expired(self.name),))
        if state.completed:
            for key in sorted(set(state.entries)):
                entries = tuple(each for each in state.entries if each != key)
                yield Effect(replace(state, entries=entries), then=Part(Stage.PURGE))

    def _run(self, state: OverlappedOperation, part: Part) -> _Effects:
        """Run its time-out, or another one's.

        Rules: PURGATORY-TIME-OUT, PURGATORY-CALLBACK-ORDER, PURGATORY-LOST-EXPIRY.
        """
        if part != WHOLE:
            yield Effect(_disarmed(state))
            return
        yield Effect(state)
        if not state.queued:
            return
        ran = replace(state, queued=state.queued - 1)
        if state.completed:
            yield Effect(ran)
        else:
            events = (completed(self.name), timed_out(self.name))
            yield self._completing(ran, None, Part(Stage.LEAVE_TIMER), events)


def _next(stage: Stage, left: int) -> Part | None:
    """Return the part for the next of so many entries; None where none is left."""
    return Part(stage, left) if left else None


def _disarmed(state: OverlappedOperation) -> OverlappedOperation:
    """Return the operation out of the timer."""
    return replace(state, armed=False)


def _handed_over(state: OverlappedOperation) -> OverlappedOperation:
    """Return the operation out of the timer, and once more in the executor's queue."""
    return replace(state, armed=False, queued=state.queued + 1)


def _without_one(state: OverlappedOperation, key: str) -> OverlappedOperation:
    """Return the operation without one of its entries under a key, if it still has any."""
    if key not in state.entries:
        return state
    place = state.entries.index(key)
    return replace(state, entries=state.entries[:place] + state.entries[place + 1 :])
