"""The suite's own wrong memory pools: each breaks one rule, and the suite must say which."""

import inspect
import re
from functools import partial

from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.small.memory_pool import (
    SmallMemoryPool,
    SmallUnboundedPool,
    small_pool_subject,
)
from purgatory_conformance.specimens.wrong import granting, releasing, sizes
from purgatory_spec.profiles import Component


def _mutant(pool: type[SmallMemoryPool], rule: str, *also: str) -> Mutant:
    """The mutant of a pool, named after its class and summarised by its docstring."""
    name = "pool-" + re.sub(r"(?<!^)(?=[A-Z])", "-", pool.__name__).lower()
    if issubclass(pool, SmallUnboundedPool):
        make = partial(small_pool_subject, unbounded=pool, name=name)
    else:
        make = partial(small_pool_subject, bounded=pool, name=name)
    summary = inspect.cleandoc(pool.__doc__ or "")
    return Mutant(name, summary, rule, also, make, Component.MEMORY_POOL)


_MUTANTS = (
    _mutant(granting.LargestAboveSize, "POOL-CONSTRUCT"),
    _mutant(granting.EmptyPool, "POOL-CONSTRUCT"),
    _mutant(granting.StrictIgnoresSize, "POOL-STRICT"),
    _mutant(granting.StrictWantsMore, "POOL-STRICT"),
    _mutant(granting.NonStrictWantsAll, "POOL-NON-STRICT"),
    _mutant(granting.RefusalDebits, "POOL-REFUSAL"),
    _mutant(granting.RefusalThrows, "POOL-REFUSAL"),
    _mutant(granting.BufferRoundedUp, "POOL-EXACT-BUFFER"),
    _mutant(granting.ZeroGranted, "POOL-ZERO-REQUEST"),
    _mutant(granting.ZeroRefused, "POOL-ZERO-REQUEST"),
    _mutant(granting.NegativeCredits, "POOL-NEGATIVE-REQUEST"),
    _mutant(granting.NegativeChanges, "POOL-NEGATIVE-REQUEST"),
    _mutant(granting.OversizeRefused, "POOL-OVERSIZE-REQUEST"),
    _mutant(granting.OversizeGranted, "POOL-OVERSIZE-REQUEST"),
    _mutant(granting.LargestRejected, "POOL-OVERSIZE-REQUEST"),
    _mutant(granting.DebitRoundedUp, "POOL-CONSERVATION"),
    _mutant(granting.TimeRestores, "POOL-CONSERVATION"),
    _mutant(granting.AdmitsAtZero, "POOL-BOUND"),
    _mutant(granting.OutOfMemoryBelowZero, "POOL-OUT-OF-MEMORY"),
    _mutant(granting.OutOfMemoryWhenRefusing, "POOL-OUT-OF-MEMORY"),
    _mutant(granting.UsedNeverAboveSize, "POOL-USED"),
    _mutant(granting.SizeIsWhatIsLeft, "POOL-SIZE"),
    _mutant(releasing.ReleaseForgets, "POOL-RELEASE"),
    _mutant(releasing.FirstByteStays, "POOL-RELEASE"),
    _mutant(releasing.LastBufferStays, "POOL-RELEASE"),
    _mutant(releasing.ReleaseTwice, "POOL-RELEASE-AGAIN"),
    _mutant(releasing.AgainIsIgnored, "POOL-RELEASE-AGAIN"),
    _mutant(releasing.SliceIsTaken, "POOL-RELEASE-SLICE"),
    _mutant(releasing.SliceFreesBuffer, "POOL-RELEASE-SLICE"),
    _mutant(releasing.EqualIsTaken, "POOL-RELEASE-COPY", "POOL-RELEASE-FOREIGN"),
    _mutant(releasing.ForeignIsTaken, "POOL-RELEASE-FOREIGN"),
    _mutant(releasing.ForeignIsCredited, "POOL-RELEASE-FOREIGN"),
    _mutant(releasing.NothingIsReleased, "POOL-RELEASE-NOTHING"),
    _mutant(releasing.LeakIsLost, "POOL-LEAK"),
    _mutant(granting.BeginsWithDepletion, "POOL-SPELL-BEGINS"),
    _mutant(granting.ErrorBeginsSpell, "POOL-SPELL-BEGINS"),
    _mutant(granting.EachRefusalASpell, "POOL-SPELL-BEGINS"),
    _mutant(releasing.EndsWithMemory, "POOL-SPELL-ENDS"),
    _mutant(releasing.EndsWithGrant, "POOL-SPELL-ENDS"),
    _mutant(releasing.RejectionEndsSpell, "POOL-SPELL-ENDS"),
    _mutant(granting.SpellUnderWayCounts, "POOL-DEPLETED-TIME"),
    _mutant(granting.LastSpellOnly, "POOL-DEPLETED-TIME"),
    _mutant(granting.UnboundedRejectsNothing, "POOL-UNBOUNDED-GRANTS"),
    _mutant(granting.UnboundedKeepsLargest, "POOL-UNBOUNDED-GRANTS"),
    _mutant(granting.UnboundedCounts, "POOL-UNBOUNDED-GRANTS"),
    _mutant(granting.UnboundedTakesNegative, "POOL-UNBOUNDED-NEGATIVE"),
    _mutant(granting.UnboundedKnowsItsOwn, "POOL-UNBOUNDED-RELEASE"),
    _mutant(sizes.SizeInAnInt, "POOL-SIZE"),
    _mutant(sizes.LargePoolsRejected, "POOL-CONSTRUCT"),
    _mutant(sizes.RequestInAnInt, "POOL-OVERSIZE-REQUEST", "POOL-NEGATIVE-REQUEST"),
    _mutant(sizes.UnboundedHasItsFill, "POOL-UNBOUNDED-GRANTS"),
)


def memory_pool_mutants() -> tuple[Mutant, ...]:
    """All wrong memory pools, in the order of the rules that they break."""
    return _MUTANTS
