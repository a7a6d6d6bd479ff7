"""The lemmas of the timing wheel: proved, refuted where weakened, and true of the model's wheel."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from types import CodeType

import pytest
import z3

from purgatory_model.arithmetic import bucket_index, floor_to, is_covered, level_of
from purgatory_model.timing_wheel import TimingWheel
from purgatory_tla.proofs import PROOFS as ALL_PROOFS
from purgatory_tla.proofs.obligations import Proof, prove
from purgatory_tla.proofs.step_relations import python_of
from purgatory_tla.proofs.timing_wheel import LEMMAS, PROOFS, Lemma, covers, is_floor

BY_NAME = {lemma.name: lemma for lemma in LEMMAS}
TIMES = range(-7, 14)
_MOST_LEVELS = 8


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_each_proof_comes_out_as_its_author_says(proof: Proof) -> None:
    result = prove(proof)
    assert result.verdict is proof.expected, result.discharged


def test_each_lemma_is_found_by_its_name_and_has_must_fails() -> None:
    assert {proof.name: proof for proof in PROOFS}.items() <= ALL_PROOFS.items()
    assert all(lemma.weakened for lemma in LEMMAS)


@lru_cache
def compiled(formula: z3.BoolRef) -> CodeType:
    """Return a formula as an expression of Python."""
    return compile(python_of(formula), "a formula", "eval")


def holds(formula: z3.BoolRef, numbers: Mapping[str, int]) -> bool:
    """Decide whether a formula is true of numbers."""
    return bool(eval(compiled(formula), {}, dict(numbers)))


def test_the_formulas_are_the_arithmetic_of_the_model() -> None:
    time, own_at, tick, due, size = z3.Ints("time own_at tick due size")
    floor_is = is_floor(own_at, time, tick)
    covers_it = covers(due, own_at, tick, tick * size)
    for each, wide, reading in product(TIMES, range(1, 5), TIMES):
        numbers = {"time": reading, "tick": wide, "own_at": each}
        assert holds(floor_is, numbers) == (wide * each == floor_to(reading, wide))
        numbers |= {"own_at": reading // wide, "due": each, "size": 3}
        assert holds(covers_it, numbers) == is_covered(each, reading, wide, 3)


def test_places_in_the_ring_are_those_of_the_model() -> None:
    """Buckets have one place where their numbers differ by whole turns."""
    for one, other, size in product(TIMES, TIMES, (2, 3, 4)):
        turns = [n for n in range(-20, 20) if one - other == size * n]
        assert bool(turns) == (bucket_index(one, 1, size) == bucket_index(other, 1, size))


Inserts = Callable[[TimingWheel, int], TimingWheel]
"""Puts the task ``a`` with a due tick into a wheel."""


def as_the_model_does(wheel: TimingWheel, due: int) -> TimingWheel:
    """Put a task where the model puts it."""
    inserted = wheel.insert("a", due, due, due).pending
    assert inserted is not None
    return inserted


def uses_of(wheel: TimingWheel, due: int, insert: Inserts) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the lemmas that the life of a task makes use of, with its numbers, until it expires."""
    previous = None
    for _ in range(_MOST_LEVELS):
        wheel = insert(wheel, due)
        bucket, level = wheel.places["a"]
        own = wheel.own_clock_ms
        yield from _uses_of_resting(wheel, due, level)
        if previous is not None:
            yield "rests-highest", _numbers(wheel, due, level)
        yield from _uses_of_waiting(wheel, bucket, level)
        before, size = wheel, wheel.wheel_size
        wheel, expired = wheel.pop((bucket, level))
        if expired:
            tick = wheel.tick_ms
            numbers = {"tick": tick, "size": size, "due": due, "next_own": wheel.own_clock_ms}
            yield "expires", {**numbers, "bucket_at": due // tick}
            numbers = {"own": own, "due": due, "to": bucket, "multiple": bucket, "tick": tick}
            yield "not-early", {**numbers, "next_own": wheel.own_clock_ms}
            return
        lower = _numbers(wheel, due, level - 1)
        yield "cascade-down", lower
        wheel = before.remove("a")
        wheel = TimingWheel(wheel.tick_ms, size, bucket, wheel.levels)
        previous = level


def _numbers(wheel: TimingWheel, due: int, level: int) -> dict[str, int]:
    """Return what a lemma about a level and the next one speaks of."""
    own, tick = wheel.own_clock_ms, wheel.tick_of(level)
    upper = tick * wheel.wheel_size
    numbers = {"tick": tick, "upper": upper, "size": wheel.wheel_size, "own": own, "due": due}
    numbers |= {"own_at": own // tick, "own_above": own // upper}
    return numbers | {"due_at": due // tick, "due_above": due // upper}


def _uses_of_resting(
    wheel: TimingWheel, due: int, level: int
) -> Iterator[tuple[str, dict[str, int]]]:
    numbers = _numbers(wheel, due, level)
    yield "inside", numbers
    yield "lowest-level", numbers
    if level == 1:
        yield "first-level", numbers
    else:
        yield "upper-level", _numbers(wheel, due, level - 1)
        multiple = wheel.own_clock_ms // wheel.tick_of(level) * wheel.wheel_size
        below = _numbers(wheel, due, level - 1)
        yield "floors", {**below, "multiple": multiple}


def _uses_of_waiting(
    wheel: TimingWheel, bucket: int, level: int
) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield what is true of the bucket at each own clock before it, and at each reading."""
    tick, own, size = wheel.tick_of(level), wheel.own_clock_ms, wheel.wheel_size
    numbers = {"tick": tick, "size": size, "own": own, "own_at": own // tick}
    for later in range(own, bucket):
        moved = {"next_own": later, "next_at": later // tick, "bucket_at": bucket // tick}
        yield "window-kept", {**numbers, **moved}
        due = wheel.due_ticks["a"]
        yield "not-late", {**numbers, "due": due, "due_at": due // tick, "to": later}


def misfits(insert: Inserts) -> tuple[list[tuple[str, str]], Counter[str]]:
    """Return what of the lemmas is not true of small wheels, and how often each lemma is used."""
    found: list[tuple[str, str]] = []
    used: Counter[str] = Counter()
    for tick, size, own_at, ahead in product((1, 3), (2, 3), range(-3, 4), range(1, 20)):
        wheel = TimingWheel(tick, size, tick * own_at)
        for name, numbers in uses_of(wheel, tick * (own_at + ahead), insert):
            used[name] += 1
            found += [(name, part) for part in untrue(BY_NAME[name], numbers)]
    return found, used


def untrue(lemma: Lemma, numbers: Mapping[str, int]) -> Iterator[str]:
    """Yield the assumptions and claims of a lemma that are not true of numbers."""
    for name, formula in (*lemma.assumed.items(), *lemma.claimed.items()):
        if not holds(formula, numbers):
            yield name


def test_the_wheel_of_the_model_is_what_the_lemmas_speak_of() -> None:
    """Its insertions and pops are instances of the lemmas, whose claims are true there."""
    found, used = misfits(as_the_model_does)
    assert not found
    assert min(used.values()) > 100
    assert used.keys() == BY_NAME.keys() - {"high-enough", "own-slot"}


def one_level_up(wheel: TimingWheel, due: int) -> TimingWheel:
    """Put a task on the level above the lowest that covers it."""
    level = level_of(due, wheel.own_clock_ms, wheel.tick_ms, wheel.wheel_size) + 1
    bucket = (floor_to(due, wheel.tick_of(level)), level)
    return _placed(wheel, due, bucket)


def unrounded(wheel: TimingWheel, due: int) -> TimingWheel:
    """Name a bucket by the task's tick."""
    (_, level) = as_the_model_does(wheel, due).places["a"]
    return _placed(wheel, due, (due, level))


def by_its_end(wheel: TimingWheel, due: int) -> TimingWheel:
    """Name a bucket by the last tick that falls into it."""
    (expiry, level) = as_the_model_does(wheel, due).places["a"]
    return _placed(wheel, due, (expiry + wheel.tick_of(level) - wheel.tick_ms, level))


@pytest.mark.parametrize(
    ("insert", "lemma"),
    [(one_level_up, "upper-level"), (unrounded, "not-late"), (by_its_end, "window-kept")],
)
def test_a_wheel_that_inserts_otherwise_is_noticed(insert: Inserts, lemma: str) -> None:
    found, _ = misfits(insert)
    assert lemma in dict(found)


def _placed(wheel: TimingWheel, due: int, bucket: tuple[int, int]) -> TimingWheel:
    right = as_the_model_does(wheel, due)
    right = right.remove("a")
    return TimingWheel(
        right.tick_ms,
        right.wheel_size,
        right.own_clock_ms,
        max(right.levels, bucket[1]),
        right.due_ticks.set("a", due),
        right.places.set("a", bucket),
        right.buckets.set(bucket, frozenset({"a"})),
    )
