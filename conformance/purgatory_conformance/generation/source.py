"""Sources of choices: a seeded generator for campaigns, Hypothesis for shrinking."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

Item = TypeVar("Item")


class Source(Protocol):
    """A source of choices. Smaller integers and earlier items count as simpler."""

    def integer(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""

    def item(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""

    def weighted(self, weights: Sequence[int]) -> int:
        """Return an index, in proportion to its weight; a weight of zero is never taken."""

    def more(self, taken: int, most: int) -> bool:
        """Decide whether to go on after ``taken`` of at most ``most`` repetitions."""


class SeededSource:
    """Choices from a pseudo-random generator; a case takes at least half its greatest length."""

    def __init__(self, seed: int | str) -> None:
        """Make a source of choices; equal seeds give equal choices."""
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        return self._random.randint(low, high)

    def item(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: Sequence[int]) -> int:
        """Return an index, in proportion to its weight."""
        return self._random.choices(range(len(weights)), weights)[0]

    def more(self, taken: int, most: int) -> bool:
        """Decide whether to go on: up to half the greatest length, then with falling odds."""
        return taken < most // 2 or self._random.randint(0, most) > taken


class HypothesisSource:
    """Choices drawn from Hypothesis, which can shrink them."""

    def __init__(self, draw: "DrawFn") -> None:
        """Draw by the function that a composite strategy receives."""
        from hypothesis import strategies  # 13 MiB, which no worker of a check needs

        self._draw = draw
        self._strategies = strategies

    def integer(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included; shrinks towards zero."""
        return self._draw(self._strategies.integers(low, high))

    def item(self, items: Sequence[Item]) -> Item:
        """Return one of the items; shrinks towards the first."""
        return self._draw(self._strategies.sampled_from(items))

    def weighted(self, weights: Sequence[int]) -> int:
        """Return an index of positive weight; shrinks to the first. Weights repeat indices."""
        indices = [index for index, weight in enumerate(weights) for _ in range(min(weight, 8))]
        return self._draw(self._strategies.sampled_from(indices))

    def more(self, taken: int, most: int) -> bool:
        """Decide whether to go on; shrinks towards stopping."""
        return taken < most and self._draw(self._strategies.integers(0, 15)) > 0
