"""A file counts when it appears in the folder, however old it says it is."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_pipeline.engines.local import check_locally
from purgatory_pipeline.results.rows import Row
from purgatory_pipeline.streaming.batches import Batches
from purgatory_pipeline.streaming.records import row_of
from purgatory_pipeline.streaming.watching import SETTINGS, Watch, start
from purgatory_pipeline.traces.synthetic import write_corpus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

A_YEAR_SECONDS = 365 * 24 * 3600


def watched(spark: "SparkSession", folder: Path, out: Path) -> list[Row]:
    """What stands when all files that are there have been read."""
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    batches = Batches(out / "batches")
    query = start(spark, Watch(folder, out / "checkpoint", once=True), batches, lambda number: None)
    query.awaitTermination()
    return [row_of(record) for record in batches.standing()]


def test_an_old_file_that_comes_late_is_read(spark: "SparkSession", tmp_path: Path) -> None:
    """
    Given a stream that has read a file of today
    When a file is moved into the folder that was last written to a year ago
    Then its lines are judged as a check judges them
    """
    written, logs = tmp_path / "written", tmp_path / "logs"
    write_corpus(written, runs=8, events=60, faulty=2, files=2)
    logs.mkdir()
    first, second = sorted(written.iterdir())
    first.rename(logs / first.name)
    assert len(watched(spark, logs, tmp_path / "out")) == len(list(check_locally([logs])))
    old = second.stat().st_mtime - A_YEAR_SECONDS
    os.utime(second, (old, old))
    second.rename(logs / second.name)
    rows = watched(spark, logs, tmp_path / "out")
    assert sorted(rows, key=repr) == sorted(check_locally([logs]), key=repr)
