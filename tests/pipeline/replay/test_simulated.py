"""Instances whose users overlap, simulated: right runs conform, faults are found in place."""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

import pytest

from purgatory_spec.profiles import Accounting, NegativeDelay, Rounding

from .simulation import memory_pool_run, purgatory_plan, timer_run
from .simulation.judged import conforms, overlapping, shown_at, verdict_of
from .simulation.memory_pool import PoolFault, PoolPlan
from .simulation.memory_pool_faults import SCENES as POOL_SCENES
from .simulation.memory_pool_faults import can_go_wrong as pool_can_go_wrong
from .simulation.memory_pool_run import simulated_pool
from .simulation.purgatory_faults import SCENES as PURGATORY_SCENES
from .simulation.purgatory_faults import can_go_wrong as purgatory_can_go_wrong
from .simulation.purgatory_plan import PurgatoryFault, PurgatoryPlan
from .simulation.purgatory_run import simulated_purgatory
from .simulation.timer import TimerFault, TimerPlan
from .simulation.timer_run import SCENES as TIMER_SCENES
from .simulation.timer_run import simulated_timer

pytestmark = pytest.mark.recorded


class Simulation(NamedTuple):
    """The functions that simulate a component."""

    simulated: Callable[..., Any]
    drawn_plan: Callable[[int], Any]
    faults: type[Enum]
    scenes: Mapping[Any, tuple[Any, set[str]]]
    can_go_wrong: Callable[[Any, Any], bool]
    seeds: range
    """Of the right runs."""
    seeds_of: Callable[[Any], Iterable[int]]
    """Of the runs with a fault."""
    plans: Mapping[str, Any]


SIMULATIONS = {
    "timer": Simulation(
        simulated_timer,
        timer_run.drawn_plan,
        TimerFault,
        TIMER_SCENES,
        lambda plan, fault: True,
        range(12),
        lambda fault: range(4),
        {
            "three users": TimerPlan(),
            "eight users of two tasks": TimerPlan(threads=8, names=2),
            "ticks, rounded up, no reaper": TimerPlan(
                tick_ms=10, rounding=Rounding.UP, has_reaper=False
            ),
            "ticks, rounded down, rejecting, ends abruptly": TimerPlan(
                threads=5,
                tick_ms=7,
                negative_delay=NegativeDelay.REJECT,
                lateness_ms=5,
                ends_abruptly=True,
            ),
            "a small wheel, shut down": TimerPlan(
                threads=2, wheel_size=2, shuts_down=True, lateness_ms=50
            ),
            "lines written late": TimerPlan(threads=6, lag_ns=3_000_000, lateness_ms=50),
        },
    ),
    "purgatory": Simulation(
        simulated_purgatory,
        purgatory_plan.drawn_plan,
        PurgatoryFault,
        PURGATORY_SCENES,
        purgatory_can_go_wrong,
        range(5),
        lambda fault: [list(PurgatoryFault).index(fault)],
        {
            "exact": PurgatoryPlan(),
            "proposal": PurgatoryPlan(accounting=Accounting.PROPOSAL),
            "proposal, arms first": PurgatoryPlan(
                accounting=Accounting.PROPOSAL, arms_first=True, threads=5
            ),
            "eight users of two keys": PurgatoryPlan(threads=8, keys=2, calls=15),
            "ticks, rounded up, no reaper": PurgatoryPlan(
                tick_ms=10, rounding=Rounding.UP, has_reaper=False
            ),
            "tries untold, ends abruptly": PurgatoryPlan(
                threads=5, tells_tries=False, ends_abruptly=True
            ),
            "satisfied untold, ticks, rounded down": PurgatoryPlan(
                threads=4,
                accounting=Accounting.PROPOSAL,
                tells_satisfied=False,
                lateness_ms=5,
                tick_ms=7,
            ),
            "no time-outs": PurgatoryPlan(time_outs=False),
            "exact, shut down": PurgatoryPlan(threads=4, shuts_down=True, lateness_ms=50),
            "proposal, shut down": PurgatoryPlan(
                threads=4, accounting=Accounting.PROPOSAL, shuts_down=True
            ),
            "lines written late": PurgatoryPlan(threads=6, lag_ns=3_000_000, lateness_ms=50),
        },
    ),
    "pool": Simulation(
        simulated_pool,
        memory_pool_run.drawn_plan,
        PoolFault,
        POOL_SCENES,
        pool_can_go_wrong,
        range(6),
        lambda fault: range(2),
        {
            "not strict": PoolPlan(),
            "strict": PoolPlan(strict=True),
            "six users": PoolPlan(threads=6, calls=20),
            "strict, five users, knows its own": PoolPlan(
                threads=5, calls=20, strict=True, knows_its_own=True
            ),
            "small, knows its own": PoolPlan(
                threads=3, size_bytes=7, max_single_bytes=3, knows_its_own=True
            ),
            "unbounded": PoolPlan(unbounded=True),
            "plenty": PoolPlan(threads=6, size_bytes=700, max_single_bytes=60),
            "one buffer": PoolPlan(threads=2, size_bytes=5, max_single_bytes=5),
            "lines written late": PoolPlan(threads=4, lag_ns=300_000),
        },
    ),
}
PLANS = {
    f"{component}, {name}": (simulation, plan)
    for component, simulation in SIMULATIONS.items()
    for name, plan in simulation.plans.items()
}
FAULTY = {
    f"{name}, {fault.name}": (simulation, plan, fault)
    for name, (simulation, plan) in PLANS.items()
    for fault in simulation.faults
    if simulation.can_go_wrong(plan, fault)
}

simulations = pytest.mark.parametrize("simulation", SIMULATIONS.values(), ids=SIMULATIONS)


@pytest.mark.parametrize(("simulation", "plan"), PLANS.values(), ids=PLANS)
def test_a_right_run_conforms(simulation: Simulation, plan: object) -> None:
    crowded = 0
    for seed in simulation.seeds:
        machine = simulation.simulated(seed, plan, snapshots=3).machine
        assert conforms(machine), seed
        crowded += overlapping(machine.lines)
    assert crowded > 10 * len(simulation.seeds)


@simulations
@pytest.mark.parametrize(
    "seeds",
    [range(30), pytest.param(range(30, 1500), marks=pytest.mark.large)],
    ids=["few", "many"],
)
def test_a_right_run_of_a_drawn_instance_conforms(simulation: Simulation, seeds: range) -> None:
    for seed in seeds:
        run = simulation.simulated(seed, simulation.drawn_plan(seed), snapshots=3)
        assert conforms(run.machine), seed


@pytest.mark.parametrize(("simulation", "plan", "fault"), FAULTY.values(), ids=FAULTY)
def test_a_fault_is_found_where_it_was_planted(
    simulation: Simulation, plan: object, fault: Enum
) -> None:
    scene, rules = simulation.scenes[fault]
    for seed in simulation.seeds_of(fault):
        machine = simulation.simulated(seed, plan, scene).machine
        verdict = verdict_of(machine.lines)
        assert (verdict.verdict, verdict.seq) == ("diverges", shown_at(machine)), (seed, verdict)
        assert verdict.rule in rules, (seed, verdict)


@simulations
def test_each_fault_has_a_scene_and_a_plan_that_shows_it(simulation: Simulation) -> None:
    assert set(simulation.scenes) == set(simulation.faults)
    assert {fault for of, _, fault in FAULTY.values() if of is simulation} == set(simulation.faults)


@simulations
def test_a_seed_stands_for_one_trace(simulation: Simulation) -> None:
    plan = next(iter(simulation.plans.values()))
    again = simulation.simulated(5, plan).machine.lines
    assert simulation.simulated(5, plan).machine.lines == again
    assert simulation.simulated(6, plan).machine.lines != again


def crowded(calls: int, accounting: Accounting) -> PurgatoryPlan:
    """Four keys under which eight threads watch, check, force and cancel."""
    return PurgatoryPlan(threads=8, calls=calls, keys=4, accounting=accounting)


@pytest.mark.parametrize("share", [10, pytest.param(1, marks=pytest.mark.large)])
@pytest.mark.parametrize(
    ("component", "plan_of", "calls"),
    [
        pytest.param("timer", lambda calls: TimerPlan(threads=8, calls=calls), 2600, id="timer"),
        pytest.param("purgatory", lambda calls: crowded(calls, Accounting.EXACT), 1400, id="exact"),
        pytest.param(
            "purgatory", lambda calls: crowded(calls, Accounting.PROPOSAL), 1400, id="proposal"
        ),
        pytest.param(
            "pool",
            lambda calls: PoolPlan(threads=8, calls=calls),
            3125,
            id="pool",
            marks=pytest.mark.large,
        ),
        pytest.param(
            "pool", lambda calls: PoolPlan(threads=8, calls=calls, strict=True), 625, id="strict"
        ),
    ],
)
def test_a_large_run_conforms(
    component: str, plan_of: Callable[[int], object], calls: int, share: int
) -> None:
    calls //= share
    machine = SIMULATIONS[component].simulated(1, plan_of(calls)).machine
    assert len(machine.lines) > 15 * calls
    assert verdict_of(machine.lines).verdict == "conforms"
