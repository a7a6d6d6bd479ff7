"""Purgatories with bugs that people reported."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.purgatory import Entry, SmallPurgatory


@breaks("PURGATORY-CHECK-INSIDE", "PURGATORY-NOT-LOST", report="TermUI#2473")
class DropsAnUpdateOfARing(SmallPurgatory):
    """A check of a key inside another key's is dropped if a check of the first is under way."""

    checking: tuple[str, ...] = ()

    def check(self, key: str) -> int:
        if key in self.checking[:-1]:
            return 0
        outside, self.checking = self.checking, (*self.checking, key)
        try:
            return super().check(key)
        finally:
            self.checking = outside


@breaks("PURGATORY-CHECK-ORDER", "PURGATORY-NOT-LOST", report="go-memdb#51").by(
    SmallPurgatory.met_by_check
)
def sixty_four_in_a_check(self: SmallPurgatory, key: str) -> list[Entry]:
    """A check tries at most 64 operations."""
    return SmallPurgatory.met_by_check(self, key)[:64]
