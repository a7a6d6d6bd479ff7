"""The operations of a stress run: they fail, re-enter, and leave behind what has become of them.

Everything about an operation is in a *record*, which outlives the operation: a log of events, each
with the thread of the event. What is judged in the end is read from the records, and a finding
shows the log.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from purgatory_impl import DelayedOperation

WATCH: Final = "watch"
REFUSED: Final = "watch refused"
TRY_RAISED: Final = "try raised"
FORCED: Final = "force"
CANCELLED: Final = "cancelled under a key"
TIME_OUT_CANCELLED: Final = "time-out cancelled"
COMPLETED: Final = "completed"
TIMED_OUT: Final = "completed by its time-out"
CALLBACK_RAISED: Final = "callback raised"
TIME_OUT_RAISED: Final = "callback raised in its time-out"
EXPIRED: Final = "on_expiration"
EXPIRY_RAISED: Final = "on_expiration raised"
FINALISED: Final = "finalised"
FINALISER_FAILED: Final = "finaliser failed"
"""The events that a record may hold."""


@dataclass(frozen=True)
class Partition:
    """A key: hashing and comparing it runs code in Python, where other threads come in."""

    topic: str
    number: int


class Planned(Exception):
    """Raised by an operation on purpose."""


@dataclass(eq=False, kw_only=True)
class Log:
    """The events of an operation or a task, kept when that itself is gone.

    Attributes:
        log: The events, each with the name of the thread.
    """

    log: list[tuple[str, str]] = field(default_factory=list)

    def note(self, what: str) -> None:
        """Add to the log; any thread may."""
        self.log.append((what, threading.current_thread().name))

    def count(self, what: str) -> int:
        """Return the number of the log's entries of a kind."""
        return sum(happened == what for happened, _ in self.log)

    def has(self, *anything: str) -> bool:
        """Decide whether the log has an entry of one of these kinds."""
        return any(happened in anything for happened, _ in self.log)

    def lines(self) -> str:
        """Return the log as text for people."""
        return "\n".join(f"    {what} ({thread})" for what, thread in self.log)


@dataclass(eq=False)
class Record(Log):
    """The record of an operation: its condition, its time-out and the log of its events.

    Attributes:
        serial: Its number, from 0.
        key: The number of the key whose events it waits for.
        threshold: The number of events that the operation needs.
        delay_ms: Its time-out.
    """

    serial: int
    key: int
    threshold: int
    delay_ms: int

    @property
    def completions(self) -> int:
        """Return the number of completions of the operation."""
        return self.count(COMPLETED) + self.count(TIMED_OUT)

    def __str__(self) -> str:
        """Return the operation, and its log."""
        return (
            f"operation {self.serial}, which waits for {self.threshold} events of key {self.key} "
            f"or {self.delay_ms} ms\n{self.lines()}"
        )


class Calls(threading.local):
    """The calls under way in a thread, and how many operations each has completed so far."""

    def __init__(self) -> None:
        self.completed: list[int] = []


@dataclass(frozen=True)
class Behaviour:
    """The behaviour of an operation besides waiting.

    Attributes:
        failures: The methods that raise: ``try 1`` for the first try and so on, ``complete``,
            ``expire``.
        during_try: Called in every try.
        during_complete: Called once completed.
        in_a_circle: It refers to itself, so that only the garbage collector finalises it.
        at_last: Called by the finaliser, where no circle keeps it for the collector, which runs
            anywhere, under any lock.
    """

    failures: frozenset[str]
    during_try: Callable[[], object]
    during_complete: Callable[[], object]
    in_a_circle: bool
    at_last: Callable[[], object]


class Waiting(DelayedOperation):
    """Can be completed as soon as its condition holds, and it stays true."""

    def __init__(
        self,
        record: Record,
        condition: Callable[[], bool],
        behaviour: Behaviour,
        calls: Calls,
    ) -> None:
        super().__init__(record.delay_ms)
        self.record = record
        self._condition = condition
        self._behaviour = behaviour
        self._calls = calls
        self._tries = 0
        self._myself = self if behaviour.in_a_circle else None

    def try_complete(self) -> bool:
        """Complete the operation if its condition holds; raise if this try is planned to fail."""
        self._tries += 1
        self._fail(f"try {self._tries}", TRY_RAISED)
        self._behaviour.during_try()
        return self._condition() and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion for the call under way; without a call, note a time-out."""
        under_way = self._calls.completed
        self.record.note(COMPLETED if under_way else TIMED_OUT)
        if under_way:
            under_way[-1] += 1
        self._behaviour.during_complete()
        self._fail("complete", CALLBACK_RAISED if under_way else TIME_OUT_RAISED)

    def on_expiration(self) -> None:
        """Note the expiry of the operation."""
        self.record.note(EXPIRED)
        self._fail("expire", EXPIRY_RAISED)

    def _fail(self, where: str, what: str) -> None:
        if where in self._behaviour.failures:
            self.record.note(what)
            raise Planned(what)

    def __del__(self) -> None:
        """Note the finalisation, and use the purgatory where a call from a finaliser is safe."""
        self.record.note(FINALISED)
        try:
            if self._myself is None:
                self._behaviour.at_last()
        except BaseException as failure:
            self.record.note(FINALISER_FAILED)
            self.record.note(repr(failure))
