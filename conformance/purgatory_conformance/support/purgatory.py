"""What the suite knows of the purgatory."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from purgatory_conformance.components import narrowed
from purgatory_conformance.describing.purgatory_states import describe_purgatory_state
from purgatory_conformance.describing.purgatory_words import (
    describe_purgatory_configuration,
    describe_purgatory_operation,
    describe_purgatory_outcome,
    describe_purgatory_profile,
)
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.drawing.purgatory_panels import purgatory_scene
from purgatory_conformance.generation.purgatory.table import (
    PURGATORY_TABLE,
    PurgatoryDraft,
    draw_purgatory_configuration,
    draw_purgatory_operations,
)
from purgatory_conformance.generation.source import Source
from purgatory_conformance.judging.case_judge import CaseJudge, Deviation, Judge
from purgatory_conformance.judging.purgatory.judge import PurgatoryJudge
from purgatory_conformance.judging.purgatory.step import State
from purgatory_conformance.judging.retraced_case import RetracedCase
from purgatory_conformance.reducing.purgatory import (
    PurgatoryCase,
    simpler_purgatory_cases,
)
from purgatory_conformance.support.support import Candidate, sibling_profiles
from purgatory_model.claims.purgatory_variants import VARIANTS
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Executor,
    Profile,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryObservable,
    PurgatoryProfile,
    SameTickOrder,
    Structure,
    ThrowingTry,
)
from purgatory_spec.requirements import Requirement, requirements

_ENTRIES = frozenset(
    {
        PurgatoryObservable.ENTRIES,
        PurgatoryObservable.STALE_ENTRIES,
        PurgatoryObservable.STALE_OPERATIONS,
    }
)
_SHOWN_BY_ENTRIES = frozenset(
    {"PURGATORY-PURGE-START", "PURGATORY-PURGE-REMOVES", "PURGATORY-CHECK-DROPS"}
)
"""Rules that are put to the test only where a subject shows one of these observables."""


class PurgatorySupport:
    """What the suite knows of the purgatory; see ``Support``."""

    component: Component = Component.PURGATORY
    variants: Mapping[str, str] = VARIANTS
    situations: Iterable[str] = tuple(row.name for row in PURGATORY_TABLE)

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
        begun = None if state is None else narrowed(state, PurgatoryState)
        variants = {deviation.rule: deviation.variant for deviation in deviations}
        judges = _Judges(configuration, profile, variants, forgetful, begun)
        if not deviations:
            return CaseJudge(judges.excusing(frozenset()), forgetful=forgetful)
        declared = frozenset(variants)
        return CaseJudge(
            judges.excusing(frozenset()),
            judges.excusing(declared),
            declared,
            judges.excusing_one,
            forgetful=forgetful,
        )

    def judged_rules(self, profile: Profile) -> tuple[Requirement, ...]:
        """The rules that apply and whose breach the subject would show."""
        profile = narrowed(profile, PurgatoryProfile)
        return tuple(
            rule
            for rule in requirements(Component.PURGATORY)
            if rule.applies_to(profile) and _is_shown(rule.id, profile)
        )

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """The case without its runs where the executor is not stepped."""
        profile = narrowed(profile, PurgatoryProfile)
        recorded = narrowed(case.header.profile, PurgatoryProfile)
        if not recorded.features <= profile.features:
            return None
        stepped = profile.executor is Executor.STEPPED
        return tuple(op for op in case.operations if stepped or not isinstance(op, RunOne))

    def alternatives(self, profile: Profile) -> Iterator[tuple[str, Profile]]:
        """The profiles that differ in one declared choice, each with its words."""
        profile = narrowed(profile, PurgatoryProfile)
        for words, sibling in sibling_profiles(profile, "check_order"):
            if profile.throwing_try is ThrowingTry.STOP:
                # Without an order no check is judged that an exception ends.
                features = profile.features - {PurgatoryFeature.SCRIPT_THROW}
                sibling = msgspec.structs.replace(sibling, features=features)
            yield words, sibling
        yield from sibling_profiles(
            profile,
            "accounting",
            "purge_due",
            "first_try",
            "check_drops",
            "throwing_try",
            "cancel_result",
            "rounding",
            "negative_delay",
            "already_due",
        )
        if profile.same_tick_order is SameTickOrder.FIFO:
            yield from sibling_profiles(profile, "same_tick_order")
        if profile.structure is Structure.DELAY_QUEUE_WHEEL:
            yield from sibling_profiles(profile, "structure")

    def draw_configuration(
        self, profile: Profile, source: Source, wanted: frozenset[str]
    ) -> PurgatoryConfiguration:
        """The configuration of a generated case."""
        return draw_purgatory_configuration(narrowed(profile, PurgatoryProfile), source, wanted)

    def draft(self, configuration: Configuration, profile: Profile) -> PurgatoryDraft:
        """A case that is drawn situation by situation."""
        return PurgatoryDraft(*_narrowed(configuration, profile))

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
        return draw_purgatory_operations(configuration, profile, source, most=most, wanted=wanted)

    def size(self, candidate: Candidate) -> tuple[int, ...]:
        """Smaller is simpler: operations and what callbacks do, keys and tries, numbers, names."""
        return _purgatory_case(candidate).size

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Whether the clock goes on, and no name or key is used as the subject does not offer."""
        return _purgatory_case(candidate).is_usable(narrowed(profile, PurgatoryProfile))

    def simpler(self, profile: Profile, candidate: Candidate) -> Iterator[Candidate]:
        """Simpler configurations, fewer keys, shorter scripts and times."""
        profile = narrowed(profile, PurgatoryProfile)
        for case in simpler_purgatory_cases(profile, _purgatory_case(candidate)):
            yield Candidate(case.configuration, case.operations)

    def describe_operation(self, operation: Operation) -> str:
        """An operation as a person would say it, for example ``check a``."""
        return describe_purgatory_operation(operation)

    def describe_outcome(self, operation: Operation, outcome: Outcome) -> str:
        """What came of an operation, its observables aside."""
        return describe_purgatory_outcome(operation, outcome)

    def describe_configuration(self, configuration: Configuration) -> str:
        """What the purgatory of a case was made with."""
        return describe_purgatory_configuration(narrowed(configuration, PurgatoryConfiguration))

    def describe_profile(self, profile: Profile) -> str:
        """The declared choices that a reader needs in order to follow a case."""
        return describe_purgatory_profile(narrowed(profile, PurgatoryProfile))

    def describe_state(self, state: object) -> str:
        """The clock, the lists, the time-outs, the executor's queue."""
        return describe_purgatory_state(state)

    def picture(self, case: RetracedCase, number: int) -> str:
        """The lists, the timer and the queue before the divergence and as expected after it."""
        return panel_picture(purgatory_scene(case), number)


@dataclass(frozen=True, slots=True)
class _Judges:
    """The judges of a case, which differ in the rules whose breach they excuse."""

    configuration: PurgatoryConfiguration
    profile: PurgatoryProfile
    variants: Mapping[str, str]
    forgetful: bool
    state: State | None

    def excusing(self, rules: frozenset[str]) -> PurgatoryJudge:
        """The judge of a subject that deviates from these rules as it is declared to."""
        names = frozenset(self.variants[rule] for rule in rules)
        return PurgatoryJudge(
            self.configuration,
            self.profile,
            rules,
            names,
            forgetful=self.forgetful,
            state=self.state,
        )

    def excusing_one(self, rule: str) -> PurgatoryJudge:
        """The judge of a subject that deviates from this rule alone."""
        return self.excusing(frozenset({rule}))


def _narrowed(
    configuration: Configuration, profile: Profile
) -> tuple[PurgatoryConfiguration, PurgatoryProfile]:
    return narrowed(configuration, PurgatoryConfiguration), narrowed(profile, PurgatoryProfile)


def _purgatory_case(candidate: Candidate) -> PurgatoryCase:
    configuration = narrowed(candidate.configuration, PurgatoryConfiguration)
    return PurgatoryCase(configuration, candidate.operations)


def _is_shown(rule: str, profile: PurgatoryProfile) -> bool:
    """Whether a subject of this profile would show that it breaks a rule."""
    if rule in _SHOWN_BY_ENTRIES and not _ENTRIES & profile.observables:
        return False
    if profile.executor is Executor.STEPPED:
        return True
    if rule == "PURGATORY-LOST-EXPIRY":
        inside = {PurgatoryFeature.SCRIPT_FORCE, PurgatoryFeature.SCRIPT_CHECK}
        return bool(inside & profile.features)
    if rule == "PURGATORY-TIMER-LEFT":
        timer = {PurgatoryObservable.TIMER_SIZE, PurgatoryObservable.PENDING}
        return bool(timer & profile.observables)
    return True
