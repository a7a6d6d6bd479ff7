"""The declared tables are those of the rows, wherever they are declared."""

from pathlib import Path

import pyarrow as pa

from purgatory_traces.results.schemas import TABLES, TableName, arrow_schema

PAGE = Path(__file__).parents[3] / "docs/reference/trace-results.md"


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
        assert [" | ".join(row.split(" | ")[:3]) for row in rows] == [
            f"| `{column.name}` | `{column.kind.value}` | {'yes' if column.nullable else 'no'}"
            for column in columns
        ]
