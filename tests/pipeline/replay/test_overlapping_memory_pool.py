"""Memory pools that threads share: some order of the overlapping calls explains each answer."""

import pickle
import random
from collections.abc import Iterator
from itertools import islice

import msgspec
import pytest

from purgatory_model.concurrent.memory_pool.model import ConcurrentMemoryPool
from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import Called, History, Returned
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.run_replay import judge_of
from purgatory_traces.traces.lines import ManualClock, MemoryPoolInstance, Step, WallClock

from .wall_clock import NS_PER_MS, Line, at_once, begin, call, judged, lines_of, returns

SIZES = MemoryPoolConfiguration(size_bytes=3, max_single_bytes=2)
STRICT = MemoryPoolConfiguration(size_bytes=3, max_single_bytes=2, strict=True)
POOL = begin(MemoryPoolInstance(SIZES))


@pytest.mark.parametrize("clock", [ManualClock(), POOL.clock], ids=["manual", "real"])
def test_what_a_release_returns_is_free(clock: ManualClock | WallClock) -> None:
    first = msgspec.structs.replace(POOL, clock=clock)

    def steps(again: Operation, result: Value) -> list[Finding | None]:
        judge = judge_of(first)
        told: tuple[tuple[Operation, Value], ...] = (
            (Allocate("a", 2), True),
            (Release("a"), True),
            (again, result),
        )
        return [
            judge.take(
                Step(
                    run="run",
                    seq=seq,
                    at_ns=None if isinstance(clock, ManualClock) else seq * NS_PER_MS,
                    operation=operation,
                    result=answer,
                )
            )
            for seq, (operation, answer) in enumerate(told, start=1)
        ]

    assert steps(Allocate("b", 2), True) == [None, None, None]
    assert steps(Allocate("b", 2), False)[2] is not None


def programs(configuration: MemoryPoolConfiguration) -> Iterator[History]:
    pool = ConcurrentMemoryPool(configuration, ("t1", "t2", "t3"))
    asks = {"t1": (Allocate("t1", 2),), "t2": (Allocate("t2", 2),), "t3": (Allocate("t3", 1),)}
    yield from islice(histories(Programmed(pool, asks)), 300)


@pytest.mark.parametrize("configuration", [SIZES, STRICT], ids=["non-strict", "strict"])
def test_it_says_what_the_model_says_of_every_history(
    configuration: MemoryPoolConfiguration,
) -> None:
    rules = sequential(MemoryPoolModel(configuration, MemoryPoolProfile()))
    first = begin(MemoryPoolInstance(configuration))
    answers = []
    for history in programs(configuration):
        for wrong in (history, *_turned(history)):
            is_right = explain(wrong, rules).is_complete
            assert (judged(first, lines_of(wrong)) is None) == is_right, wrong
            answers.append(is_right)
    assert answers.count(True) > 20
    assert answers.count(False) > 20


def _turned(history: History) -> Iterator[History]:
    for place, each in enumerate(history):
        if isinstance(each, Returned) and isinstance(each.result, bool):
            turned = Returned(each.thread, not each.result)
            yield (*history[:place], turned, *history[place + 1 :])
    assert any(isinstance(each, Called) for each in history)


def right_run(number: int, seed: int, size_bytes: int) -> list[Line]:
    """Four threads that ask for buffers and give them back; each call overlaps with others."""
    source = random.Random(seed)
    lines, held, left = list[Line](), list[tuple[str, int]](), size_bytes
    inside: dict[str, Line] = {}
    for turn in range(number):
        thread = f"t{source.randint(1, 4)}"
        if thread in inside:
            lines.append(inside.pop(thread))
        elif held and source.random() < 0.5:
            buffer, size = held.pop(source.randrange(len(held)))
            left += size
            lines.append(call(0, thread, Release(buffer)))
            inside[thread] = returns(0, thread)
        else:
            size = source.randint(1, 100)
            lines.append(call(0, thread, Allocate(f"b{turn}", size)))
            inside[thread] = returns(0, thread, left > 0)
            if left > 0:
                left -= size
                inside[thread] = returns(0, thread, True)
                lines.append(inside.pop(thread))
                held.append((f"b{turn}", size))
    return lines


@pytest.mark.parametrize("size_bytes", [300, 100_000])
def test_its_memory_follows_what_is_outstanding(size_bytes: int) -> None:
    first = begin(MemoryPoolInstance(MemoryPoolConfiguration(size_bytes, 100)))
    judge = judge_of(first)
    sizes = []
    for place, line in enumerate(right_run(16_000, 1, size_bytes)):
        assert judge.take(line) is None, place
        if place % 4000 == 3999:
            sizes.append(len(pickle.dumps(judge)))
    assert sizes[-1] < 1.5 * sizes[1]


def test_it_can_be_pickled_between_any_two_lines() -> None:
    lines = right_run(200, 2, 300)
    wrong = [*lines, *at_once(0, Allocate("x", 101), True)]
    first = begin(MemoryPoolInstance(MemoryPoolConfiguration(300, 100)))
    assert judged(first, lines, pickled=True) is None
    assert judged(first, wrong, pickled=True) == judged(first, wrong)
    assert judged(first, wrong) is not None
