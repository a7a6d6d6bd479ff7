"""A component that can be judged: types, variants of the model, rules, and a judge of a case."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from purgatory_judge.case_judge import CaseJudge, Deviation, Judge, Trigger
from purgatory_judge.components import narrowed
from purgatory_spec.profiles import Component, Configuration, Profile
from purgatory_spec.requirements import Requirement

ConfigurationT = TypeVar("ConfigurationT", bound=Configuration)
ProfileT = TypeVar("ProfileT", bound=Profile)


@dataclass(frozen=True)
class Asked(Generic[ConfigurationT, ProfileT]):
    """The question that a judge is made for; see ``JudgedComponent.judge``."""

    configuration: ConfigurationT
    profile: ProfileT
    deviations: tuple[Deviation, ...]
    forgetful: bool
    state: object


@dataclass(frozen=True, kw_only=True)
class JudgedComponent(Generic[ConfigurationT, ProfileT]):
    """Types, variants, rules and judges of one component."""

    component: Component
    configuration_type: type[ConfigurationT]
    profile_type: type[ProfileT]
    variants: Mapping[str, str]
    """The variants of its model that a declaration may name, each with a sentence."""
    triggers: Mapping[str, Trigger]
    """The trigger of each variant."""
    judge_of: Callable[[Asked[ConfigurationT, ProfileT]], Judge]
    rules_of: Callable[[ProfileT], Iterable[Requirement]]
    """The rules that a subject of this profile can be seen to break, were they to apply."""

    def judge(
        self,
        configuration: Configuration,
        profile: Profile,
        deviations: tuple[Deviation, ...],
        *,
        forgetful: bool = False,
        state: object = None,
    ) -> Judge:
        """Make the judge of one case of a subject of this profile.

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
        made_with, profile = self.narrowed(configuration, profile)
        judge = self.judge_of(Asked(made_with, profile, deviations, forgetful, state))
        if isinstance(judge, CaseJudge):
            judge.configuration = made_with
            judge.untriggered = tuple(
                (each.rule, self.triggers[each.variant]) for each in deviations
            )
        return judge

    def judged_rules(self, profile: Profile) -> tuple[Requirement, ...]:
        """Return the rules that a subject of this profile is judged by."""
        profile = narrowed(profile, self.profile_type)
        return tuple(rule for rule in self.rules_of(profile) if rule.applies_to(profile))

    def narrowed(
        self, configuration: Configuration, profile: Profile
    ) -> tuple[ConfigurationT, ProfileT]:
        """Narrow both to the types of this component.

        Raises:
            TypeError: one is of another component.
        """
        made_with = narrowed(configuration, self.configuration_type)
        return made_with, narrowed(profile, self.profile_type)


Judged: TypeAlias = JudgedComponent[Any, Any]
"""A component that can be judged, whichever it is."""
