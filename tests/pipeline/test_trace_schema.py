"""The schema that travels with the package is that of the types."""

import json
from typing import get_args

import msgspec

from purgatory_traces.traces.lines import TRACE_FORMAT, TraceLine
from purgatory_traces.traces.schema import SCHEMA_FILE, schema_text


def test_the_schema_in_the_package_is_the_one_of_the_types() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()


def test_every_kind_of_line_is_in_it_with_its_fields() -> None:
    schema = json.loads(schema_text())
    assert schema["version"] == TRACE_FORMAT
    kinds = get_args(TraceLine)
    assert len(schema["anyOf"]) == len(kinds) == 7
    for kind in kinds:
        told = schema["$defs"][kind.__name__]
        fields = {field.encode_name for field in msgspec.structs.fields(kind)}
        assert set(told["properties"]) == fields | {"kind"}
        assert told["additionalProperties"] is False
        assert told["properties"]["kind"] == {"enum": [kind.__struct_config__.tag]}
