"""Bugs that people reported are found by the quick suite, whatever its seed."""

from contextlib import closing

import pytest

from purgatory_conformance.running.campaign import SUITES
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.subjects.subject import profile_of
from tests.conformance.generated import drawn, run_of

SEEDS = range(1, 6)
REPORTED = [mutant for mutant in mutants() if mutant.report]


@pytest.mark.parametrize("mutant", REPORTED, ids=lambda mutant: mutant.report)
@pytest.mark.parametrize("seed", SEEDS)
def test_reported_bug_is_found_by_as_many_cases_as_the_quick_suite_has(
    mutant: Mutant, seed: int
) -> None:
    cases = SUITES["quick"].least_cases
    with closing(mutant.make()) as subject:
        profile = profile_of(subject, mutant.component)
        assert any(
            run_of(subject, drawn(mutant.component, profile, case)).verdict is CaseVerdict.FAIL
            for case in range(seed * cases, (seed + 1) * cases)
        )


def test_a_report_is_named_and_no_two_are_one() -> None:
    """Each report has its project and number; a mechanism of its own is planted for each."""
    reports = [mutant.report for mutant in REPORTED]
    assert len(reports) == len(set(reports)) > 0
    assert all("#" in report or "-" in report for report in reports)
    assert all(mutant.name.startswith("reported-") for mutant in REPORTED)
