"""The judge of one case of a subject with declared deviations.

The model follows the subject until they part. Where the rule that is broken then is one that the
subject is declared to break, and the declared variants of the model allow the step, the case goes
on with the variants alone: what they do not allow is a divergence that nobody declared.
"""

from dataclasses import dataclass, field, replace
from typing import Protocol

from purgatory_conformance.judging.derived_steps import base_steps
from purgatory_conformance.judging.judgement import Divergence, Judgement
from purgatory_conformance.judging.real_clock_judge import RealClockJudge
from purgatory_conformance.judging.timer_history import State
from purgatory_conformance.judging.timer_judge import TimerJudge
from purgatory_model.variants import variant_model
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Clock, Executor, TimerConfiguration, TimerProfile


@dataclass(frozen=True)
class Deviation:
    """A rule that a subject is known to break, and the variant of the model that it follows.

    ``replay`` is the path of the case that shows it; ``reason`` and ``issue`` are for people.
    """

    rule: str
    variant: str
    replay: str
    reason: str = ""
    issue: str = ""


class Judge(Protocol):
    """Follows one case; after a divergence it must not be used further."""

    @property
    def state(self) -> object:
        """What the judge believes of the subject, for reports."""

    @property
    def deviated(self) -> Divergence | None:
        """The first divergence that is declared, if there was one."""

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge one step."""


def judge_for(
    configuration: TimerConfiguration,
    profile: TimerProfile,
    deviations: tuple[Deviation, ...] = (),
) -> Judge:
    """The judge of one case of a subject of this profile."""
    if profile.clock is Clock.WALL:
        return RealClockJudge(configuration, profile)
    return CaseJudge(configuration, profile, deviations)


@dataclass(slots=True)
class CaseJudge:
    """Follows one case under a profile with declared deviations."""

    configuration: TimerConfiguration
    profile: TimerProfile
    deviations: tuple[Deviation, ...] = ()
    deviated: Divergence | None = None
    """The first divergence that is declared; from there on the variants are followed."""
    _judge: TimerJudge = field(init=False)
    _variants: "_VariantFollower | None" = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Start with a fresh timer."""
        self._judge = TimerJudge(self.configuration, self.profile)
        if self.deviations:
            names = frozenset(deviation.variant for deviation in self.deviations)
            self._variants = _VariantFollower(self.configuration, self.profile, names)

    @property
    def state(self) -> State:
        """One of the states in which the subject may be."""
        if self.deviated is not None and self._variants is not None:
            return self._variants.state
        return self._judge.state

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge one step."""
        followed = self._variants is not None and self._variants.step(operation, outcome)
        if self.deviated is not None:
            if followed:
                return Judgement()
            rule = self.deviated.rule
            return Judgement(
                divergence=Divergence(
                    rule,
                    "beyond the declared deviation",
                    "what the declared variant allows",
                    f"{outcome}",
                    operation,
                    outcome,
                    self._variants.before if self._variants else None,
                )
            )
        judgement = self._judge.step(operation, outcome)
        if judgement.divergence is not None and followed:
            declared = {deviation.rule for deviation in self.deviations}
            for rule in (judgement.divergence.rule, *judgement.divergence.also):
                if rule in declared:
                    self.deviated = replace(judgement.divergence, rule=rule)
                    judgement.divergence = None
                    break
        return judgement


class _VariantFollower:
    """The states in which a subject may be that follows the named variants."""

    def __init__(
        self, configuration: TimerConfiguration, profile: TimerProfile, names: frozenset[str]
    ) -> None:
        self._model = variant_model(configuration, profile, names)
        self._states = frozenset({self._model.initial()})
        self._derived = profile.executor is not Executor.STEPPED
        self.before: State = self._model.initial()

    @property
    def state(self) -> State:
        return next(iter(self._states)) if self._states else self.before

    def step(self, operation: Operation, outcome: Outcome) -> bool:
        """Whether the variants allow the step."""
        if not self._states:
            return False
        self.before = self.state
        steps = [(operation, outcome)]
        if self._derived:
            steps = base_steps(self._model.model, self.before, operation, outcome)
        for base_operation, base_outcome in steps:
            after: set[State] = set()
            for state in self._states:
                after |= self._model.accept(state, base_operation, base_outcome)
            self._states = frozenset(after)
        return bool(self._states)
