"""Values that carry their own words: the choices of a profile, the parts of a vocabulary."""

from enum import Enum, StrEnum
from typing import Self


class Choice(Enum):
    """A value of a choice: its word in JSON, and ``says``, what it means in words."""

    says: str

    def __new__(cls, value: str, says: str = "") -> Self:
        """Make the member of this word."""
        member = object.__new__(cls)
        member._value_ = value
        member.says = says
        return member

    @property
    def value(self) -> str:
        """Return the word in JSON."""
        return str(self._value_)


class Offer(StrEnum):
    """A feature or an observable: its word in JSON, and ``says``, what it is in words."""

    says: str

    def __new__(cls, value: str, says: str = "") -> Self:
        """Make the member of this word."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.says = says
        return member
