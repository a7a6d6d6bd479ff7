"""Addresses of this machine's own file system, which Spark spells in two ways."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from purgatory_spark.engine import hadoop
from purgatory_spark.engine.engine import check_on_spark
from purgatory_spark.engine.hadoop import hadoop_files
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.byte_streams import CHECKSUM, checksum_line
from purgatory_traces.traces.parsing import place_of
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


def checked(
    spark: "SparkSession", folder: Path, *addresses: str
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The count of each verdict, and the file and reason of each row that is set aside."""
    tables = folder / "tables"
    tables.mkdir()
    found = hadoop_files(spark, addresses)
    whole, staging = tables.as_uri(), (folder / "staging").as_uri()
    verdicts = check_on_spark(spark, found, whole, staging).summary.verdicts
    rows = pq.read_table(tables / "quarantine.parquet").to_pylist()
    told = [(row["file"].rpartition("/")[2], row["reason"]) for row in rows]
    return {each: count for each, count in verdicts.items() if count}, told


def test_a_file_that_is_named_by_itself_is_compared(spark: "SparkSession", tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"".join(run_lines("a", Component.TIMER, 60)))
    log.with_name(log.name + CHECKSUM).write_text(checksum_line(log.name, "0"), encoding="utf-8")
    verdicts, told = checked(spark, tmp_path, log.as_uri())
    assert verdicts == {"incomplete": 1}
    assert "its SHA-256 is not that in" in told[0][1]


def test_a_file_that_is_not_compared_makes_the_check_inconclusive(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hadoop, "MOST_BYTES_AT_ONCE", 1000)
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"".join(run_lines("a", Component.TIMER, 60)))
    log.with_name(log.name + CHECKSUM).write_text(checksum_line(log.name, "0"), encoding="utf-8")
    verdicts, ((file, reason),) = checked(spark, tmp_path, log.as_uri())
    assert (verdicts, file) == ({"conforms": 1}, "a.jsonl")
    assert reason.startswith("it is larger than 1000 bytes, and was not compared with its SHA-256")


def test_lines_that_are_compressed_otherwise_are_set_aside(
    spark: "SparkSession", tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "a.jsonl").write_bytes(b"".join(run_lines("a", Component.TIMER, 60)))
    (traces / "b.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    here = [row for row in check_locally([traces]) if isinstance(row, QuarantineRow)]
    verdicts, told = checked(spark, tmp_path, traces.as_uri())
    assert verdicts == {"conforms": 1}
    assert told == [("b.jsonl.zst", here[0].reason)]


def test_of_damaged_parquet_the_rows_are_counted_over_all_splits(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """Damage one of three groups of rows, each of which has a run and a split of its own."""
    lines = [line.rstrip(b"\n") for run in "abc" for line in run_lines(run, Component.TIMER, 60)]
    runs, seqs = zip(*map(place_of, lines), strict=True)
    columns = {"run": runs, "seq": seqs, "line": pa.array(lines, pa.binary())}
    sound = tmp_path / "in" / "t.parquet"
    sound.parent.mkdir()
    pq.write_table(
        pa.table(columns), sound, row_group_size=60, write_page_checksum=True, compression="none"
    )
    spark.conf.set("spark.sql.files.maxPartitionBytes", "2000")
    try:
        inner = tmp_path / "sound"
        inner.mkdir()
        assert checked(spark, inner, sound.parent.as_uri()) == ({"conforms": 3}, [])
        content = sound.read_bytes()
        place = content.index(b'"run":"b","seq":30')
        sound.write_bytes(content[:place] + b"#" + content[place + 1 :])
        verdicts, told = checked(spark, tmp_path, sound.parent.as_uri())
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert verdicts == {"conforms": 2}
    assert told == [("t.parquet", "it tells of 180 rows, and 120 could be read: it is damaged")]


def test_each_file_is_found_once_and_spelled_alike(spark: "SparkSession", tmp_path: Path) -> None:
    """Compare the spelling, since addresses of empty files may begin otherwise."""
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    found = hadoop_files(spark, [tmp_path.as_uri()])
    assert [(each.file, each.bytes) for each in found.inputs] == [
        ((tmp_path / "a.jsonl").as_uri(), 3),
        ((tmp_path / "empty.jsonl").as_uri(), 0),
    ]
