"""Fates of the latest names that are finished.

A name that is done with is forgotten. What became of the latest ones is kept, so that findings can
name the right rule and visits are counted; no verdict hangs on it.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Fate = TypeVar("Fate")

MOST_NAMES = 1024
"""The most names that are kept by default."""


@dataclass(slots=True)
class RecentNames(Generic[Fate]):
    """The latest names with what became of them; at most ``most``."""

    most: int = MOST_NAMES
    has_forgotten: bool = False
    """True if nothing is known of some earlier names: an unknown name need not be new."""
    _fates: dict[str, Fate] = field(default_factory=dict)

    def put(self, name: str, fate: Fate) -> None:
        """Put a finished name with its fate."""
        self._fates.pop(name, None)
        self._fates[name] = fate
        if len(self._fates) > self.most:
            del self._fates[next(iter(self._fates))]
            self.has_forgotten = True

    def take(self, name: str) -> Fate | None:
        """Take the fate of a name, which is live again from now on."""
        return self._fates.pop(name, None)

    def get(self, name: str) -> Fate | None:
        """Return the fate of a name, if it is still known."""
        return self._fates.get(name)
