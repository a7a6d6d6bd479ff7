"""Judges of a memory pool: their variants, and the rules that a profile can be seen to break."""

from collections.abc import Iterator

from purgatory_judge.case_judge import AskedStep, CaseJudge, Judge, Trigger
from purgatory_judge.components import narrowed
from purgatory_judge.judged import Asked, JudgedComponent
from purgatory_judge.memory_pool.judge import MemoryPoolJudge
from purgatory_model.memory_pool import VARIANTS, MemoryPoolState
from purgatory_spec import profiles
from purgatory_spec.operations import Release, ReleaseForeign, ReleaseForm
from purgatory_spec.requirements import Requirement, requirements

_BOUNDED = frozenset({profiles.MemoryPoolFeature.STRICT, profiles.MemoryPoolFeature.NON_STRICT})

_WITHOUT_BOUND = frozenset(
    {
        "POOL-CONSTRUCT",
        "POOL-UNBOUNDED-GRANTS",
        "POOL-UNBOUNDED-NEGATIVE",
        "POOL-UNBOUNDED-RELEASE",
    }
)
"""The rules that an unbounded pool can be put to the test by."""


def _is_not_its_own(step: AskedStep) -> bool:
    """Decide whether a step gives a pool what it has not granted, or has back already."""
    if isinstance(step.operation, Release):
        return (
            step.operation.form is not ReleaseForm.ITSELF
            or step.operation.buffer not in step.state.held
        )
    return isinstance(step.operation, ReleaseForeign)


_TRIGGERS = {
    "credits_anything": Trigger(
        "a buffer is released that the pool has back or never granted, or another view of one",
        _is_not_its_own,
    ),
}
"""The triggers of the variants."""


def _judge(asked: Asked[profiles.MemoryPoolConfiguration, profiles.MemoryPoolProfile]) -> Judge:
    """Return the judge of one case; the lenient one follows the variants that are declared."""
    begun = None if asked.state is None else narrowed(asked.state, MemoryPoolState)

    def following(*variants: str) -> MemoryPoolJudge:
        return MemoryPoolJudge(
            asked.configuration,
            asked.profile,
            frozenset(variants),
            forgetful=asked.forgetful,
            state=begun,
        )

    if not asked.deviations:
        return CaseJudge(following(), forgetful=asked.forgetful)
    lenient = following(*(deviation.variant for deviation in asked.deviations))
    declared = frozenset(deviation.rule for deviation in asked.deviations)
    return CaseJudge(following(), lenient, declared, forgetful=asked.forgetful)


def _rules(profile: profiles.MemoryPoolProfile) -> Iterator[Requirement]:
    """Yield the rules; those of bounded pools only if the profile offers bounded pools."""
    bounded = bool(_BOUNDED & profile.features)
    for rule in requirements(profiles.Component.MEMORY_POOL):
        if bounded or rule.id in _WITHOUT_BOUND:
            yield rule


JUDGED_MEMORY_POOL = JudgedComponent(
    component=profiles.Component.MEMORY_POOL,
    configuration_type=profiles.MemoryPoolConfiguration,
    profile_type=profiles.MemoryPoolProfile,
    variants=VARIANTS,
    triggers=_TRIGGERS,
    judge_of=_judge,
    rules_of=_rules,
)
"""Types, variants, rules and judges of a memory pool."""
