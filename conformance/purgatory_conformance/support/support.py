"""The cases of one component: how they are drawn, made simpler, suited and pictured.

Campaigns, shrinking and reports ask the component's ``Support``, which ``registry.support_of``
finds. A component's module gives the parts in its own types; the methods take the types that all
components share, and narrow them. Rules and judges are in ``purgatory_judge.registry``, words in
``describing.steps``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import structs

from purgatory_conformance.generation.draft import Draft
from purgatory_conformance.generation.names import with_other_names
from purgatory_conformance.generation.source import Source
from purgatory_judge.components import narrowed
from purgatory_judge.judged import JudgedComponent
from purgatory_judge.retraced_case import RetracedCase
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import Configuration, Profile


@dataclass(frozen=True)
class Candidate:
    """A configuration and the operations to carry out under it."""

    configuration: Configuration
    operations: tuple[Operation, ...]


def sibling_profiles(profile: Profile, *choices: str) -> Iterator[tuple[str, Profile]]:
    """Yield profiles with another value of one of these choices, each with its words.

    What is not offered is not asked for, and so explains nothing.
    """
    for choice in choices:
        declared: Enum = getattr(profile, choice)
        for value in type(declared):
            if value is not declared and value.value != "not_offered":
                yield f"{choice} {value.value}", structs.replace(profile, **{choice: value})


ConfigurationT = TypeVar("ConfigurationT", bound=Configuration)
ProfileT = TypeVar("ProfileT", bound=Profile)


Drawn: TypeAlias = Callable[
    [ConfigurationT, ProfileT, Source, int, frozenset[str]], tuple[Operation, ...]
]
"""Draws about this many operations of a case, steering towards these rules."""


@dataclass(frozen=True, kw_only=True)
class ComponentSupport(Generic[ConfigurationT, ProfileT]):
    """The cases of one component, in the types of that component."""

    judged: JudgedComponent[ConfigurationT, ProfileT]
    """The component with its rules and judges."""
    situations: Sequence[str]
    """The names of the rows of its table, a shutdown aside."""

    suit: Callable[[ConfigurationT, tuple[Operation, ...], ProfileT], tuple[Operation, ...] | None]
    """A golden case as it can be asked of a profile that has its features; None where it cannot."""
    siblings: Callable[[ProfileT], Iterator[tuple[str, Profile]]]

    configuration_of: Callable[[ProfileT, Source, frozenset[str]], ConfigurationT]
    draft_of: Callable[[ConfigurationT, ProfileT], Draft]
    operations_of: Drawn[ConfigurationT, ProfileT]

    is_usable: Callable[[ConfigurationT, tuple[Operation, ...], ProfileT], bool]
    """Decide whether a subject can be asked a case: a simplification may take away its sense."""

    picture: Callable[[RetracedCase, int], str]
    """The case as SVG, the number making its ids unique; empty where there is no picture."""

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """Return a golden case as a subject of this profile can be asked it, or None."""
        made_with, recorded = self.judged.narrowed(case.header.configuration, case.header.profile)
        profile = narrowed(profile, self.judged.profile_type)
        if not recorded.features <= profile.features:
            return None
        return self.suit(made_with, case.operations, profile)

    def alternatives(self, profile: Profile) -> Iterator[tuple[str, Profile]]:
        """Return the profiles that differ in one declared choice, each with its words."""
        return self.siblings(narrowed(profile, self.judged.profile_type))

    def draw_configuration(
        self, profile: Profile, source: Source, wanted: frozenset[str]
    ) -> ConfigurationT:
        """Return the configuration of a generated case; ``wanted`` are rules to steer towards."""
        return self.configuration_of(narrowed(profile, self.judged.profile_type), source, wanted)

    def draft(self, configuration: Configuration, profile: Profile) -> Draft:
        """Return a case that is drawn situation by situation; the clock must be a manual one."""
        return self.draft_of(*self.judged.narrowed(configuration, profile))

    def draw_operations(
        self,
        configuration: Configuration,
        profile: Profile,
        source: Source,
        *,
        most: int,
        wanted: frozenset[str],
    ) -> tuple[Operation, ...]:
        """Return the operations of a generated case, at most about ``most`` on a manual clock."""
        operations = self.operations_of(
            *self.judged.narrowed(configuration, profile), source, most, wanted
        )
        return with_other_names(operations, source)

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Decide whether a subject of this profile can be asked the candidate."""
        made_with, profile = self.judged.narrowed(candidate.configuration, profile)
        return self.is_usable(made_with, candidate.operations, profile)


Support: TypeAlias = ComponentSupport[Any, Any]
"""The support of some component."""
