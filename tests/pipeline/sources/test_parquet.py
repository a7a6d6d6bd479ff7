"""Traces as Parquet."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parquet import TraceRow, write_parquet
from purgatory_traces.traces.sources import read_file

A, B = b'{"run":"r","seq":0}', b'{"run":"r","seq":1}'


def write(path: Path, **columns: pa.Array) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()])
def test_each_row_is_a_line(tmp_path: Path, kind: pa.DataType) -> None:
    path = write(
        tmp_path / "t.parquet",
        more=pa.array([1.5, 2.5]),
        line=pa.array([A, B], pa.binary()).cast(kind),
        seq=pa.array([0, 1], pa.int64()),
        run=pa.array(["r", "r"]),
    )
    assert list(read_file(path)) == [
        Located("r", 0, str(path), 1, A),
        Located("r", 1, str(path), 2, B),
    ]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    assert write_parquet(path, [TraceRow("r", 1, B), TraceRow(None, None, b"x")]) == 2
    first, second = read_file(path)
    assert first == Located("r", 1, str(path), 1, B)
    assert isinstance(second, QuarantineRow)
    assert (second.line, second.raw) == (2, "x")
    assert "not JSON" in second.reason


def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = [TraceRow("r", n, b'{"run":"r","seq":%d}' % n) for n in range(70_000)]
    assert write_parquet(path, iter(rows)) == len(rows)
    assert pq.ParquetFile(path).num_row_groups == 2
    read = [each for each in read_file(path) if isinstance(each, Located)]
    assert [(each.run, each.seq, each.raw) for each in read] == [tuple(row) for row in rows]
    assert [each.number for each in read] == list(range(1, len(rows) + 1))


def test_columns_that_say_something_else_than_the_line_are_set_aside(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.parquet",
        run=pa.array(["r", "s", None, "r"]),
        seq=pa.array([1, 0, 0, None], pa.int64()),
        line=pa.array([A, A, A, None], pa.binary()),
    )
    rows = list(read_file(path))
    assert all(isinstance(row, QuarantineRow) for row in rows)
    reasons = [row.reason for row in rows if isinstance(row, QuarantineRow)]
    assert reasons == [
        "the columns say run 'r' and seq 1, the line 'r' and 0",
        "the columns say run 's' and seq 0, the line 'r' and 0",
        "the columns say run None and seq 0, the line 'r' and 0",
        "the column line is null",
    ]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"run": pa.array(["r"]), "seq": pa.array([0])}, "it has no column line"),
        ({"seq": pa.array([0]), "line": pa.array([A])}, "it has no column run"),
        (
            {"run": pa.array(["r"]), "seq": pa.array([0.0]), "line": pa.array([A])},
            "the column seq is double, not int64",
        ),
        (
            {"run": pa.array([1]), "seq": pa.array([0]), "line": pa.array([A])},
            "the column run is int64, not string",
        ),
    ],
)
def test_a_table_of_something_else_is_told(
    tmp_path: Path, columns: dict[str, pa.Array], said: str
) -> None:
    path = write(tmp_path / "t.parquet", **columns)
    (row,) = read_file(path)
    assert isinstance(row, QuarantineRow)
    assert (row.line, row.raw) == (0, "")
    assert said in row.reason


def test_an_empty_table_is_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_parquet(path, [])
    assert list(read_file(path)) == [QuarantineRow(str(path), 0, "", "the file is empty")]


@pytest.mark.parametrize("content", [b"", b"no Parquet", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_what_is_no_parquet_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    (row,) = read_file(path)
    assert isinstance(row, QuarantineRow)
    assert "cannot be read as Parquet" in row.reason


def test_a_damaged_page_ends_the_file_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = [TraceRow("r", n, b'{"run":"r","seq":%d}' % n) for n in range(130_000)]
    write_parquet(path, rows)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4000] = b"\xff" * 4000
    path.write_bytes(content)
    *lines, last = read_file(path)
    assert isinstance(last, QuarantineRow)
    assert "nothing is read from here on" in last.reason
    assert 0 < len(lines) < len(rows)
    assert [each.seq for each in lines] == list(range(len(lines)))


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    def broken() -> Iterator[TraceRow]:
        yield TraceRow("r", 0, A)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_parquet(tmp_path / "t.parquet", broken())
    assert list(tmp_path.iterdir()) == []
