"""Trace lines are filled with values of the states before and after a step."""

import pytest
from itf_py import value_from_json

from purgatory_tla.views.sayings import InvalidSaying, fill, show

BEFORE = {
    "available": 3,
    "request": value_from_json({"#map": [["t1", 2], ["t2", 1]]}),
    "key": value_from_json({"#map": [["t1", "k1"]]}),
    "lists": value_from_json({"#map": [["k1", {"#map": [[1, 5]]}]]}),
    "word": value_from_json({"#map": [["t1", {"completed": True, "entries": 4}]]}),
    "order": value_from_json(["a", "b"]),
    "waiting": value_from_json({"#set": ["t1", "t2"]}),
    "ready": value_from_json({"#map": [["t1", {"#set": [1, 2, 3]}]]}),
}
AFTER = {
    **BEFORE,
    "available": 1,
    "waiting": value_from_json({"#set": ["t2"]}),
    "ready": value_from_json({"#map": [["t1", {"#set": [2]}]]}),
}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing to fill", "nothing to fill"),
        ("{self} reads {available}, now {available'}", "t1 reads 3, now 1"),
        ("wants {request[self]} not {request[t2]}", "wants 2 not 1"),
        ("{lists[key[self]][1]} entries", "5 entries"),
        ("{word[self].entries} of {word[self].completed}", "4 of yes"),
        ("the first is {order[1]}", "the first is a"),
        ("{ available }", "3"),
        ("{waiting - waiting'} waits no longer", "t1 waits no longer"),
        ("reads {ready[self] - ready'[self]}", "reads {1, 3}"),
    ],
)
def test_placeholders_are_filled(text: str, words: str) -> None:
    assert fill(text, BEFORE, AFTER, "t1") == words


def test_what_depends_on_nobody_is_a_question_mark() -> None:
    line = "{self} reads {available}, wants {request[self]}"
    assert fill(line, BEFORE, AFTER, "") == "? reads 3, wants ?"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{avaliable}", "it must begin with a variable"),
        ("{}", "it ends too early"),
        ("{request[self}", "a ] is missing"),
        ("{request[t3]}", "has nothing at t3"),
        ("{available[self]}", "has nothing at t1"),
        ("{order[3]}", "has nothing at 3"),
        ("{word[self].entry}", "has no field entry"),
        ("{word[self].}", "it ends too early"),
        ("{available 2}", "'2' is not expected"),
        ("{available - available'}", "only what is a set before and after can be told apart"),
        ("{waiting - 2}", "only what is a set before and after can be told apart"),
    ],
)
def test_a_placeholder_without_a_value_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(InvalidSaying, match=r"^\{.*\}: ") as raised:
        fill(text, BEFORE, AFTER, "t1")
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"#set": [2, 10]}, "{10, 2}"),
        ({"#set": []}, "{}"),
        (["a", "b"], "[a, b]"),
        ({"#tup": [1, "x"]}, "[1, x]"),
        ({"#map": [["a", {"#tup": [3, 1]}]]}, "a: [3, 1]"),
        ({"#map": []}, "nothing"),
        ({"size": 1, "full": False}, "size: 1, full: no"),
        ({"#bigint": "-12"}, "-12"),
    ],
)
def test_values_are_shown_in_words(value: object, words: str) -> None:
    assert show(value_from_json(value)) == words
