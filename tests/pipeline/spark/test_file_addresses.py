"""Addresses of this machine's own file system, which Spark spells in two ways."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_pipeline.engines.spark.hadoop import hadoop_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_each_file_is_found_once_and_spelled_alike(spark: "SparkSession", tmp_path: Path) -> None:
    """Before, addresses of empty files began otherwise, and every file was found twice for it."""
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    found = hadoop_files(spark, [tmp_path.as_uri()])
    assert [(each.file, each.bytes) for each in found.inputs] == [
        ((tmp_path / "a.jsonl").as_uri(), 3),
        ((tmp_path / "empty.jsonl").as_uri(), 0),
    ]
