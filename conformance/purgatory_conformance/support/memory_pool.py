"""What the suite knows of the memory pool."""

from collections.abc import Iterable, Iterator, Mapping

from purgatory_conformance.components import narrowed
from purgatory_conformance.describing.memory_pool_words import (
    describe_memory_pool_configuration,
    describe_memory_pool_operation,
    describe_memory_pool_outcome,
    describe_memory_pool_profile,
    describe_memory_pool_state,
)
from purgatory_conformance.drawing.memory_pool_panels import memory_pool_scene
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.generation.memory_pool.table import (
    MEMORY_POOL_ROWS,
    MemoryPoolDraft,
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.generation.memory_pool.world import sort_of
from purgatory_conformance.generation.source import Source
from purgatory_conformance.judging.case_judge import CaseJudge, Deviation, Judge
from purgatory_conformance.judging.memory_pool.judge import MemoryPoolJudge
from purgatory_conformance.judging.retraced_case import RetracedCase
from purgatory_conformance.reducing.memory_pool import (
    MemoryPoolCase,
    simpler_memory_pool_cases,
)
from purgatory_conformance.support.support import Candidate, sibling_profiles
from purgatory_model.memory_pool import VARIANTS, MemoryPoolState
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Component,
    Configuration,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    Profile,
)
from purgatory_spec.requirements import Requirement, requirements

_BOUNDED = frozenset({MemoryPoolFeature.STRICT, MemoryPoolFeature.NON_STRICT})

_WITHOUT_BOUND = frozenset(
    {
        "POOL-CONSTRUCT",
        "POOL-UNBOUNDED-GRANTS",
        "POOL-UNBOUNDED-NEGATIVE",
        "POOL-UNBOUNDED-RELEASE",
    }
)
"""The rules that an unbounded pool can be put to the test by."""


class MemoryPoolSupport:
    """What the suite knows of the memory pool; see ``Support``."""

    component: Component = Component.MEMORY_POOL
    variants: Mapping[str, str] = VARIANTS
    situations: Iterable[str] = tuple(MEMORY_POOL_ROWS)

    def judge(
        self,
        configuration: Configuration,
        profile: Profile,
        deviations: tuple[Deviation, ...],
        *,
        forgetful: bool = False,
        state: object = None,
    ) -> Judge:
        """The judge of one case; the lenient one follows the variants that are declared."""
        configuration, profile = _narrowed(configuration, profile)
        begun = None if state is None else narrowed(state, MemoryPoolState)
        strict = MemoryPoolJudge(configuration, profile, forgetful=forgetful, state=begun)
        if not deviations:
            return CaseJudge(strict, forgetful=forgetful)
        variants = frozenset(deviation.variant for deviation in deviations)
        lenient = MemoryPoolJudge(
            configuration, profile, variants, forgetful=forgetful, state=begun
        )
        declared = frozenset(deviation.rule for deviation in deviations)
        return CaseJudge(strict, lenient, declared, forgetful=forgetful)

    def judged_rules(self, profile: Profile) -> tuple[Requirement, ...]:
        """The rules that apply; rules of bounded pools only if the profile offers bounded pools."""
        bounded = bool(_BOUNDED & narrowed(profile, MemoryPoolProfile).features)
        return tuple(
            rule
            for rule in requirements(Component.MEMORY_POOL)
            if rule.applies_to(profile) and (bounded or rule.id in _WITHOUT_BOUND)
        )

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """The case as it is, where the subject offers such a pool and all that is asked."""
        profile = narrowed(profile, MemoryPoolProfile)
        recorded = narrowed(case.header.profile, MemoryPoolProfile)
        configuration = narrowed(case.header.configuration, MemoryPoolConfiguration)
        needed = recorded.features | {sort_of(configuration)}
        if not needed <= profile.features:
            return None
        if not MemoryPoolCase(configuration, case.operations).is_usable(profile):
            return None
        return case.operations

    def alternatives(self, profile: Profile) -> Iterator[tuple[str, Profile]]:
        """The profiles that differ in one declared choice, each with its words."""
        profile = narrowed(profile, MemoryPoolProfile)
        yield from sibling_profiles(profile, "release_validation", "zero_request")

    def draw_configuration(
        self, profile: Profile, source: Source, wanted: frozenset[str]
    ) -> MemoryPoolConfiguration:
        """The configuration of a generated case."""
        return draw_configuration(narrowed(profile, MemoryPoolProfile), source, wanted)

    def draft(self, configuration: Configuration, profile: Profile) -> MemoryPoolDraft:
        """A case that is drawn situation by situation."""
        return MemoryPoolDraft(*_narrowed(configuration, profile))

    def draw_operations(
        self,
        configuration: Configuration,
        profile: Profile,
        source: Source,
        *,
        most: int,
        wanted: frozenset[str],
    ) -> tuple[Operation, ...]:
        """The operations of a generated case, about ``most`` at the most."""
        configuration, profile = _narrowed(configuration, profile)
        return draw_operations(configuration, profile, source, most=most, wanted=wanted)

    def size(self, candidate: Candidate) -> tuple[int, ...]:
        """Smaller is simpler: operations, the sort of pool, illegal requests, the numbers."""
        return _pool_case(candidate).size

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Whether such a pool is offered, and only buffers are named that were granted."""
        return _pool_case(candidate).is_usable(narrowed(profile, MemoryPoolProfile))

    def simpler(self, profile: Profile, candidate: Candidate) -> Iterator[Candidate]:
        """Smaller pools and requests, shorter times, plainer releases."""
        del profile
        for case in simpler_memory_pool_cases(_pool_case(candidate)):
            yield Candidate(case.configuration, case.operations)

    def describe_operation(self, operation: Operation) -> str:
        """An operation as a person would say it, for example ``ask for b1, 40 bytes``."""
        return describe_memory_pool_operation(operation)

    def describe_outcome(self, operation: Operation, outcome: Outcome) -> str:
        """What came of an operation, its observables aside, for example ``granted``."""
        return describe_memory_pool_outcome(operation, outcome)

    def describe_configuration(self, configuration: Configuration) -> str:
        """What the pool of a case was made with."""
        narrow = narrowed(configuration, MemoryPoolConfiguration)
        return describe_memory_pool_configuration(narrow)

    def describe_profile(self, profile: Profile) -> str:
        """The declared choices that a reader needs in order to follow a case."""
        return describe_memory_pool_profile(narrowed(profile, MemoryPoolProfile))

    def describe_state(self, state: object) -> str:
        """The clock, the available bytes and the held buffers, in words."""
        return describe_memory_pool_state(state)

    def picture(self, case: RetracedCase, number: int) -> str:
        """Who holds the bytes of the pool before the divergence and as expected after it."""
        return panel_picture(memory_pool_scene(case), number)


def _narrowed(
    configuration: Configuration, profile: Profile
) -> tuple[MemoryPoolConfiguration, MemoryPoolProfile]:
    return narrowed(configuration, MemoryPoolConfiguration), narrowed(profile, MemoryPoolProfile)


def _pool_case(candidate: Candidate) -> MemoryPoolCase:
    configuration = narrowed(candidate.configuration, MemoryPoolConfiguration)
    return MemoryPoolCase(configuration, candidate.operations)
