"""JSON on one line, strictly: duplicate and unknown keys are errors, large integers are strings.

Integers beyond 2^53 - 1 in size are not safe in every language's JSON reader, so they travel as
decimal strings. Reading turns such a string back wherever an integer is expected.
"""

import json
import re
from pathlib import Path
from typing import TypeVar

import msgspec

from purgatory_spec.misspelt import suggestion
from purgatory_spec.named_files import named_file
from purgatory_spec.profiles import LARGEST_SAFE_INTEGER

Document = TypeVar("Document")

_Json = None | bool | int | float | str | list["_Json"] | dict[str, "_Json"]
_LARGE_INTEGER = re.compile(r"-?[0-9]{16,20}")
_INTEGER_KEYS = frozenset(
    {
        "delay_ms",
        "to_ms",
        "for_ms",
        "at_ms",
        "called_ms",
        "returned_ms",
        "start_ms",
        "tick_ms",
        "wheel_size",
        "result",
    }
    | {"largest_delay_ms", "lateness_ms", "size", "queued", "wheel_clock_ms"}
    | {"queued_buckets", "next_expiry_ms", "levels"}
    | {"size_bytes", "max_single_bytes", "purge_interval"}
    | {"available_bytes", "used_bytes", "buffer_bytes", "depleted_ms"}
    | {"at_ns", "called_ns", "now_ms", "early_ms", "late_ms"}
)
_MAX_DEPTH = 32


class InvalidDocument(ValueError):
    """A line is no valid document: its source, its number and the problem.

    The number is 0 where the file as a whole is meant.
    """

    def __init__(self, source: str, line: int, problem: str) -> None:
        """Keep the three parts, so that a report may show them apart."""
        super().__init__(f"{source}:{line}: {problem}" if line else f"{source}: {problem}")
        self.source = source
        self.line = line
        self.problem = problem


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8.

    Raises:
        InvalidDocument: there is no such file, or it cannot be read.
    """
    try:
        return named_file(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InvalidDocument(str(path), 0, "no such file") from error
    except OSError as error:
        raise InvalidDocument(str(path), 0, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidDocument(str(path), 0, f"cannot be read: {error}") from error


def encode_line(document: object) -> str:
    """Return the document as one line of JSON without its newline."""
    return json.dumps(
        _large_integers_to_strings(msgspec.to_builtins(document, order="deterministic")),
        separators=(",", ":"),
    )


def decode_line(
    text: str | bytes, kind: type[Document], source: str = "<text>", line: int = 1
) -> Document:
    """Return the document of the given kind that one line of JSON holds.

    Raises:
        InvalidDocument: the line is not JSON, or not of that kind, or names a key twice.
    """
    try:
        plain: _Json = json.loads(text, object_pairs_hook=_object_without_duplicates)
        return msgspec.convert(_strings_to_large_integers(plain, "", 0), kind)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(source, line, _one_line(error, kind)) from error


def _one_line(error: Exception, kind: object) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    meant = suggestion(error, kind) if isinstance(error, msgspec.ValidationError) else ""
    return " ".join(str(error).split()) + meant


def _object_without_duplicates(pairs: list[tuple[str, _Json]]) -> dict[str, _Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"key given twice: {', '.join(repeated)}")
    return result


def _large_integers_to_strings(value: _Json) -> _Json:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value) if abs(value) > LARGEST_SAFE_INTEGER else value
    if isinstance(value, list):
        return [_large_integers_to_strings(item) for item in value]
    if isinstance(value, dict):
        return {key: _large_integers_to_strings(item) for key, item in value.items()}
    return value


def _strings_to_large_integers(value: _Json, key: str, depth: int) -> _Json:
    if depth > _MAX_DEPTH:
        raise ValueError(f"nested more than {_MAX_DEPTH} deep")
    if isinstance(value, str) and key in _INTEGER_KEYS and _LARGE_INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, list):
        return [_strings_to_large_integers(item, key, depth + 1) for item in value]
    if isinstance(value, dict):
        return {
            name: _strings_to_large_integers(item, name, depth + 1) for name, item in value.items()
        }
    return value
