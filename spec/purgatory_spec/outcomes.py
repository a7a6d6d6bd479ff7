"""The outcome of a step: result or rejection, the events it caused, the observables after it."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

import msgspec

from purgatory_spec.reasons import Reason

Value: TypeAlias = bool | int | None
"""The value of a result or of an observable."""


class EventKind(Enum):
    """What an event reports about a task."""

    EXPIRED = "expired"
    """The timer handed the task to the executor (only where the executor is stepped)."""

    RAN = "ran"
    """The task was executed, whether or not it then threw."""

    REJECTED = "rejected"
    """An operation that the running task attempted was rejected."""


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened to a task during a step.

    ``at_ms`` is the reading of the subject's clock, given only where that clock is real.
    """

    kind: EventKind
    task: str
    reason: Reason | None = None
    at_ms: int | None = None


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one operation.

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
    """The event that the timer handed ``task`` to the executor."""
    return Event(EventKind.EXPIRED, task)


def ran(task: str) -> Event:
    """The event that ``task`` was executed."""
    return Event(EventKind.RAN, task)
