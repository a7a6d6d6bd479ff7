"""The inputs of measurements, drawn before the clock starts: splitmix64, as every peer has it."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final

from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Request

_MASK: Final = 2**64 - 1


class Draws:
    """The numbers of one seed."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        """Begin; the seed is taken modulo 2**64."""
        self._state = seed & _MASK

    def next(self) -> int:
        """Return the next 64 random bits."""
        self._state = state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
        return mixed ^ mixed >> 31

    def below(self, limit: int) -> int:
        """Return a number from 0 to ``limit - 1``."""
        return (self.next() >> 33) % limit

    def unit(self) -> float:
        """Return a number above 0 and below 1."""
        return ((self.next() >> 12) + 0.5) * 2.0**-52

    def three_of(self, keys: list[str]) -> tuple[str, str, str]:
        """Return three different keys, of at least three."""
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
        """Return a random delay, ms."""
        return self.lowest_ms + draws.below(self.span)

    def draw(self, draws: Draws, count: int) -> "array[int]":
        """Return so many delays, ms."""
        return array("q", (self.draw_one(draws) for _ in range(count)))


VIRTUAL: Final = Delays(1, 60_000)
"""The delays for a clock that the caller leads."""

FAR: Final = Delays(60_000, 60_000)
"""The delays for the real clock of timers that do not expire while they are measured."""

NEAR: Final = Delays(1, 2_000)
"""The delays for the real clock of timers that expire."""


def key_names(count: int) -> list[str]:
    """Return so many names of keys."""
    return [f"key-{number}" for number in range(count)]


def drawn_replacements(
    request: Request, delays: Delays, *, oldest: bool
) -> "tuple[array[int], array[int], array[int]]":
    """Draw the timers that are pending, and for each operation its victim and its fresh delay.

    Args:
        request: What is asked.
        delays: Where delays are drawn from, ms.
        oldest: Whether the victim is the timer that was added first of all; else it is drawn.

    Returns:
        The delays of the pending ones, ms; the places of the victims among them; the delays of the
        fresh ones, ms.

    Raises:
        CannotMeasure: nothing is pending.
    """
    pending = request.pending
    if pending == 0:
        raise CannotMeasure(f"{request.measure} needs pending to be at least 1")
    draws = Draws(request.seed)
    first = delays.draw(draws, pending)
    victims, fresh = array("q"), array("q")
    for number in range(request.operations):
        victims.append(number % pending if oldest else draws.below(pending))
        fresh.append(delays.draw_one(draws))
    return first, victims, fresh


def percentile(values: Iterable[int], share: float) -> int:
    """Return the smallest value that at least this share of the values does not exceed.

    Args:
        values: At least one.
        share: Above 0, at most 1.
    """
    ordered = sorted(values)
    return ordered[ceil(share * len(ordered)) - 1]
