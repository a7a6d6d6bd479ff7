"""Spark gives the rows of the local engine."""

from typing import TYPE_CHECKING

import pytest

from purgatory_pipeline.studies.engines import run_locally, run_on_spark
from purgatory_pipeline.studies.setting import DesignName, Setting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DESIGNS: tuple[DesignName, ...] = ("old", "proposal", "exact", "weak", "bundled-exact")
SETTINGS = [
    Setting("test", design, case, requests=200) for design in DESIGNS for case in ("low", "high")
]


def test_the_rows_are_those_of_the_local_engine(spark: "SparkSession") -> None:
    """Ten settings are two waves on two processors."""
    assert list(run_on_spark(SETTINGS, spark)) == list(run_locally(SETTINGS, 1))
