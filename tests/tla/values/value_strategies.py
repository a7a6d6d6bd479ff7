"""Random values with their types, and their text as TLC prints it."""

from collections.abc import Mapping

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from purgatory_tla.values import values
from purgatory_tla.values.type_annotations import (
    BasicType,
    FunctionType,
    RecordType,
    SequenceType,
    SetType,
    TupleType,
    Type,
)

ODD_STRINGS = (
    "",
    "plain",
    "1a",
    "_x",
    'quo"te',
    "back\\slash",
    "\\n",
    "line\nfeed",
    "tab\treturn\r",
    "a, b",
    "[a |-> 1]",
    "<<1>> >>",
    "(1 :> 2 @@ 3 :> 4)",
    "/\\ x = 1",
    "TRUE",
    "1..3",
    "{}",
    "@!@!@ENDMSG 2217 @!@!@",
    "é",
    "'~ $%&",
    "====",
    "(* no comment *)",
    "\\* nor this",
)
NAMES = ("a", "b", "key", "IF", "x1", "Next_step")

texts = st.sampled_from(ODD_STRINGS) | st.text('ab "\\\n\t,|->:@<>{}[]()=', max_size=6)
small = st.integers(-(2**31) + 1, 2**31 - 1)


def types(depth: int = 2) -> SearchStrategy[Type]:
    """Types of values that TLC can compare with each other."""
    basic: SearchStrategy[Type] = st.sampled_from(["Int", "Bool", "Str"]).map(BasicType)
    if not depth:
        return basic
    inner = types(depth - 1)
    fields = st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=3)
    return (
        basic
        | inner.map(SetType)
        | inner.map(SequenceType)
        | st.lists(inner, min_size=1, max_size=3).map(lambda each: TupleType(tuple(each)))
        | st.builds(FunctionType, inner, inner)
        | fields.map(lambda each: RecordType(tuple(sorted(each.items()))))
    )


def values_of(
    declared: Type, integers: SearchStrategy[int] = small
) -> SearchStrategy[values.Value]:
    """Values of the type."""
    match declared:
        case BasicType("Int"):
            return integers
        case BasicType("Bool"):
            return st.booleans()
        case BasicType():
            return texts
        case SetType(element):
            return st.frozensets(values_of(element, integers), max_size=3)
        case SequenceType(element):
            return st.lists(values_of(element, integers), max_size=3).map(values.sequence)
        case TupleType(elements):
            return st.tuples(*(values_of(each, integers) for each in elements))
        case FunctionType(argument, result):
            pairs = st.dictionaries(
                values_of(argument, integers), values_of(result, integers), max_size=3
            )
            return pairs.map(values.function)
        case RecordType(fields):
            return st.fixed_dictionaries(
                {name: values_of(each, integers) for name, each in fields}
            ).map(values.record)
        case _:
            raise AssertionError(declared)


def typed_values(
    integers: SearchStrategy[int] = small,
) -> SearchStrategy[tuple[Type, values.Value]]:
    return types().flatmap(
        lambda declared: values_of(declared, integers).map(lambda value: (declared, value))
    )


def printed(value: object) -> str:
    """The text of a value as TLC prints it."""
    # It prints functions over 1..n like tuples, those over what looks like names like records.
    if isinstance(value, frozenset):
        if len(value) > 1 and _is_interval(value):
            return f"{min(value)}..{max(value)}"
        return "{" + ", ".join(printed(each) for each in value) + "}"
    if isinstance(value, Mapping):
        return _printed_function(value)
    names = values.field_names(value)
    if names:
        fields = (f"{name} |-> {printed(getattr(value, name))}" for name in names)
        return "[" + ", ".join(fields) + "]"
    if isinstance(value, tuple | list) and not isinstance(value, values.ModelValue):
        return "<<" + ", ".join(map(printed, value)) + ">>" if value else "<< >>"
    return values.to_tla(value)


def _is_interval(value: frozenset[object]) -> bool:
    numbers = sorted(each for each in value if type(each) is int)
    return len(numbers) == len(value) and numbers[-1] - numbers[0] == len(numbers) - 1


def _printed_function(value: Mapping[object, object]) -> str:
    if not value:
        return "<< >>"
    if all(type(key) is int for key in value) and set(value) == set(range(1, len(value) + 1)):
        return "<<" + ", ".join(printed(value[at]) for at in range(1, len(value) + 1)) + ">>"
    if all(isinstance(key, str) and _is_name(key) for key in value):
        fields = (f"{key} |-> {printed(each)}" for key, each in value.items())
        return "[" + ", ".join(fields) + "]"
    pairs = (f"{printed(key)} :> {printed(each)}" for key, each in value.items())
    return "(" + " @@ ".join(pairs) + ")"


def _is_name(text: str) -> bool:
    return text.isascii() and text.replace("_", "a").isalnum()
