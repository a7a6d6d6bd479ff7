"""Bugs that people reported are planted, each once, and are found by the standard suite."""

import pytest

from purgatory_conformance.specimens.mutant import Kind, Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.reported.unshown import UNSHOWN
from purgatory_lab.museum.page import measured, museum

SEEDS = range(1, 6)

MISSED: frozenset[str] = frozenset({"pulsar#8396", "tokio#5536"})
"""Reports that no generated case meets yet."""

BLAMED_OTHERWISE: dict[str, str] = {}
"""Reports that are found, and blamed on another rule than theirs first."""

SOME = ("KAFKA-20578", "rocketmq#3006", "kvrocks#1128", "netty#7040")
"""A report for each component, which few cases find."""


def check(mutant: Mutant) -> None:
    """Each seed meets the bug, and the first cause that the suite names has its rule."""
    finding = measured(mutant, SEEDS)
    if mutant.report in MISSED:
        assert not any(finding.cases), f"{mutant.report} is no longer missed"
        return
    assert all(finding.cases)
    own = finding.rule in (mutant.rule, *mutant.also)
    assert finding.rule == BLAMED_OTHERWISE.get(mutant.report, finding.rule)
    assert own is (mutant.report not in BLAMED_OTHERWISE)


@pytest.mark.slow
@pytest.mark.parametrize("report", SOME)
def test_some_reported_bugs_are_found_by_the_standard_suite(report: str) -> None:
    (mutant,) = [each for each in museum() if each.report == report]
    check(mutant)


@pytest.mark.verify
@pytest.mark.parametrize("mutant", museum(), ids=lambda mutant: mutant.report)
def test_reported_bug_is_found_by_the_standard_suite(mutant: Mutant) -> None:
    check(mutant)


def test_a_report_is_named_and_no_two_are_one() -> None:
    """Each report has its project and number, a kind, and one place: planted, or not shown."""
    planted = [report for each in museum() for report in each.report.split(", ")]
    unshown = [report for each in UNSHOWN for report in each.report.split(", ")]
    reports = [*planted, *unshown]
    assert len(reports) == len(set(reports)) > 90
    assert all("#" in report or "-" in report for report in reports)
    assert {*MISSED, *BLAMED_OTHERWISE} <= set(planted)
    for mutant in mutants():
        assert bool(mutant.report) == mutant.name.startswith("reported-") == bool(mutant.kind)
    assert {each.kind for each in museum()} | {each.kind for each in UNSHOWN} == set(Kind)
