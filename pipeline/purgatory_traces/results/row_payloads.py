"""Rows as bytes, with the name of their table: how one job carries the rows of all three."""

from collections.abc import Mapping

import msgspec

from purgatory_traces.results.rows import Row
from purgatory_traces.results.schemas import ROW_TYPES, TABLE_OF_ROW

_DECODERS: Mapping[str, msgspec.json.Decoder[Row]] = {
    table.value: msgspec.json.Decoder(kind) for table, kind in ROW_TYPES.items()
}


def payload_of(row: Row) -> tuple[str, bytes]:
    """Return the name of the table that the row belongs to, and the row in JSON."""
    return TABLE_OF_ROW[type(row)].value, msgspec.json.encode(row)


def row_of(table: str, payload: bytes) -> Row:
    """Return the row that was carried."""
    return _DECODERS[table].decode(payload)
