"""The fewest changes of what is declared that together explain failing cases.

A change is another value of a choice, a feature that is withdrawn, or a known deviation. A long
case of a subject with several of them shows several, so that no change explains it by itself. Sets
of changes are tried on the cases of all causes, the smallest first, and of equally large sets those
first whose changes come first. A set grows by a change under which a failing case goes further, and
by two together where none does so alone.
"""

import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Generic, TypeVar

from purgatory_conformance.running.case_run import CaseRun, is_refused
from purgatory_judge.case_judge import Deviation
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec.cases import Step
from purgatory_spec.profiles import Profile, component_of

NO_RULE = "no rule that can be told"
"""The word for the rule of a case that goes in too many ways to follow."""

LARGE_MAJORITY = 0.8

_MOST_SETS = 24
"""The most sets of one size that grow, those that explain most."""


_MOST_WITHOUT_GAIN = 3
"""The most changes by which a set grows before it has to explain more."""

_MOST_PAIRED = 20
"""The most changes that are tried by two together, those to prefer."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """A failing case and its steps: up to the failing one, or carried out to its end."""

    run: CaseRun
    steps: list[Step]


@dataclass(frozen=True)
class End:
    """The rule that a case breaks, empty for none, and the number of steps before that."""

    rule: str
    allowed: int = 0


ChangeT = TypeVar("ChangeT", bound=Hashable)


@dataclass(frozen=True)
class JointSearch(Generic[ChangeT]):
    """The cases in groups, and the changes to try, the ones to prefer first.

    ``ending`` tells how a case ends under some changes, and ``agree`` whether two of them go
    together. ``most`` is the most changes of a set; the search ends once it has asked ``most_ends``
    times how a case ends.
    """

    groups: Sequence[Sequence[Recorded]]
    changes: Sequence[ChangeT]
    ending: Callable[[Recorded, tuple[ChangeT, ...]], End]
    agree: Callable[[ChangeT, ChangeT], bool] = operator.ne
    most: int = 8
    most_ends: int = 5_000
    _ends: dict[tuple[Recorded, tuple[ChangeT, ...]], End] = field(default_factory=dict)
    _pairs: dict[Recorded, list[tuple[ChangeT, ...]]] = field(default_factory=dict)

    def fewest(self) -> tuple[ChangeT, ...]:
        """Return the smallest set of changes that explains the most groups of cases."""
        best: tuple[ChangeT, ...] = ()
        most, sets = self.explained(best), [best]
        while sets and most < len(self.groups) and len(self._ends) < self.most_ends:
            larger = dict.fromkeys(
                each
                for names in sets
                for each in self._grown(names)
                if len(each) <= min(self.most, len(best) + _MOST_WITHOUT_GAIN)
            )
            counts = {names: self.explained(names) for names in larger}
            for names, count in counts.items():
                if count > most:
                    best, most = names, count
            sets = sorted(larger, key=lambda names: (len(names), -counts[names]))[:_MOST_SETS]
        return best

    def explained(self, names: tuple[ChangeT, ...]) -> int:
        """Return the number of groups of which most cases pass under these changes."""
        return sum(self._explains(names, cases) for cases in self.groups)

    def passes(self, case: Recorded, names: tuple[ChangeT, ...]) -> bool:
        """Decide whether a case passes under these changes, whatever rule it breaks."""
        return not self.end(case, names).rule

    def end(self, case: Recorded, names: tuple[ChangeT, ...]) -> End:
        """Return how a case ends under these changes."""
        if (case, names) not in self._ends:
            self._ends[case, names] = self.ending(case, names)
        return self._ends[case, names]

    def needing(self, change: ChangeT, names: tuple[ChangeT, ...]) -> list[Recorded]:
        """Return the cases that pass under these changes, and fail without any of the changes."""
        others = tuple(each for each in names if each != change)
        return [
            case
            for cases in self.groups
            for case in cases
            if self.passes(case, names) and not self.passes(case, others)
        ]

    def _grown(self, names: tuple[ChangeT, ...]) -> Iterator[tuple[ChangeT, ...]]:
        """Yield the sets with one more change under which the first case of a group goes on."""
        left = [cases for cases in self.groups if not self._explains(names, cases)]
        for cases in left:
            if len(self._ends) >= self.most_ends:
                return
            case = next(case for case in cases if not self.passes(case, names))
            alone = [each for each in self._with(names, 1) if self._goes_on(case, each, names)]
            yield from alone or self._together(case, names)

    def _together(
        self, case: Recorded, names: tuple[ChangeT, ...]
    ) -> Iterator[tuple[ChangeT, ...]]:
        """Yield the sets with two more changes under which alone a case passes together."""
        if case not in self._pairs:
            preferred = replace(self, changes=self.changes[:_MOST_PAIRED])
            pairs = preferred._with((), 2)
            self._pairs[case] = [each for each in pairs if self.passes(case, each)]
        for pair in self._pairs[case]:
            more = [each for each in pair if each not in names]
            if all(self.agree(each, other) for each in more for other in names):
                yield self._in_order((*names, *more))

    def _with(self, names: tuple[ChangeT, ...], number: int) -> Iterator[tuple[ChangeT, ...]]:
        """Yield the sets with so many more changes, in the order of the changes."""
        fitting = [
            each
            for each in self.changes
            if each not in names and all(self.agree(each, other) for other in names)
        ]
        for more in combinations(fitting, number):
            if all(self.agree(*pair) for pair in combinations(more, 2)):
                yield self._in_order((*names, *more))

    def _in_order(self, names: tuple[ChangeT, ...]) -> tuple[ChangeT, ...]:
        return tuple(sorted(names, key=self._places.__getitem__))

    @cached_property
    def _places(self) -> Mapping[ChangeT, int]:
        return {each: place for place, each in enumerate(self.changes)}

    def _goes_on(
        self, case: Recorded, larger: tuple[ChangeT, ...], names: tuple[ChangeT, ...]
    ) -> bool:
        """Decide whether a case passes under a larger set, or breaks a rule later."""
        end = self.end(case, larger)
        return not end.rule or end.allowed > self.end(case, names).allowed

    def _explains(self, names: tuple[ChangeT, ...], cases: Sequence[Recorded]) -> bool:
        """Decide whether most cases of a group pass under these changes."""
        failed = 0
        for each in cases:
            failed += not self.passes(each, names)
            if not is_most(len(cases) - failed, len(cases)):
                return False
        return True


def end_of(recorded: Recorded, profile: Profile, deviations: tuple[Deviation, ...]) -> End:
    """Return how a recorded case ends under these declarations.

    Raises:
        ValueError: a declared variant has no model of this profile.
    """
    judge = judged(component_of(profile)).judge(recorded.run.configuration, profile, deviations)
    for allowed, step in enumerate(recorded.steps):
        assert step.outcome is not None
        if is_refused(step.outcome):
            break
        try:
            divergence = judge.step(step.operation, step.outcome).divergence
        except TooManyStates:
            return End(NO_RULE, allowed)
        if divergence is not None:
            return End(divergence.rule, allowed)
    return End("", len(recorded.steps))


def is_most(passed: int, number: int) -> bool:
    """Decide whether so many of a number of cases are a large majority of them."""
    return number > 0 and passed >= LARGE_MAJORITY * number
