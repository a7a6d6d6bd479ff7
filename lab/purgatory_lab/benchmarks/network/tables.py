"""Aims and their verdicts, and the tables of the page: all follow from the file of results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Final

from purgatory_lab.benchmarks.bench.results import Machine
from purgatory_lab.benchmarks.bench.statistics import Summary, ratios, summary
from purgatory_lab.benchmarks.bench.words import number, per_cent, table, told
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

FLAT_SHARE: Final = 0.25
"""Resident memory is flat where a larger spike adds at most this share of what it holds."""
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


def spikes_table(results: NetworkResults) -> str:
    """Return the table of all spikes."""
    return table(
        (
            "design",
            "by",
            "requests",
            "of, MiB",
            "bound, bytes",
            "most out, bytes",
            "resident growth, MiB",
            "waiting then",
            "answered",
        ),
        (
            (
                each.design,
                in_words(tls=each.tls),
                number(each.load.total),
                number(each.load.body_bytes / MIB),
                number(each.allowed_bytes),
                number(each.served.most_bytes),
                number(each.served.grown_bytes / MIB, 1),
                number(each.served.waiting),
                number(each.served.requests),
            )
            for each in results.spikes
        ),
        left=2,
    )


def fairness_table(results: NetworkResults) -> str:
    """Return the table of all orders."""
    return table(
        ("order", "responses", "served", "Jain's index", "longest wait, requests of others"),
        (
            (
                each.order,
                "one late" if each.is_late else "in time",
                " ".join(map(str, each.served)),
                number(jain(each.served), 2),
                number(each.longest_wait),
            )
            for each in results.fairness
        ),
        left=3,
    )


def idle_table(results: NetworkResults) -> str:
    """Return the table of all idle servers."""
    return table(
        ("server", "by", "waiting", "polls a second", "processor time, ms a second"),
        (
            (
                "control: spins" if each.spins else "the network thread",
                in_words(tls=each.tls),
                number(each.served.waiting),
                number(_polls(each), 1),
                number(1000 * _idle_share(each), 2),
            )
            for each in results.idles
        ),
        left=2,
    )


def loads_table(results: NetworkResults) -> str:
    """Return the table of all loads, in medians."""

    def rows() -> Iterator[tuple[str, ...]]:
        for name, tls, build, memory in _kinds(results.loads):
            free, bounded = (
                _chosen(results.loads, name, tls, build, memory, is_bounded=each)
                for each in (False, True)
            )
            figure, digits = _figure(name)
            loss = _loss(free, bounded)
            yield (
                name,
                in_words(tls=tls),
                build,
                memory,
                *(
                    told(summary([figure(each) for each in samples]), digits)
                    for samples in (free, bounded)
                ),
                per_cent(loss),
                number(median(each.served.requests / each.served.polls for each in bounded), 1),
            )

    return table(
        (
            "requests",
            "by",
            "build",
            "memory",
            "no limit",
            "limit",
            "processor time by the limit",
            "requests a poll",
        ),
        rows(),
        left=4,
    )


def circumstances(results: NetworkResults) -> str:
    """Return the time, the command and the machine in words."""
    return (
        f"`{results.command}`, {results.began}, {results.seconds / 60:.0f} minutes; "
        f"{_machine(results.machine)}."
    )


def regions(results: NetworkResults) -> dict[str, str]:
    """Return the regions of the page; a part that was not taken has none."""
    found = {"aims": f"{aims_table(results)}\n\n{circumstances(results)}"}
    for name, samples, shown in (
        ("spikes", results.spikes, spikes_table),
        ("fairness", results.fairness, fairness_table),
        ("idle", results.idles, idle_table),
        ("loads", results.loads, loads_table),
    ):
        if samples:
            found[name] = shown(results)
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


def _aims_of_loads(samples: Sequence[LoadSample]) -> Iterator[Aim]:
    for build, memory in product(_BUILDS, _MEMORIES):
        kept = "" if memory == "default" else ", memory kept"
        of_small = [(SMALL, False), (PIPELINED, False)]
        yield from _least(
            samples, build, memory, of_small, LEAST_REQUESTS, f"small requests, {build}{kept}"
        )
        of_large = [(MIDDLE, False), (LARGE, False)]
        yield from _least(
            samples, build, memory, of_large, LEAST_GIGABYTES, f"large bodies, {build}{kept}"
        )
        of_tls = [(MIDDLE, True), (LARGE, True)]
        yield from _least(
            samples, build, memory, of_tls, LEAST_TLS_GIGABYTES, f"large by TLS, {build}{kept}"
        )
    for build, memory in product(_BUILDS, _MEMORIES):
        kept = "" if memory == "default" else ", memory kept"
        for names, what in (((SMALL, PIPELINED), "small requests"), ((MIDDLE, LARGE), "large")):
            losses = [
                _loss(
                    *(
                        _chosen(samples, name, tls, build, memory, is_bounded=bounded)
                        for bounded in (False, True)
                    )
                )
                for name, tls in product(names, (False, True))
                if _chosen(samples, name, tls, build, memory, is_bounded=True)
            ]
            if losses:
                least, most = (pick(each.median for each in losses) for pick in (min, max))
                yield Aim(
                    f"the bound costs at most {MOST_LOSS - 1:.0%}: {what}, {build}{kept}",
                    f"{least - 1:+.1%} to {most - 1:+.1%}",
                    most <= MOST_LOSS,
                )


def _least(
    samples: Sequence[LoadSample],
    build: str,
    memory: Memory,
    loads: Sequence[tuple[str, bool]],
    least: float,
    name: str,
) -> Iterator[Aim]:
    """Yield an aim that holds for each of some loads, under the bound."""
    medians = []
    for load, tls in loads:
        chosen = _chosen(samples, load, tls, build, memory, is_bounded=True)
        if chosen:
            figure, digits = _figure(load)
            found = summary([figure(each) for each in chosen])
            medians.append((load, found, digits))
    if medians:
        unit = "GB" if least < 1000 else "requests"
        said = number(least, 1 if least < 1 else 0)
        yield Aim(
            f"{name}: {said} {unit} for each second of processor time",
            "; ".join(f"{load}: {told(found, digits)}" for load, found, digits in medians),
            all(found.median >= least for _, found, _ in medians),
        )


def _chosen(
    samples: Sequence[LoadSample],
    name: str,
    tls: bool,
    build: str,
    memory: str,
    *,
    is_bounded: bool,
) -> list[LoadSample]:
    return [
        each
        for each in samples
        if (each.name, each.tls, each.build, each.memory, each.is_bounded)
        == (name, tls, build, memory, is_bounded)
    ]


def _kinds(samples: Sequence[LoadSample]) -> list[tuple[str, bool, str, str]]:
    return list(dict.fromkeys((each.name, each.tls, each.build, each.memory) for each in samples))


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


def _machine(machine: Machine) -> str:
    memory = "" if machine.memory_mib is None else f", {machine.memory_mib / 1024:.0f} GiB"
    load = ""
    if machine.load_begin is not None and machine.load_end is not None:
        load = (
            f"; load average {machine.load_begin[0]:.1f} at the begin and "
            f"{machine.load_end[0]:.1f} at the end"
        )
    return (
        f"{machine.processor}, {machine.cores} processors{memory}; {machine.system}; "
        f"{machine.python}; version {machine.package}, commit {machine.commit}{load}"
    )
