"""Spark gives the rows of the local engine."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from purgatory_lab.commands.study import study
from purgatory_lab.studies import engines
from purgatory_lab.studies.engines import run_locally, run_on_spark
from purgatory_lab.studies.setting import DesignName, Setting
from purgatory_lab.studies.tables import read_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]

DESIGNS: tuple[DesignName, ...] = ("old", "weak", "bundled-exact")


def test_the_rows_are_those_of_the_local_engine(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_SETTINGS_FOR_EACH_PROCESSOR", 1)
    settings = [Setting("test", design, "high", requests=200) for design in DESIGNS]
    assert list(run_on_spark(settings, spark)) == list(run_locally(settings, 1))


@pytest.mark.usefixtures("spark")
def test_the_command_writes_the_same_file(tmp_path: Path) -> None:
    for engine in ("local", "spark"):
        words = ["run", "expiries", "--requests", "30", "--engine", engine]
        done = CliRunner().invoke(study, [*words, "--out", str(tmp_path / engine)])
        assert done.exit_code == 0, done.output
        assert f"engine {engine}: as asked for" in done.output
    local, spark = (read_parquet(tmp_path / engine / "expiries.parquet")
                    for engine in ("local", "spark"))  # fmt: skip
    assert local == spark
    assert len(spark) == 4
