"""The tables of a stream hold each run once, whatever batches say of it, and a kill leaves."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from purgatory_spark.streaming import tables as module
from purgatory_spark.streaming.tables import Tables
from purgatory_traces.engines.sinks import read_results
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from tests.pipeline.streaming.watched import rows_of, write_records

Record = tuple[int, str, Row, bool]
HOMES = {"a": 3, "b": 5, "c": 64, "d": 130, "e": 131, "f": 200, "i": 260}


def verdict(run: str, events: int, says: str = "incomplete") -> VerdictRow:
    return VerdictRow(run, "", "timer", says, events, events, also=("TIMER-CANCEL",))


def aside(line: int, run: str = "") -> QuarantineRow:
    return QuarantineRow("f", line, "raw", "why", run)


def told(run: str, events: int, *held: int, says: str = "incomplete") -> list[Record]:
    """Return what a batch says of a run: its verdict, its coverage and the lines that it holds."""
    rows: list[Row] = [verdict(run, events, says), CoverageRow(run, "TIMER-CANCEL", events)]
    rows += [aside(line, run) for line in held]
    return [(HOMES[run], run, row, False) for row in rows]


def for_good(home: int, *lines: int, run: str = "") -> list[Record]:
    return [(home, run, aside(line, run), True) for line in lines]


class Stream:
    """Tables in a folder, and batches for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = Tables(folder)

    def take(self, number: int, records: Iterable[Record], *files: int) -> None:
        write_records(self.tables.staging, records)
        self.tables.take(number, [aside(0, f"{each}") for each in files])

    def rows(self) -> list[Row]:
        return sorted(rows_of(self.folder), key=repr)

    def files(self) -> set[str]:
        return {path.name for path in self.tables.results.iterdir()}


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    return Stream(tmp_path / "tables")


def rows_in(*records: list[Record]) -> list[Row]:
    return sorted((row for each in records for _, _, row, _ in each), key=repr)


def test_a_run_is_what_the_latest_batch_says_of_it(stream: Stream) -> None:
    stream.take(0, [*told("a", 1, 8, 9), *told("b", 1), *for_good(0, 1)])
    stream.take(1, [*told("a", 2, 9), *for_good(64, 2), *for_good(3, 7, run="a")])
    assert stream.rows() == rows_in(
        told("a", 2, 9), told("b", 1), for_good(0, 1), for_good(64, 2), for_good(3, 7, run="a")
    )


def test_a_batch_that_is_done_again_replaces_itself(stream: Stream) -> None:
    stream.take(0, [*told("a", 1), *for_good(0, 1)])
    stream.take(1, [*told("a", 2), *told("c", 9), *for_good(64, 2)])
    stream.take(1, [*told("a", 3), *for_good(64, 2)])
    expected = rows_in(told("a", 3), for_good(0, 1), for_good(64, 2))
    assert stream.rows() == expected
    again = Stream(stream.folder)
    again.take(1, [*told("a", 3), *for_good(64, 2)])
    assert again.rows() == expected
    again.take(2, for_good(64, 2))  # the control: under another number it counts twice
    assert again.rows() == sorted([*expected, aside(2)], key=repr)


def test_rows_about_files_stand_as_long_as_they_are_told(stream: Stream) -> None:
    stream.take(0, told("a", 1), 1, 2)
    assert stream.rows() == sorted([*rows_in(told("a", 1)), aside(0, "1"), aside(0, "2")], key=repr)
    assert stream.tables.publish([aside(0, "2")]).files_aside == 1
    assert stream.rows() == sorted([*rows_in(told("a", 1)), aside(0, "2")], key=repr)
    stream.tables.publish([])
    assert stream.rows() == rows_in(told("a", 1))


def test_only_parts_with_a_changed_run_are_written(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 2)
    stream.take(0, [record for run in "abcdef" for record in told(run, 1)])
    before = stream.files()
    assert len(before) == 3 * len(("verdicts", "coverage"))
    stream.take(1, told("d", 2))
    assert len(stream.files() - before) == 2
    assert len(stream.files()) == len(before) + 2  # of the batch before, if this is done again
    stream.take(2, told("d", 3))
    assert len(stream.files() - before) == 4
    assert stream.rows() == rows_in(*(told(run, 3 if run == "d" else 1) for run in "abcdef"))


def test_merging_changes_no_row_and_bounds_the_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = Stream(tmp_path / "few"), Stream(tmp_path / "many")
    for number, runs in enumerate(["ab", "c", "f", "de", "ac", "f", "b", "e"]):
        records = [record for run in runs for record in told(run, number, number)]
        records += for_good(64 * number, 100 + number)
        for stream, most in ((few, 1), (many, 1000)):
            monkeypatch.setattr(module, "MOST_SMALL", most)
            stream.take(number, records)
        assert few.rows() == many.rows()
        counts = [each.tables.publish([]) for each in (few, many)]
        assert counts[0] == counts[1]
    assert len(few.files()) < len(many.files()) / 2


def test_the_counts_are_those_of_the_rows(stream: Stream) -> None:
    stream.take(0, [*told("a", 4, 8, says="conforms"), *told("b", 2)])
    stream.take(1, [*told("b", 5, says="diverges"), *for_good(3, 7, run="a")])
    counted = stream.tables.publish([aside(0)])
    summary = stream.tables.summary()
    assert (summary.events, summary.runs, summary.exit_code) == (9, 2, 1)
    for name in ("verdicts", "events", "components", "deviated", "visits", "broken", "exit_code"):
        assert getattr(counted, name) == getattr(summary, name), name
    assert (counted.lines_aside, counted.files_aside) == (2, 1)
    assert (summary.lines_aside, summary.files_aside) == (2, 1)


def test_verdicts_of_another_judge_stay_until_it_has_seen_a_run_whole(
    stream: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given three runs of which two are read again, one at first in part: no row is doubled."""
    monkeypatch.setattr(module, "MOST_RUNS", 2)
    monkeypatch.setattr(module, "MOST_SMALL", 1)
    former = Stream(tmp_path / "former")
    of_former = {
        "a": told("a", 4, says="conforms"),
        "b": told("b", 4, 3, says="diverges"),
        "c": told("c", 4, says="inconclusive"),
    }
    records = [record for each in of_former.values() for record in each]
    former.take(0, [*records, *told("d", 1), *for_good(130, 9)])
    assert stream.tables.keep(read_results(former.folder)) == 3
    assert stream.rows() == rows_in(*of_former.values())

    stream.take(0, [*told("a", 2, 8), *told("e", 1), *for_good(3, 7, run="a")])
    expected = [told("e", 1), for_good(3, 7, run="a")]
    assert stream.rows() == rows_in(*of_former.values(), *expected)
    stream = Stream(stream.folder)
    for _ in range(2):  # a batch that is done again replaces itself
        stream.take(1, [*told("a", 5, says="diverges"), *told("b", 6, says="conforms")])
        expected = [told("e", 1), for_good(3, 7, run="a"), of_former["c"]]
        expected += [told("a", 5, says="diverges"), told("b", 6, says="conforms")]
        assert stream.rows() == rows_in(*expected)
    assert stream.tables.publish([]).verdicts == {
        "conforms": 1,
        "diverges": 1,
        "incomplete": 1,
        "inconclusive": 1,
    }
    stream.take(2, [*told("c", 9, says="conforms"), *told("a", 6)])
    expected = [told("e", 1), for_good(3, 7, run="a"), told("c", 9, says="conforms")]
    expected += [told("a", 6), told("b", 6, says="conforms")]
    assert stream.rows() == rows_in(*expected)
