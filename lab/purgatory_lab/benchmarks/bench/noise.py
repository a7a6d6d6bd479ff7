"""Whether a run was noisy, in words."""

from collections.abc import Iterator
from typing import Final

from purgatory_lab.benchmarks.bench.catalogue import MEASURES, PROCESS, THREAD
from purgatory_lab.benchmarks.bench.figures import Figures
from purgatory_lab.benchmarks.bench.results import Machine, Results

SPREAD_BOUND: Final = 0.25
"""Rounds whose processor times lie further apart than this share of their median are noisy."""


def noise_of(file: Results) -> list[str]:
    """What speaks against the figures of a file, one sentence each; nothing if it was quiet."""
    return [*_busy(file.machine), *_spread(file)]


def is_busy(machine: Machine) -> bool:
    """Whether there was more to do than the processors could, already at the begin."""
    return machine.load_begin is not None and machine.load_begin[0] > machine.cores


def _busy(machine: Machine) -> Iterator[str]:
    if is_busy(machine) and machine.load_begin is not None:
        yield (
            f"the load average was {machine.load_begin[0]:.1f} at the begin, "
            f"with {machine.cores} processors"
        )


def _spread(file: Results) -> Iterator[str]:
    """How many figures of processor time are spread too far, and the worst of them."""
    figures = Figures([file])
    timed = {each.name: each.quantities[0].source for each in MEASURES}
    worst, wide, all_of_them = ("", 0.0), 0, 0
    for setting in file.settings:
        source = timed.get(setting.measure, "cpu_us")
        if source not in (THREAD, PROCESS, "cpu_us"):
            continue
        for peer in file.peers:
            found = figures.summary(setting.name, peer.name, source)
            if found is None or found.rounds < 2:
                continue
            all_of_them += 1
            wide += found.spread > SPREAD_BOUND
            if found.spread > worst[1]:
                worst = (f"{peer.name}, {setting.name}", found.spread)
    if wide:
        yield (
            f"{wide} of {all_of_them} figures of processor time are spread over more than "
            f"{SPREAD_BOUND:.0%} of their median; the widest is {worst[0]}: {worst[1]:.0%}"
        )
