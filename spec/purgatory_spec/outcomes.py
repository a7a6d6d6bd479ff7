"""The outcome of a step: result or rejection, the events it caused, the observables after it."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

import msgspec

from purgatory_spec.reasons import Reason

Value: TypeAlias = bool | int | tuple[str, ...] | None
"""The value of a result or of an observable; names where the result is a list of operations."""


class EventKind(Enum):
    """The kinds of events that a task or a delayed operation can have."""

    EXPIRED = "expired"
    """The timer handed the task to the executor (only where the executor is stepped)."""

    RAN = "ran"
    """The task was executed, whether or not it then threw."""

    TRIED = "tried"
    """``try_complete`` of the delayed operation was called."""

    COMPLETED = "completed"
    """``on_complete`` of the delayed operation was called."""

    TIMED_OUT = "timed_out"
    """``on_expiration`` of the delayed operation was called."""

    RECEIVED = "received"
    """The request was received whole, and is handed on."""

    REJECTED = "rejected"
    """An operation that the running task or callback attempted was rejected."""


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened to a task, a delayed operation or a request, during a step.

    ``task`` is its name: a delayed operation is a task of the purgatory's timer, and a request is
    named after its channel and its place among that channel's requests, from 1: ``c1#2``.

    ``at_ms`` is the reading of the subject's clock, given only where that clock is real.
    """

    kind: EventKind
    task: str
    reason: Reason | None = None
    at_ms: int | None = None


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of one operation.

    ``result`` is present where the subject declares that its operation has one. ``rejected``
    excludes a result. ``events`` stand in the order in which they happened. ``observed`` holds
    the declared observables, read after the operation. ``detail`` is for people alone.
    ``called_ms`` and ``returned_ms`` are readings of the subject's clock before and after the
    operation, given only where that clock is real.
    """

    result: Value = None
    rejected: Reason | None = None
    events: tuple[Event, ...] = ()
    observed: Mapping[str, Value] = {}
    detail: str = ""
    called_ms: int | None = None
    returned_ms: int | None = None


def expired(task: str) -> Event:
    """Return the event that the timer handed ``task`` to the executor."""
    return Event(EventKind.EXPIRED, task)


def ran(task: str) -> Event:
    """Return the event that ``task`` was executed."""
    return Event(EventKind.RAN, task)


def tried(operation: str) -> Event:
    """Return the event that ``try_complete`` of ``operation`` was called."""
    return Event(EventKind.TRIED, operation)


def completed(operation: str) -> Event:
    """Return the event that ``on_complete`` of ``operation`` was called."""
    return Event(EventKind.COMPLETED, operation)


def timed_out(operation: str) -> Event:
    """Return the event that ``on_expiration`` of ``operation`` was called."""
    return Event(EventKind.TIMED_OUT, operation)


def received(request: str) -> Event:
    """Return the event that ``request`` was received whole."""
    return Event(EventKind.RECEIVED, request)
