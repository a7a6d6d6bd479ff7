"""What overlapping calls do to one delayed operation, where the exact accounting counts.

Theory of operation. As in ``overlapping.calls``: calls take effect in parts, each at an instant of
its own, and what happens between two of them is seen by the later one. The exact accounting has
the same calls in another order, and one more thing to remember, the operation's *word*: how many
entries it has or has been promised, those of lists that are being cancelled included.

    watch      try; arm, unless it is completed: into the timer, all entries into the word; for each
               key: enter its list; try again. Who sees the operation completed may enter no more
    check      meet the entries in the list; for each: try it, and drop it where somebody has
               completed it, before or perhaps since
    complete   the operation is completed; where a check did it, that entry is dropped; its
               time-out leaves the timer
    cancel     take the list; then take its entries out of the word, and with the last one the
               time-out: an entry that is still to come keeps it
    purge      list by list

With nothing in between, parts add up to the sequential call (``delayed_operation_rules``). Rules:
PURGATORY-OVERLAPPING-CALLS.

The rules explain projections of histories on one operation (``projection``); time is left out. No
callback calls or throws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
class CountedOperation:
    """What the future of one delayed operation depends on.

    Attributes:
        satisfied: Whether every try from now on completes it.
        completed: Whether it is completed.
        entries: The keys in whose lists it is, once for each entry, in alphabetical order.
        armed: Whether it is in the timer.
        queued: How often it is in the executor's queue.
        closed: Whether the purgatory has been shut down.
        word: Its entries: in lists, promised, and in lists that are being cancelled; of no meaning
            once it is completed.
    """

    satisfied: bool = False
    completed: bool = False
    entries: tuple[str, ...] = ()
    armed: bool = False
    queued: int = 0
    closed: bool = False
    word: int = 0


_Effects = Iterator[Effect[CountedOperation]]


@dataclass(frozen=True, slots=True)
class OverlappingExactCalls:
    """The rules for the operation of this name."""

    name: str

    def initial(self) -> CountedOperation:
        """It was never watched."""
        return CountedOperation()

    def effects(self, state: CountedOperation, operation: Operation, part: Part) -> _Effects:
        """The ways in which a part of a call may take effect.

        Raises:
            ValueError: the operation is none that these rules speak of.
        """
        match operation:
            case Watch(keys=keys):
                yield from self._watch(state, keys, part)
            case Check(key):
                yield from self._check(state, key, part)
            case CancelForKey(key):
                yield self._cancel(state, key, part)
            case Force():
                yield self._force(state, part)
            case Satisfy():
                yield Effect(replace(state, satisfied=True))
            case Advance():
                yield from self._advance(state, part)
            case RunOne():
                yield from self._run(state, part)
            case Shutdown():
                yield Effect(replace(_disarmed(state), closed=True))
            case _:
                raise ValueError(f"these rules do not speak of {operation_name(operation)}")

    def _watch(self, state: CountedOperation, keys: tuple[str, ...], part: Part) -> _Effects:
        """Try and arm, enter the lists, try again.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS,
        PURGATORY-NO-KEYS, PURGATORY-SHUTDOWN-CLOSED.
        """
        match part:
            case Part(Stage.WHOLE) if state.closed:
                yield Effect(state, raised=Reason.CLOSED)
            case Part(Stage.WHOLE) if not keys:
                yield Effect(state, raised=Reason.INVALID_ARGUMENT)
            case Part(Stage.WHOLE):
                yield from self._first_try(state)
            case Part(Stage.ARM):
                yield from self._arm(state, len(keys))
            case Part(Stage.ENTER, int(number)):
                yield from self._enter(state, keys, number)
            case Part(Stage.TRY_AGAIN):
                yield self._second_try(state)
            case _:
                yield Effect(_disarmed(state))

    def _first_try(self, state: CountedOperation) -> _Effects:
        """Try; whether one that is completed is tried is free. Rules: PURGATORY-WATCH-COMPLETED."""
        if state.completed:
            for tries in range(3):
                yield Effect(state, (tried(self.name),) * tries, result=False)
        elif state.satisfied:
            yield self._completing(state, True, Part(Stage.LEAVE_TIMER))
        else:
            yield Effect(state, (tried(self.name),), then=Part(Stage.ARM))

    def _arm(self, state: CountedOperation, count: int) -> _Effects:
        """Arm or move the time-out, or hand over what is due at once.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH.
        """
        if state.completed:
            yield Effect(state, result=False)
            return
        armed = replace(state, armed=True, word=state.word + count)
        yield Effect(armed, then=Part(Stage.ENTER, 0))
        yield Effect(_handed_over(armed), (expired(self.name),), then=Part(Stage.ENTER, 0))

    def _enter(self, state: CountedOperation, keys: tuple[str, ...], number: int) -> _Effects:
        """Enter one list, or no more where somebody has completed the operation."""
        last = number + 1 == len(keys)
        following = Part(Stage.TRY_AGAIN) if last else Part(Stage.ENTER, number + 1)
        entries = tuple(sorted((*state.entries, keys[number])))
        yield Effect(replace(state, entries=entries), then=following)
        if state.completed:
            yield Effect(state, result=False)

    def _second_try(self, state: CountedOperation) -> Effect[CountedOperation]:
        if state.completed:
            return Effect(state, result=False)
        if state.satisfied:
            return self._completing(state, True, Part(Stage.LEAVE_TIMER))
        return Effect(state, (tried(self.name),), result=False)

    def _completing(
        self,
        state: CountedOperation,
        result: Value,
        then: Part,
        events: tuple[Event, ...] | None = None,
    ) -> Effect[CountedOperation]:
        """It is completed; what follows takes its time-out. Rules: PURGATORY-CALLBACK-ORDER."""
        shown = (tried(self.name), completed(self.name)) if events is None else events
        return Effect(replace(state, completed=True, word=0), shown, result, then=then)

    def _check(self, state: CountedOperation, key: str, part: Part) -> _Effects:
        """Meet the entries; try, drop and pass them one by one.

        Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED,
        PURGATORY-NOT-LOST, PURGATORY-CHECK-UNKNOWN, PURGATORY-DUPLICATE-KEYS.
        """
        if part == WHOLE:
            count = state.entries.count(key)
            yield Effect(state, result=None if count else 0, then=_next(Stage.MEET, count))
            return
        stage, left = part.stage, part.number
        assert left is not None
        if stage is Stage.DROP:
            yield Effect(_without_one(state, key), then=Part(Stage.LEAVE_TIMER, left))
        elif stage is Stage.LEAVE_TIMER:
            yield Effect(_disarmed(state), then=_next(Stage.PASS, left - 1))
        elif stage is Stage.PASS:
            yield Effect(_without_one(state, key), then=_next(Stage.PASS, left - 1))
        else:
            yield from self._met(state, key, left, again=stage is Stage.LOOK_AGAIN)

    def _met(self, state: CountedOperation, key: str, left: int, *, again: bool) -> _Effects:
        """One of the entries that a check has met, before it has completed the operation itself.

        Where it was tried in vain a check may look again, and drop it if it is completed by then.
        """
        then = _next(Stage.MEET, left - 1)
        result = 0 if then is None else None
        if state.completed:
            yield Effect(_without_one(state, key), result=result, then=then)
        elif again:
            yield Effect(state, result=result, then=then)
        elif state.satisfied:
            yield self._completing(state, 1, Part(Stage.DROP, left))
        else:
            yield Effect(state, (tried(self.name),), result=result, then=then)
            yield Effect(state, (tried(self.name),), then=Part(Stage.LOOK_AGAIN, left))

    def _cancel(self, state: CountedOperation, key: str, part: Part) -> Effect[CountedOperation]:
        """Take the list, then lower the word.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN.
        """
        if part == WHOLE:
            count = state.entries.count(key)
            entries = tuple(each for each in state.entries if each != key)
            then = _next(Stage.SETTLE, count)
            return Effect(replace(state, entries=entries), result=(self.name,) * count, then=then)
        if state.completed:
            return Effect(state)
        assert part.number is not None
        lowered = replace(state, word=state.word - part.number)
        return Effect(lowered if lowered.word else _disarmed(lowered))

    def _force(self, state: CountedOperation, part: Part) -> Effect[CountedOperation]:
        """Complete it, once. Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN."""
        if part != WHOLE:
            return Effect(_disarmed(state))
        if state.completed:
            return Effect(state, result=False)
        return self._completing(state, True, Part(Stage.LEAVE_TIMER), (completed(self.name),))

    def _advance(self, state: CountedOperation, part: Part) -> _Effects:
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

    def _run(self, state: CountedOperation, part: Part) -> _Effects:
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
    """The part that deals with the next of so many entries; none where none is left."""
    return Part(stage, left) if left else None


def _disarmed(state: CountedOperation) -> CountedOperation:
    """Out of the timer."""
    return replace(state, armed=False)


def _handed_over(state: CountedOperation) -> CountedOperation:
    """Out of the timer, and once more in the executor's queue."""
    return replace(state, armed=False, queued=state.queued + 1)


def _without_one(state: CountedOperation, key: str) -> CountedOperation:
    """Without one of its entries under a key, if it still has any."""
    if key not in state.entries:
        return state
    place = state.entries.index(key)
    return replace(state, entries=state.entries[:place] + state.entries[place + 1 :])
