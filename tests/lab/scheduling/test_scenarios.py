"""The bundled implementation under every schedule of its scenarios, and races planted in it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from purgatory_lab.scheduling.bundled.bound_scenarios import BOUND_SCENARIOS, BoundScenario
from purgatory_lab.scheduling.bundled.memory_pool.scenarios import BOUND_MEMORY_POOL_SCENARIOS
from purgatory_lab.scheduling.bundled.scenarios import (
    KINDS,
    SCENARIOS,
    ExplainedOperations,
    ExplainedTimer,
    generated_scenario,
    scheduled,
)
from purgatory_lab.scheduling.bundled.seeded_races import SEEDED_RACES, SeededRace
from purgatory_lab.scheduling.errors import CheckFailed, Deadlock
from purgatory_lab.scheduling.model_outcomes import EndsOf
from purgatory_lab.scheduling.scenario import Runs, Scenario
from purgatory_lab.scheduling.schedule import from_text
from purgatory_lab.scheduling.search import exhaust, replay, sample

pytestmark = pytest.mark.recorded

PREEMPTIONS = 2
MOST_SCHEDULES = 300
"""Of one scenario, in the smaller form of the search: all with one preemption, many with two."""

RANDOM_RUNS = 20
LARGE_PREEMPTIONS = 3
LARGE_SCHEDULES = 8_000
LARGE_RUNS = 2_000

WITH_OWN_THREADS = [name for name in SCENARIOS if "own" in name]


@contextmanager
def raced(race: SeededRace) -> Iterator[Runs]:
    """Runs of a race's scenario with the race in the implementation."""
    with race.planted(), scheduled(race.scenario) as runs:
        yield runs


# The implementation as it is


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_schedule_breaks_a_scenario(name: str) -> None:
    with scheduled(name) as runs:
        search = exhaust(runs, PREEMPTIONS, MOST_SCHEDULES)
        assert search.failure is None, search.schedule
        assert search.by_preemptions[1] >= 5
        sampled = sample(runs, RANDOM_RUNS, seed=1)
        assert sampled.failure is None, sampled.schedule


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name.startswith("crossing-")])
def test_operations_that_call_each_other_wait_in_no_circle(name: str) -> None:
    with scheduled(name) as runs:
        search = exhaust(runs, 1)
        assert search.failure is None, search.schedule
        assert search.complete


@pytest.mark.large
@pytest.mark.parametrize("name", SCENARIOS)
def test_no_schedule_breaks_a_scenario_at_length(name: str) -> None:
    """Search with three preemptions, two where threads of its own take part, and longer."""
    preemptions = PREEMPTIONS if name in WITH_OWN_THREADS else LARGE_PREEMPTIONS
    with scheduled(name) as runs:
        search = exhaust(runs, preemptions, LARGE_SCHEDULES)
        assert search.failure is None, search.schedule
        assert search.complete or search.schedules == LARGE_SCHEDULES
        sampled = sample(runs, LARGE_RUNS, seed=2)
        assert sampled.failure is None, sampled.schedule


def test_a_run_is_the_same_whenever_it_is_replayed() -> None:
    with scheduled("exact-watch-and-check") as runs:
        seen = []
        for _ in range(2):
            record = replay(runs, from_text("a12b3"))
            seen.append(([mark.what for mark in record.marks], runs.world.history.events))
        assert seen[0] == seen[1]
        assert seen[0][0].count("calls") == 3


# Random programs


@pytest.mark.parametrize("kind", KINDS)
def test_no_schedule_breaks_a_generated_scenario(kind: str) -> None:
    run_generated(kind, range(25), 8)


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
def test_no_schedule_breaks_a_generated_scenario_at_length(kind: str) -> None:
    run_generated(kind, range(1_000, 2_000), 40)


def run_generated(kind: str, numbers: range, schedules: int) -> None:
    choices = 0
    for number in numbers:
        name = f"generated-{kind}-{number}"
        with scheduled(name) as runs:
            search = sample(runs, schedules, seed=number)
            assert search.failure is None, f"{name} {search.schedule}: {search.failure.failure}"
            choices += len(runs.injection.scheduler.record.choices)
    # Programs that do not meet would show nothing.
    assert choices > 5 * len(numbers)


def test_a_generated_scenario_is_always_the_same() -> None:
    seen = [generated_scenario("generated-exact-17") for _ in range(2)]
    assert seen[0].programs == seen[1].programs
    assert generated_scenario("generated-exact-18").programs != seen[0].programs
    with pytest.raises(KeyError):
        generated_scenario("generated-pool-17")


# The models


@pytest.mark.parametrize("bound", BOUND_SCENARIOS.values(), ids=lambda bound: bound.name)
def test_a_scenario_comes_to_the_ends_of_the_model(bound: BoundScenario) -> None:
    with scheduled(f"model-{bound.name}") as runs:
        assert exhaust(runs, 1).failure is None
        (ends,) = runs.looks
    assert isinstance(ends, EndsOf)
    assert (ends.known - ends.seen != set()) == bool(bound.stricter)
    assert (ends.outside != set()) == bool(bound.wider)
    assert len(ends.known & ends.seen) > 0


@pytest.mark.parametrize("scenario", BOUND_MEMORY_POOL_SCENARIOS, ids=lambda each: each.name)
def test_the_memory_pool_comes_to_the_ends_of_its_model(scenario: Scenario) -> None:
    """Compare with the model, which swaps where the implementation has a lock."""
    # Two of its ends take three preemptions.
    with scheduled(scenario.name) as runs:
        assert exhaust(runs, LARGE_PREEMPTIONS).failure is None
        (ends,) = runs.looks
    assert isinstance(ends, EndsOf)
    assert ends.seen == ends.known
    assert len(ends.known) > 5


def test_histories_of_many_kinds_are_explained() -> None:
    explained: dict[str, int] = {}
    for name, prepared in SCENARIOS.items():
        if prepared.look in (ExplainedTimer, ExplainedOperations):
            with scheduled(name) as runs:
                assert exhaust(runs, 1, limit=30).failure is None
                (look,) = runs.looks
            assert isinstance(look, ExplainedTimer | ExplainedOperations)
            explained[name] = look.histories
    assert sum(explained.values()) > 300
    # Nothing happens to an operation that is merely observed.
    assert min(explained.values()) >= 1


# Races


@pytest.mark.parametrize("race", SEEDED_RACES, ids=lambda race: race.name)
def test_a_seeded_race_is_found_and_replayed(race: SeededRace) -> None:
    with raced(race) as runs:
        search = exhaust(runs, PREEMPTIONS, MOST_SCHEDULES)
        assert search.failure is not None
        assert isinstance(search.failure.failure, CheckFailed | Deadlock)
        assert len(search.by_preemptions) > 1
        assert search.by_preemptions[2:] == (0,)
        again = replay(runs, from_text(search.schedule))
        assert str(again.failure) == str(search.failure.failure)
    with scheduled(race.scenario) as runs:
        assert exhaust(runs, 0).failure is None


@pytest.mark.parametrize("race", SEEDED_RACES, ids=lambda race: race.name)
def test_a_seeded_race_is_found_at_random(race: SeededRace) -> None:
    with raced(race) as runs:
        search = sample(runs, 400, seed=1)
        assert search.failure is not None
        assert str(replay(runs, from_text(search.schedule)).failure) == str(search.failure.failure)


@pytest.mark.parametrize("race", SEEDED_RACES, ids=lambda race: race.name)
def test_a_seeded_race_needs_two_threads(race: SeededRace) -> None:
    with raced(race) as runs:
        assert exhaust(runs, 0).failure is None
