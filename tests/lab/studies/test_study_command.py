"""``purgatory study``, as it is used: what it prints, what it writes, how it exits."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import Problem
from purgatory_lab.commands import study as study_command
from purgatory_lab.commands.study import study
from purgatory_lab.studies.catalogue import STUDIES
from purgatory_lab.studies.tables import read_parquet


def said(*words: str) -> Result:
    return CliRunner().invoke(study, words)


def problem(code: int, *words: str) -> str:
    """Return what is said where a command ends with a problem of this exit code."""
    found = said(*words).exception
    assert isinstance(found, Problem)
    assert found.exit_code == code
    return str(found)


def test_list_names_every_study() -> None:
    lines = said("list").output.splitlines()
    assert [line.split()[0] for line in lines] == list(STUDIES)
    assert sum(int(line.split()[1]) for line in lines) == sum(
        len(each.settings) for each in STUDIES.values()
    )


@pytest.mark.slow
def test_run_writes_the_rows_and_the_plots(tmp_path: Path) -> None:
    done = said("run", "weak", "--requests", "40", "--out", str(tmp_path), "--plots")
    assert done.exit_code == 0, done.output
    assert "4 of 4 settings to run" in done.output
    rows = read_parquet(tmp_path / "weak.parquet")
    assert len(rows) == 4
    assert {row["requests"] for row in rows} == {40}
    assert (tmp_path / "weak-references.svg").read_text(encoding="utf-8").startswith("<?xml")
    again = said("run", "weak", "--requests", "40", "--out", str(tmp_path))
    assert "0 of 4 settings to run" in again.output
    assert read_parquet(tmp_path / "weak.parquet") == rows
    other = said("run", "weak", "--requests", "40", "--seed", "8", "--out", str(tmp_path))
    assert "4 of 4 settings to run" in other.output
    assert read_parquet(tmp_path / "weak.parquet") != rows


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_run_tells_the_answer(name: str, tmp_path: Path) -> None:
    done = said("run", name, "--requests", "40", "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.partition(f"{name}.parquet")[2].split())
    assert told.startswith(STUDIES[name].question)
    answer = told.removeprefix(STUDIES[name].question)
    assert re.search(r"• .*\d", answer), answer
    assert "|" not in answer
    assert "40 requests of each setting are few" in answer


def test_a_study_that_is_not_there_is_a_usage_problem(tmp_path: Path) -> None:
    told = problem(2, "run", "weather", "--out", str(tmp_path))
    assert "'weather'" in told
    assert "time-outs" in told


def test_a_place_of_spark_and_the_local_engine_exclude_each_other(tmp_path: Path) -> None:
    done = said("run", "weak", "--engine", "local", "--master", "local[2]", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert "--engine local has none" in done.output


def test_the_engine_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(study_command, "run_locally", interrupt)
    done = said("run", "weak", "--requests", "2", "--out", str(tmp_path))
    assert done.stderr == (
        "engine local: no cluster is named; --engine spark takes all processors of this machine\n"
    )
    assert isinstance(done.exception, Problem)
    assert done.exception.exit_code == 130
    assert f"kept in {tmp_path}, and the same command goes on" in str(done.exception)


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out = str(tmp_path / "file" / "x")
    told = problem(3, "run", "weak", "--requests", "2", "--out", out)
    assert told.startswith("the study failed: ")
    assert told.endswith("cannot be used: Not a directory")


@pytest.mark.parametrize("words", [("run",), ("run", "weak", "--requests", "0"), ("docs",)])
def test_wrong_words_are_usage_errors(words: tuple[str, ...]) -> None:
    assert said(*words).exit_code == 2


def test_too_few_requests_are_not_published(tmp_path: Path) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    page = docs / "explanation" / "workload-studies.md"
    page.parent.mkdir(parents=True)
    page.write_text("words", encoding="utf-8")
    assert "DOCS is the docs folder of a checkout" in problem(2, "docs", str(tmp_path))
    missing = problem(3, "docs", str(docs), "--results", str(tmp_path))
    assert "designs.parquet is not there" in missing
    assert said("run", "designs", "--requests", "2", "--out", str(out)).exit_code == 0
    assert "1,000,000" in problem(3, "docs", str(docs), "--results", str(out))
    assert page.read_text(encoding="utf-8") == "words"
