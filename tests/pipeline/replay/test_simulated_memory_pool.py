"""A simulated pool: what other requests explain is no fault, and the model says the same."""

import random
from collections.abc import Iterator

import msgspec
import pytest

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.interleaving import Called, History, HistoryEvent, Returned
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_spec.operations import Allocate
from purgatory_traces.traces.lines import Call, Return, TraceLine

from .simulation.judged import verdict_of
from .simulation.machine import Script, Thread
from .simulation.memory_pool import PoolPlan, SimulatedPool, pool_of
from .simulation.memory_pool_faults import refuses
from .simulation.memory_pool_run import simulated_pool

pytestmark = pytest.mark.recorded


def test_a_refusal_that_another_request_explains_is_no_fault() -> None:
    """Blame the latter alone: in the former the other may have had the byte first."""
    masked = found = 0
    for seed in range(60):
        pool = pool_of(seed, PoolPlan(size_bytes=1, max_single_bytes=1))
        pool.machine.start(refused(pool, Thread(pool.machine, "t1")))
        pool.machine.start(granted(pool, Thread(pool.machine, "t2")))
        pool.machine.run(lambda: True)
        lines = pool.machine.lines
        called = next(each.seq for each in lines if isinstance(each, Call) and each.thread == "t2")
        returned = next(
            each.seq for each in lines if isinstance(each, Return) and each.thread == "t1"
        )
        assert pool.state.available_bytes == 0
        verdict = verdict_of(lines)
        if called < returned:
            masked += 1
            assert verdict.verdict == "conforms", (seed, verdict)
        else:
            found += 1
            seen = verdict.verdict, verdict.seq, verdict.rule
            assert seen == ("diverges", returned, "POOL-NON-STRICT"), seed
    assert masked > 5
    assert found > 5


def refused(pool: SimulatedPool, thread: Thread) -> Script:
    """A request that is refused, wrongly."""
    yield pool.machine.pause(200_000)
    yield from pool.call(thread, Allocate("b", 1), refuses)


def granted(pool: SimulatedPool, thread: Thread) -> Script:
    """A request that begins after the other one has, and is granted."""
    yield pool.machine.pause(400_000)
    while not pool.machine.planted and not pool.machine.open_calls:
        yield 1_000
    yield from pool.call(thread, Allocate("a", 1))


def small_plan(seed: int) -> PoolPlan:
    """A plan whose runs the model's explainer can explain."""
    source = random.Random(seed)
    size_bytes = source.choice((1, 2, 3, 5))
    return PoolPlan(
        threads=source.randint(2, 4),
        calls=source.randint(2, 4),
        size_bytes=size_bytes,
        max_single_bytes=source.randint(1, size_bytes),
        strict=source.random() < 0.5,
        knows_its_own=source.random() < 0.5,
    )


def with_one_answer_turned(lines: list[TraceLine]) -> Iterator[list[TraceLine]]:
    """The run with one request granted that was refused, or refused that was granted."""
    for place, line in enumerate(lines):
        if isinstance(line, Return) and isinstance(line.result, bool):
            turned = msgspec.structs.replace(line, result=not line.result)
            yield [*lines[:place], turned, *lines[place + 1 :]]


def history_of(lines: list[TraceLine]) -> History:
    """Return what a model's explainer reads."""
    history: list[HistoryEvent] = []
    for line in lines:
        if isinstance(line, Call):
            history.append(Called(line.thread, line.operation))
        elif isinstance(line, Return):
            history.append(Returned(line.thread, line.result, line.rejected))
    return tuple(history)


def test_it_says_what_the_model_says_of_each_small_run() -> None:
    answers = []
    for seed in range(60):
        plan = small_plan(seed)
        rules = sequential(MemoryPoolModel(plan.configuration, plan.profile))
        lines = simulated_pool(seed, plan).machine.lines
        for run in (lines, *with_one_answer_turned(lines)):
            is_right = explain(history_of(run), rules).is_complete
            assert (verdict_of(run).verdict == "conforms") == is_right, seed
            answers.append(is_right)
    assert answers.count(True) > 60
    assert answers.count(False) > 200
