"""What the suite knows of a server's channels, which wait for memory."""

from collections.abc import Iterable, Iterator, Mapping

from purgatory_conformance.components import narrowed
from purgatory_conformance.describing.channel_muting_words import (
    describe_channel_muting_configuration,
    describe_channel_muting_operation,
    describe_channel_muting_outcome,
    describe_channel_muting_profile,
    describe_channel_muting_state,
)
from purgatory_conformance.drawing.channel_muting_panels import channel_muting_scene
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.generation.channel_muting.table import (
    CHANNEL_MUTING_ROWS,
    ChannelMutingDraft,
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.generation.channel_muting.world import needed
from purgatory_conformance.generation.source import Source
from purgatory_conformance.judging.case_judge import CaseJudge, Deviation, Judge
from purgatory_conformance.judging.channel_muting.judge import ChannelMutingJudge
from purgatory_conformance.judging.retraced_case import RetracedCase
from purgatory_conformance.reducing.channel_muting import (
    ChannelMutingCase,
    simpler_channel_muting_cases,
)
from purgatory_conformance.support.support import Candidate, sibling_profiles
from purgatory_model.channel_muting import VARIANTS
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingProfile,
    Component,
    Configuration,
    Profile,
)
from purgatory_spec.requirements import Requirement, requirements_of_steps


class ChannelMutingSupport:
    """What the suite knows of a server's channels; see ``Support``."""

    component: Component = Component.CHANNEL_MUTING
    variants: Mapping[str, str] = VARIANTS
    situations: Iterable[str] = tuple(CHANNEL_MUTING_ROWS)

    def judge(
        self,
        configuration: Configuration,
        profile: Profile,
        deviations: tuple[Deviation, ...],
        *,
        forgetful: bool = False,
        state: object = None,
    ) -> Judge:
        """The judge of one case; the lenient one follows the variants that are declared.

        Raises:
            ValueError: a state is given: no trace begins with one.
        """
        if state is not None:
            raise ValueError("a case of a server's channels begins without connections")
        configuration, profile = _narrowed(configuration, profile)
        strict = ChannelMutingJudge(configuration, profile)
        if not deviations:
            return CaseJudge(strict, forgetful=forgetful)
        variants = frozenset(deviation.variant for deviation in deviations)
        lenient = ChannelMutingJudge(configuration, profile, variants)
        declared = frozenset(deviation.rule for deviation in deviations)
        variant_of = {deviation.rule: deviation.variant for deviation in deviations}

        def alone(rule: str) -> ChannelMutingJudge:
            return ChannelMutingJudge(configuration, profile, frozenset({variant_of[rule]}))

        return CaseJudge(strict, lenient, declared, alone, forgetful=forgetful)

    def judged_rules(self, profile: Profile) -> tuple[Requirement, ...]:
        """The rules that apply and that a sequence of steps can break."""
        profile = narrowed(profile, ChannelMutingProfile)
        return tuple(
            rule
            for rule in requirements_of_steps(Component.CHANNEL_MUTING)
            if rule.applies_to(profile)
        )

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """The case as it is, where the subject offers such a server and all that is asked."""
        profile = narrowed(profile, ChannelMutingProfile)
        recorded = narrowed(case.header.profile, ChannelMutingProfile)
        configuration = narrowed(case.header.configuration, ChannelMutingConfiguration)
        if not recorded.features | needed(configuration) <= profile.features:
            return None
        if not ChannelMutingCase(configuration, case.operations).is_usable(profile):
            return None
        return case.operations

    def alternatives(self, profile: Profile) -> Iterator[tuple[str, Profile]]:
        """The profiles with another value of one choice."""
        yield from sibling_profiles(
            narrowed(profile, ChannelMutingProfile), "recovery", "ask_again", "end_while_waiting"
        )

    def draw_configuration(
        self, profile: Profile, source: Source, wanted: frozenset[str]
    ) -> ChannelMutingConfiguration:
        """The configuration of a generated case."""
        return draw_configuration(narrowed(profile, ChannelMutingProfile), source, wanted)

    def draft(self, configuration: Configuration, profile: Profile) -> ChannelMutingDraft:
        """A case that is drawn situation by situation."""
        return ChannelMutingDraft(*_narrowed(configuration, profile))

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
        """Smaller is simpler: operations, the sort of server, the numbers."""
        return _case(candidate).size

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Whether such a server is offered, and only channels are named that are connected."""
        return _case(candidate).is_usable(narrowed(profile, ChannelMutingProfile))

    def simpler(self, profile: Profile, candidate: Candidate) -> Iterator[Candidate]:
        """Plainer and smaller servers, smaller requests, shorter times."""
        del profile
        for case in simpler_channel_muting_cases(_case(candidate)):
            yield Candidate(case.configuration, case.operations)

    def describe_operation(self, operation: Operation) -> str:
        """An operation as a person would say it, for example ``c1 connects``."""
        return describe_channel_muting_operation(operation)

    def describe_outcome(self, operation: Operation, outcome: Outcome) -> str:
        """What came of an operation, its observables aside, for example ``c1#1 received``."""
        return describe_channel_muting_outcome(operation, outcome)

    def describe_configuration(self, configuration: Configuration) -> str:
        """What the server of a case was made with."""
        return describe_channel_muting_configuration(
            narrowed(configuration, ChannelMutingConfiguration)
        )

    def describe_profile(self, profile: Profile) -> str:
        """The declared choices that a reader needs in order to follow a case."""
        return describe_channel_muting_profile(narrowed(profile, ChannelMutingProfile))

    def describe_state(self, state: object) -> str:
        """The clock, the available bytes and the open channels, in words."""
        return describe_channel_muting_state(state)

    def picture(self, case: RetracedCase, number: int) -> str:
        """Memory and channels before the divergence and as expected after it."""
        return panel_picture(channel_muting_scene(case), number)


def _narrowed(
    configuration: Configuration, profile: Profile
) -> tuple[ChannelMutingConfiguration, ChannelMutingProfile]:
    return (
        narrowed(configuration, ChannelMutingConfiguration),
        narrowed(profile, ChannelMutingProfile),
    )


def _case(candidate: Candidate) -> ChannelMutingCase:
    configuration = narrowed(candidate.configuration, ChannelMutingConfiguration)
    return ChannelMutingCase(configuration, candidate.operations)
