"""A printed value made the value of a declared type; a value that does not inhabit it is an error.

Without a type, ``<<...>>`` becomes a tuple, ``[a |-> 1]`` a record, ``(a :> 1)`` a function.
"""

from purgatory_tla.errors import IllTyped
from purgatory_tla.values.printed import (
    Printed,
    PrintedFunction,
    PrintedRecord,
    PrintedSet,
    PrintedTuple,
)
from purgatory_tla.values.type_annotations import (
    BasicType,
    FunctionType,
    OperatorType,
    RecordType,
    SequenceType,
    SetType,
    TupleType,
    Type,
    TypeVariable,
    UninterpretedType,
    type_text,
)
from purgatory_tla.values.values import ModelValue, Value, function, record, sequence, to_tla

_BASIC: dict[str, type] = {"Int": int, "Bool": bool, "Str": str}


def shaped(printed: Printed, declared: Type | None) -> Value:
    """Return the value in its declared type, or in its printed shape without a type.

    Raises:
        IllTyped: the value does not inhabit the type.
    """
    match declared:
        case None | TypeVariable():
            return unshaped(printed)
        case BasicType(name):
            if type(printed) is _BASIC[name]:
                return printed
        case UninterpretedType(name):
            if isinstance(printed, ModelValue):
                return printed
            # Apalache writes such a value as a string.
            if isinstance(printed, str) and printed.endswith(f"_OF_{name}"):
                return printed
        case SetType(element):
            if isinstance(printed, PrintedSet):
                return frozenset(shaped(each, element) for each in printed.elements)
        case SequenceType(element):
            if isinstance(printed, PrintedTuple):
                return sequence([shaped(each, element) for each in printed.elements])
        case TupleType(elements):
            if isinstance(printed, PrintedTuple) and len(printed.elements) == len(elements):
                pairs = zip(printed.elements, elements, strict=True)
                return tuple(shaped(value, each) for value, each in pairs)
        case FunctionType(argument, result):
            pairs_printed = _pairs(printed)
            if pairs_printed is not None:
                return function(
                    {shaped(at, argument): shaped(each, result) for at, each in pairs_printed}
                )
        case RecordType():
            return _record(printed, declared)
        case OperatorType():
            pass
    raise _ill_typed(printed, declared)


def unshaped(printed: Printed) -> Value:
    """Return the value in the shape it was printed in."""
    match printed:
        case PrintedSet(elements):
            return frozenset(map(unshaped, elements))
        case PrintedTuple(elements):
            return tuple(map(unshaped, elements))
        case PrintedRecord(fields):
            return record({name: unshaped(each) for name, each in fields})
        case PrintedFunction(pairs):
            return function({unshaped(at): unshaped(each) for at, each in pairs})
        case _:
            return printed


def _pairs(printed: Printed) -> tuple[tuple[Printed, Printed], ...] | None:
    """Return the arguments and results of anything that can be a function."""
    match printed:
        case PrintedFunction(pairs):
            return pairs
        case PrintedRecord(fields):
            return fields
        case PrintedTuple(elements):
            return tuple(enumerate(elements, start=1))
        case _:
            return None


def _record(printed: Printed, declared: RecordType) -> Value:
    if not isinstance(printed, PrintedRecord):
        raise _ill_typed(printed, declared)
    types = dict(declared.fields)
    found = {name for name, _ in printed.fields}
    if not types.keys() <= found or (not declared.open and found != types.keys()):
        raise _ill_typed(printed, declared)
    return record({name: shaped(each, types.get(name)) for name, each in printed.fields})


def _ill_typed(printed: Printed, declared: Type) -> IllTyped:
    return IllTyped(f"{to_tla(unshaped(printed))} is not of the type {type_text(declared)}")
