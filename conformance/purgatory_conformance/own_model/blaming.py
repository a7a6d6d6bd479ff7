"""Name the rule that a difference between two models is about.

Where one's own model allows what the rules forbid, its outcome is blamed as that of any subject
would be. Where it only forbids what the rules allow, the sides are exchanged: what the rules allow
is held against one's own outcomes, and whatever tells them apart is what this model forbids.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from purgatory_conformance.own_model.comparison import Difference
from purgatory_conformance.own_model.worlds import State
from purgatory_judge.judgement import Divergence, Judgement
from purgatory_judge.memory_pool.judge import MemoryPoolJudge
from purgatory_judge.purgatory.judge import PurgatoryJudge
from purgatory_judge.timer.judge import TimerJudge
from purgatory_model.step import Expectation
from purgatory_spec import profiles
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import requirement


class _Judge(Protocol[State]):
    """A judge that can also be told what to expect."""

    @property
    def state(self) -> State:
        """Return one of the states in which the subject may be."""

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome."""

    def blamed(
        self, operation: Operation, outcome: Outcome, expected: tuple[Expectation[State], ...]
    ) -> Divergence:
        """Return the divergence of an outcome in the present state, were these expectations all."""


def blamed(difference: Difference, profile: profiles.Profile) -> Divergence:
    """Return the divergence that names the rule."""
    match difference.configuration, profile:
        case profiles.TimerConfiguration() as timer, profiles.TimerProfile():
            return _blamed(TimerJudge(timer, profile), difference, profile)
        case profiles.PurgatoryConfiguration() as purgatory, profiles.PurgatoryProfile():
            return _blamed(PurgatoryJudge(purgatory, profile), difference, profile)
        case profiles.MemoryPoolConfiguration() as pool, profiles.MemoryPoolProfile():
            return _blamed(MemoryPoolJudge(pool, profile), difference, profile)
    raise TypeError(f"{difference.configuration} and {profile} are of two components")


def _blamed(judge: _Judge[State], difference: Difference, profile: profiles.Profile) -> Divergence:
    for step in difference.steps:
        assert step.outcome is not None
        judge.step(step.operation, step.outcome)
    if difference.own_alone:
        divergence = judge.step(difference.operation, difference.own_alone[0]).divergence
        assert divergence is not None
        return divergence
    expected = tuple(_expectations(difference.both, judge.state))
    divergence = judge.blamed(difference.operation, difference.rules_alone[0], expected)
    if requirement(divergence.rule).applies_to(profile):
        return divergence
    return replace(divergence, rule=_LEAVES_FREE.get(divergence.rule, divergence.rule))


_LEAVES_FREE = {"TIMER-OWN-CLOCK": "TIMER-ALREADY-DUE"}
"""Rules that decide for some profiles what another rule leaves free for all others."""


def _expectations(outcomes: Iterable[Outcome], state: State) -> list[Expectation[State]]:
    """Return the user's outcomes as expectations; without any, an error outside the rules."""
    return [
        Expectation(
            groups=tuple(frozenset({event}) for event in outcome.events),
            complete=lambda _: state,
            observe=lambda _, outcome=outcome: outcome.observed,  # type: ignore[misc]
            result=outcome.result,
            rejected=outcome.rejected,
        )
        for outcome in tuple(outcomes) or (Outcome(rejected=Reason.INTERNAL),)
    ]
