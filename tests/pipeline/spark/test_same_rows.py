"""The engines say the same, row by row, and what they say is right."""

import gzip
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow, Row, RunVerdict, VerdictRow
from purgatory_traces.traces.sources import files_of
from purgatory_traces.traces.synthetic import run_lines
from tests.pipeline.streaming.watched import watched

from .corpora import rows_on_spark, write_shuffled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = 1020
LATER = pytest.mark.verify
"""Of streams: Spark gives the Python process of a state ten seconds to start."""


def rows_of_stream(spark: "SparkSession", traces: Path, folder: Path) -> list[Row]:
    """Return what stands when a stream has read all files, in several batches."""
    rows, numbers = watched(spark, traces, folder, files_per_order=2)
    assert len(numbers) > 1
    return rows


def compared(row: Row) -> Row:
    """The row, as both say it: a copy that comes late cannot be compared with its first line."""
    if isinstance(row, QuarantineRow) and row.reason == "it is a copy of the line before":
        return row._replace(reason="this number was given to an earlier line of the run")
    return row


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(("number", "streams"), [(40, False), pytest.param(200, True, marks=LATER)])
def test_rows_of_all_engines_are_the_same_and_as_planted(
    number: int, streams: bool, spark: "SparkSession", tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    expected = write_shuffled(traces, number, EVENTS)

    here = list(check_locally([traces]))
    there = rows_on_spark(spark, files_of([traces]), tmp_path / "found")

    assert Counter(there) == Counter(here)
    assert max(Counter(there).values()) == 1
    if streams:
        streamed = rows_of_stream(spark, traces, tmp_path / "stream")
        assert Counter(map(compared, streamed)) == Counter(map(compared, here))
    verdicts = {row.run: row for row in there if isinstance(row, VerdictRow)}
    said = [
        (row.run, row.component, row.events, row.verdict, row.seq, row.rule)
        for run in expected
        for row in (verdicts[run.run],)
    ]
    assert said == [
        (run.run, run.component, run.events, run.verdict, run.seq, run.rule) for run in expected
    ]
    aside = sum(isinstance(row, QuarantineRow) for row in there)
    assert aside == sum(run.quarantined for run in expected) > 0
    assert sum(row.events for row in verdicts.values()) >= 1000 * number
    planted = Counter(run.verdict for run in expected)
    least = number * 15 // 100
    assert planted[RunVerdict.DIVERGES.value] > least < planted[RunVerdict.INCOMPLETE.value]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("streams", [False, pytest.param(True, marks=LATER)])
def test_damaged_and_empty_files_are_told_alike(
    streams: bool, spark: "SparkSession", tmp_path: Path
) -> None:
    """Damage the checksums of two files; the control, without damage, diverges."""
    traces = tmp_path / "traces"
    (traces / "inner").mkdir(parents=True)
    lines = {run: b"".join(run_lines(run, Component.TIMER, 60)) for run in ("a", "b", "c")}
    wrong = {run: each.replace(b'"delay_ms":3', b'"delay_ms":9', 1) for run, each in lines.items()}
    (traces / "a.jsonl").write_bytes(lines["a"])
    for run, before in (("b", b""), ("c", gzip.compress(lines["c"][:2000]))):
        left = wrong[run][2000:] if before else wrong[run]
        (traces / f"{run}.jsonl.gz").write_bytes(before + gzip.compress(left, 0)[:-8] + bytes(8))
    for name in ("empty.jsonl", "inner/empty.jsonl.gz"):
        (traces / name).touch()
    (traces / "_hidden.jsonl").touch()

    here = list(check_locally([traces]))
    verdicts = {row.run: row.verdict for row in here if isinstance(row, VerdictRow)}
    assert verdicts == {"a": "conforms", "b": "incomplete", "c": "incomplete"}
    aside = [row for row in here if isinstance(row, QuarantineRow)]
    empty = [row.file for row in aside if row.reason == "the file is empty"]
    assert sorted(empty) == [str(traces / "empty.jsonl"), str(traces / "inner/empty.jsonl.gz")]

    there = rows_on_spark(spark, files_of([traces]), tmp_path / "found")
    assert Counter(there) == Counter(here)
    if streams:
        streamed = rows_of_stream(spark, traces, tmp_path / "stream")
        assert Counter(streamed) == Counter(here)

    (tmp_path / "sound.jsonl.gz").write_bytes(gzip.compress(wrong["b"], 0))
    (control,) = (
        row for row in check_locally([tmp_path / "sound.jsonl.gz"]) if isinstance(row, VerdictRow)
    )
    assert control.verdict == "diverges"
