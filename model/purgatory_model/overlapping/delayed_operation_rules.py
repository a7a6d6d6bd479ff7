"""The sequential rules of the purgatory for one delayed operation: every call takes effect at once.

Calls that overlap take effect in parts (``calls``). What a call does at once is what its parts do
with nothing in between, so these rules are made of those. They explain the projections of histories
(``projection``) in which no call comes between two parts of another call.

Two things are the sequential rules' own. At which point of a watch its time-out is armed is free.
And a purge that nothing interrupts goes through every list.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.overlapping.calls import OverlappedOperation, OverlappingCalls
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect, undivided
from purgatory_spec.operations import Advance, Operation


@dataclass(frozen=True, slots=True)
class DelayedOperationRules:
    """The rules for the operation of this name."""

    name: str

    def initial(self) -> OverlappedOperation:
        """It was never watched."""
        return OverlappedOperation()

    def effects(
        self, state: OverlappedOperation, operation: Operation, part: Part
    ) -> Iterator[Effect[OverlappedOperation]]:
        """The ways in which a call may take effect; it has one part.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-PURGE-REMOVES.

        Raises:
            ValueError: the operation is none that a projection keeps.
        """
        for arms_first in (True, False):
            rules = undivided(OverlappingCalls(self.name, arms_first))
            for effect in rules.effects(state, operation, part):
                left = effect.state.entries
                if not (isinstance(operation, Advance) and left and left != state.entries):
                    yield effect
