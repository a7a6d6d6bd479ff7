"""The cases of one component: how they are drawn, made simpler, suited and pictured.

Campaigns, shrinking and reports ask the component's ``Support``, which ``registry.support_of``
finds. A component's module gives the parts in its own types; the methods take the types that all
components share, and narrow them. Rules and judges are in ``purgatory_judge.registry``, words in
``describing.steps``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from purgatory_conformance.generation.draft import Draft, walked
from purgatory_conformance.generation.edits import edited
from purgatory_conformance.generation.names import with_other_names
from purgatory_conformance.generation.source import Source
from purgatory_judge.components import narrowed, on_real_clock
from purgatory_judge.judged import JudgedComponent
from purgatory_judge.retraced_case import RetracedCase
from purgatory_model.step import TooManyBranches
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import Configuration, Profile


@dataclass(frozen=True)
class Candidate:
    """A configuration and the operations to carry out under it."""

    configuration: Configuration
    operations: tuple[Operation, ...]


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

    configuration_of: Callable[[ProfileT, Source, frozenset[str]], ConfigurationT]
    draft_of: Callable[[ConfigurationT, ProfileT], Draft]
    operations_of: Drawn[ConfigurationT, ProfileT]

    is_usable: Callable[[ConfigurationT, tuple[Operation, ...], ProfileT], bool]
    """Decides whether a subject can be asked a case: a simplification may take away its sense."""
    leaves_out: bool = False
    """True if a draft leaves out what cannot be asked; otherwise such a case is none at all."""

    picture: Callable[[RetracedCase, int], str]
    """The case as SVG, the number making its ids unique; empty where there is no picture."""

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """Return a golden case as a subject of this profile can be asked it, or None."""
        made_with, recorded = self.judged.narrowed(case.header.configuration, case.header.profile)
        profile = narrowed(profile, self.judged.profile_type)
        if not recorded.features <= profile.features:
            return None
        return self.suit(made_with, case.operations, profile)

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
        made_with, profile = self.judged.narrowed(configuration, profile)
        if on_real_clock(profile):
            drawn = self.operations_of(made_with, profile, source, most, wanted)
            return with_other_names(drawn, source)
        sort = source.integer(0, 15)
        if sort >= 14:
            operations = walked(self.draft_of(made_with, profile), source, most)
        else:
            operations = self.operations_of(made_with, profile, source, most, wanted)
        if sort >= 9:
            candidates = tuple(edited(operations, profile, source))
            usable = (self.most_usable(made_with, each, profile) for each in candidates[::-1])
            operations = next(filter(None, usable), operations)
        named = with_other_names(operations, source)
        # The model follows a server by another of the right ways where names have another order.
        is_other = self.leaves_out and named is not operations
        return self.most_usable(made_with, named, profile) if is_other else named

    def most_usable(
        self, configuration: ConfigurationT, operations: tuple[Operation, ...], profile: ProfileT
    ) -> tuple[Operation, ...]:
        """Return the operations that a subject can be asked; none if one cannot be left out.

        There are none either where a step may go in too many ways to follow.
        """
        if not self.leaves_out and not self.is_usable(configuration, operations, profile):
            return ()
        try:
            return self.draft_of(configuration, profile).followed(operations)
        except TooManyBranches:
            return ()

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Decide whether a subject of this profile can be asked the candidate."""
        made_with, profile = self.judged.narrowed(candidate.configuration, profile)
        return self.is_usable(made_with, candidate.operations, profile)


Support: TypeAlias = ComponentSupport[Any, Any]
"""The support of some component."""
