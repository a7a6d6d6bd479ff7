"""The model's rules for one delayed operation, as far as the trace of a real system shows it.

Theory of operation. The rules of ``overlapping.calls`` say what every call does, also those of
threads in the background. In the trace of a real system the latter are not seen. Nor is it always
seen what a try will answer. So these rules permit more:

- from the moment that an operation is due on (``DUE``) it may be handed over, and run, unseen;
- a try may complete an operation that nobody said was satisfied: the condition is the program's.
  One that is satisfied is completed by every try.

And they distinguish less. Once an operation is completed, nothing depends on where its entries and
its time-out are but one thing: whether a cancellation still returns it, which a purge decides that
nobody sees. So the operation's completion is the only fact kept. A try may still begin that was
decided upon before.

One thing more is asked: whether, by a time, it may still wait for its time-out (``LATE``).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from purgatory_model.overlapping.calls import OverlappedOperation, OverlappingCalls
from purgatory_model.overlapping.linearizability import Call
from purgatory_model.overlapping.parts import WHOLE, Part
from purgatory_model.overlapping.sequential_rules import Effect, Rules
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, tried
from purgatory_traces.replay.overlapping.explainer import Ways

Standing: TypeAlias = OverlappedOperation
"""The standing of one delayed operation."""

THE_OPERATION = "operation"
"""The name that every operation goes by in the rules."""

DUE, LATE = op.Wait(0), op.Wait(1)
"""The questions to the rules besides calls: a time-out that is due, and one that is late."""

_ADVANCE = op.Advance(0)
_TRIED = tried(THE_OPERATION)
_MOST_STALE_ENTRIES = 4
"""The most times that a cancellation may return a completed operation."""


@dataclass(frozen=True, slots=True)
class ObservedRules(Rules[Standing]):
    """Rules of one operation, of whose events some are not seen.

    Attributes:
        rules: The model's.
        unseen: The kinds of events that the trace leaves out.
    """

    rules: OverlappingCalls
    unseen: frozenset[EventKind]
    _known: dict[tuple[Standing, op.Operation, Part], tuple[Effect[Standing], ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def initial(self) -> Standing:
        """Return the standing of an operation that was never watched."""
        return self.rules.initial()

    def effects(
        self, state: Standing, operation: op.Operation, part: Part
    ) -> tuple[Effect[Standing], ...]:
        """Return the ways in which a part of a call, or of an unseen step, may take effect."""
        key = state, operation, part
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._effects(state, operation, part))
        return known

    def ways_so_far(self, state: Standing, operation: op.Operation) -> Ways:
        """Return the possible positions of a call that has changed nothing since it began.

        The call may have tried the operation before the condition held, and may have passed the
        operation's list before the operation was in the list. A seen try may still take effect.
        """
        begun = Call(operation)
        found, fresh = {begun}, [begun]
        states = (state, replace(state, satisfied=False), self.initial())
        while fresh:
            way = fresh.pop()
            for before in states if way.part is not None and not way.seen else ():
                for after in self._steps_so_far(before, way):
                    if after not in found:
                        found.add(after)
                        fresh.append(after)
        return frozenset(found)

    def _steps_so_far(self, state: Standing, way: Call) -> Iterator[Call]:
        """Yield a call after its next part, where the state stays; or before it, tried."""
        assert way.part is not None
        for effect in self.effects(state, way.operation, way.part):
            tries = tuple(event for event in effect.events if event.kind is EventKind.TRIED)
            yield replace(way, seen=tries)
            if effect.state == state:
                result = way.result if effect.result is None else effect.result
                yield Call(way.operation, part=effect.then, result=result)

    def _effects(
        self, state: Standing, operation: op.Operation, part: Part
    ) -> Iterator[Effect[Standing]]:
        if state.completed:
            ways = self._once_completed(state, operation, part)
        elif isinstance(operation, op.Wait):
            ways = self._besides(state, operation)
        else:
            ways = self._live(state, operation, part)
        for effect in ways:
            events = tuple(event for event in effect.events if event.kind not in self.unseen)
            yield effect if len(events) == len(effect.events) else replace(effect, events=events)

    def _live(
        self, state: Standing, operation: op.Operation, part: Part
    ) -> Iterator[Effect[Standing]]:
        for effect in self.rules.effects(state, operation, part):
            if effect.state.completed:
                yield self._completing(effect)
            elif isinstance(operation, op.Shutdown):
                # A watch that began before it may still be seen to try: closed would forbid that.
                yield replace(effect, state=replace(effect.state, closed=False))
            elif not isinstance(operation, op.RunOne) and not _hands_over(effect):
                yield effect
        if isinstance(operation, op.Watch | op.Check) and not state.satisfied:
            for effect in self.rules.effects(replace(state, satisfied=True), operation, part):
                if effect.state.completed:
                    yield self._completing(effect)

    def _completing(self, effect: Effect[Standing]) -> Effect[Standing]:
        """Return an effect that completes the operation, without its unseen consequences."""
        completed = replace(self.rules.initial(), completed=True)
        return replace(effect, state=completed, then=None)

    def _once_completed(
        self, state: Standing, operation: op.Operation, part: Part
    ) -> Iterator[Effect[Standing]]:
        """Yield the effects of calls on an operation that is completed."""
        is_whole = part == WHOLE
        if isinstance(operation, op.RunOne):
            return
        if isinstance(operation, op.CancelForKey) and not is_whole:
            assert part.number is not None
            yield from self.rules.cancelled_and_completed(state, part.number)
            return
        if isinstance(operation, op.CancelForKey):
            most = 0 if self.rules.cancels_live else _MOST_STALE_ENTRIES
            for count in range(most + 1):
                yield Effect(state, result=(THE_OPERATION,) * count)
            return
        most_tries = int(isinstance(operation, op.Check) and not is_whole)
        if isinstance(operation, op.Watch):
            most_tries = 2 if is_whole and self.rules.tries_first else 1
        result = {op.Watch: False, op.Force: False, op.Check: 0}.get(type(operation))
        for tries in range(most_tries + 1):
            yield Effect(state, (_TRIED,) * tries, result)

    def _besides(self, state: Standing, what: op.Wait) -> Iterator[Effect[Standing]]:
        """Yield the effects of steps that are no call, on an operation that is not completed."""
        if what == LATE:
            if not (state.armed or state.queued):
                yield Effect(state)
        elif state.armed:
            for effect in self.rules.effects(state, _ADVANCE, WHOLE):
                if effect.events:
                    yield Effect(effect.state, then=WHOLE)


def _hands_over(effect: Effect[Standing]) -> bool:
    """Decide whether an effect hands a time-out over as it arms it; ``DUE`` tells the time."""
    return any(event.kind is EventKind.EXPIRED for event in effect.events)


def is_settled(state: Standing) -> bool:
    """Decide whether an operation has no further events unless it is watched again or forced."""
    return state.completed or not (state.armed or state.queued or state.entries)
