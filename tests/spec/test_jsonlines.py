"""JSON lines are strict: what is wrong with a line is said with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_spec import operations as op
from purgatory_spec.cases import Case, Step, TimerCaseHeader, decode_case, encode_case
from purgatory_spec.jsonlines import InvalidDocument, decode_line, encode_line
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import Feature, TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason

names = st.text(min_size=1, max_size=6)
integers = st.integers(-(2**63), 2**63 - 1)
actions = st.one_of(
    st.builds(op.Throw, sort=st.sampled_from(op.ThrowSort)),
    st.builds(op.AddInside, names, integers),
    st.builds(op.CancelInside, names),
    st.just(op.AdvanceInside()),
)
operations: st.SearchStrategy[op.Operation] = st.one_of(
    st.builds(op.Add, names, integers, st.lists(actions, max_size=3).map(tuple)),
    st.builds(op.Cancel, names),
    st.builds(op.Elapse, integers),
    st.builds(op.Advance, integers),
    st.just(op.RunOne()),
    st.builds(op.Wait, integers),
    st.just(op.Shutdown()),
)
events = st.builds(
    Event,
    st.sampled_from(EventKind),
    names,
    reason=st.none() | st.sampled_from(Reason),
    at_ms=st.none() | integers,
)
outcomes = st.builds(
    Outcome,
    result=st.none() | st.booleans(),
    rejected=st.none() | st.sampled_from(Reason),
    events=st.lists(events, max_size=3).map(tuple),
    observed=st.dictionaries(st.sampled_from(["size", "next_expiry_ms"]), st.none() | integers),
    detail=names,
    called_ms=st.none() | integers,
)


@given(st.lists(st.builds(Step, operations, st.none() | outcomes), max_size=3))
def test_a_case_read_back_is_the_case_written(steps: list[Step]) -> None:
    header = TimerCaseHeader(
        case="c1",
        configuration=TimerConfiguration(10, 5, -1003),
        profile=TimerProfile(largest_delay_ms=2**63 - 1, features=frozenset(Feature)),
    )
    case = Case(header, tuple(steps))
    assert decode_case(encode_case(case)) == case


def test_large_integers_travel_as_strings() -> None:
    assert (
        encode_line(op.Add("a", 2**53 - 1)) == '{"op":"add","task":"a","delay_ms":9007199254740991}'
    )
    assert (
        encode_line(op.Add("a", 2**53)) == '{"op":"add","task":"a","delay_ms":"9007199254740992"}'
    )
    assert decode_line('{"op":"add","task":"a","delay_ms":"9007199254740992"}', op.Add) == op.Add(
        "a", 2**53
    )


def test_a_task_named_like_a_large_integer_stays_a_name() -> None:
    operation = op.Cancel("9007199254740993")
    assert decode_line(encode_line(operation), op.Cancel) == operation


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"op":"cancel","task":"a","task":"b"}', "key given twice: task"),
        ('{"op":"cancel"}', "Object missing required field `task`"),
        ('{"op":"cancel","task":7}', "Expected `str`, got `int` - at `$.task`"),
        ("[" * 100 + "]" * 100, "nested more than 32 deep"),
        ("[" * 100_000, "nested too deeply"),
        ("nonsense", "Expecting value: line 1 column 1 (char 0)"),
        ('{"op":"cancel","task":"a"} {}', "Extra data"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(text: str, problem: str) -> None:
    with pytest.raises(InvalidDocument) as raised:
        decode_line(text, op.Cancel, "cases.jsonl", 7)
    assert str(raised.value).startswith("cases.jsonl:7: ")
    assert problem in raised.value.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ('{"case":"a"}', "missing required field `component`"),
        ('{"component":"reaper","case":"a"}', "Invalid value 'reaper'"),
        ('{"component":"timer","case":"a","format":2}', "format 2 is not supported"),
        ('{"component":"timer","case":"a/../b"}', "is not a plain word"),
        ('{"component":"timer","case":"a","extra":1}', "unknown field `extra`"),
        ('{"component":"timer","case":"a"}\n{"operation":{"op":"fly"}}', "Invalid value 'fly'"),
        ('{"component":"timr","case":"a"}', "; did you mean timer?"),
        ('{"component":"timer","case":"a","ruls":[]}', "; did you mean rules?"),
        (
            '{"component":"timer","case":"a","profile":{"rounding":"dwn"}}',
            "Invalid enum value 'dwn' - at `$.profile.rounding`; did you mean down?",
        ),
        (
            '{"component":"timer","case":"a","profile":{"clock":"sundial"}}',
            "; allowed are 'manual', 'wall'",
        ),
        (
            '{"component":"timer","case":"a"}\n'
            '{"operation":{"op":"add","task":"a","delay_ms":3,"scrip":[]}}',
            "Object contains unknown field `scrip` - at `$.operation`; did you mean script?",
        ),
        (
            '{"component":"timer","case":"a","configuration":{"wheel_size":1}}',
            "wheel_size is 1; it must be at least 2",
        ),
        (
            '{"component":"timer","case":"a","configuration":{"tick_ms":0}}',
            "tick_ms is 0; it must be at least 1",
        ),
    ],
)
def test_what_is_wrong_with_a_case_is_said(text: str, problem: str) -> None:
    with pytest.raises(InvalidDocument, match="mine") as raised:
        decode_case(text, "mine")
    assert problem in raised.value.problem
