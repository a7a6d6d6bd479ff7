"""A return that is lost is never overlooked, wherever in a run it is, whatever the component."""

from collections.abc import Sequence

import msgspec
import pytest

from purgatory_traces.traces.lines import Return, TraceLine

from .simulation.judged import verdict_of
from .simulation.machine import Machine
from .simulation.memory_pool import PoolPlan
from .simulation.memory_pool_run import simulated_pool
from .simulation.purgatory_plan import PurgatoryPlan
from .simulation.purgatory_run import simulated_purgatory
from .simulation.timer import TimerPlan
from .simulation.timer_run import simulated_timer


def machine_of(component: str, seed: int) -> Machine:
    match component:
        case "timer":
            return simulated_timer(seed, TimerPlan(), snapshots=2).machine
        case "purgatory":
            return simulated_purgatory(seed, PurgatoryPlan(), snapshots=2).machine
        case _:
            return simulated_pool(seed, PoolPlan(), snapshots=2).machine


def without(lines: Sequence[TraceLine], place: int) -> list[TraceLine]:
    """The lines without one of them, numbered without a gap."""
    left = [*lines[:place], *lines[place + 1 :]]
    first = lines[0].seq
    return [msgspec.structs.replace(line, seq=first + at) for at, line in enumerate(left)]


@pytest.mark.parametrize("component", ["timer", "purgatory", "memory pool"])
def test_no_run_conforms_without_one_of_its_returns(component: str) -> None:
    tried = 0
    for seed in range(4):
        lines = machine_of(component, seed).lines
        if verdict_of(lines).verdict != "conforms":
            continue
        returns = [place for place, line in enumerate(lines) if isinstance(line, Return)]
        for place in returns[:: max(1, len(returns) // 30)]:
            assert verdict_of(without(lines, place)).verdict != "conforms", (seed, place)
            tried += 1
    assert tried >= 30
