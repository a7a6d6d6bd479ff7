"""The plan of the measurement: spikes, orders, idle servers, and loads in rounds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_impl import COMPILED
from purgatory_lab.benchmarks.network.messages import Load, Serve
from purgatory_lab.benchmarks.network.pairs import Certificates, measure
from purgatory_lab.benchmarks.network.results import (
    Build,
    Design,
    FairnessSample,
    IdleSample,
    LoadSample,
    Memory,
    SpikeSample,
)

MIB: Final = 2**20
CONNECTIONS: Final = 16
PAD: Final = {"MALLOC_TOP_PAD_": str(64 * MIB)}
"""The setting that makes the C library of Linux keep memory that was freed."""

SMALL: Final = "100 bytes"
PIPELINED: Final = "100 bytes, 16 outstanding"
MIDDLE: Final = "64 KiB"
LARGE: Final = "1 MiB"

_KEPT_REQUESTS: Final = 4
"""The requests that fill the pool of a spike; the last one is granted with a byte available."""
_FEW: Final = 4
"""The bound of the queue where it is the only one."""
_SEED: Final = 1


@dataclass(frozen=True)
class Sizes:
    """The sizes of the plan.

    Attributes:
        spike_connections: Of each spike.
        spike_bytes: The size of its requests.
        fairness_requests: How many are served in each order.
        idle_connections: How many wait, and one that holds.
        idle_s: How long an idle server is looked at.
        loads: By name.
        rounds: Of the loads.
    """

    spike_connections: tuple[int, ...]
    spike_bytes: int
    fairness_requests: int
    idle_connections: int
    idle_s: float
    loads: Mapping[str, Load]
    rounds: int


FULL: Final = Sizes(
    spike_connections=(16, 32, 64),
    spike_bytes=4 * MIB,
    fairness_requests=600,
    idle_connections=51,
    idle_s=3.0,
    loads={
        SMALL: Load(CONNECTIONS, 2000, 1, 100),
        PIPELINED: Load(CONNECTIONS, 3200, 16, 100),
        MIDDLE: Load(CONNECTIONS, 800, 1, 64 * 1024),
        LARGE: Load(CONNECTIONS, 80, 1, MIB),
    },
    rounds=5,
)
QUICK: Final = Sizes(
    spike_connections=(8, 32),
    spike_bytes=MIB,
    fairness_requests=60,
    idle_connections=5,
    idle_s=1.0,
    loads={
        SMALL: Load(4, 200, 1, 100),
        PIPELINED: Load(4, 320, 16, 100),
        MIDDLE: Load(4, 40, 1, 64 * 1024),
        LARGE: Load(4, 10, 1, MIB),
    },
    rounds=1,
)

Say = Callable[[str], None]


def spikes(
    sizes: Sizes, python: str, certificates: Certificates, say: Say
) -> Iterator[SpikeSample]:
    """Yield the spikes against the bound of bytes, no bound, and the queue's bound alone."""
    limit_bytes = (_KEPT_REQUESTS - 1) * sizes.spike_bytes + 1  # the bound can be reached exactly
    designs: tuple[tuple[Design, int, int], ...] = (
        ("byte bound", limit_bytes, 500),
        ("no bound", -1, 500),
        ("queue bound alone", -1, _FEW),
    )
    for tls, (design, limit, queued), count in product(
        (False, True), designs, sizes.spike_connections
    ):
        say(f"spike, {design}, {in_words(tls=tls)}, {count} requests")
        load = Load(count, 1, 1, sizes.spike_bytes, is_crowd=True)
        task = Serve("spike", load, limit, queued)
        served = measure(task, python, certificates if tls else None)
        yield SpikeSample(design, tls, limit_bytes, load, served)


def orders(sizes: Sizes) -> Iterator[FairnessSample]:
    """Yield the samples of each order, with responses in time and late.

    Raises:
        Problem: this is the compiled build, in which no other order can be put.
    """
    if COMPILED:
        raise Problem("orders are compared in the pure build; leave `fairness` out", EXIT_USAGE)
    from purgatory_lab.benchmarks.network.orders import ORDERS, measure_fairness

    for is_late, order in product((False, True), ORDERS):
        yield measure_fairness(order, sizes.fairness_requests, is_late=is_late, seed=_SEED)


def idles(sizes: Sizes, python: str, certificates: Certificates, say: Say) -> Iterator[IdleSample]:
    """Yield the samples of servers whose connections all wait, and of the controls."""
    for spins, tls in product((False, True), (False, True)):
        say(f"idle, {in_words(tls=tls)}{', spinning' if spins else ''}")
        load = Load(sizes.idle_connections, 1, 1, 1000, is_crowd=True)
        task = Serve("idle", load, 1000, seconds=sizes.idle_s, spins=spins)
        yield IdleSample(tls, spins, measure(task, python, certificates if tls else None))


def loads(
    sizes: Sizes, pythons: Mapping[Build, str], certificates: Certificates, say: Say
) -> Iterator[LoadSample]:
    """Yield the samples of all loads in rounds; without and with a bound side by side.

    Args:
        sizes: How much.
        pythons: Interpreters by the name of their build.
        certificates: Of TLS.
        say: Is told what is under way.
    """
    for number in range(1, sizes.rounds + 1):
        for build, tls, (name, load) in product(pythons, (False, True), sizes.loads.items()):
            say(f"round {number} of {sizes.rounds}: {name}, {in_words(tls=tls)}, {build}")
            memories: tuple[Memory, ...] = ("default",)
            if name in (MIDDLE, LARGE):
                memories = ("default", "padded")
            for memory in memories:
                both = (False, True) if number % 2 else (True, False)
                for is_bounded in both:
                    limit = 2 * load.connections * load.body_bytes if is_bounded else -1
                    served = measure(
                        Serve("throughput", load, limit),
                        pythons[build],
                        certificates if tls else None,
                        PAD if memory == "padded" else {},
                    )
                    yield LoadSample(name, build, tls, memory, is_bounded, number, load, served)


def in_words(*, tls: bool) -> str:
    """Return whether connections are plain or under TLS, in a word."""
    return "TLS" if tls else "plain"
