"""Scenarios of the memory pool: requests, releases and losses, two threads at a time."""

from functools import partial
from typing import Final

from purgatory_conformance.scheduling.bundled.memory_pool_world import MemoryPoolWorld
from purgatory_conformance.scheduling.scenario import Observe, Program, Scenario
from purgatory_spec.operations import Allocate, Elapse, Lose, Release

_strict: Final = partial(MemoryPoolWorld, strict=True)

MEMORY_POOL_SCENARIOS: Final = (
    Scenario(
        "pool-requests",
        "two threads ask for more than there is, and give back what they get",
        (
            Program("t1", (Allocate("t1", 2), Release("t1"), Allocate("t1", 1))),
            Program("t2", (Allocate("t2", 2), Release("t2"), Allocate("t2", 2))),
        ),
        MemoryPoolWorld,
    ),
    Scenario(
        "pool-strict-requests",
        "the same, and a request is refused that exceeds what is available",
        (
            Program("t1", (Allocate("t1", 2), Release("t1"), Allocate("t1", 1))),
            Program("t2", (Allocate("t2", 2), Release("t2"), Allocate("t2", 2))),
        ),
        _strict,
    ),
    Scenario(
        "pool-lost-buffer",
        "a buffer is lost while another thread makes the pool notice that",
        (
            Program("t1", (Lose("t1"), Allocate("t1", 2))),
            Program("t2", (Allocate("t2", 2), Elapse(5), Observe(), Allocate("t3", 1))),
        ),
        _strict,
        setup=(Allocate("t1", 2),),
    ),
)
"""All of them."""
