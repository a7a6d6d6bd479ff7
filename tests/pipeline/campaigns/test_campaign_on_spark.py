"""A campaign on Spark leaves what a local one leaves, however many tasks it has."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_spark.campaigns import first_failures
from purgatory_spark.campaigns.engines import SparkEngine
from purgatory_spec.profiles import Component

from .judging_runs import HERE, manifest, rows, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(autouse=True)
def little_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_failures, "SHRINK_RUNS", 80)


@pytest.mark.parametrize("partitions", [1, 3])
def test_the_result_is_that_of_a_local_campaign(
    partitions: int, spark: "SparkSession", tmp_path: Path
) -> None:
    components = [Component.MEMORY_POOL]
    here, there = tmp_path / "here" / "campaign", tmp_path / "there" / "campaign"
    word = "mutant:pool-zero-refused"
    code, _ = run(word, here, components=components, runs=40)
    engine = SparkEngine(spark, partitions)
    other, _ = run(word, there, components=components, runs=40, wave=25, engine=engine)
    assert (code, other) == (1, 1)
    assert {row["verdict"] for row in rows(there)} == {"pass", "fail"}
    assert manifest(there) == manifest(here)


def test_crashes_cost_one_run_each(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    here, there = tmp_path / "here" / "campaign", tmp_path / "there" / "campaign"
    assert run("bad_subjects:exits", here, runs=8)[0] == 3
    engine = SparkEngine(spark, partitions=2)
    assert run("bad_subjects:exits", there, runs=8, engine=engine)[0] == 3
    verdicts = [row["verdict"] for row in rows(there)]
    assert (verdicts.count("crashed"), verdicts.count("pass")) == (1, 7)
    assert manifest(there) == manifest(here)
