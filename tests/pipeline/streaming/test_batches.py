"""What stands after the batches of a stream, whatever a kill has left of one of them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from purgatory_pipeline.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_pipeline.streaming.batches import Batches
from purgatory_pipeline.streaming.records import Record, Validity, record_of, row_of


def verdict(run: str, events: int) -> VerdictRow:
    return VerdictRow(run, "", "timer", "incomplete", events, events, also=("TIMER-CANCEL",))


def aside(line: int, run: str = "") -> QuarantineRow:
    return QuarantineRow("f", line, "raw", "why", run)


def told(run: str, events: int, *provisional: int) -> list[Record]:
    rows: list[Row] = [verdict(run, events), CoverageRow(run, "TIMER-CANCEL", events)]
    rows += [aside(line, run) for line in provisional]
    return [record_of(run, row, Validity.UNTIL_NEXT) for row in rows]


def for_good(*lines: int) -> list[Record]:
    return [record_of("", aside(line), Validity.FOR_GOOD) for line in lines]


def write(folder: Path, records: list[Record]) -> None:
    """What Spark does: a folder of Parquet files."""
    folder.mkdir()
    columns = list(zip(*records, strict=True))
    kinds = [pa.string(), pa.string(), pa.string(), pa.binary()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    pq.write_table(pa.table(arrays, names=list(Record._fields)), folder / "part-0.parquet")


def add(batches: Batches, number: int, records: list[Record]) -> None:
    write(batches.staging(number), records)
    batches.take_place(number)


def standing(batches: Batches) -> list[Row]:
    return sorted((row_of(record) for record in batches.standing()), key=repr)


def test_a_run_is_what_the_latest_batch_says_of_it(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    add(batches, 0, [*told("a", 1, 8, 9), *told("b", 1), *for_good(1)])
    add(batches, 1, [*told("a", 2, 9), *for_good(2)])
    assert standing(batches) == sorted(
        [
            *(aside(1), aside(2), aside(9, "a")),
            *(verdict("a", 2), verdict("b", 1)),
            *(CoverageRow("a", "TIMER-CANCEL", 2), CoverageRow("b", "TIMER-CANCEL", 1)),
        ],
        key=repr,
    )


def test_a_batch_that_is_done_again_replaces_itself(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    add(batches, 0, for_good(1))
    add(batches, 1, for_good(2))
    add(batches, 1, for_good(2))
    assert standing(batches) == [aside(1), aside(2)]
    add(batches, 2, for_good(2))  # the control: under another number it would count twice
    assert standing(batches) == [aside(1), aside(2), aside(2)]


def test_what_was_half_written_is_cleared_away(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    add(batches, 0, for_good(1))
    write(batches.staging(1), for_good(2))
    again = Batches(tmp_path)
    assert standing(again) == [aside(1)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["batch=000000"]


def test_merging_changes_nothing_and_leaves_the_latest_batch_alone(tmp_path: Path) -> None:
    few, many = Batches(tmp_path / "few", keep=2), Batches(tmp_path / "many", keep=100)
    for number in range(9):
        records = [*told(f"r{number % 4}", number, number), *for_good(100 + number)]
        for batches in (few, many):
            add(batches, number, records)
            batches.merge()
        assert standing(few) == standing(many)
        assert (tmp_path / "few" / f"batch={number:06}").is_dir()
        assert len(list((tmp_path / "few").iterdir())) <= 3
    assert len(list((tmp_path / "many").iterdir())) == 9


@pytest.mark.parametrize("killed", ["before the rename", "before the clearing"])
def test_a_kill_while_merging_loses_nothing(tmp_path: Path, killed: str) -> None:
    batches = Batches(tmp_path, keep=1)
    for number in range(3):
        add(batches, number, [*told("a", number), *for_good(number)])
    expected = standing(batches)
    before = {path.name: path for path in tmp_path.iterdir()}
    copies = {name: pq.read_table(next(path.glob("*.parquet"))) for name, path in before.items()}
    batches.merge()
    assert not before["batch=000000"].exists()
    for name in ("batch=000000", "batch=000001"):  # as they were when the kill came
        (tmp_path / name).mkdir()
        pq.write_table(copies[name], tmp_path / name / "part-0.parquet")
    if killed == "before the rename":
        (tmp_path / "merged=000001").rename(tmp_path / "staging-merged-000001")
    assert standing(Batches(tmp_path)) == expected
