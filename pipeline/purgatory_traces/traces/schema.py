"""The JSON Schema of the lines of a trace, for those who write traces in any language."""

import inspect
import json
from pathlib import Path
from typing import get_args

import msgspec

from purgatory_traces.traces.lines import TRACE_FORMAT, TraceLine

SCHEMA_FILE = Path(__file__).resolve().parent.parent / "schema" / "trace.schema.json"
"""The file of the schema's text; a test keeps it equal to the types."""


def trace_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of a line.

    It says nothing of the order of lines, nor that an operation or an event with a key that nobody
    knows is unusable, nor that an integer beyond 2^53 - 1 may be a decimal string.
    """
    kinds = get_args(TraceLine)
    references, components = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for component in components.values():
        # Python 3.13 and later strip the indentation of docstrings, earlier ones do not.
        component["description"] = inspect.cleandoc(component.get("description", ""))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "purgatory-spec, a line of a trace",
        "version": TRACE_FORMAT,
        "anyOf": list(references),
        "$defs": dict(sorted(components.items())),
    }


def schema_text() -> str:
    """Return the schema as the text of ``trace.schema.json``."""
    return json.dumps(trace_schema(), indent=2, sort_keys=True) + "\n"
