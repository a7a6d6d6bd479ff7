"""The page of reported bugs follows from the wrong subjects and from what was measured."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from purgatory_conformance.reporting.marked_pages import between_marks
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.specimens.small.memory_pool import small_pool_subject
from purgatory_lab.documents import read_document, write_in_lines
from purgatory_lab.museum import page as museum_page
from purgatory_lab.museum.__main__ import main
from purgatory_lab.museum.page import (
    ENOUGH,
    REGION,
    SEEDS,
    THREADS,
    Finding,
    Scheduled,
    measured,
    museum,
    tables,
)
from purgatory_lab.museum.threads import THREADED

DOCS = Path(__file__).resolve().parents[3] / "docs"
STORED = read_document(
    DOCS / "reference" / "results" / "bugs-that-people-had.json", dict[str, Finding]
)
SCHEDULED = read_document(DOCS / "reference" / "results" / THREADS, dict[str, Scheduled])
POOL = mutant("reported-pool-refunds-a-part-twice")


def test_the_page_follows_from_the_stored_findings() -> None:
    page = (DOCS / "reference" / "bugs-that-people-had.md").read_text(encoding="utf-8")
    assert between_marks(page, REGION, tables(STORED, SCHEDULED)) == page

    other = {**STORED, POOL.name: Finding([0, 1, 2])}
    assert between_marks(page, REGION, tables(other, SCHEDULED)) != page


def test_every_report_has_been_measured_with_all_seeds() -> None:
    assert set(STORED) == {each.name for each in museum()}
    for each in STORED.values():
        assert len(each.cases) == (len(SEEDS) if any(each.cases) else ENOUGH)
        assert any(each.cases) == bool(each.rule) == bool(each.steps)


@pytest.mark.slow
def test_a_bug_is_measured_by_the_case_that_fails_first() -> None:
    finding = measured(POOL, range(1, 3))
    assert finding.cases == STORED[POOL.name].cases[:2]
    assert finding.rule == POOL.rule
    assert len(finding.steps) == 2


def test_cases_and_commands_follow_from_the_median() -> None:
    quick, standard, seldom = Finding([3, 5, 9]), Finding([90, 101, 300]), Finding([0, 0, 7])
    rows = [museum_page._row(POOL, each)[-2:] for each in (quick, standard, seldom, Finding([0]))]
    assert rows == [
        (f"`mutant:{POOL.name}`, quick", "5"),
        (f"`mutant:{POOL.name}`, standard", "101"),
        (f"`mutant:{POOL.name}`, standard, with some seeds", "more than 400; 2 of 3 seeds miss it"),
        (f"`mutant:{POOL.name}`, no suite", "not found"),
    ]


@pytest.mark.slow
def test_a_right_subject_has_no_finding() -> None:
    right = replace(POOL, make=small_pool_subject)
    assert measured(right, [1]) == Finding([0])


@pytest.mark.slow
def test_one_bug_can_be_measured_again(tmp_path: Path) -> None:
    """Given stored findings, a word measures its bugs alone, and the page is written anew."""
    folder = tmp_path / "reference"
    (folder / "results").mkdir(parents=True)
    page = folder / "bugs-that-people-had.md"
    page.write_text("<!-- museum: begin -->\n<!-- museum: end -->\n", encoding="utf-8")
    stale = {**STORED, POOL.name: Finding([0] * len(SEEDS))}
    write_in_lines(folder / "results" / "bugs-that-people-had.json", stale)
    done = CliRunner().invoke(main, ["--only", POOL.report, "--write", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{POOL.name} {POOL.report}: [")
    assert done.output.count("\n") == 1
    assert tables(STORED, {}) in page.read_text(encoding="utf-8")


def test_every_bug_between_threads_has_its_finding() -> None:
    assert {each.name: each.rule for each in THREADED} == {
        name: finding.rule for name, finding in SCHEDULED.items()
    }


def test_one_bug_between_threads_can_be_searched_for_again() -> None:
    bug = THREADED[0]
    done = CliRunner().invoke(main, ["--only", bug.report])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{bug.name} {bug.report}: ")
    assert done.output.endswith(f" schedules, {bug.rule}, {SCHEDULED[bug.name].program}\n")
