"""The rules for one delayed operation where every call takes effect at once."""

# They are a control: histories of calls that overlap are explained by parts of calls
# (``purgatory_model.overlapping.calls``), and many of them not by whole calls. What a call does at
# once is what its parts do with nothing in between. At which point of a watch its time-out is armed
# is free; and a purge that nothing interrupts goes through every list.

from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.overlapping.calls import OverlappedOperation, OverlappingCalls
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect, undivided
from purgatory_spec.operations import Advance, Operation


@dataclass(frozen=True, slots=True)
class WholeCalls:
    """The rules for the operation of this name, and the choices of ``OverlappingCalls``."""

    name: str
    tries_first: bool = True
    cancels_live: bool = False

    def initial(self) -> OverlappedOperation:
        return OverlappedOperation()

    def effects(
        self, state: OverlappedOperation, operation: Operation, part: Part
    ) -> Iterator[Effect[OverlappedOperation]]:
        for arms_first in (True, False):
            parts = OverlappingCalls(
                self.name, arms_first, tries_first=self.tries_first, cancels_live=self.cancels_live
            )
            rules = undivided(parts)
            for effect in rules.effects(state, operation, part):
                left = effect.state.entries
                if not (isinstance(operation, Advance) and left and left != state.entries):
                    yield effect
