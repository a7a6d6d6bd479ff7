"""The processes that Spark forks here import from the installed packages, before the fork."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from purgatory_spark.engine.worker_daemon import TASKS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def _by_value() -> "Iterator[None]":
    """Send functions of this file whole: workers import no module of the present folder."""
    from tests.pipeline.spark.sent_whole import sent_whole

    with sent_whole(__name__):
        yield


def imported(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Yield where a worker has its modules from, and which of the tasks' it had already."""
    import sys

    import pyarrow as pa

    there = [name for name in TASKS if name in sys.modules]
    import pyspark

    for _ in batches:
        row = {"pyspark": [str(pyspark.__file__)], "there": [" ".join(there)]}
        yield pa.RecordBatch.from_pydict(row)


def test_workers_have_their_modules_before_they_are_forked(spark: "SparkSession") -> None:
    import pyspark

    told = spark.range(0, 1, 1, 1).mapInArrow(imported, "pyspark string, there string").collect()
    assert [tuple(row) for row in told] == [(pyspark.__file__, " ".join(TASKS))]
