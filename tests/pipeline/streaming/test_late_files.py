"""A file counts when it appears in the folder, however old it says it is."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_traces.engines.local import check_locally
from purgatory_traces.traces.synthetic import write_corpus
from tests.pipeline.streaming.watched import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]

A_YEAR_SECONDS = 365 * 24 * 3600


def test_an_old_file_that_comes_late_is_read(spark: "SparkSession", tmp_path: Path) -> None:
    written, logs = tmp_path / "written", tmp_path / "logs"
    write_corpus(written, runs=8, events=60, faulty=2, files=2)
    logs.mkdir()
    first, second = sorted(written.iterdir())
    first.rename(logs / first.name)
    rows, _ = watched(spark, logs, tmp_path / "out")
    assert len(rows) == len(list(check_locally([logs])))
    old = second.stat().st_mtime - A_YEAR_SECONDS
    os.utime(second, (old, old))
    second.rename(logs / second.name)
    rows, _ = watched(spark, logs, tmp_path / "out")
    assert sorted(rows, key=repr) == sorted(check_locally([logs]), key=repr)
