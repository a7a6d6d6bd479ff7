"""The columns of what goes between the steps of a campaign, and of what it leaves.

Whatever is imported here needs pyarrow; the command says so where it is absent.
"""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

_VISITS = pa.list_(pa.struct([("rule", pa.string()), ("visits", pa.int64())]))


def _declared(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return a schema without missing values."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


NUMBERS = _declared({"component": pa.string(), "number": pa.int64()})
"""The columns of the numbers to draw."""

DRAWN = _declared(
    {"component": pa.string(), "number": pa.int64(), "run": pa.string(), "case": pa.binary()}
)
"""The columns of what was drawn: the id of the run and, encoded, the case to carry out."""

_JUDGED = {
    "verdict": pa.string(),
    "steps": pa.int64(),
    "rule": pa.string(),
    "kind": pa.string(),
    "expected": pa.string(),
    "seen": pa.string(),
    "visits": _VISITS,
}

DONE = _declared({"component": pa.string(), "number": pa.int64(), "run": pa.string(), **_JUDGED})
"""The results of runs; a run was drawn by its ``number``."""

RUNS = _declared(
    {
        "run": pa.string(),
        "component": pa.string(),
        "seed": pa.string(),
        "times": pa.int64(),
        **_JUDGED,
    }
)
"""The table ``runs``: ``seed`` is the first that draws the run, ``times`` how many of them do."""

COVERAGE = _declared(
    {
        "component": pa.string(),
        "rule": pa.string(),
        "level": pa.string(),
        "visits": pa.int64(),
        "runs": pa.int64(),
    }
)
"""The table ``coverage``: steps that put a rule to the test, and runs that have such steps."""

CAUSES = _declared(
    {
        "component": pa.string(),
        "rule": pa.string(),
        "kind": pa.string(),
        "runs": pa.int64(),
        "seed": pa.string(),
        "steps": pa.int64(),
        "expected": pa.string(),
        "seen": pa.string(),
        "replay": pa.string(),
    }
)
"""The table ``causes``: ``steps`` and ``replay`` are those of the shrunk case."""


def table_of(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.Table:
    """Return rows, each a value for every column, as a table."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def batch_of(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows, each a value for every column, as a batch."""
    return table_of(rows, schema).combine_chunks().to_batches()[0]


def numbers_of(components: Iterable[str], numbers: Sequence[int]) -> pa.Table:
    """Return the numbers for each component, number by number."""
    names = list(components)
    return table_of(((name, number) for number in numbers for name in names), NUMBERS)
