"""A campaign: vectors first, then generated cases until every rule was tested often enough.

Memory is bounded: a case is judged as it runs, and what remains of it are counts. The failing
cases are kept, and some hundred that passed, to be compared with them.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.causes import REPEATS, Cause, CauseSearch
from purgatory_conformance.running.far_advance import with_far_advance
from purgatory_conformance.running.refusals import Refusals
from purgatory_conformance.running.replay_file import compared_as_stored
from purgatory_conformance.running.unanswered import Slow, Unanswered, is_unanswered, told
from purgatory_conformance.subjects.subject import (
    FailureKind,
    Subject,
    SubjectFailure,
    profile_of,
)
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate, Support
from purgatory_judge.case_judge import Deviation
from purgatory_judge.components import on_real_clock
from purgatory_judge.registry import judged
from purgatory_spec.cases import Case
from purgatory_spec.profiles import Component, Profile
from purgatory_spec.requirements import Level, Requirement

MINIMUM_VISITS = 20
"""The fewest generated steps that must test a rule before the suite may give a verdict on it."""

_LEAST_REAL_CASES = 30
_MOST_FAILING_CASES = 60
_MOST_PASSING_CASES = 400
_MOST_SUBJECT_FAILURES = 3


class Verdict(Enum):
    """The verdict of a campaign on a subject."""

    CONFORMANT = "conformant"
    CONFORMANT_WITH_DEVIATIONS = "conformant with declared deviations"
    NOT_CONFORMANT = "not conformant"
    NONDETERMINISTIC = "nondeterministic"
    SUBJECT_FAILED = "subject failed"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command line for this verdict."""
        return {
            Verdict.CONFORMANT: 0,
            Verdict.CONFORMANT_WITH_DEVIATIONS: 0,
            Verdict.NOT_CONFORMANT: 1,
            Verdict.NONDETERMINISTIC: 1,
            Verdict.SUBJECT_FAILED: 3,
            Verdict.INCONCLUSIVE: 4,
        }[self]


_ONE_UNFOLLOWED_IN = 50
"""At most one of so many cases may go in more ways than can be followed, without a say."""


@dataclass(frozen=True)
class Budget:
    """The limits of a campaign, in cases: a slow or busy machine gives the same verdict, later.

    Generation goes on until every applicable MUST was visited ``minimum_visits`` times and
    ``least_cases`` have run, and ends in any case after ``most_cases``. Time ends it only where
    somebody has asked for ``seconds``.
    """

    least_cases: int = 400
    most_cases: int = 8_000
    most_operations: int = 50
    minimum_visits: int = MINIMUM_VISITS
    seconds: float = math.inf
    shrink_runs: int = 600


SUITES = {
    "quick": Budget(least_cases=100, most_cases=2_000, shrink_runs=300),
    "standard": Budget(),
    "long": Budget(least_cases=10_000, most_cases=200_000),
}
"""The budgets by name."""


@dataclass
class DeviationSeen:
    """The cases in which a campaign saw a declared deviation."""

    deviation: Deviation
    cases: int = 0
    example: CaseRun | None = None


@dataclass
class Campaign:
    """The result of a campaign on one component of a subject, filled while it runs."""

    component: Component
    seed: int
    budget: Budget
    deviations: tuple[Deviation, ...]
    verdict: Verdict = Verdict.INCONCLUSIVE
    why: str = ""
    ended_by: str = ""
    """The reason for ending before all was tested often enough; empty where nothing ended it."""
    vectors: int = 0
    cases: int = 0
    steps: int = 0
    seconds: float = 0.0
    verdicts: Counter[CaseVerdict] = field(default_factory=Counter)
    visits: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The steps that put the second rule to the test behind a step that did so with the first."""
    first_failure: CaseRun | None = None
    """The first generated case that failed, as it was generated."""
    causes: list[Cause] = field(default_factory=list)
    seen: dict[str, DeviationSeen] = field(default_factory=dict)
    failures: list[SubjectFailure] = field(default_factory=list)
    unanswered: dict[FailureKind, Cause] = field(default_factory=dict)
    """The causes of the steps in which the subject hung, and of those in which it died."""
    withdrawn: list[str] = field(default_factory=list)
    """Declared deviations that were not found, each with a sentence."""
    blamed: Counter[str] = field(default_factory=Counter)
    """The number of failing cases that were blamed on each rule, as they were found."""
    refusals: Refusals = field(default_factory=Refusals)
    rules: tuple[Requirement, ...] = ()

    @property
    def has_failed_often(self) -> bool:
        """Decide whether the subject has failed so often that no further case is asked."""
        silent = sum(cause.cases for cause in self.unanswered.values())
        return len(self.failures) + silent >= _MOST_SUBJECT_FAILURES

    @property
    def verdict_words(self) -> str:
        """Return the verdict as every report words it."""
        if self.verdict is Verdict.CONFORMANT_WITH_DEVIATIONS:
            count = len(self.deviations)
            return f"conformant with {count} declared deviation{'s' * (count != 1)}"
        return str(self.verdict.value)

    @property
    def held(self) -> list[Requirement]:
        """Return the rules that were visited often enough, and that no case or cause breaks."""
        broken = {rule for rule, seen in self.seen.items() if seen.cases} | set(self.blamed)
        broken |= {cause.rule for cause in self.causes}
        least = self.budget.minimum_visits
        return [r for r in self.rules if r.id not in broken and self.visits[r.id] >= least]

    @property
    def too_few(self) -> list[Requirement]:
        """Return the applicable MUST rules visited too seldom and not seen to be broken."""
        deviating = {rule for rule, seen in self.seen.items() if seen.cases}
        return [
            rule
            for rule in self.rules
            if rule.level is Level.MUST
            and rule.id not in deviating
            and self.visits[rule.id] < self.budget.minimum_visits
        ]


Progress = Callable[[Campaign, str], None]


def no_progress(campaign: Campaign, phase: str) -> None:
    """Ignore the progress: it is shown to no reader."""


def run_campaign(
    subject: Subject,
    component: Component,
    *,
    seed: int,
    budget: Budget,
    vectors: Sequence[Case] = (),
    deviations: tuple[Deviation, ...] = (),
    replays: Sequence[tuple[str, Case]] = (),
    only_rules: frozenset[str] = frozenset(),
    progress: Progress = no_progress,
) -> Campaign:
    """Judge one component of a subject. Never raises for a subject's faults.

    Args:
        subject: The subject to judge, which stays open.
        component: The component of the subject to judge.
        seed: Equal seeds give equal generated cases, on any machine.
        budget: How much to do.
        vectors: Golden cases to run first.
        deviations: What the subject is declared to break.
        replays: For each declared deviation its rule and the case that must still fail for it.
        only_rules: Where given, only these rules must be visited and steering is towards them.
        progress: Called after every case with the campaign so far and the phase.
    """
    support = support_of(component)
    campaign = Campaign(component, seed, budget, deviations)
    began = time.monotonic()
    failing: dict[tuple[str, str], list[CaseRun]] = {}
    silence = Unanswered(subject)
    passing: list[CaseRun] = []
    try:
        profile = profile_of(subject, component)
    except SubjectFailure as failure:
        campaign.failures.append(failure)
        return _concluded(campaign, began)
    campaign.rules = tuple(
        rule
        for rule in judged(component).judged_rules(profile)
        if not only_rules or rule.id in only_rules
    )
    campaign.seen = {d.rule: DeviationSeen(d) for d in deviations}

    for run in _vector_runs(subject, support, profile, vectors, deviations):
        campaign.vectors += 1
        _count(campaign, run, failing, silence)
        progress(campaign, "vectors")
        if campaign.has_failed_often:
            break

    drawing, wrong = with_far_advance(subject, profile)
    if wrong is not None:
        _count(campaign, wrong, failing, silence)
    for rule, case in replays:
        _verify_deviation(campaign, subject, rule, case)
        progress(campaign, "deviations")

    least_cases = budget.least_cases
    if on_real_clock(profile):
        least_cases = min(least_cases, _LEAST_REAL_CASES)
    most_cases = budget.most_cases * least_cases // max(budget.least_cases, 1)
    while True:
        wanted = frozenset(rule.id for rule in campaign.too_few)
        if campaign.cases >= least_cases and not wanted:
            break
        seconds = time.monotonic() - began
        failing_cases = sum(len(runs) for runs in failing.values())
        campaign.ended_by = _ended_by(campaign, seconds, failing_cases, most_cases)
        if campaign.ended_by:
            break
        drawn = drawn_case(support, drawing, f"{seed}-{campaign.cases}", budget, wanted)
        name = f"g{campaign.cases}"
        run = run_case(subject, name, drawn.configuration, drawn.operations, deviations)
        campaign.cases += 1
        campaign.visits.update(run.visits)
        campaign.pairs.update(run.pairs)
        if run.verdict is CaseVerdict.FAIL and campaign.first_failure is None:
            campaign.first_failure = run
        _count(campaign, run, failing, silence)
        if run.verdict is CaseVerdict.PASS and len(passing) < _MOST_PASSING_CASES:
            passing.append(run)
        progress(campaign, "generated")
    silence.limit.restore()
    if failing:
        search = CauseSearch(subject, deviations, seed, budget.shrink_runs, drawing)
        is_cut_short = sum(map(len, failing.values())) >= _MOST_FAILING_CASES
        if is_cut_short and not (campaign.unanswered or on_real_clock(profile)):
            otherwise = search.failing_otherwise(profile, set(campaign.blamed))
            campaign.blamed.update(rule for (rule, _), runs in otherwise.items() for _ in runs)
            failing |= otherwise
        campaign.causes = search.causes(failing, lambda: progress(campaign, "shrinking"), passing)
        campaign.causes += search.hidden(campaign.causes, campaign.verdicts[CaseVerdict.PASS])
    for cause in campaign.unanswered.values():
        assert cause.shrunk.failure is not None
        campaign.causes.append(cause)
        campaign.failures.append(cause.shrunk.failure)
    campaign.causes.sort(key=lambda cause: -cause.cases)
    return _concluded(campaign, began)


def _ended_by(campaign: Campaign, seconds: float, failing_cases: int, most_cases: int) -> str:
    """Return what ends generation before all was tested; empty while it goes on."""
    if campaign.has_failed_often:
        return f"the subject gave no valid answer {_MOST_SUBJECT_FAILURES} times"
    if failing_cases >= _MOST_FAILING_CASES:
        return f"{failing_cases} cases failed"
    if seconds >= campaign.budget.seconds:
        return f"the time of --seconds {campaign.budget.seconds:g} was over"
    if campaign.cases >= most_cases:
        return "this suite has no more; a larger --suite has"
    return ""


def drawn_case(
    support: Support, profile: Profile, seed: str, budget: Budget, wanted: frozenset[str]
) -> Candidate:
    """Return one generated case of the campaign."""
    source = SeededSource(seed)
    configuration = support.draw_configuration(profile, source, wanted)
    operations = support.draw_operations(
        configuration, profile, source, most=budget.most_operations, wanted=wanted
    )
    return Candidate(configuration, operations)


def _verify_deviation(campaign: Campaign, subject: Subject, rule: str, case: Case) -> None:
    """Run a deviation's replay file without the declaration: it must fail, for this rule."""
    subject = compared_as_stored(case, subject)
    run = run_case(subject, case.header.case, case.header.configuration, case.operations)
    campaign.steps += len(run.steps)
    if is_unanswered(run):
        run = told(run, profile_of(subject, case.component))
    if run.failure is not None and run.divergence is None:
        campaign.failures.append(run.failure)
    elif run.divergence is None:
        campaign.withdrawn.append(f"{rule} (its replay file passes: withdraw the declaration)")
    elif run.divergence.rule != rule:
        campaign.withdrawn.append(f"{rule} (its replay file fails for {run.divergence.rule})")
        campaign.blamed[run.divergence.rule] += 1
    else:
        campaign.seen[rule].cases += 1
        campaign.seen[rule].example = run


def _vector_runs(
    subject: Subject,
    support: Support,
    profile: Profile,
    vectors: Sequence[Case],
    deviations: tuple[Deviation, ...],
) -> Iterator[CaseRun]:
    for vector in vectors:
        operations = support.suited(vector, profile)
        if operations is not None:
            name, configuration = vector.header.case, vector.header.configuration
            yield run_case(subject, name, configuration, operations, deviations)


def _count(
    campaign: Campaign,
    run: CaseRun,
    failing: dict[tuple[str, str], list[CaseRun]],
    silence: Unanswered,
) -> None:
    campaign.steps += len(run.steps)
    if is_unanswered(run):
        run = _count_unanswered(campaign, run, silence)
    campaign.verdicts[run.verdict] += 1
    campaign.refusals.note(run)
    if run.failure is not None:
        campaign.failures.append(run.failure)
    if run.divergence is None:
        return
    if run.verdict is CaseVerdict.DEVIATES:
        seen = campaign.seen[run.divergence.rule]
        seen.cases += 1
        if seen.example is None or len(run.operations) < len(seen.example.operations):
            seen.example = run
        return
    campaign.blamed[run.divergence.rule] += 1
    runs = failing.setdefault(run.divergence.cause, [])
    runs.append(run)
    runs.sort(key=lambda r: len(r.steps))


def _count_unanswered(campaign: Campaign, run: CaseRun, silence: Unanswered) -> CaseRun:
    """Look for what is behind a step without an answer; return the run as it counts."""
    assert run.failure is not None
    kind = run.failure.kind
    known = campaign.unanswered.get(kind)
    if known is not None:
        known.cases += 1
        return replace(run, failure=None)
    found = silence.cause(run)
    if isinstance(found, Slow):
        return silence.left_out(run, found)
    if found is None:
        return run
    campaign.unanswered[kind] = found
    campaign.blamed[found.rule] += 1
    silence.limit.shorten()  # the others of this kind say nothing more
    return replace(run, failure=None)


def _concluded(campaign: Campaign, began: float) -> Campaign:
    campaign.seconds = time.monotonic() - began
    campaign.verdict, campaign.why = conclusion(campaign)
    return campaign


def conclusion(campaign: Campaign) -> tuple[Verdict, str]:
    """Return the verdict that a campaign's counts give, and the reason in a sentence."""
    if any(cause.steady for cause in campaign.causes):
        count = len(campaign.causes)
        words = "1 cause of failure" if count == 1 else f"{count} causes of failure"
        return Verdict.NOT_CONFORMANT, words
    if campaign.withdrawn:
        return Verdict.NOT_CONFORMANT, f"deviation not found: {'; '.join(campaign.withdrawn)}"
    if campaign.failures:
        return Verdict.SUBJECT_FAILED, str(campaign.failures[0])
    different = [cause for cause in campaign.causes if not cause.unsettled]
    if different:
        failed, repeats = different[0].answers or (0, REPEATS)
        return (
            Verdict.NONDETERMINISTIC,
            f"the same steps are answered differently: {failed} of {repeats} repetitions failed",
        )
    return _conclusion_without_a_cause(campaign)


def _conclusion_without_a_cause(campaign: Campaign) -> tuple[Verdict, str]:
    """Return the verdict and reason where no failure was found, or none was repeated."""
    inconclusive = _inconclusive(campaign)
    if inconclusive:
        return Verdict.INCONCLUSIVE, inconclusive
    if campaign.deviations:
        return (
            Verdict.CONFORMANT_WITH_DEVIATIONS,
            f"{len(campaign.held)} of {len(campaign.rules)} rules held",
        )
    if len(campaign.held) < len(campaign.rules):
        return Verdict.CONFORMANT, (
            f"{len(campaign.held)} of {len(campaign.rules)} rules held, "
            "the others are no MUST, and were tested too seldom"
        )
    return Verdict.CONFORMANT, "every applicable rule was put to the test and held"


def _inconclusive(campaign: Campaign) -> str:
    """Return the reason why a verdict cannot be given; empty where one can."""
    if campaign.causes:
        cause = campaign.causes[0]
        return (
            f"{cause.rule} failed once and in 0 of {REPEATS} repetitions: on a real clock a busy "
            "machine may be the reason; run again when it is quiet"
        )
    if campaign.cases == 0:
        return "no case was generated"
    if campaign.refusals.problem:
        return campaign.refusals.problem
    # Few such cases say nothing: every rule is tested often enough by the others.
    if campaign.verdicts[CaseVerdict.INCONCLUSIVE] > campaign.cases / _ONE_UNFOLLOWED_IN:
        return "too many cases allow too many states to follow"
    if campaign.too_few:
        few = ", ".join(f"{rule.id} ({campaign.visits[rule.id]})" for rule in campaign.too_few[:4])
        more = f" and {len(campaign.too_few) - 4} more rules" if len(campaign.too_few) > 4 else ""
        ended = f"; it ended after {campaign.cases} cases, since {campaign.ended_by}"
        return (
            f"visited fewer than {campaign.budget.minimum_visits} times: {few}{more}"
            f"{ended if campaign.ended_by else ''}"
        )
    return ""
