"""Objects that their user has dropped, and whether somebody else still holds them."""

import gc
from collections.abc import MutableMapping
from typing import TypeVar
from weakref import ref

Named = TypeVar("Named")


class Dropped:
    """Weak references to the objects that a case has dropped, by their names."""

    def __init__(self) -> None:
        """Begin with none."""
        self._references: dict[str, ref[object]] = {}

    def is_reachable(self, named: MutableMapping[str, Named], name: str) -> bool:
        """Drop the object of a name, if it is not dropped yet; return whether it still exists.

        Garbage is collected only where the last reference has not freed the object already.
        """
        if name in named:
            self._references[name] = ref(named.pop(name))
        reference = self._references.get(name)
        if reference is None or reference() is None:
            return False
        gc.collect()
        return reference() is not None
