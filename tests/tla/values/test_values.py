"""Values: printed as TLA+ and as TLC prints them, and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itf_py import value_from_json, value_to_json

from purgatory_tla.errors import IllTyped, UnexpectedOutput
from purgatory_tla.values.printed import (
    PrintedFunction,
    PrintedRecord,
    PrintedSet,
    PrintedTuple,
    parse,
    parse_state,
)
from purgatory_tla.values.shapes import shaped
from purgatory_tla.values.type_annotations import Type, parse_type
from purgatory_tla.values.values import (
    ModelValue,
    Value,
    function,
    normalised,
    record,
    sequence,
    to_tla,
)

from .value_strategies import ODD_STRINGS, printed, typed_values


@given(typed_values(st.integers()))
def test_what_tlc_prints_is_read_back_as_it_was(typed: tuple[Type, Value]) -> None:
    declared, value = typed
    again = shaped(parse(printed(value)), declared)
    assert again == value
    assert type(again) is type(value)


@given(typed_values(st.integers()))
def test_what_is_written_as_tla_is_read_back_as_it_was(typed: tuple[Type, Value]) -> None:
    declared, value = typed
    assert shaped(parse(to_tla(value)), declared) == value


@given(typed_values())
def test_itf_keeps_the_value(typed: tuple[Type, Value]) -> None:
    _, value = typed
    assert normalised(value_from_json(value_to_json(value))) == value


@pytest.mark.parametrize("text", ODD_STRINGS)
def test_odd_strings_are_read_back_from_every_place(text: str) -> None:
    state = f"/\\ a = {to_tla(text)}\n/\\ b = (<<{to_tla(text)}>> :> {{{to_tla(text)}}})\n"
    assert parse_state(state) == {
        "a": text,
        "b": PrintedFunction(((PrintedTuple((text,)), PrintedSet((text,))),)),
    }


def test_a_single_variable_has_no_conjunction() -> None:
    assert parse_state("x = 0\n") == {"x": 0}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("-5", -5),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("TRUE", True),
        ("{}", PrintedSet(())),
        ("1..3", PrintedSet((1, 2, 3))),
        ("-2..0", PrintedSet((-2, -1, 0))),
        ("1..0", PrintedSet(())),
        ("BOOLEAN", PrintedSet((False, True))),
        ("<< >>", PrintedTuple(())),
        ("<<<<1>>, <<>>>>", PrintedTuple((PrintedTuple((1,)), PrintedTuple(())))),
        ("[1a |-> 1, IF |-> 2]", PrintedRecord((("1a", 1), ("IF", 2)))),
        ("(m1 :> 1)", PrintedFunction(((ModelValue("m1"), 1),))),
        ("(-1 :> 2 @@ 3 :> -4)", PrintedFunction(((-1, 2), (3, -4)))),
    ],
)
def test_forms_that_tlc_prints(text: str, read: object) -> None:
    assert parse(text) == read


@pytest.mark.parametrize(
    "text", ["", "{1", "<<1,>>", "[a 1]", "(1 :> )", "1 2", "@", '"open', "1..x", "0..99999999999"]
)
def test_other_text_is_unexpected(text: str) -> None:
    with pytest.raises(UnexpectedOutput):
        parse(text)


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        ("Int -> Str", '<<"a", "b">>', function({1: "a", 2: "b"})),
        ("Str -> Int", "[a |-> 1]", function({"a": 1})),
        ("Str -> Int", "<< >>", function({})),
        ("Seq(Int)", "<< >>", sequence([])),
        ("Seq(Int)", "<<1, 2>>", sequence([1, 2])),
        ("<<Int, Int>>", "<<1, 2>>", (1, 2)),
        ("{a: Int}", "[a |-> 1]", record({"a": 1})),
        ("{a: Int, rest}", "[a |-> 1, b |-> 2]", record({"a": 1, "b": 2})),
        ("THREAD", "t1", ModelValue("t1")),
        ("THREAD", '"1_OF_THREAD"', "1_OF_THREAD"),
        ("a", "<<1>>", (1,)),
    ],
)
def test_the_annotation_decides_what_the_text_means(declared: str, text: str, value: Value) -> None:
    shape = shaped(parse(text), parse_type(declared))
    assert (shape, type(shape)) == (value, type(value))


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("Int", "TRUE"),
        ("Bool", "1"),
        ("Str", "m1"),
        ("Set(Int)", "{TRUE}"),
        ("Set(Int)", "<<1>>"),
        ("Seq(Int)", "(2 :> 1)"),
        ("<<Int, Int>>", "<<1>>"),
        ("Int -> Int", "[a |-> 1]"),
        ("{a: Int}", "[a |-> 1, b |-> 2]"),
        ("{a: Int, b: Int}", "[a |-> 1]"),
        ("{a: Int}", "<< >>"),
        ("THREAD", '"1_OF_OTHER"'),
        ("(Int) => Int", "1"),
    ],
)
def test_a_value_that_does_not_inhabit_its_type_is_refused(declared: str, text: str) -> None:
    with pytest.raises(IllTyped):
        shaped(parse(text), parse_type(declared))


def test_records_are_neither_tuples_nor_other_records() -> None:
    one = record({"a": 1})
    others = [(1,), record({"b": 1}), record({"a": 2}), record({"a": 1, "b": 1}), ModelValue("a")]
    assert [other for other in others if other == one] == []
    assert len(frozenset([one, *others])) == len(others) + 1
    assert one == record({"a": 1})
    assert ModelValue("a") != ("a",)


def test_a_record_whose_field_cannot_be_an_attribute_is_a_map() -> None:
    assert record({"class": 1, "a": 2}) == function({"class": 1, "a": 2})


@pytest.mark.parametrize("text", ["\x00", "漢", "\x7f", "`"])
def test_a_character_that_tla_cannot_write_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot write"):
        to_tla(text)


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(TypeError, match="float"):
        to_tla(1.5)
