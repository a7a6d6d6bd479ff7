"""The rules for one delayed operation where every call takes effect at once.

They are a control: histories of calls that overlap are explained by parts of calls
(``purgatory_model.overlapping.calls``), and many of them not by whole calls. What a call does at
once is what its parts do with nothing in between. At which point of a watch its time-out is armed
is free; and a purge that nothing interrupts goes through every list.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.overlapping.calls import OverlappedOperation, OverlappingCalls
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect, undivided
from purgatory_spec.operations import Advance, Operation


@dataclass(frozen=True, slots=True)
class WholeCalls:
    """The rules for the operation of this name."""

    name: str

    def initial(self) -> OverlappedOperation:
        return OverlappedOperation()

    def effects(
        self, state: OverlappedOperation, operation: Operation, part: Part
    ) -> Iterator[Effect[OverlappedOperation]]:
        for arms_first in (True, False):
            rules = undivided(OverlappingCalls(self.name, arms_first))
            for effect in rules.effects(state, operation, part):
                left = effect.state.entries
                if not (isinstance(operation, Advance) and left and left != state.entries):
                    yield effect
