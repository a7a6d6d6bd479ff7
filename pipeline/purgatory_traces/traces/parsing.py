"""Raw lines to trace lines, strictly: what is wrong with a line is said, and nothing is guessed.

Theory of operation. A line is read three times, each time by a decoder that is written in C, since
no one of them is strict enough. The first knows the types and rejects what is missing, unknown or
of another type; but it takes the last of two equal keys, and what an operation or an event says too
much it passes over. The second reads plain values, whose keys are compared with the known ones;
written again these have as many colons as the line, unless a key was given twice. A line that does
not pass is read by a slow and strict reader, which knows large integers as texts and says in words
what is wrong.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, TypeAlias, get_args

import msgspec

from purgatory_spec.jsonlines import InvalidDocument, decode_line
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event
from purgatory_traces.errors import Unusable
from purgatory_traces.traces.lines import TRACE_FORMAT, Begin, Snapshot, TraceLine

MOST_BYTES: Final = 1 << 20
"""A longer line is no line of a trace."""

LARGEST_SEQ: Final = 2**63 - 1
"""A larger number does not go into the tables."""

NOT_BELIEVED: Final = b""
"""The text in place of a line in damaged data, which may say something else than was written."""

NOT_COVERED: Final = b"\n"
"""Follows a run's last line in data that no checksum covers, with the number of that line."""

WHY_NOT: Mapping[bytes, str] = {
    NOT_BELIEVED: "the data that it stands in is damaged: no line of it counts",
    NOT_COVERED: "its compressed file breaks off: no checksum covers the lines of the run in it",
}
"""The reason for which such a line is set aside, in words."""

_ANY_LINE: type[TraceLine] = TraceLine  # type: ignore[assignment]


class _Place(msgspec.Struct, frozen=True):
    """The place of a line, which engines need; the rest is the replay's."""

    run: str
    seq: int


_PLACES = msgspec.json.Decoder(_Place)
_LINES: msgspec.json.Decoder[TraceLine] = msgspec.json.Decoder(_ANY_LINE)
_PLAIN = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()

_Json: TypeAlias = bool | int | float | str | list["_Json"] | dict[str, "_Json"] | None

_KEYS_OF_OPERATIONS = {
    str(kind.__struct_config__.tag): frozenset({"op", *kind.__struct_fields__})
    for kind in get_args(Operation)
}
_KEYS_OF_EVENTS = frozenset(Event.__struct_fields__)
_BYTE_ORDER_MARK = "\ufeff"
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def place_of(raw: bytes) -> tuple[str, int]:
    """Return the run and the number of a line, which may be wrong otherwise.

    Raises:
        Unusable: they cannot be read.
    """
    if len(raw) > MOST_BYTES:
        raise Unusable(f"the line is longer than {MOST_BYTES} bytes")
    try:
        place = _PLACES.decode(raw)
        if raw.count(b'"run"') != 1 or raw.count(b'"seq"') != 1:  # a key may be given twice
            place = decode_line(raw, _Place)
    except InvalidDocument as error:
        raise Unusable(error.problem) from None
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Unusable(_why(raw, error)) from None
    if place.seq < 0:
        raise Unusable(f"seq is {place.seq}; it counts from 0")
    if place.seq > LARGEST_SEQ:
        raise Unusable(f"seq is {place.seq}; the largest number is {LARGEST_SEQ}")
    return place.run, place.seq


def parse(raw: bytes) -> TraceLine:
    """Return the line of a trace that a raw line holds.

    Raises:
        Unusable: the text holds no such line; the message names the problem.
    """
    if raw in WHY_NOT:
        raise Unusable(WHY_NOT[raw])
    try:
        line = _LINES.decode(raw)
        plain: _Json = _PLAIN.decode(raw)
        once = b"\\u" not in raw and _ENCODER.encode(plain).count(b":") == raw.count(b":")
    except (msgspec.MsgspecError, ValueError, RecursionError):
        line, plain = _parsed_slowly(raw)
    else:
        if not once:
            line, plain = _parsed_slowly(raw)
    assert isinstance(plain, dict)
    _reject_unknown_keys(plain, line)
    if isinstance(line, Begin) and line.format != TRACE_FORMAT:
        raise Unusable(f"format {line.format} is not supported, only {TRACE_FORMAT}")
    return line


def _parsed_slowly(raw: bytes) -> tuple[TraceLine, _Json]:
    """Return the line by the strict reader, and its plain values."""
    try:
        line: TraceLine = decode_line(raw, _ANY_LINE)
    except InvalidDocument as error:
        raise Unusable(error.problem) from None
    if _HALF_A_PAIR.search(json.dumps(plain := json.loads(raw), ensure_ascii=False)):
        raise Unusable("a text in it holds half of a surrogate pair, which is no character")
    return line, plain


def _reject_unknown_keys(plain: dict[str, _Json], line: TraceLine) -> None:
    """Reject unknown keys of operations and events, which their types pass over."""
    operation = plain.get("operation")
    if type(operation) is dict:
        _reject_unknown_keys_of_operation(operation)
    events = plain.get("events")
    if type(events) is list:
        for event in events:
            if type(event) is dict and not event.keys() <= _KEYS_OF_EVENTS:
                _unknown(event.keys() - _KEYS_OF_EVENTS, "event")
    if type(line) is Snapshot and line.calls:
        calls = plain.get("calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict) and isinstance(inner := call.get("operation"), dict):
                _reject_unknown_keys_of_operation(inner)


def _reject_unknown_keys_of_operation(operation: dict[str, _Json]) -> None:
    known = _KEYS_OF_OPERATIONS[str(operation["op"])]
    if not operation.keys() <= known:
        _unknown(operation.keys() - known, f"operation {operation['op']}")


def _unknown(keys: set[str], place: str) -> None:
    raise Unusable(f"unknown key in the {place}: {', '.join(sorted(keys))}")


def _why(raw: bytes, error: Exception) -> str:
    """Return the fault of a line whose place cannot be read."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return "the line is not UTF-8"
    if text.startswith(_BYTE_ORDER_MARK):
        return "a byte-order mark stands before the line: write UTF-8 without one"
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
