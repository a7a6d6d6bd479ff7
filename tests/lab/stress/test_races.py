"""The stress run finds what is planted, so that it means something where it finds nothing."""

import pytest

from purgatory_lab.stress.hunting import hunt
from purgatory_lab.stress.races import RACES, Race

pytestmark = pytest.mark.verify

BUDGET = 150
"""Rounds in which a race has to be found; most take one or two."""

NAMES = [race.name for race in RACES]


@pytest.mark.slow
@pytest.mark.parametrize("race", RACES, ids=NAMES)
def test_a_planted_race_is_found(race: Race) -> None:
    found = hunt(race, seed=0, rounds=BUDGET)
    assert found.has_found(race), found.words


@pytest.mark.large
@pytest.mark.parametrize("race", RACES, ids=NAMES)
def test_a_planted_race_is_found_every_time(race: Race) -> None:
    hunts = [hunt(race, 1000 * n, BUDGET) for n in range(1, 11)]
    assert [each.words for each in hunts if not each.has_found(race)] == []


@pytest.mark.parametrize("race", RACES, ids=NAMES)
def test_a_race_is_taken_out_again(race: Race) -> None:
    before = [owner.__dict__[name] for owner, name, _ in race.substitutes]
    with race.planted():
        planted = [owner.__dict__[name] for owner, name, _ in race.substitutes]
    assert planted == [substitute for *_, substitute in race.substitutes]
    assert [owner.__dict__[name] for owner, name, _ in race.substitutes] == before


def test_a_deadlock_is_reported_with_the_stacks() -> None:
    race = next(race for race in RACES if race.name == "finaliser-under-shard-lock")
    words = hunt(race, seed=50, rounds=BUDGET).words
    assert "nothing went on for 6 s" in words or "nothing went on for 15 s" in words
    assert words.index("_sweep_and_let_go_under_lock") < words.rindex("__del__")
