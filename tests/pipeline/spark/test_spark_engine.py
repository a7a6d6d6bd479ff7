"""What the engine on Spark promises beyond the rows of ordinary traces."""

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_pipeline.engines.local import check_locally
from purgatory_pipeline.engines.spark.engine import (
    Plan,
    check_on_spark,
    in_order,
    pieces_of,
    plan_of,
    replayed,
    rows_in,
    run_job,
)
from purgatory_pipeline.errors import OutOfOrder, PipelineError
from purgatory_pipeline.results.rows import CoverageRow, QuarantineRow, VerdictRow
from purgatory_pipeline.traces.parsing import MOST_BYTES
from purgatory_pipeline.traces.sources import files_of
from purgatory_pipeline.traces.synthetic import run_lines
from purgatory_spec.profiles import Component

from .corpora import write_lines, write_shuffled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def write_runs(path: Path, *runs: str) -> None:
    """Whole runs that conform."""
    path.write_bytes(b"".join(b"".join(run_lines(run, Component.TIMER, 60)) for run in runs))


def apart(files: Sequence[str | Path], partitions: int = 2) -> Plan:
    """A plan in which each file is read by a task of its own."""
    names = tuple(map(str, files))
    return Plan(names, tuple((file,) for file in range(len(names))), partitions)


def job(spark: "SparkSession", rows: "DataFrame", staging: Path) -> None:
    run_job(spark, rows, staging, tasks=2)


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

    rows = replayed(in_order(pieces_of(spark, plan), plan))

    operators = [line for line in physical_plan(rows, capsys) if line]
    assert operators == [
        "AdaptiveSparkPlan isFinalPlan=false",
        "MapInArrow replay_pieces",
        "Sort",
        "Exchange SinglePartition, REPARTITION_BY_NUM,",
        "MapInArrow ReadShares",
        "Range",
    ]


def test_lines_that_were_not_sorted_are_an_error_and_no_verdict(
    spark: "SparkSession", tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    write_shuffled(traces, runs=4, events=60, names=["a.jsonl", "b.jsonl"])
    plan = apart(files_of([traces]))
    pieces = pieces_of(spark, plan).repartition(1, "run")

    with pytest.raises(OutOfOrder, match="the engine has to sort by run, kind and seq"):
        job(spark, replayed(pieces), tmp_path / "staging")
    with pytest.raises(PipelineError, match="has left no result"):
        list(rows_in(tmp_path / "staging"))


def test_a_run_in_two_partitions_is_an_error_and_no_verdict(
    spark: "SparkSession", tmp_path: Path
) -> None:
    write_runs(tmp_path / "a.jsonl", "a")
    write_runs(tmp_path / "b.jsonl", "a")
    plan = apart([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    pieces = pieces_of(spark, plan)

    job(spark, replayed(pieces), tmp_path / "staging")
    with pytest.raises(PipelineError, match="run 'a' was judged in two places"):
        list(rows_in(tmp_path / "staging"))


def test_odd_lines_and_names_and_files(spark: "SparkSession", tmp_path: Path) -> None:
    traces = tmp_path / "trac es µ"
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

    here = list(check_locally([traces]))
    there = list(check_on_spark(spark, files_of([traces]), tmp_path / "staging"))

    assert Counter(there) == Counter(here)
    runs = {row.run for row in there if isinstance(row, VerdictRow)}
    assert runs == {"", "a", "\uffff", "😀", "Z", "a.b", "long"}
    files = {Path(row.file).name for row in there if isinstance(row, QuarantineRow)}
    assert files == {path.name for path in traces.iterdir()} - {"names.jsonl"}


def test_a_file_that_is_gone_is_set_aside(spark: "SparkSession", tmp_path: Path) -> None:
    write_runs(tmp_path / "a.jsonl", "a")
    files = [tmp_path / "a.jsonl", tmp_path / "gone.jsonl"]

    rows = list(check_on_spark(spark, files, tmp_path / "staging"))

    (gone,) = (row for row in rows if isinstance(row, QuarantineRow))
    assert (gone.file, gone.line) == (str(files[1]), 0)
    assert "No such file" in gone.reason
    assert [row.verdict for row in rows if isinstance(row, VerdictRow)] == ["conforms"]


def test_relative_names_stay_as_they_were_given(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(b"{\n")
    (row,) = check_on_spark(spark, ["a.jsonl"], Path("staging"))
    assert row == QuarantineRow("a.jsonl", 1, "{", row.reason)  # type: ignore[union-attr]


def test_nothing_to_read_gives_no_rows(spark: "SparkSession", tmp_path: Path) -> None:
    assert list(check_on_spark(spark, [], tmp_path / "staging")) == []


def test_a_second_run_gives_the_same_rows_in_the_same_order(
    spark: "SparkSession", tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    write_shuffled(traces, runs=12, events=60)
    files = files_of([traces])
    plan = apart(files, partitions=3)

    first, second = tmp_path / "first", tmp_path / "second"
    for staging in (first, second):
        job(spark, replayed(in_order(pieces_of(spark, plan), plan)), staging)

    rows = list(rows_in(first))
    assert rows == list(rows_in(second))
    assert len([row for row in rows if isinstance(row, VerdictRow)]) == 12
    assert any(isinstance(row, CoverageRow) for row in rows)


def test_it_runs_in_a_thread_that_is_not_the_main_one(
    spark: "SparkSession", tmp_path: Path
) -> None:
    write_runs(tmp_path / "a.jsonl", "a")
    found: list[object] = []

    def check() -> None:
        found.extend(check_on_spark(spark, [tmp_path / "a.jsonl"], tmp_path / "staging"))

    thread = threading.Thread(target=check)
    thread.start()
    thread.join(60)
    assert any(isinstance(row, VerdictRow) for row in found)
