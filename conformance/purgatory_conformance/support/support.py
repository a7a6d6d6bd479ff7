"""What the suite needs to know of one component.

Everything else is the same for all of them: campaigns, shrinking, reports and commands ask the
component's ``Support``, which ``registry.support_of`` finds. A component's module gives the parts
in its own types; the methods take the types that all components share, and narrow them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import structs

from purgatory_judge.components import narrowed
from purgatory_conformance.generation.draft import Draft
from purgatory_conformance.generation.source import Source
from purgatory_judge.case_judge import Deviation, Judge
from purgatory_judge.retraced_case import RetracedCase
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile
from purgatory_spec.requirements import Requirement


@dataclass(frozen=True)
class Candidate:
    """A configuration and the operations to carry out under it."""

    configuration: Configuration
    operations: tuple[Operation, ...]


def sibling_profiles(profile: Profile, *choices: str) -> Iterator[tuple[str, Profile]]:
    """Profiles with another value of one of these choices, each with its words.

    What is not offered is not asked for, and so explains nothing.
    """
    for choice in choices:
        declared: Enum = getattr(profile, choice)
        for value in type(declared):
            if value is not declared and value.value != "not_offered":
                yield f"{choice} {value.value}", structs.replace(profile, **{choice: value})


ConfigurationT = TypeVar("ConfigurationT", bound=Configuration)
ProfileT = TypeVar("ProfileT", bound=Profile)


@dataclass(frozen=True)
class Asked(Generic[ConfigurationT, ProfileT]):
    """What a judge is asked to judge; see ``ComponentSupport.judge``."""

    configuration: ConfigurationT
    profile: ProfileT
    deviations: tuple[Deviation, ...]
    forgetful: bool
    state: object


Drawn: TypeAlias = Callable[
    [ConfigurationT, ProfileT, Source, int, frozenset[str]], tuple[Operation, ...]
]
"""Draws about this many operations of a case, steering towards these rules."""


@dataclass(frozen=True, kw_only=True)
class ComponentSupport(Generic[ConfigurationT, ProfileT]):
    """What the suite needs to know of one component."""

    component: Component
    configuration_type: type[ConfigurationT]
    profile_type: type[ProfileT]
    variants: Mapping[str, str]
    """The variants of its model that a declaration may name, each with a sentence."""
    situations: Sequence[str]
    """The names of the rows of its table, a shutdown aside."""

    judge_of: Callable[[Asked[ConfigurationT, ProfileT]], Judge]
    rules_of: Callable[[ProfileT], Iterable[Requirement]]
    """The rules that a subject of this profile can be seen to break, were they to apply."""
    suit: Callable[[ConfigurationT, tuple[Operation, ...], ProfileT], tuple[Operation, ...] | None]
    """A golden case as it can be asked of a profile that has its features; None where it cannot."""
    siblings: Callable[[ProfileT], Iterator[tuple[str, Profile]]]

    configuration_of: Callable[[ProfileT, Source, frozenset[str]], ConfigurationT]
    draft_of: Callable[[ConfigurationT, ProfileT], Draft]
    operations_of: Drawn[ConfigurationT, ProfileT]

    is_usable: Callable[[ConfigurationT, tuple[Operation, ...], ProfileT], bool]
    """Decide whether a subject can be asked a case: a simplification may take away its sense."""

    describe_operation: Callable[[Operation], str]
    """An operation as a person would say it, for example ``add t1, delay 25 ms``."""
    describe_outcome: Callable[[Operation, Outcome], str]
    """What came of an operation, its observables aside."""
    configuration_words: Callable[[ConfigurationT], str]
    profile_words: Callable[[ProfileT], str]
    describe_state: Callable[[object], str]
    """A state of the model on one line; empty for anything else."""
    picture: Callable[[RetracedCase, int], str]
    """The case as SVG, the number making its ids unique; empty where there is no picture."""

    def judge(
        self,
        configuration: Configuration,
        profile: Profile,
        deviations: tuple[Deviation, ...],
        *,
        forgetful: bool = False,
        state: object = None,
    ) -> Judge:
        """The judge of one case of a subject of this profile.

        Args:
            configuration: What the instance was made with.
            profile: The declared choices.
            deviations: What the subject is known to do against the rules.
            forgetful: Whether names that are finished are forgotten, see ``finished_names``.
            state: The model's state to begin with; None for that of a fresh instance.

        Raises:
            ValueError: there is no such variant, or none that may begin with a state, or no model
                of such a profile.
        """
        made_with, profile = self._narrowed(configuration, profile)
        return self.judge_of(Asked(made_with, profile, deviations, forgetful, state))

    def judged_rules(self, profile: Profile) -> tuple[Requirement, ...]:
        """The rules that a subject of this profile is judged by."""
        profile = narrowed(profile, self.profile_type)
        return tuple(rule for rule in self.rules_of(profile) if rule.applies_to(profile))

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """A golden case as a subject of this profile can be asked it; None where it cannot."""
        made_with, recorded = self._narrowed(case.header.configuration, case.header.profile)
        profile = narrowed(profile, self.profile_type)
        if not recorded.features <= profile.features:
            return None
        return self.suit(made_with, case.operations, profile)

    def alternatives(self, profile: Profile) -> Iterator[tuple[str, Profile]]:
        """The profiles that differ in one declared choice, each with its words."""
        return self.siblings(narrowed(profile, self.profile_type))

    def draw_configuration(
        self, profile: Profile, source: Source, wanted: frozenset[str]
    ) -> ConfigurationT:
        """The configuration of a generated case; ``wanted`` are rules to steer towards."""
        return self.configuration_of(narrowed(profile, self.profile_type), source, wanted)

    def draft(self, configuration: Configuration, profile: Profile) -> Draft:
        """A case that is drawn situation by situation; the clock must be a manual one."""
        return self.draft_of(*self._narrowed(configuration, profile))

    def draw_operations(
        self,
        configuration: Configuration,
        profile: Profile,
        source: Source,
        *,
        most: int,
        wanted: frozenset[str],
    ) -> tuple[Operation, ...]:
        """The operations of a generated case, about ``most`` at the most on a manual clock."""
        return self.operations_of(*self._narrowed(configuration, profile), source, most, wanted)

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Whether a subject of this profile can be asked the candidate."""
        made_with, profile = self._narrowed(candidate.configuration, profile)
        return self.is_usable(made_with, candidate.operations, profile)

    def describe_configuration(self, configuration: Configuration) -> str:
        """What the instance of a case was made with."""
        return self.configuration_words(narrowed(configuration, self.configuration_type))

    def describe_profile(self, profile: Profile) -> str:
        """The declared choices that a reader needs in order to follow a case."""
        return self.profile_words(narrowed(profile, self.profile_type))

    def _narrowed(
        self, configuration: Configuration, profile: Profile
    ) -> tuple[ConfigurationT, ProfileT]:
        made_with = narrowed(configuration, self.configuration_type)
        return made_with, narrowed(profile, self.profile_type)


Support: TypeAlias = ComponentSupport[Any, Any]
"""The support of some component."""
