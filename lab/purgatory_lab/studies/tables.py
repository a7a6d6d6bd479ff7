"""The results as tables: a declared schema, Parquet, and comma-separated values."""

from __future__ import annotations

import csv
import json
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from purgatory_conformance.whole_files import whole_file
from purgatory_lab.studies.counts import Counts, Range
from purgatory_lab.studies.setting import Setting
from purgatory_spec.named_files import named_file
from purgatory_traces.errors import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pyarrow

Cell = int | str | list[int]
Row = dict[str, Cell]
"""One setting and its counts, by the names of the columns."""

_LISTS: Final = ("inserted", "reinserted")
_RANGES: Final = tuple(field.name for field in fields(Counts) if field.type is Range)
_TEXTS: Final = ("study", "design", "case", "layout", "expiries")


def row_of(setting: Setting, counts: Counts) -> Row:
    """Return the row of a setting."""
    row: Row = {field.name: getattr(setting, field.name) for field in fields(Setting)}
    for field in fields(Counts):
        value = getattr(counts, field.name)
        if isinstance(value, Range):
            for part in fields(Range):
                row[f"{field.name}_{part.name}"] = getattr(value, part.name)
        else:
            row[field.name] = value
    return row


def columns() -> dict[str, str]:
    """Return the names of all columns in their order, each with its type."""
    kinds = {field.name: "text" if field.name in _TEXTS else "number" for field in fields(Setting)}
    for field in fields(Counts):
        if field.name in _RANGES:
            kinds |= {f"{field.name}_{part.name}": "number" for part in fields(Range)}
        else:
            kinds[field.name] = "numbers" if field.name in _LISTS else "number"
    return kinds


def schema() -> pyarrow.Schema:
    """Return the declared schema; no column is ever null.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    _require_pyarrow()
    import pyarrow as arrow

    types = {
        "text": arrow.string(),
        "number": arrow.int64(),
        "numbers": arrow.list_(arrow.field("element", arrow.int64(), nullable=False)),
    }
    return arrow.schema(
        [arrow.field(name, types[kind], nullable=False) for name, kind in columns().items()]
    )


def write_parquet(rows: Iterable[Row], path: Path) -> None:
    """Write rows to a file, whole or not at all."""
    _require_pyarrow()
    from pyarrow import Table, parquet

    with whole_file(path) as unfinished:
        parquet.write_table(Table.from_pylist(list(rows), schema=schema()), unfinished)


def read_parquet(path: Path) -> list[Row]:
    """Return the rows of a file that ``write_parquet`` has written."""
    _require_pyarrow()
    from pyarrow import parquet

    rows: list[Row] = parquet.read_table(path, schema=schema()).to_pylist()
    return rows


def write_summary(rows: Sequence[Row], path: Path) -> None:
    """Write rows as comma-separated values; a list is written as JSON."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns())
        for row in rows:
            writer.writerow(
                [json.dumps(row[name]) if kind == "numbers" else row[name]
                 for name, kind in columns().items()]
            )  # fmt: skip


def read_summary(path: Path) -> list[Row]:
    """Return the rows of a file that ``write_summary`` has written."""
    with named_file(path).open(encoding="utf-8", newline="") as file:
        return [
            {
                name: row[name] if kind == "text" else json.loads(row[name])
                for name, kind in columns().items()
            }
            for row in csv.DictReader(file)
        ]


def _require_pyarrow() -> None:
    require("pyarrow", "spark", "a table of results")
