"""Measured findings of reported bugs, and the tables of the page that follow from them."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import noun
from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.campaign import (
    SUITES,
    Campaign,
    Progress,
    no_progress,
    run_campaign,
)
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.reported.unshown import UNSHOWN
from purgatory_conformance.subjects.guarded import GuardedSubject
from purgatory_lab.documents import table
from purgatory_lab.museum.threads import THREADED, Threaded
from purgatory_lab.scheduling.schedule import as_text
from purgatory_lab.scheduling.strangers.judge import RuleBroken
from purgatory_lab.scheduling.strangers.runs import Stranger
from purgatory_lab.scheduling.strangers.search import programs_of, search_all
from purgatory_spec.profiles import Component

SECONDS = 30.0
"""The time in which a schedule is found, s."""


class Scheduled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The findings of schedules about one bug.

    Attributes:
        rule: The rule that the run breaks.
        program: The program that was run.
        calls: The calls of the program's setup and threads, in words.
        schedule: The schedule, which a replay takes.
        schedules: How many runs were made until this one.
    """

    rule: str
    program: str
    calls: list[str]
    schedule: str
    schedules: int


def searched(word: str, seconds: float = SECONDS) -> Scheduled | None:
    """Return the findings of schedules with at most one preemption; None without a failing run."""
    stranger = Stranger(word, lambda: open_subject(word, work_folder=Path("unused")))
    schedules = 0
    with stranger.active():
        for each in search_all(stranger, programs_of(stranger), 1, seconds):
            schedules += each.schedules
            failed = each.failure
            if failed is None:
                continue
            calls = {"before": each.program.setup, **each.program.threads}
            told = [
                f"{name}: {', '.join(map(describe_operation, made))}"
                for name, made in calls.items()
                if made
            ]
            rule = failed.failure.rule if isinstance(failed.failure, RuleBroken) else ""
            schedule = as_text(failed.chosen())
            return Scheduled(rule, each.program.name, told, schedule, schedules)
    return None


def scheduled_rows(findings: Mapping[str, Scheduled]) -> list[tuple[str, ...]]:
    """Return the rows of the page: report, mechanism, rule, calls, command, runs."""
    return [_scheduled_row(each, findings[each.name]) for each in THREADED if each.name in findings]


def _scheduled_row(bug: Threaded, finding: Scheduled) -> tuple[str, ...]:
    command = f"`purgatory schedule {bug.word}`"
    calls = "; ".join(finding.calls)
    return bug.report, bug.mechanism, finding.rule, calls, command, str(finding.schedules)


SEEDS = range(1, 21)
"""The seeds whose cases are counted."""

ENOUGH = 5
"""The number of seeds after which a bug that none of them meets is given up."""

REGION = "museum"
"""The region of the page that the tables fill."""

THREADS = "bugs-between-threads.json"
"""The file of the findings of schedules, beside that of the other findings."""

_HEAD = ("report", "mechanism", "kind", "rule", "steps", "found by", "cases")
_MOST_STEPS_TOLD = 16

_STEP_S = 5.0
"""The time limit of a step, s: some bugs are that a step does not end."""


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The findings about one reported bug.

    Attributes:
        cases: For each seed the number of the generated case that fails first, counted from 1, or 0
            where none of the standard suite does; of ``ENOUGH`` seeds where none of them finds any.
        rule: The rule of the first cause that ``suite`` names with the first seed that finds the
            bug; empty where none does.
        steps: The steps of the case that is shown for it, in words.
    """

    cases: list[int]
    rule: str = ""
    steps: list[str] = []

    @property
    def median(self) -> float:
        """Return the median of the case numbers, where a seed that misses counts as infinite."""
        return statistics.median(number or float("inf") for number in self.cases)

    @property
    def suite(self) -> str | None:
        """Return the smallest suite whose cases reach the median; None where none does."""
        return next((name for name in SUITES if self.median <= SUITES[name].least_cases), None)


def museum() -> list[Mutant]:
    """Return the wrong subjects that stand for reports, in the order of the rules."""
    return [each for each in mutants() if each.report]


class _FirstFailureError(Exception):
    """Stop a campaign, since a generated case has failed."""


def campaign_of(
    mutant: Mutant, suite: str, seed: int, progress: Progress = no_progress
) -> Campaign:
    """Return a suite's campaign of a seed on a reported bug, without golden vectors."""
    with closing(GuardedSubject(mutant.make(), _STEP_S)) as subject:
        return run_campaign(
            subject, mutant.component, seed=seed, budget=SUITES[suite], progress=progress
        )


def first_failing_case(mutant: Mutant, seed: int) -> int:
    """Return the number of the case that fails first, counted from 1; 0 where none does."""

    def stop(campaign: Campaign, _: str) -> None:
        if campaign.first_failure is not None or campaign.unanswered:
            raise _FirstFailureError(campaign.cases)

    try:
        campaign_of(mutant, "standard", seed, stop)
    except _FirstFailureError as found:
        return int(found.args[0])
    return 0


def measured(mutant: Mutant, seeds: Sequence[int] = SEEDS) -> Finding:
    """Return what the suites find about a reported bug."""
    counted = Finding([first_failing_case(mutant, seed) for seed in seeds[:ENOUGH]])
    if not any(counted.cases):
        return counted
    counted.cases.extend(first_failing_case(mutant, seed) for seed in seeds[ENOUGH:])
    suite = counted.suite or "standard"
    reach = SUITES[suite].least_cases if counted.suite else max(counted.cases)
    numbered = zip(seeds, counted.cases, strict=True)
    seed = next(seed for seed, number in numbered if 0 < number <= reach)
    cause = campaign_of(mutant, suite, seed).causes[0]
    steps = [describe_operation(each.operation) for each in cause.shrunk.steps]
    return Finding(counted.cases, cause.rule, steps)


def tables(findings: Mapping[str, Finding], scheduled: Mapping[str, Scheduled]) -> str:
    """Return the tables of the page: what is found, by component, and what nothing shows."""
    return "\n\n".join(_parts(findings, scheduled))


def _parts(findings: Mapping[str, Finding], scheduled: Mapping[str, Scheduled]) -> Iterator[str]:
    for component in Component:
        yield f"## In a {noun(component)}"
        mine = [each for each in museum() if each.component is component and each.name in findings]
        yield table(_HEAD, [_row(each, findings[each.name]) for each in mine], _HEAD)
    yield "## Between threads"
    head = ("report", "mechanism", "rule", "calls", "found by", "schedules")
    yield table(head, scheduled_rows(scheduled), left=6)
    yield "## Not shown"
    rows = [(each.report, each.mechanism, each.kind.value, each.why) for each in UNSHOWN]
    yield table(("report", "mechanism", "kind", "why"), rows, left=4)


def _row(mutant: Mutant, finding: Finding) -> tuple[str, ...]:
    kind = mutant.kind.value if mutant.kind else ""
    return (
        *(mutant.report, mutant.summary, kind, finding.rule or mutant.rule),
        *(_steps(finding.steps), _command(mutant, finding), _cases(finding)),
    )


def _steps(steps: Sequence[str]) -> str:
    if len(steps) > _MOST_STEPS_TOLD:
        return f"{len(steps)} steps: {steps[0]}; ...; {steps[-1]}"
    return "; ".join(steps)


def _command(mutant: Mutant, finding: Finding) -> str:
    """Return the subject's name, and the smallest suite that finds the bug with most seeds."""
    suite = finding.suite or ("standard, with some seeds" if any(finding.cases) else "no suite")
    return f"`mutant:{mutant.name}`, {suite}"


def _cases(finding: Finding) -> str:
    """Return the median, and how many seeds miss the bug where some do."""
    missed = finding.cases.count(0)
    if missed == len(finding.cases):
        return "not found"
    median = "more than 400" if finding.median == float("inf") else f"{finding.median:g}"
    return f"{median}; {missed} of {len(finding.cases)} seeds miss it" if missed else median
