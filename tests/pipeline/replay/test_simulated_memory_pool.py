"""Pools whose users overlap, simulated: right runs conform, faults are found at their places."""

import random
from collections.abc import Iterator

import msgspec
import pytest

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.interleaving import Called, History, HistoryEvent, Returned
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_pipeline.traces.lines import Call, Return, TraceLine
from purgatory_spec.operations import Allocate

from .simulation.judged import conforms, overlapping, shown_at, verdict_of
from .simulation.machine import Script, Thread
from .simulation.memory_pool import PoolFault, PoolPlan, SimulatedPool, pool_of
from .simulation.memory_pool_faults import RULES, SCENES, can_go_wrong, refuses
from .simulation.memory_pool_run import drawn_plan, simulated_pool

PLANS = {
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
}
SEEDS = range(6)

plans = pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)


@plans
def test_a_right_run_conforms(plan: PoolPlan) -> None:
    """
    Given runs of a pool that is right, with snapshots in the middle
    When they are judged, each from its beginning and from each of its snapshots
    Then they conform, and many of their calls overlap
    """
    crowded = 0
    for seed in SEEDS:
        machine = simulated_pool(seed, plan, snapshots=2).machine
        assert conforms(machine), seed
        crowded += overlapping(machine.lines)
    assert crowded > 10 * len(SEEDS)


@pytest.mark.parametrize(
    "seeds",
    [range(30), pytest.param(range(30, 1500), marks=pytest.mark.large)],
    ids=["few", "many"],
)
def test_a_right_run_of_a_drawn_pool_conforms(seeds: range) -> None:
    for seed in seeds:
        assert conforms(simulated_pool(seed, drawn_plan(seed), snapshots=3).machine), seed


FAULTY = {
    f"{name}, {fault.name}": (plan, fault)
    for name, plan in PLANS.items()
    for fault in PoolFault
    if can_go_wrong(plan, fault)
}


@pytest.mark.parametrize(("plan", "fault"), FAULTY.values(), ids=FAULTY)
def test_a_fault_is_found_where_it_was_planted(plan: PoolPlan, fault: PoolFault) -> None:
    """
    Given a run in which one thing goes wrong while nobody else calls, at a moment that is drawn
    When it is judged
    Then the first line that is not allowed is the one that shows it, and the rule is the right one
    """
    for seed in range(2):
        machine = simulated_pool(seed, plan, SCENES[fault]).machine
        verdict = verdict_of(machine.lines)
        assert (verdict.verdict, verdict.seq) == ("diverges", shown_at(machine)), (seed, verdict)
        assert verdict.rule in RULES[fault], (seed, verdict)


def test_each_fault_has_a_scene_rules_and_plans_that_show_it() -> None:
    assert set(SCENES) == set(RULES) == set(PoolFault)
    for fault in PoolFault:
        assert any(can_go_wrong(plan, fault) for plan in PLANS.values())


def test_a_seed_stands_for_one_trace() -> None:
    plan = PLANS["six users"]
    again = simulated_pool(5, plan).machine.lines
    assert simulated_pool(5, plan).machine.lines == again
    assert simulated_pool(6, plan).machine.lines != again


def test_a_refusal_that_another_request_explains_is_no_fault() -> None:
    """
    Given a pool of one byte that refuses one of two requests though it has the byte
    When the other one, which is granted, had begun before the refusal returned, or had not
    Then only the latter is wrong: in the former it may have had the byte first
    """
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
    """What a model's explainer reads."""
    history: list[HistoryEvent] = []
    for line in lines:
        if isinstance(line, Call):
            history.append(Called(line.thread, line.operation))
        elif isinstance(line, Return):
            history.append(Returned(line.thread, line.result, line.rejected))
    return tuple(history)


def test_it_says_what_the_model_says_of_each_small_run() -> None:
    """
    Given small runs, and each with one answer turned round, somewhere
    When model and judge are asked whether some order explains them
    Then they agree
    """
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strict", "calls"),
    [
        pytest.param(False, 3125, marks=pytest.mark.large),
        pytest.param(False, 625, marks=pytest.mark.large),
        (True, 625),
    ],
    ids=["not strict, 50,000", "not strict", "strict"],
)
def test_a_large_run_conforms(strict: bool, calls: int) -> None:
    """
    Given 8 threads that want more than there is
    When a run of 50,000 lines, or of 10,000, is judged
    Then it conforms
    """
    machine = simulated_pool(1, PoolPlan(threads=8, calls=calls, strict=strict)).machine
    assert len(machine.lines) > 15 * calls
    assert verdict_of(machine.lines).verdict == "conforms"
