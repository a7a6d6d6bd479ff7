"""The three tables of results: their columns are the fields of their rows, in their order.

``docs/reference/trace-results.md`` says what they mean; a test keeps the page equal to the rows.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, get_args, get_type_hints

import msgspec

from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow

if TYPE_CHECKING:
    import pyarrow as pa


class Kind(Enum):
    """The type of a column, by its name in Spark."""

    STRING = "string"
    LONG = "bigint"
    STRINGS = "array<string>"


_KINDS: Mapping[object, Kind] = {
    str: Kind.STRING,
    int: Kind.LONG,
    tuple[str, ...]: Kind.STRINGS,
}


class Column(NamedTuple):
    """A column: its name, its type, and whether null is allowed."""

    name: str
    kind: Kind
    nullable: bool


class TableName(Enum):
    """The tables, by the names of their files."""

    VERDICTS = "verdicts"
    COVERAGE = "coverage"
    QUARANTINE = "quarantine"


ROW_TYPES: Mapping[TableName, type[Row]] = {
    TableName.VERDICTS: VerdictRow,
    TableName.COVERAGE: CoverageRow,
    TableName.QUARANTINE: QuarantineRow,
}
"""The rows of each table."""

TABLE_OF_ROW: Mapping[type[Row], TableName] = {kind: table for table, kind in ROW_TYPES.items()}
"""The table of each sort of row."""


def payload_of(row: Row) -> tuple[str, bytes]:
    """Return the name of the table that the row belongs to, and the row in JSON."""
    return TABLE_OF_ROW[type(row)].value, msgspec.json.encode(row)


def row_of(table: str, payload: bytes) -> Row:
    """Return the row that was carried."""
    return msgspec.json.decode(payload, type=ROW_TYPES[TableName(table)])


def _columns(row: type[Row]) -> Iterator[Column]:
    for name, hint in get_type_hints(row).items():
        parts = (hint, *get_args(hint))
        kind = next(_KINDS[each] for each in parts if each in _KINDS)
        yield Column(name, kind, type(None) in parts)


TABLES: Mapping[TableName, tuple[Column, ...]] = {
    table: tuple(_columns(row)) for table, row in ROW_TYPES.items()
}
"""The columns of each table."""


def arrow_schema(table: TableName) -> "pa.Schema":
    """Return the schema of a table; needs pyarrow."""
    import pyarrow as pa

    types = {
        Kind.STRING: pa.string(),
        Kind.LONG: pa.int64(),
        Kind.STRINGS: pa.list_(pa.field("element", pa.string(), nullable=False)),
    }
    return pa.schema(
        [pa.field(each.name, types[each.kind], nullable=each.nullable) for each in TABLES[table]]
    )
