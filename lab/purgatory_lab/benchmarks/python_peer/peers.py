"""The peers that this program implements, and the measures of each."""

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Final, TypeAlias

import purgatory_impl
from purgatory_impl import SimpleMemoryPool
from purgatory_lab.benchmarks import baselines
from purgatory_lab.benchmarks.python_peer import timers
from purgatory_lab.benchmarks.python_peer.asyncio_timer import AsyncioMeasures
from purgatory_lab.benchmarks.python_peer.costs import Stopwatch, expect
from purgatory_lab.benchmarks.python_peer.designs import Design
from purgatory_lab.benchmarks.python_peer.memory_measures import (
    memory_of_asyncio,
    memory_of_purgatory,
    memory_of_timer,
)
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Hello, Measurement, Request
from purgatory_lab.benchmarks.python_peer.new_design import EXACT, PROPOSAL
from purgatory_lab.benchmarks.python_peer.old_design import OLD, OLD_EACH
from purgatory_lab.benchmarks.python_peer.pause_measure import pause
from purgatory_lab.benchmarks.python_peer.purgatory_measures import PurgatoryMeasures
from purgatory_lab.benchmarks.python_peer.timer_measures import TimerMeasures
from purgatory_lab.benchmarks.python_peer.workload import workload

SIZE_BYTES: Final = 2**30
LARGEST_BYTES: Final = 2**20


def pool(request: Request) -> Measurement:
    """Allocate a buffer and release it."""
    size = request.bytes
    if not 1 <= size <= LARGEST_BYTES:
        raise CannotMeasure(f"a buffer has 1 to {LARGEST_BYTES} bytes, and not {size}")
    made = SimpleMemoryPool(SIZE_BYTES, LARGEST_BYTES)
    allocate, release = made.try_allocate, made.release
    watch = Stopwatch()
    for _ in range(request.operations):
        buffer = allocate(size)
        if buffer is None:
            raise CannotMeasure("the pool has refused a buffer")
        release(buffer)
    costs = watch.costs()
    expect("bytes available at the end", SIZE_BYTES, made.available_bytes)
    return costs.answer(request.operations)


Measure: TypeAlias = Callable[[Request], Measurement]

FRESH: Final = frozenset({"memory/timer", "memory/purgatory", "workload"})
"""The benchmarks that tell a process's memory, and so are measured in a process of their own."""


@dataclass(frozen=True)
class Peer:
    """A peer of the measurement.

    Attributes:
        name: As on the command line.
        version: Of what is measured.
        compiled: Whether that runs as compiled code; None where nothing of ours does.
        measures: The measures that the peer can take, by name.
        fresh: The measures that need a fresh process.
    """

    name: str
    version: str
    compiled: bool | None
    measures: Mapping[str, Measure]
    fresh: frozenset[str] = FRESH

    def hello(self) -> Hello:
        """Return the peer's first line."""
        runtime = f"{platform.python_implementation()} {platform.python_version()}"
        if self.compiled is not None:
            runtime += ", compiled" if self.compiled else ", interpreted"
        return Hello(self.name, self.version, runtime, tuple(self.measures))


def peers() -> dict[str, Peer]:
    """Return all peers by their names."""
    ours, python = metadata.version("purgatory-spec"), platform.python_version()
    compiled = bool(getattr(purgatory_impl, "COMPILED", False))
    old = {"old": OLD, "old-each": OLD_EACH}
    return {
        "implementation": Peer("implementation", ours, compiled, _of_implementation()),
        "asyncio": Peer("asyncio", python, None, _of_asyncio()),
        "heapq": Peer("heapq", python, None, _of_heap()),
        "old-design": Peer(
            "old-design",
            ours,
            baselines.COMPILED,
            _of_purgatory(old),
        ),
    }


def _of_implementation() -> dict[str, Measure]:
    system = timers.IMPLEMENTATION["system"].open
    return {
        **_of_timers({name: TimerMeasures(kind) for name, kind in timers.IMPLEMENTATION.items()}),
        **_of_purgatory({"exact": EXACT, "proposal": PROPOSAL}),
        "pool": pool,
        "memory/timer": partial(memory_of_timer, system),
        "pause": partial(pause, system),
    }


def _of_heap() -> dict[str, Measure]:
    system = timers.HEAP["system"].open
    return {
        **_of_timers({name: TimerMeasures(kind) for name, kind in timers.HEAP.items()}),
        "memory/timer": partial(memory_of_timer, system),
        "pause": partial(pause, system),
    }


def _of_asyncio() -> dict[str, Measure]:
    kinds = {"virtual": AsyncioMeasures(virtual=True), "system": AsyncioMeasures(virtual=False)}
    return {**_of_timers(kinds), "memory/timer": memory_of_asyncio}


def _of_timers(kinds: Mapping[str, TimerMeasures | AsyncioMeasures]) -> dict[str, Measure]:
    offered: dict[str, Measure] = {}
    for clock, measures in kinds.items():
        offered[f"hot/{clock}"] = measures.hot
        offered[f"fifo/{clock}"] = measures.fifo
        offered[f"random/{clock}"] = measures.random
        offered[f"expire/{clock}"] = measures.expire
    return offered


def _of_purgatory(designs: Mapping[str, Design]) -> dict[str, Measure]:
    first = next(iter(designs.values()))
    measures = PurgatoryMeasures(first)
    return {
        "purgatory": measures.purgatory,
        "event": measures.event,
        "memory/purgatory": partial(memory_of_purgatory, first),
        "workload": partial(workload, designs),
    }
