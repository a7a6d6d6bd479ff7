"""``dataclasses.replace`` for the states of models, in half the time.

A model makes several new states in a step, nearly all of them by changing one field of another, so
that a long trace is judged about as fast as this is done. Type checkers see the function of the
standard library, with its checks of names and types.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

__all__ = ["replace"]

if TYPE_CHECKING:
    from dataclasses import replace
else:
    Value = TypeVar("Value")
    _NAMES: dict[type, tuple[str, ...]] = {}
    _new = object.__new__
    _set = object.__setattr__

    def replace(value: Value, /, **changes: object) -> Value:
        """Return the value with other fields; for dataclasses without work after ``__init__``."""
        kind = type(value)
        names = _NAMES.get(kind)
        if names is None:
            names = _NAMES[kind] = tuple(each.name for each in fields(kind))
        changed = _new(kind)
        for name in names:
            _set(changed, name, changes[name] if name in changes else getattr(value, name))
        return changed
