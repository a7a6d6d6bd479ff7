"""Rows on their way out of a stream: a batch holds for each run what replaces its rows before.

A run's verdict and coverage stand until a later batch tells of the run again. A line set aside is
recorded once, when setting aside is certain. Lines that are held when a batch ends would be set
aside or judged if nothing came any more: what a check would say of them is *provisional*, and
stands only until the next batch that tells of the run.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from purgatory_pipeline.results.row_payloads import payload_of
from purgatory_pipeline.results.row_payloads import row_of as carried_row
from purgatory_pipeline.results.rows import Row


class Validity(Enum):
    """How long a row stands."""

    UNTIL_NEXT = "until next"
    """Until a later batch tells of the run again."""
    FOR_GOOD = "for good"
    """It is never taken back."""


class Record(NamedTuple):
    """A row with the facts that decide whether the row still stands."""

    run: str
    table: str
    standing: str
    payload: bytes


def record_of(run: str, row: Row, standing: Validity) -> Record:
    """The record that carries a row of a run; the run is empty for a line that names none."""
    table, payload = payload_of(row)
    return Record(run, table, standing.value, payload)


def row_of(record: Record) -> Row:
    """The row that a record carries."""
    return carried_row(record.table, record.payload)


def still_standing(batches: Iterable[Iterable[Record]]) -> Iterator[Record]:
    """The records that stand after a sequence of batches.

    Only the standing records are held in memory, no replaced records.
    """
    for_good: list[Record] = []
    latest: dict[str, list[Record]] = {}
    for batch in batches:
        told: dict[str, list[Record]] = {}
        for record in batch:
            if record.standing == Validity.FOR_GOOD.value:
                for_good.append(record)
            else:
                told.setdefault(record.run, []).append(record)
        latest.update(told)
    yield from for_good
    for records in latest.values():
        yield from records
