"""Addresses of this machine's own file system, which Spark spells in two ways."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_pipeline.engines.spark.hadoop import hadoop_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_each_file_is_found_once(spark: "SparkSession", tmp_path: Path) -> None:
    """Before, each was found a second time, as an empty one, and its lines were read twice."""
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    found = hadoop_files(spark, [tmp_path.as_uri()])
    assert sorted((Path(each.file).name, each.bytes) for each in found.inputs) == [
        ("a.jsonl", 3),
        ("empty.jsonl", 0),
    ]
