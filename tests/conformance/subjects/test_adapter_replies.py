"""Replies are read fast, and as strictly as any other document."""

import random

import pytest

from purgatory_conformance.subjects.adapter_replies import decode_reply
from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.subject import FailureKind
from purgatory_spec.jsonlines import InvalidDocument, decode_line
from purgatory_spec.messages import Reply

LINES = [
    '{"id":1}',
    '{"id":1,"result":true,"events":[{"kind":"ran","task":"a"}],"observed":{"size":0}}',
    '{"id":1,"events":[],"observed":{},"result":null,"detail":""}',
    '{"id":1,"detail":"a: b","rejected":"closed"}',
    '{"id":1,"called_ms":5,"returned_ms":6,"events":[{"kind":"ran","task":"a","at_ms":5}]}',
    '{"id":1,"events":[{"kind":"rejected","task":"a","reason":"closed"}]}',
    '{"id":1,"observed":{"next_expiry_ms":null,"size":"9007199254740992"}}',
    '{"id":1,"unknown":{"a":[1,2.5,null]},"error":"x"}',
    '{"id":1,"id":1}',
    '{"id":1,"\\u0069d":1}',
    '{"id":1,"observed":{"size":1},"observed":{"size":1}}',
    '{"id":1,"observed":{"size":1,"size":2}}',
    '{"id":1,"events":[{"kind":"ran","kind":"ran","task":"a"}]}',
    '{"id":1,"unknown":{"a":1,"a":2}}',
    '{"id":1,"unknown":' + "[" * 40 + "]" * 40 + "}",
    '{"id":1,"unknown":' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"id":true}',
    '{"id":1.0}',
    '{"id":"1"}',
    '{"observed":{}}',
    '{"id":1,"result":1.5}',
    '{"id":1,"result":"yes"}',
    '{"id":1,"observed":{"size":"12"}}',
    '{"id":1,"observed":[1]}',
    '{"id":1,"events":[{"kind":"exploded","task":"a"}]}',
    '{"id":1,"events":[{"kind":"ran","task":1}]}',
    '{"id":1,"events":[{"kind":"ran"}]}',
    '{"id":1,"rejected":"whim"}',
    '{"id":1,"detail":null}',
    '{"id":1} {"id":2}',
    "{'id':1}",
    "null",
    "",
    " ",
]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_reading_fast_is_reading_strictly(line: str) -> None:
    """The fast way to read a reply accepts and yields just what ``decode_line`` does."""
    for variant in (line, line + "\r", line.replace(":", " : "), line.replace("}", "\t}")):
        strict: Reply | None
        try:
            strict = decode_line(variant, Reply)
        except InvalidDocument:
            strict = None
        fast: Reply | None
        try:
            fast = decode_reply(variant.encode())
        except Fault:
            fast = None
        assert fast == strict


def test_mutilated_lines_are_read_as_strictly() -> None:
    """Lines with a piece doubled, lost or replaced, of which some are valid and some are not."""
    source = random.Random(3)
    accepted = 0
    pieces = ('"id":1,', '"size":0', ":", ",", "{", "}", '"', "null", "1", '"detail":"x:y",')
    whole = [line for line in LINES[:12] if "9007199254740992" not in line]
    for _ in range(3000):
        line = source.choice(whole)
        for _ in range(source.randrange(1, 3)):
            start = source.randrange(len(line) + 1)
            end = min(len(line), start + source.randrange(8))
            piece = source.choice((*pieces, line[start:end] * 2))
            line = line[:start] + piece + line[source.choice((start, end)) :]
        try:
            strict = decode_line(line, Reply)
        except InvalidDocument:
            with pytest.raises(Fault):
                decode_reply(line.encode())
            continue
        accepted += 1
        assert decode_reply(line.encode()) == strict
    assert accepted > 100


@pytest.mark.parametrize(
    ("line", "explanation"),
    [
        (b'{"id":1,"detail":"\\ud800"}', "a string holds half of a surrogate pair"),
        (b'{"id":1,"observed":{"size":' + b"9" * 30 + b"}}", "has more than 64 bits"),
    ],
)
def test_what_no_report_could_write_down_is_refused(line: bytes, explanation: str) -> None:
    with pytest.raises(Fault, match=explanation) as caught:
        decode_reply(line)
    assert caught.value.kind is FailureKind.WRONG_TYPES
