"""The model's rules for one delayed operation, as far as the trace of a real system shows it.

Theory of operation. The rules of ``overlapping_calls`` and ``overlapping_exact_calls`` say what
every call does, also those of threads in the background. In the trace of a real system the latter
are not seen: the hand-over of what is due, the purge, the run of what was completed already. Nor is
it always seen what a try will answer. So there is more that may happen unseen:

- stale entries are purged, and runs of completed operations do nothing, at any time (``UNSEEN``);
- from the moment that an operation is due on, it may be handed over (``DUE``);
- a try may complete an operation that nobody said was satisfied: the condition is the program's.
  One that is satisfied is completed by every try.

These are permissions; each is a call that never returns. One thing more is asked: whether, by a
time, an operation that waits may still be waiting for its time-out (``LATE``).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from purgatory_model.delayed_operation_rules import OneOperation
from purgatory_model.overlapping_calls import OverlappedOperation, OverlappingCalls
from purgatory_model.overlapping_exact_calls import CountedOperation, OverlappingExactCalls
from purgatory_model.sequential_rules import WHOLE, Effect, Rules
from purgatory_spec.operations import (
    Advance,
    Check,
    Operation,
    RunOne,
    Shutdown,
    Wait,
    Watch,
)
from purgatory_spec.outcomes import Event, EventKind

Standing: TypeAlias = OverlappedOperation | CountedOperation
"""How things stand with one delayed operation."""

THE_OPERATION = "operation"
"""The name that every operation goes by in the rules."""

UNSEEN, DUE, LATE = Wait(0), Wait(1), Wait(2)
"""What is asked of the rules besides calls."""

_ADVANCE, _RUN = Advance(0), RunOne()


@dataclass(frozen=True, slots=True)
class ObservedRules:
    """Rules of one operation, of whose events some are not seen.

    Attributes:
        rules: The model's.
        unseen: The kinds of events that the trace leaves out.
    """

    rules: OverlappingCalls | OverlappingExactCalls
    unseen: frozenset[EventKind]

    def initial(self) -> Standing:
        """It was never watched."""
        return self.rules.initial()

    def standing(
        self,
        entries: tuple[str, ...],
        *,
        satisfied: bool,
        completed: bool,
        armed: bool,
        queued: int,
    ) -> Standing:
        """How things stand by a snapshot."""
        if isinstance(self.rules, OverlappingExactCalls):
            word = 0 if completed else len(entries)
            return CountedOperation(
                satisfied, completed, tuple(sorted(entries)), armed, queued, word=word
            )
        return OverlappedOperation(
            satisfied, completed, frozenset(entries), armed=armed, queued=queued
        )

    def effects(
        self, state: Standing, operation: Operation, part: str
    ) -> Iterator[Effect[Standing]]:
        """The ways in which a part of a call, or of something unseen, may take effect."""
        match operation:
            case Wait():
                yield from self._besides(state, operation)
            case Shutdown():
                yield Effect(replace(state, armed=False))
            case RunOne():
                for effect in self._model(state, operation, part):
                    if effect.events or part != WHOLE:
                        yield self._seen(effect)
            case Watch() | Check() if not (state.satisfied or state.completed):
                for effect in self._model(state, operation, part):
                    yield self._seen(effect)
                for effect in self._model(replace(state, satisfied=True), operation, part):
                    if effect.state.completed:
                        yield self._seen(effect)
            case _:
                for effect in self._model(state, operation, part):
                    yield self._seen(effect)

    def _besides(self, state: Standing, what: Wait) -> Iterator[Effect[Standing]]:
        if what == LATE:
            if state.completed or not (state.armed or state.queued):
                yield Effect(state)
            return
        for effect in self._model(state, _ADVANCE, WHOLE):
            if bool(effect.events) == (what == DUE) and effect.state != state:
                yield Effect(effect.state, then=WHOLE)
        if what == UNSEEN:
            for effect in self._model(state, _RUN, WHOLE):
                if not effect.events and effect.state != state:
                    yield Effect(effect.state, then=WHOLE)

    def _model(self, state: Standing, operation: Operation, part: str) -> list[Effect[Standing]]:
        rules: Rules[Standing] = self.rules  # type: ignore[assignment]
        return list(rules.effects(state, operation, part))

    def _seen(self, effect: Effect[Standing]) -> Effect[Standing]:
        """An effect with those of its events that are seen; what is completed stays so."""
        state = effect.state
        if state.completed and state.satisfied:
            state = replace(state, satisfied=False)
        events: tuple[Event, ...] = tuple(
            event for event in effect.events if event.kind not in self.unseen
        )
        if state is effect.state and len(events) == len(effect.events):
            return effect
        return replace(effect, state=state, events=events)


def is_settled(state: OneOperation | OverlappedOperation) -> bool:
    """Whether nothing more can come of an operation unless it is watched again, or forced."""
    if state.armed or state.queued:
        return False
    return state.completed or not state.entries
