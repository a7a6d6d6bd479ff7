"""Bugs that people reported are planted, each once, and are found by the standard suite."""

from pathlib import Path

import pytest

from purgatory_conformance.specimens.mutant import Kind, Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.reported.unshown import UNSHOWN
from purgatory_lab.documents import read_document
from purgatory_lab.museum.page import Finding, measured, museum
from purgatory_lab.museum.threads import THREADED

SEEDS = range(1, 6)
DOCS = Path(__file__).resolve().parents[3] / "docs"

BLAMED_OTHERWISE = frozenset({"go-memdb#51"})
"""Reports that are met, and blamed on another rule than theirs first."""

SOME = ("KAFKA-20578", "rocketmq#3006", "kvrocks#1128", "netty#7040")
"""A report for each component, which few cases find."""


def is_right(mutant: Mutant, finding: Finding) -> bool:
    """Decide whether the first cause that the suite names has a rule of the bug."""
    return finding.rule in (mutant.rule, *mutant.also)


@pytest.mark.recorded
@pytest.mark.slow
@pytest.mark.parametrize("report", SOME)
def test_some_reported_bugs_are_found_under_their_rule(report: str) -> None:
    (mutant,) = [each for each in museum() if each.report == report]
    finding = measured(mutant, SEEDS)
    assert all(finding.cases)
    assert is_right(mutant, finding)


@pytest.mark.large
@pytest.mark.parametrize("mutant", museum(), ids=lambda mutant: mutant.report)
def test_reported_bug_is_found_under_its_rule(mutant: Mutant) -> None:
    finding = measured(mutant, SEEDS)
    assert all(finding.cases)
    assert is_right(mutant, finding) or mutant.report in BLAMED_OTHERWISE


def test_the_stored_findings_miss_none_and_misname_what_is_listed_here() -> None:
    """A report leaves the list with the measurement that finds it under its rule."""
    path = DOCS / "reference" / "results" / "bugs-that-people-had.json"
    stored = read_document(path, dict[str, Finding])
    found = [(each, stored[each.name]) for each in museum()]
    missed = {each.report for each, finding in found if 0 in finding.cases[: len(SEEDS)]}
    assert not missed
    misnamed = {each.report for each, finding in found if not is_right(each, finding)}
    assert misnamed == BLAMED_OTHERWISE


def test_a_report_is_named_and_no_two_are_one() -> None:
    """Each report has its project and number, a kind, and one place: planted or not shown."""
    planted = [report for each in museum() for report in each.report.split(", ")]
    unshown = [report for each in UNSHOWN for report in each.report.split(", ")]
    threaded = [report for each in THREADED for report in each.report.split(", ")]
    reports = [*planted, *threaded, *unshown]
    assert len(reports) == len(set(reports)) > 90
    assert all("#" in report or "-" in report for report in reports)
    for mutant in mutants():
        assert bool(mutant.report) == mutant.name.startswith("reported-") == bool(mutant.kind)
    assert {each.kind for each in museum()} | {each.kind for each in UNSHOWN} == set(Kind)
