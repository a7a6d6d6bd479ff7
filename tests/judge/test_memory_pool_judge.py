"""The judge of a memory pool: invariants under every profile, deviations, and what it says."""

import msgspec
import pytest

from purgatory_conformance.running.campaign import Budget, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.specimens.small.memory_pool import (
    NAIVE_PROFILE,
    PROFILE,
    SmallMemoryPool,
    small_pool_subject,
)
from purgatory_conformance.specimens.wrong.granting import zero_granted
from purgatory_conformance.specimens.wrong.releasing import first_byte_stays
from purgatory_judge.case_judge import Deviation
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.memory_pool.judge import STATES_CAP, MemoryPoolJudge
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome

pytestmark = pytest.mark.recorded

CREDITS = Deviation("POOL-CONSERVATION", "credits_anything", "replay.jsonl")
EXAMPLE = profiles.MemoryPoolConfiguration(100, 40)
SILENT_AND_NAIVE = msgspec.structs.replace(NAIVE_PROFILE, observables=frozenset())

FULL: tuple[op.Operation, ...] = (op.Allocate("a", 40), op.Allocate("b", 40), op.Allocate("c", 40))


def run_of(
    *operations: op.Operation,
    pool: type[SmallMemoryPool] = SmallMemoryPool,
    profile: profiles.MemoryPoolProfile = NAIVE_PROFILE,
    deviations: tuple[Deviation, ...] = (),
) -> CaseRun:
    subject = small_pool_subject(pool, profile=profile)
    return run_case(subject, "case", EXAMPLE, operations, deviations)


def test_a_declared_deviation_is_followed() -> None:
    """The case deviates as declared, and the conservation is visited no longer."""
    credit = op.ReleaseForeign(40)
    run = run_of(credit, *FULL, op.Allocate("d", 40), op.Release("d"), deviations=(CREDITS,))
    assert run.verdict is CaseVerdict.DEVIATES
    assert run.divergence is not None
    assert run.divergence.rule == "POOL-CONSERVATION"
    assert len(run.steps) == 6
    assert (run.visits["POOL-CONSERVATION"], run.visits["POOL-BOUND"]) == (0, 0)
    assert run.visits["POOL-RELEASE"] == 1


@pytest.mark.parametrize(
    ("pool", "operations", "rule"),
    [
        (zero_granted, (op.ReleaseForeign(5), op.Allocate("a", 0)), "POOL-ZERO-REQUEST"),
        (first_byte_stays, (op.ReleaseForeign(1), *FULL, op.Release("a")), "POOL-RELEASE"),
    ],
)
def test_another_fault_beyond_the_deviation_is_found(
    pool: type[SmallMemoryPool], operations: tuple[op.Operation, ...], rule: str
) -> None:
    """The fault is a failure, by its own rule."""
    run = run_of(*operations, pool=pool, deviations=(CREDITS,))
    assert run.verdict is CaseVerdict.FAIL
    assert run.divergence is not None
    assert run.divergence.rule == rule


class FullIsEmpty(SmallMemoryPool):
    """Says that it is out of memory when it has more than it was made with."""

    def is_out_of_memory(self) -> bool:
        """Takes that for an overflow."""
        return super().is_out_of_memory() or self.available > self.size


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pool", "verdict", "rules"),
    [
        (SmallMemoryPool, Verdict.CONFORMANT_WITH_DEVIATIONS, set()),
        (FullIsEmpty, Verdict.NOT_CONFORMANT, {"POOL-OUT-OF-MEMORY"}),
    ],
)
def test_a_campaign_under_the_declared_deviation(
    pool: type[SmallMemoryPool], verdict: Verdict, rules: set[str]
) -> None:
    subject = small_pool_subject(pool, profile=NAIVE_PROFILE)
    campaign = run_campaign(
        subject, profiles.Component.MEMORY_POOL, seed=3, budget=Budget(), deviations=(CREDITS,)
    )
    assert campaign.verdict is verdict, campaign.why
    assert {cause.rule for cause in campaign.causes} == rules
    if not rules:
        assert campaign.seen["POOL-CONSERVATION"].cases > 20


@pytest.mark.slow
def test_the_other_choice_is_no_excuse() -> None:
    """It is not conformant; it would break conservation under the other choice, too."""
    subject = small_pool_subject(profile=PROFILE, behaves=NAIVE_PROFILE)
    budget = Budget(least_cases=60, most_cases=60, shrink_runs=200)
    campaign = run_campaign(subject, profiles.Component.MEMORY_POOL, seed=3, budget=budget)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert [way.line for cause in campaign.causes for way in cause.ways_out if way.line] == []


def test_more_states_than_the_judge_carries_are_said() -> None:
    """The judge gives up rather than forget one."""
    judge = MemoryPoolJudge(EXAMPLE, SILENT_AND_NAIVE)
    for power in range(8):
        judge.step(op.ReleaseForeign(2**power), Outcome())
    assert len(judge.states) == STATES_CAP
    assert judge.state.available_bytes == 100
    with pytest.raises(TooManyStates):
        judge.step(op.ReleaseForeign(2**8), Outcome())
