"""Type annotations: read, written, found in modules."""

from pathlib import Path

import pytest
from hypothesis import given

from purgatory_tla.errors import InvalidSpecification, ParseFailure
from purgatory_tla.modules.module_text import read_module
from purgatory_tla.resources import modules_folder
from purgatory_tla.values.type_annotations import (
    BasicType,
    FunctionType,
    OperatorType,
    RecordType,
    SetType,
    TupleType,
    Type,
    TypeVariable,
    UninterpretedType,
    parse_type,
    type_text,
)

from .value_strategies import types

INT = BasicType("Int")
STR = BasicType("Str")

BASE = r"""---- MODULE Base ----
EXTENDS Integers
\* @typeAlias: entry = {key: Str, at: Int};
CONSTANT
  \* @type: Set(Str);
  Threads
(* VARIABLE commented (* nested *) out *)
====
"""
MODULE = r"""---------------- MODULE Toy ----------------
EXTENDS Base, Sequences
\* @type: THREAD;
CONSTANT Leader
CONSTANTS Bound, \* @type: (Int) => Int;
          Weight(_)
VARIABLES
  \* @type:
  \*   Str
  \*     -> Seq($entry);
  lists,
  (* @type: <<Int, Bool>>; *) pair
VARIABLE plain  \* no type

Init ==
  /\ lists = [t \in Threads |-> <<>>]
  /\ pair = <<1, TRUE>> /\ plain = "VARIABLE quoted == 1"

\* @type: (Str) => Bool;
Step(t) ==
  LET inner == 1 IN
  /\ pair' = <<inner, FALSE>>
  /\ UNCHANGED <<lists, plain>>

Next == \E t \in Threads : Step(t)
====
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    (tmp_path / "Base.tla").write_text(BASE, encoding="utf-8")
    (tmp_path / "Toy.tla").write_text(MODULE, encoding="utf-8")
    return tmp_path / "Toy.tla"


@given(types())
def test_a_type_is_read_back_from_its_text(one: Type) -> None:
    assert parse_type(type_text(one)) == one


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("Str -> Int -> Int", FunctionType(STR, FunctionType(INT, INT))),
        ("(Str -> Int) -> Int", FunctionType(FunctionType(STR, INT), INT)),
        ("[f: Int, g: Str]", RecordType((("f", INT), ("g", STR)))),
        ("{ f : Int , c }", RecordType((("f", INT),), open=True)),
        ("{}", RecordType(())),
        ("(Int, a) => Set(a)", OperatorType((INT, TypeVariable("a")), SetType(TypeVariable("a")))),
        ("() => Int", OperatorType((), INT)),
        ("Int => Int", OperatorType((INT,), INT)),
        ("Set(<<THREAD, Int>>)", SetType(TupleType((UninterpretedType("THREAD"), INT)))),
    ],
)
def test_the_grammar(text: str, parsed: Type) -> None:
    assert parse_type(text) == parsed
    assert parse_type(type_text(parsed)) == parsed


@pytest.mark.parametrize(
    "text", ["", "Set(", "Set", "Int Int", "(Int, Int)", "<<Int", "{f Int}", "$x", "A(Int)", "Int;"]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(ParseFailure, match="not expected"):
        parse_type(text)


def test_what_a_module_declares(toy: Path) -> None:
    module = read_module(toy)
    entry = RecordType((("at", INT), ("key", STR)))
    assert module.constants == ("Threads", "Leader", "Bound", "Weight")
    assert module.variables == ("lists", "pair", "plain")
    assert module.annotations.aliases == {"entry": entry}
    assert module.annotations.types == {
        "Threads": SetType(STR),
        "Leader": UninterpretedType("THREAD"),
        "Weight": OperatorType((INT,), INT),
        "lists": FunctionType(STR, parse_type("Seq($entry)", {"entry": entry})),
        "pair": TupleType((INT, BasicType("Bool"))),
        "Step": OperatorType((STR,), BasicType("Bool")),
    }


def test_where_a_module_defines(toy: Path) -> None:
    module = read_module(toy)
    assert list(module.definitions) == ["Init", "Step", "Next"]
    lines = MODULE.splitlines()
    places = {name: module.definition_at("Toy", 1 + number) for number, name in enumerate(lines)}
    assert places["  /\\ pair' = <<inner, FALSE>>"] == "Step"
    assert places["Next == \\E t \\in Threads : Step(t)"] == "Next"
    assert places["VARIABLES"] is None
    assert module.definition_at("Base", 14) is None


def test_a_wrong_annotation_is_told_with_its_module(toy: Path) -> None:
    toy.write_text(MODULE.replace("<<Int, Bool>>", "<<Int, Bool"), encoding="utf-8")
    with pytest.raises(ParseFailure, match="of pair in Toy"):
        read_module(toy)


@pytest.mark.parametrize("name", sorted(path.name for path in modules_folder().glob("*.tla")))
def test_every_constant_and_variable_of_our_modules_has_a_type(name: str) -> None:
    """Leave out the labels of a history, which are tuples of any length."""
    module = read_module(modules_folder() / name)
    declared = {*module.constants, *module.variables}
    labels = {"step"} & set(module.variables)
    assert declared - module.annotations.types.keys() == labels


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecification, match="cannot be read"):
        read_module(tmp_path / "None.tla")
