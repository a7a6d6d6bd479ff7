"""Campaigns: every verdict where it should be, and the same rows whatever the waves and engines."""

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from purgatory_conformance.running.campaign import SUITES, run_campaign
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_judge.registry import judged
from purgatory_spark.campaigns import drawing as drawing_module
from purgatory_spark.campaigns import first_failures
from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.engines import LocalEngine, Work
from purgatory_spark.campaigns.folder import read_result
from purgatory_spark.campaigns.tables import CAUSES, COVERAGE, RUNS
from purgatory_spec.profiles import Component, Profile

from .judging_runs import manifest, rows, run


def pool_profile() -> Profile:
    return bundled_subject().profiles[Component.MEMORY_POOL]


class Shuffled(LocalEngine):
    """An engine of several tasks: rows are dealt out, and come back the last task first."""

    def __init__(self, tasks: int) -> None:
        self._tasks = tasks

    def map(self, work: Work, table: pa.Table, schema: pa.Schema, label: str) -> pa.Table:
        dealt = [list(range(i, table.num_rows, self._tasks)) for i in range(self._tasks)]
        made = [
            super(Shuffled, self).map(work, table.take(places), schema, label)
            for places in dealt
            if places
        ]
        return pa.concat_tables(made[::-1])


@pytest.fixture(autouse=True)
def little_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_failures, "SHRINK_RUNS", 80)


def test_what_is_bundled_conforms(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    code, printed = run("bundled", out, components=[Component.MEMORY_POOL], runs=240)
    assert code == 0
    assert "conformant: every applicable rule was put to the test and held" in printed
    found = rows(out)
    # Two seeds may draw the same short run, which stands there once.
    drawn = [f"7-{number}" for number in range(240)]
    assert [row["seed"] for row in found] == [
        seed for seed in drawn if seed in {row["seed"] for row in found}
    ]
    assert sum(int(str(row["times"])) for row in found) == 240
    assert len({row["run"] for row in found}) == len(found) > 230
    assert {(row["verdict"], row["component"]) for row in found} == {("pass", "memory_pool")}
    coverage = rows(out, "coverage")
    rules = judged(Component.MEMORY_POOL).judged_rules(pool_profile())
    assert [row["rule"] for row in coverage] == [rule.id for rule in rules]
    assert min(int(str(row["visits"])) for row in coverage) >= 20
    assert rows(out, "causes") == []


def test_tables_have_the_declared_columns(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    run("bundled", out, runs=4)
    for name, schema in {"runs": RUNS, "coverage": COVERAGE, "causes": CAUSES}.items():
        assert pq.read_schema(read_result(out) / f"{name}.parquet") == schema


def test_coverage_is_that_of_all_runs(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    run("bundled", out, runs=12, components=[Component.TIMER, Component.MEMORY_POOL])
    visits: dict[str, int] = {}
    with_visits: dict[str, int] = {}
    for row in rows(out):
        listed = row["visits"]
        assert isinstance(listed, list)
        for each in listed:
            visits[each["rule"]] = visits.get(each["rule"], 0) + each["visits"]
            with_visits[each["rule"]] = with_visits.get(each["rule"], 0) + 1
    coverage = rows(out, "coverage")
    assert {r["rule"]: r["visits"] for r in coverage if r["visits"]} == visits
    assert {r["rule"]: r["runs"] for r in coverage if r["runs"]} == with_visits
    assert {r["component"] for r in coverage} == {"timer", "memory_pool"}


def test_too_few_visits_are_inconclusive(tmp_path: Path) -> None:
    code, printed = run("bundled", tmp_path / "campaign", runs=3)
    assert code == 4
    assert "visited fewer than 20 times: TIMER-" in printed


MUTANTS = ["lost-on-cascade", "pool-strict-wants-more"]


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_found_by_the_rule_that_a_check_names(name: str, tmp_path: Path) -> None:
    wrong = mutant(name)
    out = tmp_path / "campaign"
    code, _ = run(f"mutant:{name}", out, components=[wrong.component], runs=60)
    assert code == 1
    first = rows(out, "causes")[0]
    subject = wrong.make()
    checked = run_campaign(subject, wrong.component, seed=7, budget=SUITES["quick"])
    assert first["rule"] == checked.causes[0].rule
    assert first["rule"] in (wrong.rule, *wrong.also)
    assert first["steps"] == len(checked.causes[0].shrunk.steps)
    failing = [row for row in rows(out) if row["verdict"] == "fail"]
    assert first["runs"] == len(failing) or len(rows(out, "causes")) > 1
    assert (read_result(out) / "replays" / str(first["replay"])).exists()


@pytest.mark.parametrize("tasks", [1, 5, 40])
def test_neither_waves_nor_tasks_change_the_result(tasks: int, tmp_path: Path) -> None:
    usual, other = tmp_path / "usual" / "campaign", tmp_path / "other" / "campaign"
    run("mutant:rounds-up", usual, runs=12, steps=6)
    run(
        "mutant:rounds-up",
        other,
        runs=12,
        steps=6,
        wave=math.ceil(12 / tasks),
        engine=Shuffled(tasks),
    )
    assert manifest(other) == manifest(usual)


def test_other_seeds_give_another_result(tmp_path: Path) -> None:
    """Control the test before."""
    run("bundled", tmp_path / "a", runs=6)
    run("bundled", tmp_path / "b", runs=6, seed=8)
    assert manifest(tmp_path / "a") != manifest(tmp_path / "b")


def test_equal_steps_are_one_run(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    _, printed = run(
        "bundled", out, components=[Component.MEMORY_POOL], runs=300, steps=1, wave=100
    )
    drawing = Drawing(Component.MEMORY_POOL, pool_profile(), seed=7, steps=1)
    drawn = [drawing.run_id(drawing.draw(number)) for number in range(300)]
    expected = {run_id: (f"7-{drawn.index(run_id)}", drawn.count(run_id)) for run_id in drawn}
    assert {row["run"]: (row["seed"], row["times"]) for row in rows(out)} == expected
    assert len(expected) < 300
    assert f"{len(expected)} runs, {300 - len(expected)} drawn again" in printed
    assert f"{len(expected)} carried out now" in printed


def test_more_runs_and_other_seeds_build_on_what_is_on_record(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    run("bundled", out, runs=10)
    _, printed = run("bundled", out, runs=16, resume=True)
    assert "16 runs; 6 carried out now" in printed
    assert "10 on record before" in printed
    run("bundled", tmp_path / "fresh", runs=16)
    assert manifest(out) == manifest(tmp_path / "fresh")
    _, printed = run("bundled", out, runs=5, seed=8, resume=True)
    assert "5 runs; 5 carried out now" in printed
    assert "16 runs on record that this seed and this number of runs do not draw" in printed
    assert [row["seed"] for row in rows(out)] == [f"8-{number}" for number in range(5)]


def test_a_changed_generator_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "campaign"
    run("bundled", out, runs=6)
    monkeypatch.setattr(drawing_module, "seed_of", lambda seed, number: f"{seed}/{number}")
    _, printed = run("bundled", out, runs=6, resume=True)
    assert "6 carried out now" in printed
    assert "6 runs on record that this seed and this number of runs do not draw" in printed


def test_nothing_is_carried_out_twice(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    run("mutant:rounds-up", out, runs=12, steps=6)
    before = manifest(out)
    code, printed = run("mutant:rounds-up", out, runs=12, steps=6, resume=True)
    assert code == 1
    assert "12 runs; 0 carried out now, 12 on record before" in printed
    assert manifest(out) == before
