"""The two halves of the engine, without Spark: what one puts into Arrow, the other takes out."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from purgatory_pipeline.engines.local import check_locally
from purgatory_pipeline.engines.spark import transport as spark_transport
from purgatory_pipeline.engines.spark.transport import MOST_BYTES, MOST_LINES, ReadFiles, ReplayRuns
from purgatory_pipeline.errors import OutOfOrder
from purgatory_pipeline.results.row_payloads import row_of
from purgatory_pipeline.results.rows import QuarantineRow, Row
from purgatory_pipeline.traces.synthetic import run_lines
from purgatory_spec.profiles import Component

from .corpora import write_shuffled

ORDER = [(name, "ascending") for name in ("run", "seq", "file", "number")]


def read(*files: Path, shares: tuple[tuple[int, ...], ...] | None = None) -> list[pa.RecordBatch]:
    names = tuple(str(file) for file in files)
    shares = tuple((file,) for file in range(len(names))) if shares is None else shares
    asked = pa.RecordBatch.from_pydict({"id": list(range(len(shares)))})
    return list(ReadFiles(names, shares)([asked]))


def rows(batches: list[pa.RecordBatch], *files: Path) -> Iterator[Row]:
    for batch in ReplayRuns(tuple(str(file) for file in files))(batches):
        columns = (batch.column(name).to_pylist() for name in ("table", "payload"))
        yield from (row_of(*each) for each in zip(*columns, strict=True))


def in_order(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    batches_in_order: list[pa.RecordBatch] = (
        pa.Table.from_batches(batches).sort_by(ORDER).to_batches(max_chunksize=7)
    )
    return batches_in_order


def test_sorted_lines_give_the_rows_of_the_local_engine(tmp_path: Path) -> None:
    write_shuffled(tmp_path, runs=18, events=60)
    files = sorted(tmp_path.iterdir())
    assert list(rows(in_order(read(*files)), *files)) == list(check_locally([tmp_path]))


def test_shares_are_read_file_by_file(tmp_path: Path) -> None:
    write_shuffled(tmp_path, runs=3, events=60)
    files = sorted(tmp_path.iterdir())
    one_by_one = pa.Table.from_batches(read(*files)).sort_by(ORDER)
    assert (
        pa.Table.from_batches(read(*files, shares=((4, 0), (3, 2, 1))))
        .sort_by(ORDER)
        .equals(one_by_one)
    )


def test_unsorted_lines_are_out_of_order(tmp_path: Path) -> None:
    write_shuffled(tmp_path, runs=3, events=60)
    files = sorted(tmp_path.iterdir())
    with pytest.raises(OutOfOrder, match="handed over after"):
        list(rows(read(*files), *files))


def test_a_line_without_a_run_behind_others_is_out_of_order(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(b"".join(run_lines("a", Component.TIMER, 60)))
    bad.write_bytes(b"{\n")
    assert isinstance(next(rows(read(bad, good), bad, good)), QuarantineRow)
    with pytest.raises(OutOfOrder, match="which has no run, was handed over after"):
        list(rows(read(good, bad), good, bad))


def test_batches_are_small_however_many_and_long_the_lines(tmp_path: Path) -> None:
    short, long = tmp_path / "short.jsonl", tmp_path / "long.jsonl"
    short.write_bytes(b'{"run":"a","seq":1}\n' * (2 * MOST_LINES + 1))
    long.write_bytes(b'{"run":"a","seq":1,"x":"%s"}\n' % (b"x" * 600_000) * 20)
    assert [batch.num_rows for batch in read(short)] == [MOST_LINES, MOST_LINES, 1]
    batches = read(long)
    assert sum(batch.num_rows for batch in batches) == 20
    assert max(batch.nbytes for batch in batches) < MOST_BYTES + (1 << 20)


def test_rows_leave_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_transport, "MOST_LINES", 10)
    file = tmp_path / "bad.jsonl"
    file.write_bytes(b"{\n" * 25)
    batches = list(ReplayRuns((str(file),))(read(file)))
    assert [batch.num_rows for batch in batches] == [10, 10, 5]
