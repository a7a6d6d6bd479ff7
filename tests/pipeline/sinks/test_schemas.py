"""The declared tables are those of the rows, wherever they are declared."""

import inspect
from pathlib import Path
from typing import get_args, get_type_hints

import pyarrow as pa
import pytest

from purgatory_pipeline.results.schemas import (
    ROW_TYPES,
    TABLES,
    Kind,
    TableName,
    arrow_schema,
)

PAGE = Path(__file__).parents[3] / "docs/reference/trace-results.md"


@pytest.mark.parametrize("table", TableName)
def test_columns_are_the_fields_of_the_rows(table: TableName) -> None:
    hints = get_type_hints(ROW_TYPES[table])
    kinds = {Kind.STRING: str, Kind.LONG: int, Kind.STRINGS: tuple[str, ...]}
    declared = {
        column.name: (kinds[column.kind] | None) if column.nullable else kinds[column.kind]
        for column in TABLES[table]
    }
    assert list(declared) == list(inspect.signature(ROW_TYPES[table]).parameters)
    assert declared == hints
    assert [type(None) in get_args(hint) for hint in hints.values()] == [
        column.nullable for column in TABLES[table]
    ]


def test_schemas_for_arrow_are_the_declared_ones() -> None:
    assert arrow_schema(TableName.COVERAGE) == pa.schema(
        [
            pa.field("run", pa.string(), nullable=False),
            pa.field("rule", pa.string(), nullable=False),
            pa.field("visits", pa.int64(), nullable=False),
        ]
    )
    for table in TableName:
        assert arrow_schema(table).names == [column.name for column in TABLES[table]]
    also = arrow_schema(TableName.VERDICTS).field("also").type
    assert also == pa.list_(pa.field("element", pa.string(), nullable=False))


def test_the_page_has_the_tables_as_they_are_declared() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for table, columns in TABLES.items():
        head = f"## {table.value}\n"
        assert head in text
        section = text.partition(head)[2].partition("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| `")]
        assert rows == [
            f"| `{column.name}` | `{column.kind.value}` | {'yes' if column.nullable else 'no'} "
            f"| {column.says} |"
            for column in columns
        ]
