"""Raw lines to trace lines, strictly: what is wrong with a line is said, and nothing is guessed."""

import json
from typing import TypeAlias

import msgspec

from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.trace_lines import TRACE_FORMAT, Begin, TraceLine
from purgatory_spec.jsonlines import InvalidDocument, decode_line

MOST_BYTES = 1 << 20
"""A longer line is no line of a trace."""

LARGEST_SEQ = 2**63 - 1
"""A larger number does not go into the tables."""

MOST_SEQ = (1 << 63) - 1
"""What tables and engines have room for."""

_ANY_LINE: type[TraceLine] = TraceLine  # type: ignore[assignment]


class _Place(msgspec.Struct, frozen=True):
    """What an engine has to know of a line: the rest is left to the replay."""

    run: str
    seq: int


_PLACES = msgspec.json.Decoder(_Place)
_LINES: msgspec.json.Decoder[TraceLine] = msgspec.json.Decoder(_ANY_LINE)
_PLAIN = msgspec.json.Decoder()

_Json: TypeAlias = bool | int | float | str | list["_Json"] | dict[str, "_Json"] | None


def place_of(raw: bytes) -> tuple[str, int]:
    """The run and the number of a line, which need not be a right line otherwise.

    Raises:
        Unusable: they cannot be read.
    """
    if len(raw) > MOST_BYTES:
        raise Unusable(f"the line is longer than {MOST_BYTES} bytes")
    try:
        place = _PLACES.decode(raw)
        if raw.count(b'"run"') != 1 or raw.count(b'"seq"') != 1:  # one of them may be given twice
            place = decode_line(raw, _Place)
    except InvalidDocument as error:
        raise Unusable(error.problem) from None
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Unusable(_why(raw, error)) from None
    if place.seq < 0:
        raise Unusable(f"seq is {place.seq}; it counts from 0")
    if place.seq > LARGEST_SEQ:
        raise Unusable(f"seq is {place.seq}; the largest number is {LARGEST_SEQ}")
    if place.seq > MOST_SEQ:
        raise Unusable(f"seq is {place.seq}; it is at most {MOST_SEQ}")
    return place.run, place.seq


def parse(raw: bytes) -> TraceLine:
    """The line of a trace that a raw line holds.

    Raises:
        Unusable: it holds none; the message says what is wrong with it.
    """
    try:
        line = _LINES.decode(raw)
        once = _every_key_once(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        once = False
        line = None
    if line is None or not once:
        try:
            line = decode_line(raw, _ANY_LINE)
        except InvalidDocument as error:
            raise Unusable(error.problem) from None
    if isinstance(line, Begin) and line.format != TRACE_FORMAT:
        raise Unusable(f"format {line.format} is not supported, only {TRACE_FORMAT}")
    return line


def _every_key_once(raw: bytes) -> bool:
    """Whether certainly no key is given twice: a line has a colon for each key that it gives."""
    return raw.count(b":") == _keys(_PLAIN.decode(raw))


def _keys(value: _Json) -> int:
    if isinstance(value, dict):
        return len(value) + sum(_keys(inner) for inner in value.values() if type(inner) in _NESTED)
    if isinstance(value, list):
        return sum(_keys(inner) for inner in value if type(inner) in _NESTED)
    return 0


_NESTED = frozenset({dict, list})


def _why(raw: bytes, error: Exception) -> str:
    """What is wrong with a line whose place cannot be read."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return "the line is not UTF-8"
    if not text.strip():
        return "the line is empty"
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        if problem.msg == "Extra data":
            return f"more than one object in the line: the second begins in column {problem.colno}"
        return f"not JSON, or cut off: {problem.msg} in column {problem.colno}"
    except RecursionError:
        return "nested too deeply"
    except ValueError as problem:
        return " ".join(str(problem).split())
    return " ".join(str(error).split())
