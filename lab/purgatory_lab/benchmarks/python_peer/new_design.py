"""Our purgatory and a user's operations in it."""

from collections.abc import Callable
from functools import partial
from typing import Final

from purgatory_impl import CallableOperation, DelayedOperation, Purgatory
from purgatory_lab.benchmarks.python_peer.designs import Design, Record


class Request(DelayedOperation):
    """Waits until it is ready."""

    __slots__ = ("completions", "payload", "ready")

    def __init__(self, delay_ms: int, payload: int) -> None:
        super().__init__(delay_ms)
        self.ready = False
        self.completions = 0
        self.payload = bytes(payload)

    def try_complete(self) -> bool:
        """Complete the request if it is ready."""
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion of the request."""
        self.completions += 1


class NumberedRequest(DelayedOperation):
    """Waits until it is forced, and marks itself in a record."""

    __slots__ = ("number", "payload", "record")

    def __init__(self, delay_ms: int, payload: int, number: int, record: Record) -> None:
        super().__init__(delay_ms)
        self.payload = bytes(payload)
        self.number = number
        self.record = record

    def try_complete(self) -> bool:
        """Return false: no event completes the request."""
        return False

    def on_complete(self) -> None:
        """Mark the number as completed."""
        self.record.completions[self.number] += 1

    def on_expiration(self) -> None:
        """Count the expiry; a single thread runs all time-outs."""
        self.record.expired += 1


def ready_made(
    delay_ms: int, condition: Callable[[], bool], on_complete: Callable[[], None]
) -> CallableOperation:
    """Return an operation that is made of callables."""
    return CallableOperation(condition, delay_ms, on_complete)


EXACT: Final = Design(Purgatory, Request, NumberedRequest, ready_made)
"""The new design with the accounting that is the default."""

PROPOSAL: Final = Design(
    partial(Purgatory, accounting="proposal"), Request, NumberedRequest, ready_made
)
"""The new design with the accounting as published."""
