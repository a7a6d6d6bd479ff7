"""Columns of Arrow out of Python values, without pandas; and what Spark calls them.

``pyarrow.array`` imports pandas where pandas is installed, which costs a worker 60 MiB for nothing.
These columns have no nulls, and are laid out by hand: it takes no longer.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate

import pyarrow as pa


def integers(values: Sequence[int]) -> pa.Array:
    """Return a column of 64 bits each.

    Raises:
        OverflowError: one needs more.
    """
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(array("q", values))])


def binaries(values: Sequence[bytes]) -> pa.Array:
    """Return a column of bytes; together less than 2 GiB.

    Raises:
        OverflowError: they are more.
    """
    return _laid_out(values, pa.binary())


def texts(values: Sequence[str]) -> pa.Array:
    """Return a column of texts; together less than 2 GiB.

    Raises:
        OverflowError: they are more.
    """
    return _laid_out([value.encode() for value in values], pa.string())


def _laid_out(values: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    ends = array("i", accumulate((len(value) for value in values), initial=0))
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def spark_columns(schema: pa.Schema) -> str:
    """Return the columns of a schema in Spark's words, which do not tell of null."""
    return ", ".join(f"`{field.name}` {_spark_type(field.type)}" for field in schema)


def _spark_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"array<{_spark_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {_spark_type(field.type)}' for field in kind)}>"
    return _SPARK_TYPES[kind]


_SPARK_TYPES = {pa.string(): "string", pa.int64(): "bigint", pa.binary(): "binary"}
