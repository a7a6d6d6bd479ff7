"""Places of lines in splits: numbers that are counted from splits become those of files."""

from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pytest

from purgatory_spark.engine.hadoop import HadoopFile, ReadRows
from purgatory_spark.engine.pieces import PieceKind, pieces_in, rows_in
from purgatory_spark.engine.reading import JudgeOrCut
from purgatory_spark.engine.splits import (
    Place,
    Placing,
    Split,
    aside_of,
    file_of,
    places_of,
    split_name,
)
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow, VerdictRow


def test_the_first_split_has_the_name_of_its_file_and_others_are_in_order() -> None:
    names = [split_name("a", start) for start in (0, 9, 10, 100)] + ["a-1", "b"]
    assert names[0] == "a"
    assert names == sorted(names)
    assert {file_of(name) for name in names[:4]} == {"a"}


def test_lines_before_a_split_are_those_of_all_splits_before_it() -> None:
    splits = [Split(split_name("a", start), lines, 0) for start, lines in ((50, 3), (0, 5), (9, 2))]
    places = places_of([*splits, Split("b", 1, 0)])
    assert places == {
        "a": Place("a", 0),
        split_name("a", 9): Place("a", 5),
        split_name("a", 50): Place("a", 7),
        "b": Place("b", 0),
    }
    placing = Placing(places)
    row = QuarantineRow(split_name("a", 50), 2, "", "")
    assert placing(row) == QuarantineRow("a", 9, "", "")
    verdict = VerdictRow("r", "", "", "conforms", 1, 1)
    assert placing(verdict) == verdict


def rows_of_splits(content: bytes, cuts: tuple[int, ...]) -> list[QuarantineRow]:
    """Return what is set aside of a file that is read in splits after so many lines."""
    lines = content.split(b"\n")[: -1 if content.endswith(b"\n") else None]
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    which = [max(cut for cut in (0, *cuts) if cut <= number) for number in range(len(lines))]
    batch = pa.RecordBatch.from_pydict(
        {
            "file": [7] * len(lines),
            "start": [starts[cut] for cut in which],
            "row": pa.nulls(len(lines), pa.int64()),
            "run": pa.nulls(len(lines), pa.string()),
            "seq": pa.nulls(len(lines), pa.int64()),
            "raw": pa.array(lines, pa.binary()),
        }
    )
    files = {7: HadoopFile("a.jsonl", 7, len(content), 0)}
    pieces = pieces_in(ReadRows(files, JudgeOrCut())([batch]))
    found = [row for piece in pieces if piece.kind == PieceKind.ROWS for row in rows_in(piece)]
    splits = [row for row in found if isinstance(row, Split)]
    placing = Placing(places_of(splits))
    aside = [placing(row) for row in found if isinstance(row, QuarantineRow)]
    return sorted([*aside, *aside_of(["a.jsonl"], splits)])


@pytest.mark.parametrize(
    "content", [b"{\n\n\n{\n \n", b"\n\n", b"", b"\n{", b"{\n{\n{\n\n\n\n{\n\n", b"\xff\n\r\n{\n"]
)
@pytest.mark.parametrize("cuts", [(), (1,), (2,), (1, 3), (1, 2, 3, 4, 5, 6)])
def test_what_is_set_aside_does_not_depend_on_the_splits(
    content: bytes, cuts: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(content)
    assert rows_of_splits(content, cuts) == sorted(check_locally(["a.jsonl"]))
