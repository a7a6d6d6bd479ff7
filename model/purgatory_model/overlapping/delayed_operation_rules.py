"""The sequential rules of the purgatory for one delayed operation: every call takes effect at once.

Calls that overlap take effect in parts (``exact_calls``). What a call does at once is what its
parts do with nothing in between, so these rules are made of those. They explain the projections of
histories (``projection``) in which no call comes between two parts of another call.

Two things are the sequential rules' own. At which point of a watch its time-out is armed is free:
an operation that is due at once may also be handed over after both tries. And a purge that nothing
interrupts goes through every list.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from purgatory_model.overlapping.exact_calls import CountedOperation, OverlappingExactCalls
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect, undivided
from purgatory_spec.operations import Advance, Operation, Watch
from purgatory_spec.outcomes import expired


@dataclass(frozen=True, slots=True)
class DelayedOperationRules:
    """The rules for the operation of this name."""

    name: str

    def initial(self) -> CountedOperation:
        """It was never watched."""
        return CountedOperation()

    def effects(
        self, state: CountedOperation, operation: Operation, part: Part
    ) -> Iterator[Effect[CountedOperation]]:
        """The ways in which a call may take effect; it has one part.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-PURGE-REMOVES.

        Raises:
            ValueError: the operation is none that a projection keeps.
        """
        for effect in undivided(OverlappingExactCalls(self.name)).effects(state, operation, part):
            after = effect.state
            if isinstance(operation, Advance) and after.entries not in (state.entries, ()):
                continue
            yield effect
            due = expired(self.name)
            if isinstance(operation, Watch) and due in effect.events:
                events = *(event for event in effect.events if event != due), due
                yield replace(effect, events=events)
