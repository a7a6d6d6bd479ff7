"""The memory pool: its invariants, a small instance, and claims about it, true and false.

The invariants are stated apart from what a pool does, and judged under every profile: a pool that
credits what it never granted does as its profile says, and breaks them.

An instance has a few names for buffers, so that its states are finitely many; how many dry spells
there were is left out of them. The true claims are the invariants and the bound as it is published;
the false ones are what one would believe of a pool, and the explorer finds why not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.memory_pool_arithmetic import bound, least_available
from purgatory_model.replacing import replace
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile, ReleaseValidation


def bound_of(configuration: MemoryPoolConfiguration) -> int:
    """Return the most bytes that may be outstanding. Rules: POOL-BOUND."""
    return bound(configuration.size_bytes, configuration.max_single_bytes, configuration.strict)


@dataclass(frozen=True, slots=True)
class Invariant:
    """A claim about every state that the rules allow, under every profile."""

    rule: str
    sentence: str
    holds: Callable[[MemoryPoolConfiguration, MemoryPoolState], bool]


def _is_conserved(configuration: MemoryPoolConfiguration, state: MemoryPoolState) -> bool:
    return state.available_bytes + state.outstanding_bytes == configuration.size_bytes


def _is_within_bound(configuration: MemoryPoolConfiguration, state: MemoryPoolState) -> bool:
    return state.outstanding_bytes <= bound_of(configuration)


def _is_not_too_low(configuration: MemoryPoolConfiguration, state: MemoryPoolState) -> bool:
    lowest = least_available(configuration.max_single_bytes, configuration.strict)
    return state.available_bytes >= lowest


def _are_legal(configuration: MemoryPoolConfiguration, state: MemoryPoolState) -> bool:
    most = configuration.max_single_bytes
    return all(0 <= size <= most for size in state.held.values())


INVARIANTS: Mapping[str, Invariant] = {
    "conservation": Invariant(
        "POOL-CONSERVATION",
        "what is available and what is outstanding are the size, together",
        _is_conserved,
    ),
    "bound": Invariant("POOL-BOUND", "no more is outstanding than the bound", _is_within_bound),
    "lowest": Invariant(
        "POOL-BOUND", "available falls no further than the bound allows", _is_not_too_low
    ),
    "sizes": Invariant(
        "POOL-OVERSIZE-REQUEST",
        "each outstanding buffer has at most the largest size, and not less than nothing",
        _are_legal,
    ),
}
"""The invariants of a bounded pool by id."""


def broken_invariants(model: MemoryPoolModel, state: MemoryPoolState) -> Iterator[Invariant]:
    """Yield the invariants that do not hold in a state; an unbounded pool has none."""
    if model.configuration.unbounded:
        return
    for invariant in INVARIANTS.values():
        if invariant.rule in model.excused:
            continue
        if not invariant.holds(model.configuration, state):
            yield invariant


SMALLEST_POOL = MemoryPoolConfiguration(size_bytes=3, max_single_bytes=2)
"""Three bytes, and buffers of one or two: the last one may be granted with one byte left."""

PoolStep = tuple[Operation, Outcome]


@dataclass(frozen=True, slots=True)
class PoolInstance:
    """A small pool: these buffers are asked for, of any size up to one beyond, and released."""

    configuration: MemoryPoolConfiguration = SMALLEST_POOL
    buffers: tuple[str, ...] = ("a", "b", "c", "d", "e")

    def model(self) -> MemoryPoolModel:
        """Return the instance's pool: it tells its own buffers from others, and shows nothing."""
        profile = MemoryPoolProfile(release_validation=ReleaseValidation.IDENTITY)
        return MemoryPoolModel(self.configuration, profile)

    def operations(self, state: MemoryPoolState) -> Iterator[Operation]:
        """Yield the operations that are possible in a state; the first free name stands for all."""
        free = [buffer for buffer in self.buffers if buffer not in state.held]
        for buffer in free[:1]:
            for size_bytes in range(self.configuration.max_single_bytes + 2):
                yield Allocate(buffer, size_bytes)
        for buffer in sorted({*state.held, *state.returned}):
            yield Release(buffer)

    def steps(self, state: MemoryPoolState) -> Iterator[tuple[PoolStep, MemoryPoolState]]:
        """Yield the labelled steps that leave a state."""
        model = self.model()
        for operation in self.operations(state):
            for outcome, after in model.successors(state, operation):
                yield (operation, outcome), replace(after, depleted_spells=0)


PoolClaim = Callable[[MemoryPoolConfiguration, PoolStep, MemoryPoolState], bool]


def _invariants(given: MemoryPoolConfiguration, _: PoolStep, after: MemoryPoolState) -> bool:
    return not any(broken_invariants(PoolInstance(given).model(), after))


def _published_bound(given: MemoryPoolConfiguration, _: PoolStep, after: MemoryPoolState) -> bool:
    return after.outstanding_bytes < given.size_bytes + given.max_single_bytes


def _below_bound(given: MemoryPoolConfiguration, _: PoolStep, after: MemoryPoolState) -> bool:
    return after.outstanding_bytes <= bound_of(given) - 1


def _within_size(given: MemoryPoolConfiguration, _: PoolStep, after: MemoryPoolState) -> bool:
    return after.outstanding_bytes <= given.size_bytes


def _refuses_only_depleted(
    _: MemoryPoolConfiguration, step: PoolStep, after: MemoryPoolState
) -> bool:
    return step[1].result is not False or after.available_bytes <= 0


def _release_restores(_: MemoryPoolConfiguration, step: PoolStep, after: MemoryPoolState) -> bool:
    accepted = isinstance(step[0], Release) and step[1].rejected is None
    return not accepted or after.available_bytes > 0


TRUE_CLAIMS: Mapping[str, tuple[str, PoolClaim]] = {
    "invariants": ("every invariant of the pool holds", _invariants),
    "published-bound": (
        "less than the size and a largest buffer is outstanding",
        _published_bound,
    ),
}
"""Claims that hold of every instance: their sentence and their check."""

FALSE_CLAIMS: Mapping[str, tuple[str, PoolClaim]] = {
    "below-bound": ("one byte less than the bound is outstanding, at the most", _below_bound),
    "within-size": ("no more is outstanding than the pool has", _within_size),
    "refuses-only-depleted": (
        "a pool that refuses a request is out of memory",
        _refuses_only_depleted,
    ),
    "release-restores": ("something is available after each release", _release_restores),
}
"""Plausible claims that some sort of pool breaks, by id: the sentence and the check of each."""


def breaks(
    instance: PoolInstance, claim: str
) -> Callable[[MemoryPoolState, PoolStep, MemoryPoolState], str | None]:
    """Return a check of steps for the explorer.

    Raises:
        KeyError: there is no such claim.
    """
    sentence, holds = {**TRUE_CLAIMS, **FALSE_CLAIMS}[claim]

    def broken(_: MemoryPoolState, step: PoolStep, after: MemoryPoolState) -> str | None:
        return None if holds(instance.configuration, step, after) else sentence

    return broken
