"""The pairs of rules that two successive steps of small instances put to the test.

A check counts the pairs that its cases meet. Of a pair that it has not met, the exploration of
small instances tells whether some steps meet it: a pair that they show is possible, and a pair that
no sequence of their steps shows is impossible as far as small instances go.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from purgatory_conformance.generation.asks import small_instances
from purgatory_conformance.support.registry import support_of
from purgatory_judge.case_judge import right_outcomes
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec import profiles
from purgatory_spec.cases import Step
from purgatory_spec.outcomes import Outcome

RulePair: TypeAlias = tuple[str, str]
"""Two rules: a step puts the second to the test, the step before it the first."""

_MOST_STEPS = 40_000
"""The number of steps that are judged for each small instance: some seconds."""


@dataclass
class ExploredPairs:
    """The pairs that an exploration has met, each with the shortest steps to it.

    ``instances`` are the small instances, ``length`` is the number of steps up to which every
    sequence of operations worth asking was tried in each of them.
    """

    met: dict[RulePair, tuple[Step, ...]] = field(default_factory=dict)
    instances: tuple[profiles.Configuration, ...] = ()
    length: int = 0


def explore_pairs(profile: profiles.Profile, most_steps: int = _MOST_STEPS) -> ExploredPairs:
    """Return the pairs of rules that sequences of steps meet on small instances of a profile.

    Args:
        profile: The declared choices; the clock must be a manual one.
        most_steps: The number of steps that are judged for each instance.
    """
    found = ExploredPairs(instances=tuple(small_instances(profile)))
    found.length = min(
        (_explore(instance, profile, most_steps, found.met) for instance in found.instances),
        default=0,
    )
    return found


@dataclass(frozen=True)
class _Place:
    """The steps to a place of the exploration, and the rules that the last of them tested."""

    steps: tuple[Step, ...] = ()
    tested: frozenset[str] = frozenset()


def _explore(
    configuration: profiles.Configuration,
    profile: profiles.Profile,
    most_steps: int,
    met: dict[RulePair, tuple[Step, ...]],
) -> int:
    """Note the pairs that sequences of steps meet; return the length up to which all were tried.

    Two sequences that come to one state, and whose last steps test the same, count as one.
    """
    component = profiles.component_of(configuration)
    waiting, known, steps = [_Place()], set(), 0
    for place in waiting:
        draft = support_of(component).draft(configuration, profile)
        draft.followed(step.operation for step in place.steps)
        for operation in draft.asks():
            if steps >= most_steps:
                return len(place.steps)
            judge = judged(component).judge(configuration, profile, ())
            try:
                for step in place.steps:
                    judge.step(step.operation, step.outcome or Outcome())
                outcome = next(right_outcomes(judge, operation))
                tested = frozenset(judge.step(operation, outcome).visited)
            except TooManyStates:
                continue
            steps += len(place.steps) + 1
            path = (*place.steps, Step(operation, outcome))
            for pair in product(place.tested, tested):
                met.setdefault(pair, path)
            if (judge.state, tested) not in known:
                known.add((judge.state, tested))
                waiting.append(_Place(path, tested))
    return len(waiting[-1].steps)
