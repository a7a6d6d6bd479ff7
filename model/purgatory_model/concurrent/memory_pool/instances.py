"""Small instances of the memory pool with threads, and claims about it, true and false, to explore.

A claim is a sentence about single states. A true claim is explored to the end, a false claim as far
as its shortest counterexample; each true claim has a planted fault under which it fails.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from purgatory_model.claims.memory_pool import bound_of
from purgatory_model.concurrent.examining import Examiner
from purgatory_model.concurrent.memory_pool.model import (
    At,
    ConcurrentMemoryPool,
    ConcurrentPoolState,
)
from purgatory_model.memory_pool_arithmetic import is_granted
from purgatory_spec.profiles import MemoryPoolConfiguration

Claim: TypeAlias = Callable[[ConcurrentMemoryPool, ConcurrentPoolState], bool]

NON_STRICT = ConcurrentMemoryPool(MemoryPoolConfiguration(2, 2))
STRICT = ConcurrentMemoryPool(MemoryPoolConfiguration(2, 2, strict=True))


def conserved(pool: ConcurrentMemoryPool, state: ConcurrentPoolState) -> bool:
    """Decide whether no byte is lost or made. Rules: POOL-CONSERVATION."""
    return state.available_bytes + state.outstanding_bytes == pool.configuration.size_bytes


def within_bound(pool: ConcurrentMemoryPool, state: ConcurrentPoolState) -> bool:
    """Decide whether at most the bound is outstanding. Rules: POOL-BOUND, POOL-STRICT."""
    return state.outstanding_bytes <= bound_of(pool.configuration)


def refused_for_a_reason(_: ConcurrentMemoryPool, state: ConcurrentPoolState) -> bool:
    """Decide whether each refused call found too little at some instant. Rules: POOL-REFUSAL."""
    return not any(thread.at is At.REFUSE and thread.enough for _, thread in state.threads)


def below_bound(pool: ConcurrentMemoryPool, state: ConcurrentPoolState) -> bool:
    """Decide whether the bound is never reached: false, since it is."""
    return state.outstanding_bytes < bound_of(pool.configuration)


def refused_while_short(pool: ConcurrentMemoryPool, state: ConcurrentPoolState) -> bool:
    """Decide whether a refusal always meets a short pool: false, memory may be back by then."""
    given, available = pool.configuration, state.available_bytes
    return not any(
        thread.at is At.REFUSE and is_granted(available, thread.request_bytes, given.strict)
        for _, thread in state.threads
    )


CLAIMS: Mapping[str, tuple[str, Claim]] = {
    "conservation": ("what is available and what is outstanding are the size", conserved),
    "bound": ("no more is outstanding than the bound", within_bound),
    "refused-for-a-reason": (
        "who is refused found too little available at some instant of the call",
        refused_for_a_reason,
    ),
    "below-bound": ("one byte less than the bound is outstanding, at the most", below_bound),
    "refused-while-short": (
        "when a refusal returns there is too little available",
        refused_while_short,
    ),
}
"""Claims about states by name: their sentence and their check."""

PROVED = ("conservation", "bound", "refused-for-a-reason")
"""The claims that hold of every instance without a fault."""

TRUE_CLAIMS: Mapping[ConcurrentMemoryPool, tuple[str, ...]] = {NON_STRICT: PROVED, STRICT: PROVED}
"""Instances and the claims that hold of all their states."""

FALSE_CLAIMS: Mapping[str, tuple[ConcurrentMemoryPool, str]] = {
    "below-bound": (NON_STRICT, "below-bound"),
    "refused-while-short": (NON_STRICT, "refused-while-short"),
}
"""Each an instance with a plausible claim that some state of the instance breaks."""


def _faulty(variant: str) -> ConcurrentMemoryPool:
    return replace(NON_STRICT, variants=frozenset({variant}))


FAULTS: Mapping[str, tuple[ConcurrentMemoryPool, str]] = {
    "split-test-and-subtract": (_faulty("split-test-and-subtract"), "bound"),
    "blind-store": (_faulty("blind-store"), "conservation"),
    "swap-gives-up": (_faulty("swap-gives-up"), "refused-for-a-reason"),
    "double-release": (_faulty("double-release"), "conservation"),
    "foreign-release": (_faulty("foreign-release"), "conservation"),
}
"""An instance with a fault, and a true claim that it breaks."""


def _itself(pool: ConcurrentMemoryPool) -> ConcurrentMemoryPool:
    return pool


breaks = Examiner(CLAIMS, _itself).breaks
