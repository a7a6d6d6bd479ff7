"""Files of results that are written by hand."""

from collections.abc import Mapping, Sequence

from purgatory_lab.benchmarks.bench.results import (
    Curve,
    Failure,
    Machine,
    Measurement,
    PeerFacts,
    Results,
    Sample,
    Setting,
)

MACHINE = Machine(
    processor="a processor",
    cores=2,
    memory_mib=4096,
    system="Linux 6 x86_64",
    python="CPython 3.11.7",
    package="0.1.0",
    commit="abc",
    load_begin=(0.5, 0.4, 0.3),
    load_end=(1.5, 0.4, 0.3),
)

Costs = Mapping[str, Mapping[str, Sequence[float]]]
"""For each setting and peer the nanoseconds, or the detail, of each round."""


def setting(name: str, measure: str = "", **request: int | float | str) -> Setting:
    kind = measure or name.partition(",")[0]
    asked = {"measure": kind, "pending": 0, "operations": 1_000_000, **request}
    return Setting(name, kind, name.partition(", ")[2], asked)


def timed(ns: float) -> Measurement:
    return Measurement(1_000_000, ns * 1e6, 2 * ns * 1e6, 3 * ns * 1e6)


def detailed(**detail: float) -> Measurement:
    return Measurement(1, None, None, None, dict(detail))


def results(
    settings: Sequence[Setting],
    answers: Mapping[tuple[str, str], Sequence[Measurement]],
    *,
    offers: Mapping[str, Sequence[str]] | None = None,
    reasons: Mapping[str, str] | None = None,
    failures: Sequence[Failure] = (),
    curves: Sequence[Curve] = (),
    machine: Machine = MACHINE,
    workload: bool = False,
) -> Results:
    """A file; each answer is of a round of its own, from 1."""
    names = dict.fromkeys([*(peer for _, peer in answers), *(offers or {}), *(reasons or {})])
    measures = tuple(dict.fromkeys(str(each.request["measure"]) for each in settings))
    facts = [
        PeerFacts(name, reasons[name])
        if reasons and name in reasons
        else PeerFacts(name, "", "1", "script", tuple((offers or {}).get(name, measures)))
        for name in names
    ]
    samples = [
        Sample(name, peer, number, 1, answer)
        for (name, peer), rounds in answers.items()
        for number, answer in enumerate(rounds, start=1)
    ]
    return Results(
        format="purgatory-bench",
        version=1,
        kind="workload" if workload else "measures",
        began="2026-01-02T03:04:05+00:00",
        seconds=61.0,
        options={"quick": True, "only": ("hot",)},
        machine=machine,
        peers=facts,
        settings=settings,
        samples=samples,
        failures=failures,
        curves=curves,
    )


def in_rounds(costs: Costs) -> Results:
    """A file of processor times, in ns for each operation."""
    return results(
        [setting(name) for name in costs],
        {
            (name, peer): [timed(each) for each in rounds]
            for name, peers in costs.items()
            for peer, rounds in peers.items()
        },
    )
