"""Promises of the engine on Spark beyond the rows of ordinary traces."""

import os
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from purgatory_spark.engine import engine
from purgatory_spark.engine.engine import Plan, in_order, plan_of, replayed
from purgatory_spark.engine.tables import files_below, summary_of, write_tables
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.engines.sinks import ResultWriter
from purgatory_traces.errors import OutOfOrder, PipelineError
from purgatory_traces.results.manifest import described
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.results.schemas import TABLES, TableName
from purgatory_traces.summary.html import render_page
from purgatory_traces.summary.summary import Summary
from purgatory_traces.traces.parsing import MOST_BYTES
from purgatory_traces.traces.sources import files_of
from purgatory_traces.traces.synthetic import run_lines

from .corpora import checked_on_spark, rows_on_spark, write_lines, write_shuffled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def write_runs(path: Path, *runs: str) -> None:
    """Whole runs that conform."""
    path.write_bytes(b"".join(b"".join(run_lines(run, Component.TIMER, 60)) for run in runs))


def physical_plan(rows: "DataFrame", capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The operators, outermost first, without what they are applied to."""
    capsys.readouterr()
    rows.explain()
    lines = [line.lstrip(" +-*()0123456789") for line in capsys.readouterr().out.splitlines()]
    return [line.split("[")[0].split("(")[0].strip() for line in lines if line and line[0] != "="]


def test_the_sort_stands_directly_below_the_replay(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_runs(tmp_path / "a.jsonl", "a")
    plan = plan_of([tmp_path / "a.jsonl"])
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"

    rows = replayed(in_order(plan.pieces(spark), plan))

    operators = [line for line in physical_plan(rows, capsys) if line]
    assert operators == [
        "AdaptiveSparkPlan isFinalPlan=false",
        "MapInArrow ReplayPieces",
        "Sort",
        "Exchange SinglePartition, REPARTITION_BY_NUM,",
        "MapInArrow ReadShares",
        "Range",
    ]


def test_lines_that_were_not_sorted_are_an_error_and_no_verdict(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    write_shuffled(traces, runs=4, events=60, names=["a.jsonl", "b.jsonl"])
    monkeypatch.setattr(engine, "BYTES_OF_A_SHARE", 1)
    monkeypatch.setattr(engine, "in_order", lambda pieces, plan: pieces.repartition(1, "run"))

    with pytest.raises(OutOfOrder, match="the engine has to sort by run, seq and kind"):
        rows_on_spark(spark, files_of([traces]), tmp_path / "found")
    assert not any((tmp_path / "found" / "whole").iterdir())


def test_tables_lie_in_folders_by_date_and_component(spark: "SparkSession", tmp_path: Path) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    write_runs(old, "a")
    old.write_bytes(old.read_bytes() + b"".join(run_lines("b", Component.PURGATORY, 60)))
    new.write_bytes(b'{"kind":"end","run":"c","seq":7}\n')
    os.utime(old, (0, 86_400))
    os.utime(new, (0, 20_000 * 86_400))
    whole = tmp_path / "found" / "whole"

    checked = checked_on_spark(spark, [old, new], tmp_path / "found")

    verdicts = spark.read.parquet(str(whole / "verdicts.parquet"))
    assert dict(verdicts.dtypes) == {
        **{each.name: each.kind.value for each in TABLES[TableName.VERDICTS]},
        "date": "date",
    }
    found = {(row.run, str(row.date), row.component) for row in verdicts.collect()}
    assert found == {
        ("a", "1970-01-02", "timer"),
        ("b", "1970-01-02", "purgatory"),
        ("c", "2024-10-04", None),
    }
    coverage = spark.read.parquet(str(whole / "coverage.parquet")).where("component = 'timer'")
    assert {row.run for row in coverage.collect()} == {"a"}
    names = {str(Path(file.name).parent) for file in checked.files}
    assert names == {
        "verdicts.parquet/date=1970-01-02/component=timer",
        "verdicts.parquet/date=1970-01-02/component=purgatory",
        "verdicts.parquet/date=2024-10-04/component=__HIVE_DEFAULT_PARTITION__",
        "coverage.parquet/date=1970-01-02/component=timer",
        "coverage.parquet/date=1970-01-02/component=purgatory",
        "quarantine.parquet",
    }
    assert [described(whole / file.name, None, whole) for file in checked.files] == [*checked.files]


def test_the_summary_of_all_tasks_is_that_of_the_local_engine(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    write_shuffled(traces, runs=24, events=60)
    monkeypatch.setattr(engine, "BYTES_OF_A_PARTITION", 50_000)
    assert plan_of(files_of([traces])).partitions > 2

    checked = checked_on_spark(spark, files_of([traces]), tmp_path / "found", examples=2)

    with ResultWriter(tmp_path / "local") as writer:
        summary = Summary(most_examples=2)
        writer.write(check_locally([traces]))
        writer.finish(summary.take)
    assert checked.summary == summary
    assert render_page(checked.summary, "") == render_page(summary, "")


def test_rows_that_a_task_has_written_elsewhere_are_missed(
    spark: "SparkSession", tmp_path: Path
) -> None:
    write_runs(tmp_path / "a.jsonl", "a", "b")
    plan = Plan((str(tmp_path / "a.jsonl"),), ((0,),), partitions=3)
    staging = tmp_path / "staging"
    _, summary, _ = engine.staged_rows(spark, plan, staging.as_uri(), 1)
    assert summary.verdicts["conforms"] == 2

    sorted((staging / "first").glob("part-*"))[0].unlink()
    with pytest.raises(PipelineError, match="of 3 tasks 2 have left their rows"):
        summary_of(spark.read.parquet(str(staging / "first")), 3, 1)


def test_odd_lines_and_names_and_files(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check by relative names, in another thread than the main one; one file is gone meanwhile."""
    monkeypatch.chdir(tmp_path)
    traces = Path("trac es µ")
    traces.mkdir()
    write_runs(traces / "names.jsonl", "", "a", "\uffff", "😀", "Z", "a.b")
    write_lines(traces / "more.jsonl.gz", [b"{\n", b"\xff\xfe\n", b"\n", b'{"run":"","seq":99}\n'])
    long = b'{"kind":"end","run":"long","seq":0,"x":"%s"}\n'
    write_lines(traces / "long.jsonl", [long % (b"x" * MOST_BYTES), long % (b"x" * 900_000)] * 6)
    (traces / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08")
    (traces / "empty.jsonl").write_bytes(b"")
    (traces / "table.parquet").write_bytes(b"PAR1")
    number = b'{"kind":"end","run":"a","seq":%d}\n'
    write_lines(traces / "numbers.jsonl", [number % ((1 << 63) - 1), number % (1 << 63)])
    files, gone = files_of([traces]), str(traces / "gone.jsonl")
    there: list[Row] = []

    def check() -> None:
        there.extend(rows_on_spark(spark, [*files, gone], tmp_path / "found"))

    thread = threading.Thread(target=check)
    thread.start()
    thread.join(600)

    (missed,) = (row for row in there if isinstance(row, QuarantineRow) and row.file == gone)
    assert missed.line == 0
    assert "No such file" in missed.reason
    assert Counter(there) - Counter([missed]) == Counter(check_locally([traces]))
    runs = {row.run for row in there if isinstance(row, VerdictRow)}
    assert runs == {"", "a", "\uffff", "😀", "Z", "a.b", "long"}
    told = {row.file for row in there if isinstance(row, QuarantineRow)}
    assert told == {*files, gone} - {str(traces / "names.jsonl")}


def test_nothing_to_read_gives_no_rows(spark: "SparkSession", tmp_path: Path) -> None:
    assert rows_on_spark(spark, [], tmp_path / "found") == []


def test_no_file_of_the_quarantine_is_large(spark: "SparkSession", tmp_path: Path) -> None:
    """Let files be of 1 MB in place of 64: a file is read as one value for its checksum."""
    rows = 40_000
    fields = "'file', 'f', 'line', id, 'raw', sha2(string(id), 512), 'reason', 'r', 'run', ''"
    staged = spark.range(0, rows, 1, 8).selectExpr(
        "'quarantine' as table",
        "-1L as day",
        "'' as component",
        f"cast(to_json(named_struct({fields})) as binary) as payload",
    )
    spark.conf.set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "1000000")
    try:
        write_tables(staged, tmp_path.as_uri())
    finally:
        spark.conf.unset("spark.sql.adaptive.advisoryPartitionSizeInBytes")
    files = list(files_below(spark, tmp_path.as_uri()))
    assert len(files) > 3
    assert max(file.bytes for file in files) < 3_000_000
    parts = [pq.read_table(tmp_path / file.name) for file in files]
    lines = [line for part in parts for line in part.column("line").to_pylist()]
    assert sorted(lines) == list(range(rows))
