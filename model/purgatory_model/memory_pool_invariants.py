"""What is true of every state of a bounded memory pool that the rules allow.

The invariants are stated apart from what a pool does, and judged under every profile: a pool that
credits what it never granted does as its profile says, and breaks them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from purgatory_model.memory_pool_arithmetic import bound, is_legal, least_available
from purgatory_model.memory_pool_state import MemoryPoolState
from purgatory_spec.profiles import MemoryPoolConfiguration


def bound_of(configuration: MemoryPoolConfiguration) -> int:
    """How much may be outstanding at the most, bytes. Rules: POOL-BOUND."""
    return bound(configuration.size_bytes, configuration.max_single_bytes, configuration.strict)


@dataclass(frozen=True, slots=True)
class Invariant:
    """What is true of every state that the rules allow, under every profile."""

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
    return all(is_legal(size, most) for size in state.held.values())


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
        "each outstanding buffer has at least one byte and at most the largest size",
        _are_legal,
    ),
}
"""The invariants of a bounded pool by id."""
