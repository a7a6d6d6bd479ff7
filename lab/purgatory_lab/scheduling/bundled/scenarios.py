"""All scenarios of the bundled implementation, each with what its runs are held against."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from purgatory_impl import COMPILED
from purgatory_lab.scheduling.bundled.bound_scenarios import BOUND_SCENARIOS
from purgatory_lab.scheduling.bundled.compiled import CompiledInjection
from purgatory_lab.scheduling.bundled.explained import (
    WHOLE_PASSES,
    ExplainedOperations,
    ExplainedTimer,
)
from purgatory_lab.scheduling.bundled.generated import generated_scenario
from purgatory_lab.scheduling.bundled.memory_pool.scenarios import (
    BOUND_MEMORY_POOL_SCENARIOS,
    MEMORY_POOL_SCENARIOS,
    pool_ends,
)
from purgatory_lab.scheduling.bundled.purgatory.scenarios import (
    ACCOUNTINGS,
    CROSSING_SCENARIOS,
    purgatory_scenarios,
)
from purgatory_lab.scheduling.bundled.table import BUNDLED
from purgatory_lab.scheduling.bundled.timer.scenarios import (
    EXPLAINED_TIMER_SCENARIOS,
    TIMER_SCENARIOS,
)
from purgatory_lab.scheduling.bundled.timer.world import TimerWorld
from purgatory_lab.scheduling.scenario import Look, Runs, Scenario
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.yield_points import Injection, Table
from purgatory_spec.profiles import Component


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario, and what its runs are held against besides the checks of its world.

    Attributes:
        scenario: What is run.
        component: Of what.
        look: Makes what looks at the ends of a search's runs.
        table: The yield points.
    """

    scenario: Scenario
    component: Component
    look: Callable[[], Look] | None = None
    table: Table = BUNDLED


def _all() -> Iterator[Prepared]:
    for accounting in ACCOUNTINGS:
        for scenario in purgatory_scenarios(accounting):
            yield Prepared(scenario, Component.PURGATORY, ExplainedOperations)
    for scenario in CROSSING_SCENARIOS:
        yield Prepared(scenario, Component.PURGATORY)
    for bound in BOUND_SCENARIOS.values():
        yield Prepared(bound.scenario(), Component.PURGATORY, bound.look)
    for scenario in TIMER_SCENARIOS:
        yield Prepared(scenario, Component.TIMER)
    for scenario in EXPLAINED_TIMER_SCENARIOS:
        yield Prepared(scenario, Component.TIMER, ExplainedTimer, WHOLE_PASSES)
    for scenario in MEMORY_POOL_SCENARIOS:
        yield Prepared(scenario, Component.MEMORY_POOL)
    for scenario in BOUND_MEMORY_POOL_SCENARIOS:
        yield Prepared(scenario, Component.MEMORY_POOL, partial(pool_ends, scenario))


SCENARIOS: Final[dict[str, Prepared]] = {each.scenario.name: each for each in _all()}
"""Of the purgatory with either accounting, alone and beside its models, of timer and pool."""


def prepared_scenario(name: str) -> Prepared:
    """Return the scenario of a name, one of the list or a generated one.

    Raises:
        KeyError: there is no such scenario.
    """
    if name in SCENARIOS:
        return SCENARIOS[name]
    scenario = generated_scenario(name)
    if scenario.make is TimerWorld:
        return Prepared(scenario, Component.TIMER, ExplainedTimer, WHOLE_PASSES)
    return Prepared(scenario, Component.PURGATORY)


@contextmanager
def scheduled(name: str) -> Iterator[Runs]:
    """Have the bundled implementation under control, for runs of a scenario.

    Raises:
        KeyError: there is no such scenario.
    """
    prepared = prepared_scenario(name)
    kind = CompiledInjection if COMPILED else Injection
    injection = kind(prepared.table, Scheduler())
    looks = [] if prepared.look is None else [prepared.look()]
    with injection.active():
        yield Runs(prepared.scenario, injection, looks)
