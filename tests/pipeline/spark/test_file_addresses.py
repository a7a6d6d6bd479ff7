"""Addresses of this machine's own file system, which Spark spells in two ways."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from purgatory_spark.engine.engine import check_on_spark
from purgatory_spark.engine.hadoop import hadoop_files
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.byte_streams import CHECKSUM, checksum_line
from purgatory_traces.traces.synthetic import run_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.verify, pytest.mark.spark, pytest.mark.slow]


def test_files_are_compared_with_the_digests_beside_them(
    spark: "SparkSession", tmp_path: Path
) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    for run in "abc":
        content = b"".join(run_lines(run, Component.TIMER, 60))
        log = folder / f"{run}.jsonl"
        log.write_bytes(content)
        if run != "a":
            line = checksum_line(log.name, sha256(content).hexdigest())
            log.with_name(log.name + CHECKSUM).write_text(line, encoding="utf-8")
        if run == "c":
            log.write_bytes(bytes([*content[:700], content[700] ^ 1, *content[701:]]))
    found = hadoop_files(spark, [folder.as_uri()])
    assert found.ignored == ()
    (tmp_path / "tables").mkdir()
    whole, staging = ((tmp_path / name).as_uri() for name in ("tables", "staging"))
    verdicts = check_on_spark(spark, found, whole, staging).summary.verdicts
    assert {verdict: count for verdict, count in verdicts.items() if count} == {
        "conforms": 2,
        "incomplete": 1,
    }
    rows = pq.read_table(tmp_path / "tables" / "quarantine.parquet").to_pylist()
    local = [row for row in check_locally([folder]) if isinstance(row, QuarantineRow)]
    assert sorted((row["file"], row["line"], row["reason"]) for row in rows) == sorted(
        (Path(row.file).as_uri(), row.line, row.reason.replace(str(folder), folder.as_uri()))
        for row in local
    )
    assert len(rows) == 2


def test_each_file_is_found_once_and_spelled_alike(spark: "SparkSession", tmp_path: Path) -> None:
    """Compare the spelling, since addresses of empty files may begin otherwise."""
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    found = hadoop_files(spark, [tmp_path.as_uri()])
    assert [(each.file, each.bytes) for each in found.inputs] == [
        ((tmp_path / "a.jsonl").as_uri(), 3),
        ((tmp_path / "empty.jsonl").as_uri(), 0),
    ]
