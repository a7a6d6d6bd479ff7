"""The three tables of results: their columns, stated once.

From this statement follow the schemas of the Parquet files and the page of documentation. The
columns of a table are the fields of its rows, in their order.
"""

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from purgatory_pipeline.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow

if TYPE_CHECKING:
    import pyarrow as pa


class Kind(Enum):
    """The type of a column, by its name in Spark."""

    STRING = "string"
    LONG = "bigint"
    STRINGS = "array<string>"


class Column(NamedTuple):
    """A column: name, type, whether null is allowed, and the meaning of its values."""

    name: str
    kind: Kind
    nullable: bool
    says: str


class TableName(Enum):
    """The tables, by the names of their files."""

    VERDICTS = "verdicts"
    COVERAGE = "coverage"
    QUARANTINE = "quarantine"


def _string(name: str, says: str) -> Column:
    return Column(name, Kind.STRING, False, says)


def _long(name: str, says: str, *, nullable: bool = False) -> Column:
    return Column(name, Kind.LONG, nullable, says)


TABLES: Mapping[TableName, tuple[Column, ...]] = {
    TableName.VERDICTS: (
        _string("run", "the run; the table has one row for each, in the order of their names"),
        _string("subject", "whom the run is about, as its first line says"),
        _string("component", "`timer`, `purgatory` or `memory_pool`; empty if not known"),
        _string("verdict", "`conforms`, `diverges`, `incomplete` or `inconclusive`"),
        _long("events", "how many lines of the run there are, those set aside included"),
        _long("judged", "how many of them were judged"),
        _long("seq", "of the first line that is not allowed, its number", nullable=True),
        _string("file", "the file that it is in"),
        _long("line", "its line in the file, from 1; of Parquet, its row", nullable=True),
        _string("thread", "the thread that it is about"),
        _string("operation", "the operation that it is about, in words"),
        _string("rule", "the id of the rule that is broken"),
        _string("kind", "the sort of mismatch, for example `missing`"),
        _string("expected", "what the rules allow here"),
        _string("seen", "what the line says"),
        Column("also", Kind.STRINGS, False, "further rules that it may be put down to"),
        _string("cause", "the same for runs that fail in the same way"),
        _string("reason", "why the run is incomplete or inconclusive"),
        Column("deviated", Kind.STRINGS, False, "the declared deviations that were seen"),
        _long("pending_expiries", "expiries awaited, and not overdue yet, at its end or shutdown"),
        _long("open_calls", "calls that had not returned at its end"),
        Column("uncompared", Kind.STRINGS, False, "declared observables that were not compared"),
        _string("model_version", "by which model the run was judged"),
    ),
    TableName.COVERAGE: (
        _string("run", "the run"),
        _string("rule", "the id of a rule"),
        _long("visits", "how often the run put that rule to the test, at least once"),
    ),
    TableName.QUARANTINE: (
        _string("file", "the file"),
        _long("line", "the line in it, from 1; 0 where it is about the whole file"),
        _string("raw", "the line as it stands there"),
        _string("reason", "why it could not be used"),
        _string("run", "its run; empty where that could not be read"),
        _long("seq", "its number in the run, where that could be read", nullable=True),
    ),
}
"""What is in each table."""

ROW_TYPES: Mapping[TableName, type[Row]] = {
    TableName.VERDICTS: VerdictRow,
    TableName.COVERAGE: CoverageRow,
    TableName.QUARANTINE: QuarantineRow,
}
"""The rows of each table."""

TABLE_OF_ROW: Mapping[type[Row], TableName] = {kind: table for table, kind in ROW_TYPES.items()}
"""The table of each sort of row."""


def arrow_schema(table: TableName) -> "pa.Schema":
    """The schema of a table; needs pyarrow."""
    import pyarrow as pa

    types = {
        Kind.STRING: pa.string(),
        Kind.LONG: pa.int64(),
        Kind.STRINGS: pa.list_(pa.field("element", pa.string(), nullable=False)),
    }
    return pa.schema(
        [pa.field(each.name, types[each.kind], nullable=each.nullable) for each in TABLES[table]]
    )
