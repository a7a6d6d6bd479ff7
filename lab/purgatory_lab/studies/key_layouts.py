"""Layouts of keys: the keys that a request is watched under, and the key of its event.

    drawn    some of a space of keys, each set as likely as any other
    shared   all keys of the space: every list holds every operation
    own      keys that no other request has: every list holds one operation

The last two are the extremes between which every real choice lies.
"""

from collections.abc import Sequence
from random import Random
from typing import Literal, NamedTuple

Layout = Literal["drawn", "shared", "own"]


class Watch(NamedTuple):
    """The keys of a request, and the key among them that the event checks."""

    keys: Sequence[int]
    event_key: int


class KeyLayout:
    """Gives each request its keys, in the order of arrival; the same for the same seed."""

    def __init__(self, layout: Layout, keys: int, key_space: int, seed: int) -> None:
        """Make a layout of keys.

        Args:
            layout: How keys are chosen.
            keys: Keys of each request, at least 1.
            key_space: Keys there are to be drawn from; only of meaning where they are drawn.
            seed: Of what is drawn.
        """
        self.keys = keys
        self._layout = layout
        self._key_space = key_space
        self._random = Random(f"keys {seed}").random
        self._given = 0

    def next(self) -> Watch:
        """Return the keys of the next request."""
        if self._layout == "shared":
            return Watch(range(self.keys), int(self._random() * self.keys))
        if self._layout == "own":
            first = self._given
            self._given = first + self.keys
            return Watch(range(first, first + self.keys), first)
        drawn: list[int] = []
        while len(drawn) < self.keys:
            key = int(self._random() * self._key_space)
            if key not in drawn:
                drawn.append(key)
        return Watch(drawn, drawn[0])
