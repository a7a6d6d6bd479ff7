"""Scenarios of the memory pool: requests, releases and losses, two threads at a time."""

from dataclasses import replace
from functools import partial
from typing import Final

from purgatory_lab.scheduling.bundled.memory_pool.world import (
    MAX_SINGLE_BYTES,
    SIZE_BYTES,
    MemoryPoolWorld,
)
from purgatory_lab.scheduling.model_outcomes import End, EndsOf, Told, ends
from purgatory_lab.scheduling.scenario import Observe, Program, Scenario, World
from purgatory_model.concurrent.memory_pool.model import ConcurrentMemoryPool, ConcurrentPoolState
from purgatory_model.overlapping.programs import Programmed
from purgatory_spec.operations import Allocate, Elapse, Lose, Operation, Release
from purgatory_spec.profiles import MemoryPoolConfiguration

_REQUESTS: Final = (
    Program("t1", (Allocate("t1", 2), Release("t1"), Allocate("t1", 1))),
    Program("t2", (Allocate("t2", 2), Release("t2"), Allocate("t2", 2))),
)
_strict: Final = partial(MemoryPoolWorld, strict=True)

MEMORY_POOL_SCENARIOS: Final = (
    Scenario(
        "pool-requests",
        "two threads ask for more than there is, and give back what they get",
        _REQUESTS,
        MemoryPoolWorld,
    ),
    Scenario(
        "pool-strict-requests",
        "the same, and a request is refused that exceeds what is available",
        _REQUESTS,
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

BOUND_MEMORY_POOL_SCENARIOS: Final = tuple(
    replace(scenario, name=f"model-{scenario.name}") for scenario in MEMORY_POOL_SCENARIOS[:2]
)
"""The scenarios that the concurrent model runs as well; the second one is strict."""


def pool_ends(scenario: Scenario) -> EndsOf:
    """Return a look whether runs of a bound scenario come to ends of the concurrent model."""
    configuration = MemoryPoolConfiguration(SIZE_BYTES, MAX_SINGLE_BYTES, "strict" in scenario.name)
    names = tuple(program.thread for program in scenario.programs)
    calls = {program.thread: _operations(program) for program in scenario.programs}
    model = ConcurrentMemoryPool(configuration, names)
    programmed = Programmed(model, calls, leaves_out=_has_nothing)
    return EndsOf(ends(programmed, _available), _end_of)


def _operations(program: Program) -> tuple[Operation, ...]:
    return tuple(call for call in program.calls if not isinstance(call, Observe))


def _has_nothing(state: ConcurrentPoolState, thread: str, operation: Operation) -> bool:
    """Decide whether a thread is to give back a buffer that it was not granted."""
    return isinstance(operation, Release) and not state.thread(thread).held_bytes


def _available(state: ConcurrentPoolState) -> dict[str, int]:
    return {"available_bytes": state.available_bytes}


def _end_of(world: World) -> End:
    assert isinstance(world, MemoryPoolWorld)
    counts = {"available_bytes": world.pool.available_bytes}
    return Told().after(world.history.events).ended(counts)
