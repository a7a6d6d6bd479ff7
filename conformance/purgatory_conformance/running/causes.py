"""From failing cases to causes: cases are repeated, shrunk within their rule, and put together.

Cases that break one rule share a cause. So do two rules where the case that shows the first slips,
by one simplification, into one that breaks the second; and where one fault stands behind the other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import msgspec

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.shrinking import (
    is_part_of,
    reduce_case,
    shrink,
    simpler_cases,
    size_of,
)
from purgatory_conformance.running.ways_out import WayOut, ways_out
from purgatory_conformance.subjects.subject import FailureKind, Subject, profile_of
from purgatory_conformance.subjects.time_limit import TimeLimit
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import (
    BEYOND_DECLARED,
    Deviation,
    Judge,
    right_outcomes,
)
from purgatory_judge.components import on_real_clock
from purgatory_judge.judgement import Divergence, TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec.cases import Step
from purgatory_spec.operations import operation_name
from purgatory_spec.outcomes import Event, EventKind, ran
from purgatory_spec.profiles import Executor, Profile, TimerProfile, component_of

REPEATS = 5
"""How often a failing case is repeated, to see whether it fails again."""

_CASES_REPEATED = 3
"""How many cases of a cause are repeated at least, unless one fails every time."""

_MOST_CASES_REPEATED = 10
"""How many where none has failed in most repetitions: what is random by design fails in some."""

_MOST_CAUSES_SEARCHED = 6
"""For how many causes Hypothesis looks for a simpler case; that of a further one is reduced."""

_MOST_SLIPS = 300
"""How many cases are run to see whether the case of one cause slips into that of another."""

_MOST_WAYS = 30
"""How many right outcomes of a step are tried, to see what else is wrong with it."""

_NOT_OF_EVENTS = frozenset({"result", "rejection", BEYOND_DECLARED})
"""Kinds of divergences in what an operation answers, beside those in events and observables."""

Failing = Mapping[tuple[str, str], Sequence[CaseRun]]
"""The failing cases by the rule and the kind of their divergence, the shortest of each first."""


@dataclass
class Cause:
    """A cause of failures: the shrunk case that shows it, and the number of cases explained.

    ``also`` are further rules that cases of this cause were blamed on before they were shrunk.
    """

    rule: str
    kind: str
    cases: int
    shrunk: CaseRun
    source: str
    answers: tuple[int, int] | None = None
    """Where the shown case does not always fail: in how many of how many repetitions it did."""
    steady: bool = True
    """Whether some generated case of the cause failed in most repetitions."""
    unsettled: bool = False
    """Whether no repetition failed on a real clock, where a busy machine may be the reason."""
    also: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    """The kinds of the divergences of cases that were joined to the shown one."""
    runs: list[CaseRun] = field(default_factory=list)
    ways_out: tuple[WayOut, ...] = ()

    @property
    def fault(self) -> tuple[str, bool]:
        """Return the key of its cases: the rule, and whether a declared fault comes before."""
        return self.rule, self.kind == BEYOND_DECLARED


@dataclass(frozen=True)
class _Repeated:
    """A failing case with the number of repetitions that failed, and whether they were one."""

    run: CaseRun
    failed: int
    alike: bool

    @property
    def is_steady(self) -> bool:
        """Decide whether the case failed in most repetitions."""
        return 2 * self.failed > REPEATS


@dataclass(frozen=True)
class CauseSearch:
    """The search for causes: the subject, its declarations, and the numbers of runs."""

    subject: Subject
    deviations: tuple[Deviation, ...]
    seed: int
    shrink_runs: int

    def causes(
        self,
        failing: Failing,
        getting_on: Callable[[], None],
        passing: Sequence[CaseRun] = (),
    ) -> list[Cause]:
        """Return the causes, the most frequent first.

        Args:
            failing: The failing cases.
            getting_on: Called before each cause is looked for.
            passing: Cases that passed, against which features are weighed that could be withdrawn.
        """
        found: list[Cause] = []
        for runs in sorted(_by_fault(failing), key=len, reverse=True):
            getting_on()
            found.append(self._cause(runs, is_searched=len(found) < _MOST_CAUSES_SEARCHED))
        found = self._merged(found)
        for cause in found:
            getting_on()
            self._look_for_ways_out(cause, passing)
        kept: list[Cause] = []
        for cause in sorted(found, key=lambda cause: -cause.cases):
            place = next((i for i, each in enumerate(kept) if _share_a_choice(each, cause)), None)
            if place is None:
                kept.append(cause)
            else:
                kept[place] = self._joined(cause, kept[place])
                self._look_for_ways_out(kept[place], passing)
        self._limit.restore()
        return sorted(kept, key=lambda cause: -cause.cases)

    def _look_for_ways_out(self, cause: Cause, passing: Sequence[CaseRun]) -> None:
        """Note the declarations that explain a cause; none where its failure does not repeat."""
        if cause.steady:
            cause.ways_out = ways_out(
                self.subject, cause.rule, cause.runs, self.deviations, passing
            )

    def _cause(self, runs: Sequence[CaseRun], *, is_searched: bool) -> Cause:
        """Return the cause of cases that break one rule, shown by the most frequent failure."""
        repeated = self._most_steady(runs)
        run, failed = repeated.run, repeated.failed
        also: tuple[str, ...] = ()
        if repeated.is_steady:
            run = self._shrunk(run, 1 if repeated.alike else REPEATS, is_searched)
            assert run.divergence is not None
            if repeated.alike:
                blamed = run.divergence.rule
                run = self._gone_on(run)
                also = (blamed,)
            else:
                failed = self._repeat(run).failed
        assert run.divergence is not None
        return Cause(
            rule=run.divergence.rule,
            kind=run.divergence.kind,
            cases=len(runs),
            shrunk=run,
            source=repeated.run.name,
            answers=None if failed == REPEATS else (failed, REPEATS),
            steady=repeated.is_steady,
            unsettled=failed == 0 and on_real_clock(self._profile(run)),
            runs=list(runs),
            also=tuple(rule for rule in also if rule != run.divergence.rule),
        )

    def _most_steady(self, runs: Iterable[CaseRun]) -> _Repeated:
        """Return the shortest case that fails in every repetition; else the most frequent one."""
        different = list({id(run): run for run in runs}.values())[:_MOST_CASES_REPEATED]
        best: _Repeated | None = None
        for tried, run in enumerate(different, 1):
            repeated = self._repeat(run)
            if best is None or repeated.failed > best.failed:
                best = repeated
            if best.failed == REPEATS or (tried >= _CASES_REPEATED and best.is_steady):
                break
        assert best is not None
        return best

    def _repeat(self, run: CaseRun) -> _Repeated:
        """Repeat a case. On a real clock no two answers have the same readings."""
        again = [self._again(Candidate(run.configuration, run.operations)) for _ in range(REPEATS)]
        real = on_real_clock(self._profile(run))
        return _Repeated(
            run,
            sum(each.verdict is CaseVerdict.FAIL for each in again),
            real or all(each.steps == run.steps for each in again),
        )

    def _shrunk(self, run: CaseRun, tries: int, is_searched: bool) -> CaseRun:
        """Return the simplest case found that breaks the same rule.

        A subject whose answers differ, within what its profile leaves free or beyond it, is asked a
        candidate ``tries`` times: once failed is failed.
        """
        profile = self._profile(run)
        case = Candidate(run.configuration, run.operations[: len(run.steps)])

        def fails(candidate: Candidate) -> bool:
            return self._failing(candidate, run, tries) is not None

        if is_searched:
            smallest = shrink(profile, case, fails, seed=self.seed, most_runs=self.shrink_runs)
        else:
            smallest = reduce_case(profile, case, fails, self.shrink_runs)
        return self._failing(smallest, run, tries) or run

    def _gone_on(self, run: CaseRun) -> CaseRun:
        """Return the simplest case that a case slips into, whatever rule that breaks.

        What is simplest names the fault best; see ``_reach`` for why it is the same fault.
        """
        slips: dict[Candidate, CaseRun] = {}

        def fails(case: Candidate) -> bool:
            again = self._again(case)
            if again.verdict is not CaseVerdict.FAIL or again.divergence is None:
                return False
            slips[case] = again
            is_beyond = [_fault(each.divergence)[1] for each in (again, run) if each.divergence]
            return self._family(again) == self._family(run) and is_beyond[0] == is_beyond[1]

        whole = Candidate(run.configuration, run.operations)
        return slips.get(reduce_case(self._profile(run), whole, fails, _MOST_SLIPS), run)

    def _failing(self, case: Candidate, like: CaseRun, tries: int) -> CaseRun | None:
        """Return a run of the case that fails as another did; None where none of a few does."""
        assert like.divergence is not None
        for _ in range(tries):
            again = self._again(case)
            if again.verdict is not CaseVerdict.FAIL or again.divergence is None:
                continue
            if _fault(again.divergence) == _fault(like.divergence):
                return again
        return None

    def _merged(self, causes: list[Cause]) -> list[Cause]:
        """Return the causes, with those joined of which one shows or resembles the other."""
        if len(causes) < 2:
            return causes
        kept: list[tuple[Cause, set[str]]] = []
        for cause in sorted(causes, key=lambda cause: -cause.cases):
            reach = self._reach(cause) if cause.steady else set()
            for index, (other, others_reach) in enumerate(kept):
                if not (cause.steady and other.steady):
                    continue
                slips = bool(reach & {other.rule, *other.also}) or cause.rule in others_reach
                slips = slips or cause.fault == other.fault
                is_like = slips or self._look_alike(cause, other)
                if is_like or self._is_behind(cause, other):
                    shown = None if is_like else other
                    kept[index] = self._joined(cause, other, shown), reach | others_reach
                    break
            else:
                kept.append((cause, reach))
        return [cause for cause, _ in kept]

    def _reach(self, cause: Cause) -> set[str]:
        """Return the rules that the case breaks once it is made simpler, step by step.

        The case was made as simple as its own rule allows: were there two faults, what only the
        other one needs would have been left out. By other numbers it may still meet the other one
        by chance; so it must go on to differ from what is expected in the same family of kinds.
        """
        whole = Candidate(cause.shrunk.configuration, cause.shrunk.operations)
        profile = self._profile(cause.shrunk)
        met = set(self._rules_of_the_step(cause.shrunk))

        def slips(case: Candidate) -> bool:
            again = self._again(case)
            if again.verdict is not CaseVerdict.FAIL or again.divergence is None:
                return False
            same = self._family(again) == self._family(cause.shrunk)
            if same:
                met.add(again.divergence.rule)
            return same

        for simpler in islice(simpler_cases(profile, whole), _MOST_SLIPS):
            slips(simpler)
        reduce_case(profile, whole, slips, _MOST_SLIPS)
        return met - {cause.rule}

    def _is_behind(self, cause: Cause, other: Cause) -> bool:
        """Decide whether the fault of one cause stands behind the other, which shows it otherwise.

        Either the judge may put the divergence down to the other rule as well, or the case of one
        cause has parts that break the rule of the other.
        """
        return any(
            _may_be_put_down(one, another) or self._breaks_in_part(one, another.rule)
            for one, another in ((cause, other), (other, cause))
        )

    def _breaks_in_part(self, cause: Cause, rule: str) -> bool:
        """Decide whether parts of a cause's case break a rule in the same operation.

        They may differ from what is expected in anything, as long as the whole does not differ in
        it as well: that would be two faults in one step.
        """
        whole = Candidate(cause.shrunk.configuration, cause.shrunk.operations)
        profile, beside = self._profile(cause.shrunk), self._rules_beside(cause.shrunk)
        if beside is None or rule in beside:
            return False
        for part in islice(simpler_cases(profile, whole), _MOST_SLIPS):
            if is_part_of(part, whole):
                again = self._again(part)
                if again.breaks(rule) and len(again.steps) == len(part.operations):
                    return True
        return False

    def _family(self, run: CaseRun) -> str:
        """Return the kind of a divergence: observable, result, rejection, or events."""
        kind = run.divergence.kind if run.divergence else ""
        known = kind in self._profile(run).observables or kind in _NOT_OF_EVENTS
        return kind if known else f"events of {operation_name(run.steps[-1].operation)}"

    def _look_alike(self, cause: Cause, other: Cause) -> bool:
        """Decide whether one count is wrong in both, or one operation after the same sequence.

        A count that is wrong at one operation stays wrong at the next, under another rule.
        """
        kinds = {cause.kind, *cause.kinds} & {other.kind, *other.kinds}
        if any(kind in self._profile(cause.shrunk).observables for kind in kinds):
            return True
        if cause.kind != other.kind:
            return False
        sequences = [
            [type(step.operation) for step in each.shrunk.steps] for each in (cause, other)
        ]
        return sequences[0] == sequences[1]

    def _rules_of_the_step(self, run: CaseRun) -> Iterator[str]:
        """Yield the further rules that the diverging step breaks, observable after observable.

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
                yield divergence.rule

    def _rules_beside(self, run: CaseRun) -> set[str] | None:
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

    def _joined(self, cause: Cause, other: Cause, shows: Cause | None = None) -> Cause:
        """Return the cause with the simpler case, or the one that ``shows``, with all cases.

        What is simplest names the fault best: another rule takes more to be broken.
        """
        shown, hidden = sorted((other, cause), key=_simplicity)
        if shows is hidden:
            shown, hidden = hidden, shown
        rules = (*shown.also, hidden.rule, *hidden.also)
        return replace(
            shown,
            cases=shown.cases + hidden.cases,
            runs=[*shown.runs, *hidden.runs],
            kinds=shown.kinds | hidden.kinds | {hidden.kind},
            also=tuple(dict.fromkeys(rule for rule in rules if rule != shown.rule)),
        )

    def _profile(self, run: CaseRun) -> Profile:
        return profile_of(self.subject, component_of(run.configuration))

    def _again(self, case: Candidate) -> CaseRun:
        limit = self._limit
        run = run_case(self.subject, "again", case.configuration, case.operations, self.deviations)
        if run.failure is not None and run.failure.kind is FailureKind.HUNG:
            limit.shorten()  # a case that is only tried hangs: the next one may not take as long
        return run

    @cached_property
    def _limit(self) -> TimeLimit:
        return TimeLimit(self.subject)


def _fault(divergence: Divergence) -> tuple[str, bool]:
    """Return the key that groups cases: the rule, and whether a declared fault comes before."""
    return divergence.rule, divergence.kind == BEYOND_DECLARED


def _simplicity(cause: Cause) -> tuple[bool, tuple[int, ...], int]:
    """Return a sort key of causes: steady ones, simple cases and many cases come first."""
    run = cause.shrunk
    size = size_of(Candidate(run.configuration, run.operations))
    return not cause.steady, size, -cause.cases


def _as_shown(events: tuple[Event, ...], profile: Profile) -> tuple[Event, ...]:
    """Return the events of a step as a subject of this profile tells them."""
    if not isinstance(profile, TimerProfile) or profile.executor is Executor.STEPPED:
        return events
    return tuple(ran(e.task) if e.kind is EventKind.EXPIRED else e for e in events)


def _may_be_put_down(cause: Cause, other: Cause) -> bool:
    """Decide whether a cause may be due to the rule of another, which shows the same."""
    found, like = cause.shrunk.divergence, other.shrunk.divergence
    if found is None or like is None or found.kind != like.kind:
        return False
    return type(found.operation) is type(like.operation) and like.rule in found.also


def _share_a_choice(cause: Cause, other: Cause) -> bool:
    """Decide whether another value of one choice of the profile explains two different causes."""
    lines = {way.line for way in cause.ways_out if way.line}
    return any(way.line in lines for way in other.ways_out)


def _by_fault(failing: Failing) -> list[list[CaseRun]]:
    """Return the failing cases of each fault, the shortest of each first."""
    groups: dict[tuple[str, bool], list[CaseRun]] = {}
    for (rule, kind), runs in failing.items():
        groups.setdefault((rule, kind == BEYOND_DECLARED), []).extend(runs)
    return [sorted(runs, key=lambda run: len(run.steps)) for runs in groups.values()]
