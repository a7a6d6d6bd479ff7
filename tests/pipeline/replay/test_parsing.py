"""Raw lines are read strictly: each fault is said in words, and right lines are read alike."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_spec.jsonlines import decode_line
from purgatory_spec.operations import Add, Cancel
from purgatory_traces.errors import Unusable
from purgatory_traces.traces.from_cases import encoded, trace_of_case
from purgatory_traces.traces.lines import Begin, Snapshot, Step, TraceLine
from purgatory_traces.traces.parsing import MOST_BYTES, parse, place_of

from .run_lines import cases

STEP = '{"kind":"step","run":"r","seq":3,"operation":{"op":"cancel","task":"t"}}'


def why_no_place(raw: bytes) -> str:
    with pytest.raises(Unusable) as caught:
        place_of(raw)
    return str(caught.value)


def why_unusable(raw: bytes) -> str:
    with pytest.raises(Unusable) as caught:
        parse(raw)
    return str(caught.value)


def test_a_line_may_not_be_longer_than_a_line_is() -> None:
    longest = STEP.encode() + b" " * (MOST_BYTES - len(STEP))
    assert place_of(longest) == ("r", 3)
    assert why_no_place(longest + b" ") == "the line is longer than 1048576 bytes"


def test_the_place_is_read_whatever_else_is_wrong() -> None:
    assert place_of(b'{"run":"r","seq":5,"kind":"unheard of"}\r\n') == ("r", 5)


UNUSABLE = {
    STEP.replace('"seq":3', '"seq":3,"seq":4'): "key given twice: seq",
    STEP.replace('"task":"t"', '"task":"t","task":"u"'): "key given twice: task",
    STEP.replace('"task":"t"', '"task":"\\u003a","task":"t"'): "key given twice: task",
    STEP.replace('"task":"t"', '"task":"t","extra":1'): (
        "unknown key in the operation cancel: extra"
    ),
    STEP.replace('"t"', '"\\ud800"'): (
        "a text in it holds half of a surrogate pair, which is no character"
    ),
    STEP.replace("}}", '},"extra":1}'): "Object contains unknown field `extra`",
    STEP.replace('"step"', '"stop"'): "Invalid value 'stop' - at `$.kind`; did you mean step?",
    STEP.replace('"kind":"step",', ""): "Object missing required field `kind`",
    STEP.replace('"cancel"', '"call off"'): "Invalid value 'call off' - at `$.operation.op`",
    STEP.replace('"t"', "5"): "Expected `str`, got `int` - at `$.operation.task`",
    STEP.replace("}}", '},"observed":{"size":1.5}}'): (
        "Expected `bool | int | array | null`, got `float` - at `$.observed[...]`"
    ),
    STEP[:-1]: "Expecting ',' delimiter: line 1 column 72 (char 71)",
    '{"kind":"snapshot","run":"r","seq":1,"calls":[{"thread":"t","at_ns":1,'
    '"operation":{"op":"cancel","task":"t","at":2}}]}': "unknown key in the operation cancel: at",
    '{"kind":"begin","run":"r","seq":0,"format":2,"instance":{"component":"timer"}}': (
        "format 2 is not supported, only 1"
    ),
}


@pytest.mark.parametrize("text", UNUSABLE)
def test_a_line_that_is_none_of_a_trace(text: str) -> None:
    assert why_unusable(text.encode()) == UNUSABLE[text]


def test_a_right_line_is_read() -> None:
    """Control the faults above: this is what they were made of."""
    assert parse(STEP.encode()) == Step(run="r", seq=3, operation=Cancel("t"))
    assert parse(STEP.encode() + b"\r\n") == parse(STEP.encode())


def test_a_large_integer_may_be_a_text() -> None:
    """Accept a text, since not every language reads and writes integers beyond 2^53 in JSON."""
    add = '{"op":"add","task":"t","delay_ms":"9223372036854775807"}'
    line = parse(STEP.replace('{"op":"cancel","task":"t"}', add).encode())
    assert line == Step(run="r", seq=3, operation=Add("t", 9223372036854775807))
    timed = STEP.replace('"seq":3', '"seq":3,"at_ns":"1700000000000000000"').encode()
    assert parse(timed).at_ns == 1_700_000_000_000_000_000


@given(st.text(), st.text())
def test_whatever_names_there_are_a_line_is_read_as_it_was_written(run: str, task: str) -> None:
    line = Step(run=run, seq=0, operation=Cancel(task))
    for raw in (encoded(line), json.dumps(json.loads(encoded(line))).encode()):
        assert parse(raw) == line
        assert place_of(raw) == (run, 0)


def test_the_fast_and_the_strict_reader_agree_on_every_golden_vector() -> None:
    kind: type[TraceLine] = TraceLine  # type: ignore[assignment]
    for case in cases():
        for line in trace_of_case(case):
            assert parse(encoded(line)) == decode_line(encoded(line), kind) == line


def test_defaults_may_be_left_away_or_told() -> None:
    short = b'{"kind":"begin","run":"r","seq":0,"instance":{"component":"timer"}}'
    long = b'{"kind":"begin","run":"r","seq":0,"format":1,"at_ns":null,"instance":' + (
        b'{"component":"timer","configuration":{"tick_ms":1}},"clock":{"kind":"manual"}}'
    )
    assert parse(short) == parse(long)
    assert isinstance(parse(short), Begin)
    assert parse(b'{"kind":"snapshot","run":"r","seq":1}') == Snapshot(run="r", seq=1)
