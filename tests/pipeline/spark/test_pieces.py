"""The two halves of the engine, without Spark: what one puts into Arrow, the other takes out."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from purgatory_spark.engine import pieces as spark_pieces
from purgatory_spark.engine import reading, replaying
from purgatory_spark.engine.pieces import (
    AGAIN,
    MOST_BYTES,
    MOST_LINES,
    CarriedRow,
    Piece,
    PieceKind,
    lines_in,
    pieces_in,
    pieces_of,
)
from purgatory_spark.engine.reading import JudgeOrCut, ReadShares, TraceFile
from purgatory_spark.engine.replaying import ReplayPieces
from purgatory_spec.profiles import Component
from purgatory_traces.engines.local import check_locally
from purgatory_traces.errors import OutOfOrder
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.results.schemas import TableName
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.synthetic import run_lines

from .corpora import row_with, write_shuffled

DAY = 20_783
ORDER = [(name, "ascending") for name in ("run", "seq", "kind")]


def read(
    *files: Path,
    shares: tuple[tuple[int, ...], ...] | None = None,
    judges: bool = True,
    only: frozenset[str] | None = None,
) -> list[pa.RecordBatch]:
    names = tuple(TraceFile(str(file), str(file), DAY) for file in files)
    shares = tuple((file,) for file in range(len(names))) if shares is None else shares
    asked = pa.RecordBatch.from_pydict({"id": list(range(len(shares)))})
    return list(ReadShares(names, shares, JudgeOrCut(judges, only))([asked]))


def carried(batches: list[pa.RecordBatch]) -> list[CarriedRow]:
    columns = CarriedRow._fields
    return [
        CarriedRow(*each)
        for batch in ReplayPieces()(batches)
        for each in zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
    ]


def of_tables(found: list[CarriedRow]) -> list[Row]:
    """The rows, without what is no row of a table."""
    tables = {table.value for table in TableName}
    return [
        row_with(TableName(each.table), json.loads(each.payload).values())
        for each in found
        if each.table in tables
    ]


def rows(batches: list[pa.RecordBatch]) -> list[Row]:
    return of_tables(carried(batches))


def in_order(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    batches_in_order: list[pa.RecordBatch] = (
        pa.Table.from_batches(batches).sort_by(ORDER).to_batches(max_chunksize=7)
    )
    return batches_in_order


def kinds(batches: list[pa.RecordBatch]) -> list[tuple[str, int, int]]:
    return [(piece.run, piece.kind, piece.lines) for piece in pieces_in(batches)]


def whole(run: str, events: int = 60) -> bytes:
    return b"".join(run_lines(run, Component.TIMER, events))


def compared(found: list[Row]) -> list[Row]:
    return sorted(found, key=repr)


def test_pieces_in_order_give_the_rows_of_the_local_engine(tmp_path: Path) -> None:
    write_shuffled(tmp_path, runs=18, events=60)
    files = sorted(tmp_path.iterdir())
    assert compared(rows(in_order(read(*files)))) == compared(list(check_locally([tmp_path])))


@pytest.mark.parametrize("judges", [True, False])
def test_rows_do_not_depend_on_the_shares(tmp_path: Path, judges: bool) -> None:
    write_shuffled(tmp_path, runs=6, events=60)
    files = sorted(tmp_path.iterdir())
    expected = compared(list(check_locally([tmp_path])))
    for shares in (((0, 1, 2, 3, 4),), ((4, 0), (3, 2, 1))):
        assert compared(rows(in_order(read(*files, shares=shares, judges=judges)))) == expected


def test_a_run_that_lies_whole_in_a_share_leaves_as_rows(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    lines = whole("cut").splitlines(keepends=True)
    one.write_bytes(b"".join(lines[:20]) + whole("whole"))
    two.write_bytes(b"".join(lines[20:]))
    judged = ("whole", PieceKind.JUDGED, 60)

    apart = [("cut", PieceKind.LINES, 20), judged, ("cut", PieceKind.LINES, 40)]
    assert kinds(read(one, two)) == apart
    assert kinds(read(one, two, shares=((0, 1),))) == [("cut", PieceKind.JUDGED, 60), judged]
    assert [kind for _, kind, _ in kinds(read(one, judges=False))] == [PieceKind.LINES] * 2


def test_runs_beyond_those_in_memory_leave_as_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_RUNS", 1)
    file = tmp_path / "a.jsonl"
    file.write_bytes(whole("a") + whole("b"))
    assert kinds(read(file)) == [("a", PieceKind.JUDGED, 60), ("b", PieceKind.LINES, 60)]
    assert compared(rows(read(file))) == compared(list(check_locally([file])))


def test_a_run_that_was_judged_and_has_lines_elsewhere_is_read_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_bytes(whole("a") + whole("b"))
    two.write_bytes(whole("a").splitlines(keepends=True)[7])
    first = carried(in_order(read(one, two)))
    assert [each.payload for each in first if each.table == AGAIN] == [b"a"]

    only = frozenset(["a"])
    second = rows(in_order(read(one, two, judges=False, only=only)))
    found = of_tables(first) + second
    assert compared(found) == compared(list(check_locally([tmp_path])))
    assert [row.events for row in second if isinstance(row, VerdictRow)] == [61]


def test_a_run_that_was_judged_twice_is_read_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for file in (one, two):
        file.write_bytes(whole("a"))
    first, _ = carried(in_order(read(one, two)))
    assert (first.table, first.payload) == (AGAIN, b"a")


def test_blocks_that_overlap_are_sorted_on_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "SORTED_BYTES", 2000)
    lines = whole("a").splitlines(keepends=True)
    for which in range(3):
        (tmp_path / f"{which}.jsonl").write_bytes(b"".join(lines[which::3]))
    files = sorted(tmp_path.iterdir())
    assert rows(in_order(read(*files))) == list(check_locally([tmp_path]))


@pytest.mark.parametrize("column", ["run", "seq"])
def test_pieces_that_were_not_sorted_are_out_of_order(
    tmp_path: Path, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_pieces, "MOST_LINES", 20)
    file = tmp_path / "a.jsonl"
    file.write_bytes(whole("a") + whole("b"))
    read_pieces = pa.Table.from_batches(read(file, judges=False))
    for unsorted in (
        read_pieces.sort_by([(column, "descending")]),
        read_pieces.sort_by([("run", "ascending"), ("seq", "descending")]),
    ):
        with pytest.raises(OutOfOrder, match="handed over after"):
            rows(unsorted.to_batches())


def located(*numbered: tuple[str, int]) -> list[Located]:
    return [Located("r", seq, file, seq + 5, b"%d" % seq) for file, seq in numbered]


@pytest.mark.parametrize(
    "lines",
    [
        located(("a", 0)),
        located(("a", 3), ("a", 4), ("a", 9)),
        located(("b", 3), ("a", 4), ("b", (1 << 63) - 1)),
        [Located("", 1, "µ", 1, b""), Located("", 1, "", 0, b"\xff\n")],
    ],
)
def test_lines_come_out_of_a_block_as_they_went_in(lines: list[Located]) -> None:
    (piece,) = pieces_of(lines[0].run, lines, DAY)
    assert piece[:5] == (lines[0].run, PieceKind.LINES, lines[0].seq, len(lines), DAY)
    assert list(lines_in(piece)) == lines


def test_blocks_are_small_however_many_and_long_the_lines(tmp_path: Path) -> None:
    short, long = tmp_path / "short.jsonl", tmp_path / "long.jsonl"
    short.write_bytes(b'{"run":"a","seq":1}\n' * (2 * MOST_LINES + 1))
    long.write_bytes(b'{"run":"a","seq":1,"x":"%s"}\n' % (b"x" * 600_000) * 20)
    assert [lines for _, _, lines in kinds(read(short))] == [MOST_LINES, MOST_LINES, 1]
    pieces = list(pieces_in(read(long)))
    sizes = [sum(len(line.raw) for line in lines_in(piece)) for piece in pieces]
    assert max(sizes) < MOST_BYTES + (1 << 20)
    assert sum(piece.lines for piece in pieces) == 20


def test_rows_leave_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_pieces, "MOST_LINES", 10)
    monkeypatch.setattr(reading, "_ROWS_AT_A_TIME", 4)
    file = tmp_path / "bad.jsonl"
    file.write_bytes(b"{\n" * 25)
    pieces = read(file)
    assert kinds(pieces) == [("0", PieceKind.ROWS, 0)] * 7
    assert [batch.num_rows for batch in ReplayPieces()(pieces)] == [10, 10, 6]


def test_rows_of_no_run_do_not_mix_with_a_run_of_that_name(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"{\n" + whole("0"))
    found = rows(in_order(read(file)))
    assert isinstance(found[0], QuarantineRow)
    assert found == list(check_locally([file]))
    assert Piece._fields[-1] == "payload"  # what batches are measured by
