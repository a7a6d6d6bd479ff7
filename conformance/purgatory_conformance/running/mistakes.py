"""Mistakes: what is wrong in the last step of a failing case, and whether two are one.

The judge names the first rule that a step breaks. Here the step is looked at as a whole: which of
its observables are wrong besides, and in which direction a count is wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_judge.case_judge import (
    BEYOND_DECLARED,
    Deviation,
    Judge,
    right_outcomes,
)
from purgatory_judge.judgement import Divergence, TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec.cases import Step
from purgatory_spec.operations import operation_name
from purgatory_spec.outcomes import Event, EventKind, Value, ran
from purgatory_spec.profiles import Executor, Profile, TimerProfile, component_of

_MOST_WAYS = 30
"""The most right outcomes of a step that are tried, to see what else is wrong with it."""

_NOT_OF_EVENTS = frozenset({"result", "rejection", BEYOND_DECLARED})
"""Kinds of divergences in what an operation answers, beside those in events and observables."""


@dataclass(frozen=True)
class Mistakes:
    """The last steps of the failing cases of a subject, under its declarations."""

    subject: Subject
    deviations: tuple[Deviation, ...]

    def family(self, run: CaseRun) -> str:
        """Return the kind of a divergence: observable, result, rejection, or events."""
        kind = run.divergence.kind if run.divergence else ""
        known = kind in self._profile(run).observables or kind in _NOT_OF_EVENTS
        return kind if known else f"events of {operation_name(run.steps[-1].operation)}"

    def is_as_wrong(self, run: CaseRun, other: CaseRun) -> bool:
        """Decide whether two cases end in the same mistake: one wrong answer, or one count.

        Another rule may be broken by a neighbouring number in the same operation: what is answered
        there is another mistake, unless it is the same one.
        """
        if self.family(run) != self.family(other):
            return False
        one, another = run.divergence, other.divergence
        assert one is not None
        assert another is not None
        return one.rule == another.rule or self.is_one_mistake(run, other)

    def is_one_mistake(self, run: CaseRun, other: CaseRun) -> bool:
        """Decide whether two cases may be wrong in one way, as far as that can be told."""
        return len({self._mistake(run), self._mistake(other)} - {()}) <= 1

    def _mistake(self, run: CaseRun) -> tuple[object, ...]:
        """Return how the last step is wrong: the wrong answer, or the direction of the count.

        Empty where that cannot be told: of several right ways the first may show the same count.
        """
        assert run.divergence is not None
        kind, seen = run.divergence.kind, run.divergence.outcome
        if kind not in {"result", "rejection", *self._profile(run).observables}:
            return ()
        *before, last = run.steps
        right = next(right_outcomes(self._followed(run, before), last.operation), None)
        if right is None:
            return ()
        if kind in self._profile(run).observables:
            direction = _direction(right.observed.get(kind), seen.observed.get(kind))
            return (direction,) if direction else ()
        return seen.rejected, _direction(right.result, seen.result)

    def rules_of_the_step(self, run: CaseRun) -> Iterator[str]:
        """Yield the further rules that the diverging step breaks, observable after observable."""
        return (divergence.rule for divergence in self.further(run))

    def further(self, run: CaseRun) -> Iterator[Divergence]:
        """Yield the divergences of the diverging step behind the first, kind after kind.

        A fault that shows in several observables of one step is blamed on the first alone.
        """
        component = component_of(run.configuration)
        profile, kind = self._profile(run), run.divergence.kind if run.divergence else ""
        while kind in profile.observables:
            left = frozenset(each for each in profile.observables if each != kind)
            profile = msgspec.structs.replace(profile, observables=left)
            judge = judged(component).judge(run.configuration, profile, self.deviations)
            kind = ""
            for step in run.steps:
                assert step.outcome is not None
                divergence = judge.step(step.operation, step.outcome).divergence
                if divergence is not None:
                    kind = divergence.kind if step is run.steps[-1] else ""
                    break
            if kind and divergence is not None:
                yield divergence

    def rules_beside(self, run: CaseRun) -> set[str] | None:
        """Return the rules that the step's observables break by themselves; None where unknown.

        They show apart from the fault that the step is blamed on, and may be another one's. None
        where nobody can say what is right.
        """
        *before, last = run.steps
        assert last.outcome is not None
        rules: set[str] = set()
        profile = self._profile(run)
        right = right_outcomes(self._followed(run, before), last.operation)
        for each in islice(right, _MOST_WAYS):
            corrected = msgspec.structs.replace(
                each,
                events=_as_shown(each.events, profile),
                observed=last.outcome.observed,
            )
            try:
                divergence = self._followed(run, before).step(last.operation, corrected).divergence
            except TooManyStates:
                return None
            if divergence is None:
                return set()
            if divergence.kind in profile.observables:
                rules.add(divergence.rule)
        return rules or None

    def _followed(self, run: CaseRun, steps: Sequence[Step]) -> Judge:
        """Return a judge that has followed some steps of a case."""
        component = component_of(run.configuration)
        judge = judged(component).judge(run.configuration, self._profile(run), self.deviations)
        for step in steps:
            assert step.outcome is not None
            judge.step(step.operation, step.outcome)
        return judge

    def _profile(self, run: CaseRun) -> Profile:
        return profile_of(self.subject, component_of(run.configuration))


def _direction(right: Value, seen: Value) -> Value:
    """Return the sign of the difference of two numbers; of other values the one that was seen."""
    if isinstance(right, int) and isinstance(seen, int) and not isinstance(seen, bool):
        return (seen > right) - (seen < right)
    return seen


def _as_shown(events: tuple[Event, ...], profile: Profile) -> tuple[Event, ...]:
    """Return the events of a step as a subject of this profile tells them."""
    if not isinstance(profile, TimerProfile) or profile.executor is Executor.STEPPED:
        return events
    return tuple(ran(e.task) if e.kind is EventKind.EXPIRED else e for e in events)
