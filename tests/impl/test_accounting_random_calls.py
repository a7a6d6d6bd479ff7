"""Every count is that of the lists, along random calls, under both strategies; in one thread."""

import random
from typing import Literal

import pytest

from purgatory_impl import chunks

from .purgatory_bench import Bench, Recorded, check_law, listed, sweep


@pytest.mark.parametrize("accounting", ["exact", "proposal"])
@pytest.mark.parametrize("seed", range(30))
def test_the_counts_are_those_of_the_lists_after_every_call(
    seed: int, accounting: Literal["exact", "proposal"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every count is what is found by walking the lists, and each callback ran once at most."""
    monkeypatch.setattr(chunks, "CHUNK", (128, 2, 5)[seed % 3])
    chance = random.Random(seed)
    bench = Bench(purge_interval=chance.choice([0, 1, 3]), accounting=accounting)
    driver = RandomCalls(chance, bench)
    for _ in range(400):
        driver.call()
        check_law(bench.purgatory)
    driver.finish()
    names = [line for line in bench.log if line.startswith("complete")]
    assert len(names) == len(set(names)) > 50


class RandomCalls:
    """Makes calls on a purgatory, some from inside callbacks of its operations."""

    def __init__(self, chance: random.Random, bench: Bench) -> None:
        self.chance = chance
        self.bench = bench
        self.operations: list[Recorded] = []
        self.depth = 0

    def call(self) -> None:
        actions = [
            *(self.watch, self.watch, self.check, self.force, self.cancel, self.advance),
            self.abandon,
        ]
        self.depth += 1
        try:
            self.chance.choice(actions)()
        except IndexError:
            if self.depth > 1:
                raise
        finally:
            self.depth -= 1

    def keys(self) -> str:
        return "".join(self.chance.choice("klmn") for _ in range(self.chance.randint(1, 4)))

    def watch(self) -> None:
        if self.operations and self.chance.random() < 0.3:
            operation = self.chance.choice(self.operations)
        else:
            operation = self.fresh()
        self.bench.purgatory.try_complete_else_watch(operation, list(self.keys()))

    def fresh(self) -> Recorded:
        name = str(len(self.operations))
        operation = self.bench.operation(name, self.chance.randint(0, 30))
        operation.ready = self.chance.random() < 0.1
        operation.during_try = self.now_and_then
        operation.during_complete = self.now_and_then
        operation.during_expiration = self.now_and_then
        self.operations.append(operation)
        return operation

    def now_and_then(self) -> None:
        if self.depth > 3:
            return
        lot = self.chance.random()
        if lot < 0.1:
            self.call()
        elif lot < 0.15:
            raise IndexError("planned")

    def check(self) -> None:
        for operation in self.chance.sample(self.operations, len(self.operations) // 5):
            operation.ready = True
        self.bench.purgatory.check_and_complete(self.chance.choice("klmn"))

    def force(self) -> None:
        if self.operations:
            self.chance.choice(self.operations).force_complete()

    def abandon(self) -> None:
        if self.operations and self.chance.random() < 0.3:
            self.bench.purgatory.abandon(self.chance.choice(self.operations))

    def cancel(self) -> None:
        if self.chance.random() < 0.3:
            self.bench.purgatory.cancel_for_key(self.chance.choice("klmn"))

    def advance(self) -> None:
        self.bench.advance(self.bench.clock.now_ms() + self.chance.randint(0, 10))
        for _ in range(self.chance.randint(0, 5)):
            self.bench.stepped.run_one()

    def finish(self) -> None:
        self.depth = 10
        self.bench.advance(10**6)
        self.bench.run_all()
        sweep(self.bench.purgatory)
        check_law(self.bench.purgatory)
        assert (self.bench.purgatory.stale, self.bench.purgatory.pending) == (0, 0)
        assert listed(self.bench.purgatory) == {} or all(
            not (operation.is_completed or operation.is_abandoned)
            for operations in listed(self.bench.purgatory).values()
            for operation in operations
        )


def test_the_comparison_with_the_lists_can_fail() -> None:
    """Given a purgatory whose stale count, then a word, is off by one: the comparison fails."""
    bench = Bench()
    operation = bench.watched("a", "k")
    bench.purgatory._accounting.post(1)
    with pytest.raises(AssertionError):
        check_law(bench.purgatory)
    bench.purgatory._accounting.post(-1)
    check_law(bench.purgatory)
    operation._entries += 1
    with pytest.raises(AssertionError):
        check_law(bench.purgatory)
