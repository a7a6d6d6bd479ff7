"""The search: each schedule once, in the order of preemptions; random ones that can be replayed."""

from math import comb

import pytest

from purgatory_lab.scheduling.errors import Diverged
from purgatory_lab.scheduling.run import Record, Strategy
from purgatory_lab.scheduling.schedule import as_text, from_text
from purgatory_lab.scheduling.search import exhaust, replay, sample

from .toys import Toy, ToyRuns


class Keeping:
    """Keeps the schedule of every run, with its preemptions."""

    def __init__(self, runs: ToyRuns) -> None:
        self.made: list[tuple[str, int]] = []
        self._runs = runs

    def __call__(self, strategy: Strategy) -> Record:
        record = self._runs(strategy)
        preemptions = sum(choice.is_preemption(choice.chosen) for choice in record.choices)
        self.made.append((as_text(record.chosen()), preemptions))
        return record


def steps(number: int) -> ToyRuns:
    """Two threads, each with so many yield points."""

    def body(toy: Toy) -> None:
        for _ in range(number):
            toy.scheduler.reach("between")

    return ToyRuns(body, body)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_all_schedules_are_as_many_as_there_are_interleavings(number: int) -> None:
    runs = Keeping(steps(number))
    search = exhaust(runs, 2 * number + 1)
    assert search.complete
    assert search.schedules == len(set(runs.made)) == comb(2 * (number + 1), number + 1)


def test_schedules_come_in_the_order_of_preemptions() -> None:
    runs = Keeping(steps(4))
    search = exhaust(runs, 3)
    preemptions = [number for _, number in runs.made]
    assert preemptions == sorted(preemptions)
    assert search.by_preemptions == tuple(preemptions.count(number) for number in range(4))
    # Whoever begins may be interrupted at each of its four yield points.
    assert search.by_preemptions[:2] == (2, 8)


def test_a_search_stops_at_its_limit_and_says_so() -> None:
    search = exhaust(steps(4), 3, limit=5)
    assert (search.schedules, search.complete, search.failure) == (5, False, None)


def lossy(toy: Toy) -> None:
    """Adds, and fails where an addition was lost."""
    toy.log.append("adds")
    toy.add_in_two_steps()
    toy.log.append("has added")
    if toy.log.count("has added") == 2 and toy.number == 1:
        raise ValueError("an addition is lost")


def test_a_failure_is_found_with_the_fewest_preemptions_and_replayed() -> None:
    runs = ToyRuns(lossy, lossy)
    search = exhaust(runs, 3)
    assert search.failure is not None
    assert search.by_preemptions[1] > 0
    assert search.by_preemptions[2:] == (0, 0)
    again = replay(runs, from_text(search.schedule))
    assert str(again.failure) == str(search.failure.failure)


def test_random_runs_find_it_too_and_are_the_same_for_the_same_seed() -> None:
    runs = ToyRuns(lossy, lossy, lossy)
    first, second = sample(runs, 200, seed=7), sample(runs, 200, seed=7)
    assert first.failure is not None
    assert (first.schedules, first.schedule) == (second.schedules, second.schedule)
    assert str(replay(runs, from_text(first.schedule)).failure) == str(first.failure.failure)
    assert len({sample(runs, 200, seed).schedule for seed in range(10)}) > 1


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("a", "is over after 1 choices, and the run is not"),
        ("a3c", "choice 4 of the schedule a3c is c, and only a, b can go on there"),
        ("a2b4a", "the run was over after 6 choices of the schedule a2b4a, which has 7"),
    ],
)
def test_a_schedule_that_does_not_fit_is_an_error(schedule: str, words: str) -> None:
    with pytest.raises(Diverged, match=words):
        replay(steps(3), from_text(schedule))
