"""The interface of a purgatory of any design to the measures."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol


class MeasuredPurgatory(Protocol):
    """A purgatory on the real clock, its thread ready."""

    def try_complete_else_watch(self, operation: Any, keys: Iterable[str]) -> bool:
        """Try to complete an operation; else watch it under each key."""

    def check_and_complete(self, key: str) -> int:
        """Try all that is watched under a key; how many this call has completed."""

    def close(self) -> None:
        """End the purgatory's threads."""

    @property
    def entries(self) -> int:
        """Return the sum of the lengths of all lists."""


class MakesPurgatory(Protocol):
    """A maker of measured purgatories."""

    def __call__(self, *, purge_interval: int = ...) -> MeasuredPurgatory:
        """Make a purgatory with this interval."""


class CountedRequest(Protocol):
    """An operation of a user's own class: it can be completed as soon as it is ready.

    Attributes:
        ready: Set by the benchmark when the operation's condition holds.
        completions: How often it was completed.
    """

    ready: bool
    completions: int

    def try_complete(self) -> bool:
        """Complete the request if it is ready."""


class ForcedRequest(Protocol):
    """An operation of a user's own class that no event completes."""

    def force_complete(self) -> bool:
        """Complete the request; whether this call has completed the request."""


class Record:
    """The record of numbered requests.

    Attributes:
        completions: How often each was completed, by its number.
        expired: How many the time-out has completed.
    """

    __slots__ = ("completions", "expired")

    def __init__(self, requests: int) -> None:
        """Begin without a completion of any request."""
        self.completions = bytearray(requests)
        self.expired = 0


@dataclass(frozen=True)
class Design:
    """A design that is measured.

    Attributes:
        purgatory: Makes a purgatory, with a purge interval other than 1000 where one is given and,
            where it has a wheel, tick 1 ms and wheel size 20.
        request: Makes an operation of a delay in ms that holds so many bytes.
        numbered_request: Makes a request that only force and time-out complete, and that marks its
            number in a record.
        ready_made: Makes an operation of a delay in ms, of a condition and of a callback, where the
            design has such operations.
    """

    purgatory: MakesPurgatory
    request: Callable[[int, int], CountedRequest]
    numbered_request: Callable[[int, int, int, Record], ForcedRequest]
    ready_made: Callable[[int, Callable[[], bool], Callable[[], None]], object] | None = None
