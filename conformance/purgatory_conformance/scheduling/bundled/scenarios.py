"""All scenarios of the bundled implementation, by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from purgatory_conformance.scheduling.bundled.memory_pool_scenarios import MEMORY_POOL_SCENARIOS
from purgatory_conformance.scheduling.bundled.purgatory_scenarios import purgatory_scenarios
from purgatory_conformance.scheduling.bundled.table import BUNDLED
from purgatory_conformance.scheduling.bundled.timer_scenarios import TIMER_SCENARIOS
from purgatory_conformance.scheduling.scenario import Runs, Scenario
from purgatory_conformance.scheduling.scheduler import Scheduler
from purgatory_conformance.scheduling.yield_points import Injection

SCENARIOS: Final[dict[str, Scenario]] = {
    scenario.name: scenario
    for scenario in (
        *purgatory_scenarios("exact"),
        *purgatory_scenarios("proposal"),
        *TIMER_SCENARIOS,
        *MEMORY_POOL_SCENARIOS,
    )
}
"""Of the purgatory with either accounting, of the timer, and of the memory pool."""


@contextmanager
def scheduled(scenario: Scenario) -> Iterator[Runs]:
    """Have the bundled implementation under control, for runs of a scenario."""
    injection = Injection(BUNDLED, Scheduler())
    with injection.active():
        yield Runs(scenario, injection)
