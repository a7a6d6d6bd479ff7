"""The judge of one case of a subject with declared deviations.

Two judges follow the subject: a strict one by the rules, and a lenient one by what the declared
deviations make of them. Where the strict one diverges, the rule that is broken is one that the
subject is declared to break, and the lenient one allows the step, the case goes on with the lenient
judge alone: what that one does not allow is a divergence that nobody declared. A deviation whose
trigger has not occurred in the case excuses nothing.

A subject that shows little may show a declared fault where another rule is the one to name. What
the lenient judge allows and the strict one does not comes from a declared fault all the same; it is
put down to the deviation that explains the case by itself, or the longest part of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from purgatory_judge.judgement import Divergence, Judgement, TooManyStates
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome

BEYOND_DECLARED = "beyond the declared deviation"
"""The kind of a divergence behind a declared one: another fault than that of the rule it names."""


@dataclass(frozen=True)
class Deviation:
    """A rule that a subject is known to break, and the variant of the model that it follows.

    ``replay`` is the path of the case that shows it; ``reason`` and ``issue`` are for people.
    """

    rule: str
    variant: str
    replay: str = ""
    reason: str = ""
    issue: str = ""


@dataclass(frozen=True)
class AskedStep:
    """A step that is asked for: what the instance was made with, and a legal state before it."""

    configuration: Any
    state: Any
    operation: Operation


@dataclass(frozen=True)
class Trigger:
    """The step that a variant needs: before it the subject must keep to the rules.

    ``words`` complete the sentence "it has occurred where". ``occurs`` may hold where the variant
    makes no difference, and holds wherever it makes one.
    """

    words: str
    occurs: Callable[[AskedStep], bool]


class BaseJudge(Protocol):
    """Follows one case; after a divergence it must not be used further."""

    @property
    def state(self) -> object:
        """Return the judge's belief about the subject, for reports."""

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome.

        Raises:
            TooManyStates: the rules leave too much open to follow.
        """


@runtime_checkable
class _SeveralStates(Protocol):
    """A judge that can list all states it believes possible."""

    states: tuple[object, ...]


class _Model(Protocol):
    """The model that a judge follows, which knows every right outcome."""

    def successors(self, state: object, operation: Operation) -> Iterator[tuple[Outcome, object]]:
        """Return every outcome of an operation with the state after it."""


@runtime_checkable
class _Foreseeing(_SeveralStates, Protocol):
    """A judge whose model can say beforehand what is right."""

    model: _Model


class Judge(BaseJudge, Protocol):
    """A judge that tells declared divergences from others."""

    @property
    def deviated(self) -> Divergence | None:
        """Return the first declared divergence so far; None before."""


@dataclass(slots=True)
class CaseJudge:
    """Follows one case under declared deviations.

    A divergence of the lenient judge need not name a rule; it is then put down to the deviation.
    ``alone`` gives the lenient judge of a subject with the deviation from one declared rule only.
    A forgetful one has these judges follow the case from the beginning; any other keeps the steps
    and has them follow when they are needed, which they seldom are.
    """

    strict: BaseJudge
    lenient: BaseJudge | None = None
    declared_rules: frozenset[str] = frozenset()
    alone: Callable[[str], BaseJudge] | None = None
    deviated: Divergence | None = None
    """The first divergence that is declared; from there on the lenient judge is followed."""
    forgetful: bool = False
    configuration: object = None
    untriggered: tuple[tuple[str, Trigger], ...] = ()
    """Of each deviation whose trigger has not occurred yet the rule and the trigger."""
    _occurred: frozenset[str] = field(init=False, default=frozenset())
    _lost: TooManyStates | None = field(init=False, default=None)
    _steps: list[tuple[Operation, Outcome]] = field(init=False, default_factory=list)
    _following: dict[str, "_Following"] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Begin to follow by each deviation alone, where that is not put off."""
        if self.forgetful and self.alone is not None:
            self._following = {
                rule: _Following(self.alone(rule)) for rule in sorted(self.declared_rules)
            }

    @property
    def state(self) -> object:
        """Return the lenient judge's state after a declared divergence, else the strict judge's."""
        if self.deviated is not None and self.lenient is not None:
            return self.lenient.state
        return self.strict.state

    @property
    def states(self) -> tuple[object, ...]:
        """Return all states that the judge in charge believes possible."""
        followed = self.strict
        if self.deviated is not None and self.lenient is not None:
            followed = self.lenient
        return followed.states if isinstance(followed, _SeveralStates) else (followed.state,)

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome."""
        if self.deviated is not None and self.lenient is not None:
            judgement = self.lenient.step(operation, outcome)
            if judgement.divergence is not None:
                judgement.divergence = _beyond(judgement.divergence, self.deviated)
            return judgement
        if self.forgetful:
            for following in self._following.values():
                following.step(operation, outcome)
        elif self.declared_rules:
            self._steps.append((operation, outcome))
        if self.untriggered and self.lenient is not None:
            step = AskedStep(self.configuration, self.strict.state, operation)
            occurred = {each for each in self.untriggered if each[1].occurs(step)}
            self.untriggered = tuple(each for each in self.untriggered if each not in occurred)
            self._occurred |= {rule for rule, _ in occurred}
        allowed = self._is_allowed_leniently(operation, outcome)
        judgement = self.strict.step(operation, outcome)
        if judgement.divergence is None:
            return judgement
        declared = self._as_declared(judgement.divergence)
        if declared is None and allowed:
            declared = self._as_explained(judgement.divergence)
        if declared is not None and self._lost is not None:
            raise self._lost
        if declared is not None and allowed:
            self.deviated = declared
            self._following.clear()
            judgement.divergence = None
        return judgement

    @property
    def _triggered(self) -> frozenset[str]:
        """Return the declared rules whose triggers have occurred."""
        waiting = {rule for rule, _ in self.untriggered}
        return self._occurred | (self.declared_rules - waiting)

    def _is_allowed_leniently(self, operation: Operation, outcome: Outcome) -> bool:
        """Decide whether the lenient judge has allowed every step so far, and this one."""
        if self.lenient is None or self._lost is not None:
            return False
        try:
            if self.lenient.step(operation, outcome).divergence is None:
                return True
            self.lenient = None
        except TooManyStates as lost:
            self._lost = lost
        return False

    def _as_declared(self, divergence: Divergence) -> Divergence | None:
        """Return the divergence under a declared rule among the blamed ones; None without one."""
        for rule in (divergence.rule, *divergence.also):
            if rule in self._triggered:
                return replace(divergence, rule=rule)
        return None

    def _as_explained(self, divergence: Divergence) -> Divergence | None:
        """Return the divergence by the rule whose deviation alone explains the most of the case."""
        triggered = sorted(self._triggered)
        if self.alone is None or not triggered:
            return None
        explained = {
            rule: self._following[rule].allowed
            if self.forgetful
            else _allowed_steps(self.alone(rule), self._steps)
            for rule in triggered
        }
        return replace(divergence, rule=max(explained, key=lambda rule: explained[rule]))


def right_outcomes(judge: Judge, operation: Operation) -> Iterator[Outcome]:
    """Yield the outcomes that the rules allow next; none where they cannot be told beforehand.

    That is so on a real clock, and behind a declared deviation.
    """
    followed = judge.strict if isinstance(judge, CaseJudge) else judge
    if judge.deviated is None and isinstance(followed, _Foreseeing):
        for state in followed.states:
            for outcome, _ in followed.model.successors(state, operation):
                yield outcome


@dataclass(slots=True)
class _Following:
    """A judge that follows a case, with the number of steps allowed; None once the case is lost."""

    judge: BaseJudge | None
    allowed: int = 0

    def step(self, operation: Operation, outcome: Outcome) -> None:
        """Follow one step further, unless the judge has diverged or lost its way."""
        if self.judge is None:
            return
        try:
            if self.judge.step(operation, outcome).divergence is None:
                self.allowed += 1
                return
        except TooManyStates:
            pass
        self.judge = None


def _allowed_steps(judge: BaseJudge, steps: list[tuple[Operation, Outcome]]) -> int:
    """Return the number of steps that a judge allows before it diverges or loses track."""
    following = _Following(judge)
    for operation, outcome in steps:
        following.step(operation, outcome)
        if following.judge is None:
            break
    return following.allowed


def _beyond(divergence: Divergence, deviated: Divergence) -> Divergence:
    """Return a lenient judge's divergence, put down to the deviation where it names no rule."""
    if divergence.rule:
        return divergence
    return replace(
        divergence,
        rule=deviated.rule,
        kind=BEYOND_DECLARED,
        expected="what the declared variant allows",
        seen=f"{divergence.outcome}",
    )
