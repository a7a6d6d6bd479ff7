"""From failing cases to causes: cases are repeated, shrunk within their rule, and put together.

Cases that break one rule share a cause. So do two rules where the case that shows the first slips,
by one simplification, into one that breaks the second; and where one fault stands behind the other.
Two causes stay apart where their cases are wrong in different ways, or where neither has what the
other one needs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import islice

import msgspec

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.mistakes import Mistakes
from purgatory_conformance.running.occurrences import is_within
from purgatory_conformance.running.shrinking import (
    is_part_of,
    reduce_case,
    search_smaller,
    short_case,
    simpler_cases,
    size_of,
)
from purgatory_conformance.running.ways_out import WayOut, ways_out
from purgatory_conformance.subjects.declared_as import DeclaredAs
from purgatory_conformance.subjects.subject import FailureKind, Subject, profile_of
from purgatory_conformance.subjects.time_limit import TimeLimit
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import (
    BEYOND_DECLARED,
    Deviation,
)
from purgatory_judge.components import on_real_clock
from purgatory_judge.judgement import Divergence
from purgatory_spec.profiles import Profile, component_of

REPEATS = 5
"""The number of repetitions of a failing case that show whether it fails again."""

_CASES_REPEATED = 3
"""The fewest cases of a cause that are repeated, unless one fails every time."""

_MOST_CASES_REPEATED = 10
"""The most cases repeated while none fails in most repetitions: a random fault fails in some."""

_MOST_CAUSES_SEARCHED = 6
"""The most causes for which a simpler case is drawn anew; a further one's is reduced."""

_SHORT_CASES = 160
"""The short cases that are drawn once many have failed."""

_SHORT_OPERATIONS = 8
"""The most operations of a short case."""

_MANY = 0.45
"""The share of the cases from which a cause hides what else is wrong."""

_ALONE = 0.9
"""The share of a cause's cases with one wrong observable from which it is computed wrongly."""

_MOST_BEHIND = 3
"""The most rules for which a cause is looked for behind one that many cases show."""

_SEVERAL = 3
"""The causes with one wrong count that are one, and the cases that show a hidden one for certain.

A rule that was blamed for an observable may be blamed once more, by chance, for its consequence.
"""

_MOST_SLIPS = 300
"""The most cases run to see whether the case of one cause slips into that of another."""

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
    """The numbers of failures and of repetitions of the shown case; None if each one failed."""
    steady: bool = True
    """True if some generated case of the cause failed in most repetitions."""
    unsettled: bool = False
    """True if no repetition failed on a real clock: a busy machine may be the reason."""
    also: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    """The kinds of the divergences of cases that were joined to the shown one."""
    runs: list[CaseRun] = field(default_factory=list)
    ways_out: tuple[WayOut, ...] = ()
    is_common: bool = False
    """True if several operations get its count wrong alike: what is counted is wrong, too."""
    hidden_by: str = ""
    """The observable without which alone the case shows the cause; empty where nothing hides it."""

    def compared(self, profile: Profile) -> Profile:
        """Return a profile with the observables that the shown case compares."""
        shown = frozenset(each for each in profile.observables if each != self.hidden_by)
        return msgspec.structs.replace(profile, observables=shown)

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
    """The search for causes: the subject, its declarations, and the numbers of runs.

    Attributes:
        drawing: The profile that cases were drawn for, where it offers more than the subject's.
    """

    subject: Subject
    deviations: tuple[Deviation, ...]
    seed: int
    shrink_runs: int
    drawing: Profile | None = None

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
            found.append(self._cause(runs, {each.fault for each in found}))
        found = self._behind_several(self._merged(found))
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

    def failing_otherwise(
        self, profile: Profile, known: Set[str]
    ) -> dict[tuple[str, str], list[CaseRun]]:
        """Return short cases that fail for a rule which no case has broken so far.

        A fault that many cases show ends them before another one can: few short cases meet both.

        Args:
            profile: The profile of the subject.
            known: The rules that were broken.
        """
        found: dict[tuple[str, str], list[CaseRun]] = {}
        for number in range(_SHORT_CASES):
            most = 1 + number % _SHORT_OPERATIONS
            case = short_case(self.drawing or profile, f"{self.seed}-short-{number}", most)
            run = self._again(case)
            wrong = run.divergence if run.verdict is CaseVerdict.FAIL else None
            if wrong is not None and wrong.rule not in known:
                found.setdefault(wrong.cause, []).append(replace(run, name=f"s{number}"))
        return found

    def hidden(self, known: Sequence[Cause], passed: int) -> list[Cause]:
        """Return the causes behind an observable that many cases break.

        Where many cases passed, other faults show without that observable anyway.

        Args:
            known: The causes that were found.
            passed: The number of cases that passed.
        """
        most = max(known, key=lambda cause: cause.cases, default=None)
        if most is None or most.cases <= _MANY * (passed + sum(c.cases for c in known)):
            return []
        try:
            return self._behind(most, known)
        finally:
            self._limit.restore()

    def _behind(self, cause: Cause, known: Sequence[Cause]) -> list[Cause]:
        """Return the causes that show once the observable of a cause is left out.

        Nothing is said where most cases then fail as well: whatever makes the observable wrong
        may be behind that too.
        """
        profile, kind = self._profile(cause.shrunk), cause.kind
        # What else fails behind a fault that several operations share is a consequence of it.
        if kind not in profile.observables or not cause.steady or cause.is_common:
            return []
        # Where other kinds differ as well, the observable follows from what is wrong inside.
        kinds = [run.divergence.kind for run in cause.runs if run.divergence is not None]
        if kinds.count(kind) < _ALONE * len(kinds):
            return []
        shown = frozenset(each for each in profile.observables if each != kind)
        subject = DeclaredAs(self.subject, msgspec.structs.replace(profile, observables=shown))
        search = replace(self, subject=subject)
        failing: dict[tuple[str, str], list[CaseRun]] = {}
        for run in cause.runs:
            again = run_case(subject, run.name, run.configuration, run.operations, self.deviations)
            # In the same step it is the same fault, which shows in several observables.
            if again.divergence is not None and len(again.steps) > len(run.steps):
                failing.setdefault(again.divergence.cause, []).append(again)
        if 2 * sum(map(len, failing.values())) > len(cause.runs):
            return []
        groups = sorted(_by_fault(failing), key=len, reverse=True)[:_MOST_BEHIND]
        found = search._merged([search._cause(runs, {c.fault for c in known}) for runs in groups])
        rules = {each.rule for each in known}
        also = {rule for each in known for rule in each.also}
        left_out = WayOut(
            f"{cause.rule} hides it: it shows where the observable {kind} is left out of the "
            "profile, as in its stored case"
        )
        return [
            replace(each, ways_out=(left_out,), hidden_by=kind)
            for each in found
            if each.steady
            and not rules & {each.rule, *each.also}
            and (each.cases >= _SEVERAL or each.rule not in also)
        ]

    def _look_for_ways_out(self, cause: Cause, passing: Sequence[CaseRun]) -> None:
        """Note the declarations that explain a cause; none where its failure does not repeat."""
        if cause.steady:
            cause.ways_out = ways_out(
                self.subject, cause.rule, cause.runs, self.deviations, passing
            )

    def _cause(self, runs: Sequence[CaseRun], known: Set[tuple[str, bool]]) -> Cause:
        """Return the cause of cases that break one rule, shown by the most frequent failure.

        A simpler case is searched for unless the reduced one slips into a fault that is known.
        """
        repeated = self._most_steady(runs)
        run, failed = repeated.run, repeated.failed
        also: tuple[str, ...] = ()
        if repeated.is_steady:
            tries = 1 if repeated.alike else REPEATS
            reduced = self._reduced(run, tries)
            run = self._gone_on(reduced) if repeated.alike else reduced
            assert run.divergence is not None
            if _fault(run.divergence) not in known and len(known) < _MOST_CAUSES_SEARCHED:
                smaller = self._searched(reduced, tries)
                if smaller is not reduced:
                    run = self._gone_on(smaller) if repeated.alike else smaller
            if repeated.alike:
                assert reduced.divergence is not None
                also = (reduced.divergence.rule,)
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

    def _reduced(self, run: CaseRun, tries: int) -> CaseRun:
        """Return the simplest case to which a case is reduced within the same rule.

        A subject whose answers differ, within what its profile leaves free or beyond it, is asked a
        candidate ``tries`` times: once failed is failed.
        """
        case = Candidate(run.configuration, run.operations[: len(run.steps)])
        fails = self._fails_like(run, tries)
        smallest = reduce_case(self._drawn_for(run), case, fails, self.shrink_runs)
        return self._failing(smallest, run, tries) or run

    def _searched(self, run: CaseRun, tries: int) -> CaseRun:
        """Return a simpler case than a reduced one that breaks the same rule; else itself."""
        case = Candidate(run.configuration, run.operations)
        smaller = search_smaller(
            self._drawn_for(run),
            case,
            self._fails_like(run, tries),
            seed=self.seed,
            most_runs=self.shrink_runs,
        )
        return run if smaller == case else self._failing(smaller, run, tries) or run

    def _gone_on(self, run: CaseRun) -> CaseRun:
        """Return the simplest case that a case slips into, whatever rule that breaks.

        What is simplest names the fault best; see ``_reach`` for why it is the same fault. A rule
        that explains the simpler case as well is kept: it is the more general one.
        """
        slips: dict[Candidate, CaseRun] = {}

        def fails(case: Candidate) -> bool:
            again = self._again(case)
            if again.verdict is not CaseVerdict.FAIL or again.divergence is None:
                return False
            slips[case] = again
            is_beyond = [_fault(each.divergence)[1] for each in (again, run) if each.divergence]
            same = self._mistakes.is_as_wrong(again, run) and is_beyond[0] == is_beyond[1]
            return same and not _explains(run, again)

        whole = Candidate(run.configuration, run.operations)
        return slips.get(reduce_case(self._drawn_for(run), whole, fails, _MOST_SLIPS), run)

    def _fails_like(self, run: CaseRun, tries: int) -> Callable[[Candidate], bool]:
        return lambda case: self._failing(case, run, tries) is not None

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
                is_like = cause.fault == other.fault
                is_like = is_like or self._is_slip(cause, reach, other, others_reach)
                is_like = is_like or self._look_alike(cause, other)
                if is_like or self._is_behind(cause, other):
                    shown = None if is_like else other
                    kept[index] = self._joined(cause, other, shown), reach | others_reach
                    break
            else:
                kept.append((cause, reach))
        return [cause for cause, _ in kept]

    def _behind_several(self, causes: Sequence[Cause]) -> list[Cause]:
        """Return the causes, with those joined that show one count wrong by the same number.

        Two operations may have a fault each. Where several get the same count wrong, the fault is
        in what they have in common.
        """
        alike: dict[tuple[object, ...], list[Cause]] = {}
        for cause in causes:
            wrong = cause.shrunk.divergence
            assert wrong is not None
            counts = self._profile(cause.shrunk).observables if cause.steady else ()
            # Any other cause has a key of its own, and stays alone.
            same = (wrong.kind, wrong.expected, wrong.seen)
            key = same if wrong.kind in counts else (cause.rule,)
            alike.setdefault(key, []).append(cause)
        kept: list[Cause] = []
        for group in alike.values():
            if len(group) >= _SEVERAL:
                kept.append(replace(reduce(self._joined, group), is_common=True))
            else:
                kept += group
        return kept

    def _is_slip(self, cause: Cause, reach: Set[str], other: Cause, others_reach: Set[str]) -> bool:
        """Decide whether one case slips into the other's rule, and is wrong in the same way.

        Where the cases are wrong in different ways, neither may need what the other one needs.
        """
        if not (reach & {other.rule, *other.also} or cause.rule in others_reach):
            return False
        if self._mistakes.family(cause.shrunk) == self._mistakes.family(other.shrunk):
            return self._mistakes.is_one_mistake(cause.shrunk, other.shrunk)
        return _occurs_in(cause, other) or _occurs_in(other, cause)

    def _reach(self, cause: Cause) -> set[str]:
        """Return the rules that the case breaks once it is made simpler, step by step.

        The case was made as simple as its own rule allows: were there two faults, what only the
        other one needs would have been left out. By other numbers it may still meet the other one
        by chance; so it must go on to differ from what is expected in the same family of kinds.
        """
        whole = Candidate(cause.shrunk.configuration, cause.shrunk.operations)
        profile = self._drawn_for(cause.shrunk)
        met = set(self._mistakes.rules_of_the_step(cause.shrunk))

        def slips(case: Candidate) -> bool:
            again = self._again(case)
            if again.verdict is not CaseVerdict.FAIL or again.divergence is None:
                return False
            same = self._mistakes.is_as_wrong(again, cause.shrunk)
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
        cause has parts that break a rule of the other.
        """
        return any(
            _may_be_put_down(one, another)
            or (
                self._breaks_in_part(one, {another.rule, *another.also})
                and self._may_show_as(another, one)
            )
            for one, another in ((cause, other), (other, cause))
        )

    def _may_show_as(self, cause: Cause, other: Cause) -> bool:
        """Decide whether the fault of one cause may show in what is wrong in the case of another.

        An observable that is computed wrongly is wrong in parts of any case, and by itself. What is
        wrong inside shows in several observables of one step.
        """
        shown = self._profile(cause.shrunk).observables
        if cause.kind not in shown or other.kind not in shown:
            return True
        if other.kind in {cause.kind, *cause.kinds}:
            return True
        beside = [{further.kind for further in self._mistakes.further(run)} for run in cause.runs]
        alone = sum(not kinds for kinds in beside)
        return alone < _ALONE * len(beside) or any(other.kind in kinds for kinds in beside)

    def _breaks_in_part(self, cause: Cause, rules: Set[str]) -> bool:
        """Decide whether a part of a cause's case breaks one of the rules in the same operation.

        They may differ from what is expected in anything, as long as the whole does not differ in
        it as well: that would be two faults in one step.
        """
        whole = Candidate(cause.shrunk.configuration, cause.shrunk.operations)
        profile, beside = self._drawn_for(cause.shrunk), self._mistakes.rules_beside(cause.shrunk)
        if beside is None or rules & beside:
            return False
        for part in islice(simpler_cases(profile, whole), _MOST_SLIPS):
            if is_part_of(part, whole):
                again = self._again(part)
                is_whole = len(again.steps) == len(part.operations)
                if is_whole and any(again.breaks(rule) for rule in rules):
                    return True
        return False

    def _look_alike(self, cause: Cause, other: Cause) -> bool:
        """Decide whether one count is wrong in both, or one operation after the same sequence.

        A count that is wrong at one operation stays wrong at the next, under another rule.
        """
        alike = cause.kind == other.kind
        if alike and not self._mistakes.is_one_mistake(cause.shrunk, other.shrunk):
            return False
        if not (_occurs_in(cause, other) or _occurs_in(other, cause)):
            return False
        kinds = {cause.kind, *cause.kinds} & {other.kind, *other.kinds}
        if any(kind in self._profile(cause.shrunk).observables for kind in kinds):
            return True
        if not alike:
            return False
        sequences = [
            [type(step.operation) for step in each.shrunk.steps] for each in (cause, other)
        ]
        return sequences[0] == sequences[1]

    def _joined(self, cause: Cause, other: Cause, shows: Cause | None = None) -> Cause:
        """Return the cause with the simpler case, or the one that ``shows``, with all cases.

        What is simplest names the fault best: another rule takes more to be broken. But where the
        rule of one explains the case of both, and that of the other only its own, it is shown. A
        count that is wrong is not shown in place of a simpler case without it: it follows from it.
        """
        shown, hidden = sorted((other, cause), key=_simplicity)
        counts = self._profile(shown.shrunk).observables
        follows = hidden.kind in counts and shown.kind not in counts
        if _is_general(hidden, shown) or (
            shows is hidden and not follows and not _is_general(shown, hidden)
        ):
            shown, hidden = hidden, shown
        rules = (*shown.also, hidden.rule, *hidden.also)
        return replace(
            shown,
            cases=shown.cases + hidden.cases,
            runs=[*shown.runs, *hidden.runs],
            kinds=shown.kinds | hidden.kinds | {hidden.kind},
            also=tuple(dict.fromkeys(rule for rule in rules if rule != shown.rule)),
        )

    def _drawn_for(self, run: CaseRun) -> Profile:
        return self.drawing or self._profile(run)

    def _profile(self, run: CaseRun) -> Profile:
        return profile_of(self.subject, component_of(run.configuration))

    def _again(self, case: Candidate) -> CaseRun:
        limit = self._limit
        run = run_case(self.subject, "again", case.configuration, case.operations, self.deviations)
        if run.failure is not None and run.failure.kind is FailureKind.HUNG:
            limit.shorten()  # a case that is only tried hangs: the next one may not take as long
        return run

    @cached_property
    def _mistakes(self) -> Mistakes:
        return Mistakes(self.subject, self.deviations)

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


def _occurs_in(cause: Cause, other: Cause) -> bool:
    """Decide whether the operations of one case occur in that of the other, by other numbers."""
    part, whole = ([step.operation for step in each.shrunk.steps] for each in (cause, other))
    return is_within(part, whole)


def _may_be_put_down(cause: Cause, other: Cause) -> bool:
    """Decide whether a cause may be due to the rule of another, which shows the same."""
    found, like = cause.shrunk.divergence, other.shrunk.divergence
    if found is None or like is None:
        return False
    shown = {run.divergence.kind for run in other.runs if run.divergence is not None}
    if found.kind not in {like.kind, *shown}:
        return False
    return type(found.operation) is type(like.operation) and like.rule in found.also


def _explains(run: CaseRun, other: CaseRun) -> bool:
    """Decide whether the failure of another case may be put down to the rule of this one too."""
    if run.divergence is None or other.divergence is None:
        return False
    return run.divergence.rule != other.divergence.rule and (
        run.divergence.rule in other.divergence.also
    )


def _is_general(cause: Cause, other: Cause) -> bool:
    """Decide whether the rule of a cause explains another as well, and not the other way round."""
    explains = _explains(cause.shrunk, other.shrunk)
    return cause.steady and explains and not _explains(other.shrunk, cause.shrunk)


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
