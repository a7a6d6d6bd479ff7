"""Whether values are of the types that a module declares, whoever made them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from purgatory_tla.modules.module_text import ModuleText
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
from purgatory_tla.values.values import ModelValue, field_names

if TYPE_CHECKING:
    from itf_py import Trace

_BASIC: dict[str, type] = {"Int": int, "Bool": bool, "Str": str}


def ill_typed(trace: "Trace", module: ModuleText) -> tuple[str, ...]:
    """Sentences about the values in a trace that are not of the declared type; none if all are.

    A variable of the module that has no annotation is a sentence too.
    """
    types = module.annotations.types
    missing = [name for name in trace.vars if name not in types]
    found = [f"{name} of {module.name} has no type annotation" for name in missing]
    for index, state in enumerate(trace.states):
        found += [
            f"{name} in state {index + 1} is not of the type {type_text(types[name])}: {value}"
            for name, value in state.values.items()
            if name in types and not inhabits(value, types[name])
        ]
    return tuple(found)


def inhabits(value: object, declared: Type) -> bool:
    """Whether the value is of the type; everything is of the type that a variable stands for."""
    match declared:
        case TypeVariable():
            return True
        case BasicType(name):
            return type(value) is _BASIC[name]
        case UninterpretedType(name):
            return isinstance(value, ModelValue) or (
                isinstance(value, str) and value.endswith(f"_OF_{name}")
            )
        case SetType(element):
            return isinstance(value, frozenset) and all(inhabits(each, element) for each in value)
        case SequenceType(element):
            return isinstance(value, list) and all(inhabits(each, element) for each in value)
        case TupleType(elements):
            return _is_tuple_of(value, elements)
        case FunctionType(argument, result):
            return isinstance(value, Mapping) and all(
                inhabits(at, argument) and inhabits(each, result) for at, each in value.items()
            )
        case RecordType():
            return _is_record_of(value, declared)
        case OperatorType():
            return False


def _is_tuple_of(value: object, types: tuple[Type, ...]) -> bool:
    if not isinstance(value, tuple) or hasattr(value, "_fields") or len(value) != len(types):
        return False
    return all(inhabits(each, one) for each, one in zip(value, types, strict=True))


def _is_record_of(value: object, declared: RecordType) -> bool:
    names = field_names(value)
    if names is not None:
        fields = {name: getattr(value, name) for name in names}
    elif isinstance(value, Mapping):
        fields = dict(value)
    else:
        return False
    types = dict(declared.fields)
    if not types.keys() <= fields.keys() or (not declared.open and fields.keys() != types.keys()):
        return False
    return all(inhabits(fields[name], each) for name, each in types.items())
