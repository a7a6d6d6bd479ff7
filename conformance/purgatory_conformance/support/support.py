"""What the suite needs to know of one component.

Everything else is the same for all of them: campaigns, shrinking, reports and commands ask the
component's ``Support``, which ``registry.support_of`` finds. The arguments are of the types that
all components share; a support narrows them with ``narrowed``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from msgspec import structs

from purgatory_conformance.generation.draft import Draft
from purgatory_conformance.generation.source import Source
from purgatory_conformance.judging.case_judge import Deviation, Judge
from purgatory_conformance.judging.retraced_case import RetracedCase
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


class Support(Protocol):
    """What the suite needs to know of one component."""

    @property
    def component(self) -> Component:
        """The component."""

    @property
    def variants(self) -> Mapping[str, str]:
        """The variants of its model that a declaration may name, each with a sentence."""

    @property
    def situations(self) -> Iterable[str]:
        """The names of the rows of its table, a shutdown aside."""

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

    def judged_rules(self, profile: Profile) -> tuple[Requirement, ...]:
        """The rules that a subject of this profile is judged by."""

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """A golden case as a subject of this profile can be asked it; None where it cannot."""

    def alternatives(self, profile: Profile) -> Iterator[tuple[str, Profile]]:
        """The profiles that differ in one declared choice, each with its words."""

    def draw_configuration(
        self, profile: Profile, source: Source, wanted: frozenset[str]
    ) -> Configuration:
        """The configuration of a generated case; ``wanted`` are rules to steer towards."""

    def draft(self, configuration: Configuration, profile: Profile) -> Draft:
        """A case that is drawn situation by situation; the clock must be a manual one."""

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

    def size(self, candidate: Candidate) -> tuple[int, ...]:
        """Smaller is simpler; the number of operations comes first."""

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Whether a subject of this profile can be asked the candidate."""

    def simpler(self, profile: Profile, candidate: Candidate) -> Iterator[Candidate]:
        """Simpler cases, beyond those with operations left out; unusable ones are passed over."""

    def describe_operation(self, operation: Operation) -> str:
        """An operation as a person would say it."""

    def describe_outcome(self, operation: Operation, outcome: Outcome) -> str:
        """What came of an operation, its observables aside."""

    def describe_configuration(self, configuration: Configuration) -> str:
        """What the instance of a case was made with."""

    def describe_profile(self, profile: Profile) -> str:
        """The declared choices that a reader needs in order to follow a case."""

    def describe_state(self, state: object) -> str:
        """A state of the model on one line; empty for anything else."""

    def picture(self, case: RetracedCase, number: int) -> str:
        """The case as SVG, ``number`` making its ids unique; empty where there is no picture."""
