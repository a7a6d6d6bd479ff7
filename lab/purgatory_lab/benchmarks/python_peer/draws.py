"""The inputs of measurements, drawn before the clock starts: splitmix64, as every peer has it."""

from array import array
from dataclasses import dataclass
from typing import Final

_MASK: Final = 2**64 - 1


class Draws:
    """The numbers of one seed."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        """Begin; the seed is taken modulo 2**64."""
        self._state = seed & _MASK

    def next(self) -> int:
        """The next 64 bits."""
        self._state = state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
        return mixed ^ mixed >> 31

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit - 1``."""
        return (self.next() >> 33) % limit

    def unit(self) -> float:
        """A number above 0 and below 1."""
        return ((self.next() >> 12) + 0.5) * 2.0**-52

    def three_of(self, keys: list[str]) -> tuple[str, str, str]:
        """Three different keys, of at least three."""
        count = len(keys)
        first = second = third = self.below(count)
        while second == first:
            second = self.below(count)
        while third in (first, second):
            third = self.below(count)
        return keys[first], keys[second], keys[third]


@dataclass(frozen=True)
class Delays:
    """A range that delays are drawn from, ms."""

    lowest_ms: int
    span: int

    def draw_one(self, draws: Draws) -> int:
        """A delay, ms."""
        return self.lowest_ms + draws.below(self.span)

    def draw(self, draws: Draws, count: int) -> "array[int]":
        """So many delays, ms."""
        return array("q", (self.draw_one(draws) for _ in range(count)))


VIRTUAL: Final = Delays(1, 60_000)
"""For a clock that the caller leads."""

FAR: Final = Delays(60_000, 60_000)
"""For the real clock, so that nothing expires while it is measured."""

NEAR: Final = Delays(1, 2_000)
"""For the real clock, to expire."""


def key_names(count: int) -> list[str]:
    """So many keys."""
    return [f"key-{number}" for number in range(count)]
