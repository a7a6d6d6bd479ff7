"""The table of verdicts: it follows from the stored results, and they from what the suite finds."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from purgatory_conformance.registered import PROJECTS
from purgatory_conformance.reporting.marked_pages import between_marks
from purgatory_conformance.resources import adapters_folder
from purgatory_conformance.subjects.declaration import read_declaration
from purgatory_lab.documents import write_in_lines
from purgatory_lab.verdicts.__main__ import judged, main
from purgatory_lab.verdicts.table import (
    REGION,
    SYSTEMS,
    SystemVerdict,
    in_order,
    read_verdicts,
    table_text,
)
from purgatory_spec.requirements import component_of_rule

DOCS = Path(__file__).resolve().parents[3] / "docs"
STORED = read_verdicts(DOCS / "reference" / "results" / "verdicts.json")


def test_the_page_follows_from_the_stored_results() -> None:
    page = (DOCS / "findings.md").read_text(encoding="utf-8")
    verdicts = in_order(STORED)
    assert between_marks(page, REGION, table_text(verdicts)) == page

    other = msgspec.structs.replace(verdicts[0].components[0], verdict="something else")
    verdicts[0] = msgspec.structs.replace(verdicts[0], components=(other,))
    assert between_marks(page, REGION, table_text(verdicts)) != page


def test_every_system_has_been_judged() -> None:
    assert set(STORED) == set(SYSTEMS)
    assert set(PROJECTS) <= set(SYSTEMS)
    for verdict in STORED.values():
        assert bool(verdict.problem) != bool(verdict.suite_version)
        assert bool(verdict.problem) != bool(verdict.components)


@pytest.mark.parametrize("word", PROJECTS)
def test_the_stored_deviations_are_the_declared_ones(word: str) -> None:
    text = (adapters_folder() / PROJECTS[word][0]).read_text(encoding="utf-8")
    declared = sorted(each["rule"] for each in tomllib.loads(text).get("deviation", []))
    stored = [rule for each in STORED[word].components for rule in each.deviations]
    assert sorted(stored) == declared or STORED[word].problem
    for each in STORED[word].components:
        assert (each.verdict == "not conformant") == bool(each.broken)


@pytest.mark.parametrize("word", [word for word in SYSTEMS if re.match(r"kafka(@|$)", word)])
def test_kafkas_stored_deviations_are_those_declared_for_its_release(word: str) -> None:
    stored = STORED[word]
    declaration = read_declaration(adapters_folder() / "kafka" / "purgatory.toml", stored.release)
    for each in stored.components:
        declared = [rule.rule for rule in declaration.deviations]
        ours = [rule for rule in declared if component_of_rule(rule) is each.component]
        assert (sorted(ours), each.broken) == (list(each.deviations), ())


@pytest.mark.slow
def test_a_system_is_judged_as_it_is_stored(tmp_path: Path) -> None:
    assert judged("sched", tmp_path).components == STORED["sched"].components


@pytest.mark.slow
def test_one_row_is_made_anew_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "findings.md").write_text(
        f"<!-- {REGION}: begin --><!-- {REGION}: end -->\n", encoding="utf-8"
    )
    write_in_lines(tmp_path / "reference" / "results" / "verdicts.json", [STORED["asyncio"]])
    words = ["--system", "sched", "--work", str(tmp_path), "--write", str(tmp_path)]
    assert CliRunner().invoke(main, words).exit_code == 0
    page = (tmp_path / "findings.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if "`purgatory check" in line]
    assert [row.split("`")[-2].split()[2] for row in rows] == ["sched", "asyncio"]


@pytest.mark.slow
def test_a_system_whose_tool_is_missing_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sentence = "'go' is not installed: the adapter of go-time is built with it"
    assert judged("go-time", tmp_path) == SystemVerdict("go-time", problem=sentence)


def test_a_system_that_cannot_be_had_has_a_row_that_says_so(tmp_path: Path) -> None:
    verdict = SystemVerdict("sched", problem="the build of sched ended with exit code 1")
    write_in_lines(tmp_path / "verdicts.json", [verdict])
    (row,) = table_text(in_order(read_verdicts(tmp_path / "verdicts.json"))).splitlines()[2:]
    assert "<summary>not judged</summary>the build of sched ended with exit code 1.<br>" in row
    assert "`purgatory check sched --suite quick --seed 1`" in row
