"""Aims and their verdicts, and the tables of the page: all follow from the file of results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Final

from purgatory_lab.benchmarks.bench.figures import Summary, per_cent, ratios, summary, told
from purgatory_lab.benchmarks.bench.machine import in_full
from purgatory_lab.benchmarks.network.plan import LARGE, MIB, MIDDLE, PIPELINED, SMALL, in_words
from purgatory_lab.benchmarks.network.results import (
    Design,
    FairnessSample,
    IdleSample,
    LoadSample,
    Memory,
    NetworkResults,
    SpikeSample,
)
from purgatory_lab.documents import Columns, columned, number, table

FLAT_SHARE: Final = 0.25
"""The largest share of a larger spike's bytes that flat resident memory may grow by."""
FAIR_INDEX: Final = 0.99
MOST_POLLS: Final = 5.0
MOST_IDLE_SHARE: Final = 0.01
LEAST_REQUESTS: Final = 80_000.0
LEAST_GIGABYTES: Final = 3.0
LEAST_TLS_GIGABYTES: Final = 0.5
MOST_LOSS: Final = 1.05

_BUILDS: Final = ("pure", "compiled")
_MEMORIES: Final[tuple[Memory, ...]] = ("default", "padded")


@dataclass(frozen=True)
class Aim:
    """An aim of the network's measurement.

    Attributes:
        title: What is to be.
        measured: What was measured, in words.
        is_met: Whether it is so.
        is_control: Whether this is a wrong design, which the check has to find.
    """

    title: str
    measured: str
    is_met: bool
    is_control: bool = False

    @property
    def verdict(self) -> str:
        """Return the verdict in a word."""
        if self.is_control:
            return "not found" if self.is_met else "found"
        return "met" if self.is_met else "**missed**"


def aims(results: NetworkResults) -> list[Aim]:
    """Return all aims with measured figures."""
    return [
        *_aims_of_spikes(results.spikes),
        *_aims_of_orders(results.fairness),
        *_aims_of_idles(results.idles),
        *_aims_of_loads(results.loads),
    ]


def is_within_bound(sample: SpikeSample) -> bool:
    """Return the check that the bound of bytes must pass, and other designs must not."""
    return sample.served.most_bytes <= sample.allowed_bytes


def is_flat(smallest: SpikeSample, largest: SpikeSample) -> bool:
    """Decide whether resident memory does not grow with the bytes sent."""
    more_bytes = (largest.load.total - smallest.load.total) * largest.load.body_bytes
    grown = largest.served.grown_bytes - smallest.served.grown_bytes
    return grown <= FLAT_SHARE * more_bytes


def aims_table(results: NetworkResults) -> str:
    """Return the table of aims, figures and verdicts."""
    return table(
        ("aim", "measured", "verdict"),
        ((each.title, each.measured, each.verdict) for each in aims(results)),
        left=3,
    )


_SPIKES: Final[Columns[SpikeSample]] = (
    ("design", lambda each: each.design),
    ("by", lambda each: in_words(tls=each.tls)),
    ("requests", lambda each: number(each.load.total)),
    ("of, MiB", lambda each: number(each.load.body_bytes / MIB)),
    ("bound, bytes", lambda each: number(each.allowed_bytes)),
    ("most out, bytes", lambda each: number(each.served.most_bytes)),
    ("resident growth, MiB", lambda each: number(each.served.grown_bytes / MIB, 1)),
    ("waiting then", lambda each: number(each.served.waiting)),
    ("answered", lambda each: number(each.served.requests)),
)

_ORDERS: Final[Columns[FairnessSample]] = (
    ("order", lambda each: each.order),
    ("responses", lambda each: "one late" if each.is_late else "in time"),
    ("served", lambda each: " ".join(map(str, each.served))),
    ("Jain's index", lambda each: number(jain(each.served), 2)),
    ("longest wait, requests of others", lambda each: number(each.longest_wait)),
)

_IDLES: Final[Columns[IdleSample]] = (
    ("server", lambda each: "control: spins" if each.spins else "the network thread"),
    ("by", lambda each: in_words(tls=each.tls)),
    ("waiting", lambda each: number(each.served.waiting)),
    ("polls a second", lambda each: number(_polls(each), 1)),
    ("processor time, ms a second", lambda each: number(1000 * _idle_share(each), 2)),
)


@dataclass(frozen=True)
class _Pair:
    """The samples of a load without and with a limit."""

    name: str
    tls: bool
    build: str
    memory: str
    free: Sequence[LoadSample]
    bounded: Sequence[LoadSample]

    def summary(self, samples: Sequence[LoadSample]) -> Summary:
        """Return the summary of the figure of samples."""
        figure, _ = _figure(self.name)
        return summary([figure(each) for each in samples])

    def told(self, samples: Sequence[LoadSample]) -> str:
        """Return the figure of samples in words."""
        return told(self.summary(samples), _figure(self.name)[1])


_LOADS: Final[Columns[_Pair]] = (
    ("requests", lambda pair: pair.name),
    ("by", lambda pair: in_words(tls=pair.tls)),
    ("build", lambda pair: pair.build),
    ("memory", lambda pair: pair.memory),
    ("no limit", lambda pair: pair.told(pair.free)),
    ("limit", lambda pair: pair.told(pair.bounded)),
    ("processor time by the limit", lambda pair: per_cent(_loss(pair.free, pair.bounded))),
    (
        "requests a poll",
        lambda pair: number(
            median(each.served.requests / each.served.polls for each in pair.bounded), 1
        ),
    ),
)


def _pairs(samples: Sequence[LoadSample]) -> Iterator[_Pair]:
    kinds: dict[tuple[str, bool, str, str], tuple[list[LoadSample], list[LoadSample]]] = {}
    for each in samples:
        kind = (each.name, each.tls, each.build, each.memory)
        kinds.setdefault(kind, ([], []))[each.is_bounded].append(each)
    for (name, tls, build, memory), both in kinds.items():
        yield _Pair(name, tls, build, memory, *both)


def circumstances(results: NetworkResults) -> str:
    """Return the time, the command and the machine in words."""
    return (
        f"`{results.command}`, {results.began}, {results.seconds / 60:.0f} minutes; "
        f"{in_full(results.machine)}."
    )


def regions(results: NetworkResults) -> dict[str, str]:
    """Return the regions of the page; a part that was not taken has none."""
    found = {"aims": f"{aims_table(results)}\n\n{circumstances(results)}"}
    if results.spikes:
        found["spikes"] = columned(results.spikes, _SPIKES, left=2)
    if results.fairness:
        found["fairness"] = columned(results.fairness, _ORDERS, left=3)
    if results.idles:
        found["idle"] = columned(results.idles, _IDLES, left=2)
    if results.loads:
        found["loads"] = columned(_pairs(results.loads), _LOADS, left=4)
    return found


def report(results: NetworkResults) -> str:
    """Return the whole report, for a terminal."""
    return "\n\n".join(regions(results).values())


def jain(served: Sequence[int]) -> float:
    """Return Jain's index of fairness: 1 for equal numbers, ``1 / len(served)`` for one winner."""
    total = sum(served)
    return total * total / (len(served) * sum(each * each for each in served)) if total else 0.0


def _aims_of_spikes(samples: Sequence[SpikeSample]) -> Iterator[Aim]:
    designs: tuple[Design, ...] = ("byte bound", "no bound", "queue bound alone")
    for design, tls in product(designs, (False, True)):
        chosen = [each for each in samples if each.design == design and each.tls == tls]
        if not chosen:
            continue
        is_control = design != "byte bound"
        name = f"{design}, {in_words(tls=tls)}"
        worst = max(chosen, key=lambda each: each.served.most_bytes / each.allowed_bytes)
        yield Aim(
            f"{name}: never more out than limit + largest - 1",
            f"{number(worst.served.most_bytes)} of {number(worst.allowed_bytes)} bytes",
            all(map(is_within_bound, chosen)),
            is_control,
        )
        smallest, largest = chosen[0], chosen[-1]
        grown = " to ".join(
            number(each.served.grown_bytes / MIB, 1) for each in (smallest, largest)
        )
        yield Aim(
            f"{name}: resident memory does not follow the load",
            f"grows by {grown} MiB with {smallest.load.total} to {largest.load.total} requests",
            is_flat(smallest, largest),
            is_control,
        )


def _aims_of_orders(samples: Sequence[FairnessSample]) -> Iterator[Aim]:
    for order in dict.fromkeys(each.order for each in samples):
        chosen = [each for each in samples if each.order == order]
        index = min(jain(each.served) for each in chosen)
        longest = max(each.longest_wait for each in chosen)
        most = max(len(each.served) - 1 for each in chosen)
        yield Aim(
            f"order {order}: Jain's index at least {FAIR_INDEX}, nobody waits for more than "
            f"{most} requests of others",
            f"{number(index, 2)}; {number(longest)}",
            index >= FAIR_INDEX and longest <= most,
            order != "first come",
        )


def _aims_of_idles(samples: Sequence[IdleSample]) -> Iterator[Aim]:
    for each in samples:
        name = "a server that spins" if each.spins else "all wait"
        yield Aim(
            f"{name}, {in_words(tls=each.tls)}: at most {MOST_POLLS:.0f} polls and "
            f"{1000 * MOST_IDLE_SHARE:.0f} ms of processor time a second",
            f"{number(_polls(each), 1)}; {number(1000 * _idle_share(each), 2)}",
            _polls(each) <= MOST_POLLS and _idle_share(each) <= MOST_IDLE_SHARE,
            each.spins,
        )


_LEAST: Final = (
    ((SMALL, PIPELINED), False, LEAST_REQUESTS, "small requests"),
    ((MIDDLE, LARGE), False, LEAST_GIGABYTES, "large bodies"),
    ((MIDDLE, LARGE), True, LEAST_TLS_GIGABYTES, "large by TLS"),
)
"""Loads, whether they come by TLS, the least figure of each, and what they are called."""


def _aims_of_loads(samples: Sequence[LoadSample]) -> Iterator[Aim]:
    everything = [pair for pair in _pairs(samples) if pair.bounded]
    builds = {
        f"{build}{'' if memory == 'default' else ', memory kept'}": [
            pair for pair in everything if (pair.build, pair.memory) == (build, memory)
        ]
        for build, memory in product(_BUILDS, _MEMORIES)
    }
    for build, pairs in builds.items():
        for names, tls, least, what in _LEAST:
            chosen = [pair for pair in pairs if pair.name in names and pair.tls == tls]
            if chosen:
                yield _least(chosen, least, f"{what}, {build}")
    for build, pairs in builds.items():
        for names, what in (((SMALL, PIPELINED), "small requests"), ((MIDDLE, LARGE), "large")):
            losses = [_loss(pair.free, pair.bounded) for pair in pairs if pair.name in names]
            if losses:
                best, worst = (pick(each.median for each in losses) for pick in (min, max))
                yield Aim(
                    f"the bound costs at most {MOST_LOSS - 1:.0%}: {what}, {build}",
                    f"{best - 1:+.1%} to {worst - 1:+.1%}",
                    worst <= MOST_LOSS,
                )


def _least(pairs: Sequence[_Pair], least: float, name: str) -> Aim:
    """Return an aim that holds for each of some loads, under the bound."""
    unit = "GB" if least < 1000 else "requests"
    said = number(least, 1 if least < 1 else 0)
    return Aim(
        f"{name}: {said} {unit} for each second of processor time",
        "; ".join(f"{pair.name}: {pair.told(pair.bounded)}" for pair in pairs),
        all(pair.summary(pair.bounded).median >= least for pair in pairs),
    )


def _figure(name: str) -> tuple[Callable[[LoadSample], float], int]:
    """Return the figure of a load and its digits: requests where they are small, else bytes."""
    if name in (SMALL, PIPELINED):
        return (lambda each: each.requests_per_cpu_s), 0
    return (lambda each: each.gigabytes_per_cpu_s), 2


def _loss(free: Sequence[LoadSample], bounded: Sequence[LoadSample]) -> Summary:
    """Return the processor time of a request with a bound over that without, by rounds."""
    above, below = (
        {each.round: 1 / each.requests_per_cpu_s for each in samples} for samples in (bounded, free)
    )
    return summary(ratios(above, below))


def _polls(sample: IdleSample) -> float:
    return sample.served.polls / sample.served.seconds


def _idle_share(sample: IdleSample) -> float:
    return sample.served.cpu_s / sample.served.seconds
