"""Calls in the form for a search: beginning, end, events and answer of each call.

A *share* is the part of a run that one search explains: the whole run, or the part that concerns
one task or one delayed operation. Its entries are the calls, events and returns of a history, each
with its place in the run.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from purgatory_model.overlapping.interleaving import Called, Happened, HistoryEvent, Returned
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect, Rules
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event

Rule = TypeVar("Rule", bound=Hashable)


class Entry(NamedTuple):
    """An event of a history, with the number of its line and, where it is known, the time."""

    seq: int
    event: HistoryEvent
    at_ms: int | None = None


@dataclass(slots=True)
class RecordedCall:
    """A call, numbered in the order in which calls of a share begin.

    ``events`` are those of its thread while it was the thread's innermost call. A call without
    ``returned`` has an unknown outcome: it may take effect at any time after it began, or never.
    """

    number: int
    thread: str
    operation: Operation
    called: Entry
    events: tuple[Event, ...] = ()
    shown: list[Entry] = field(default_factory=list)
    returned: Returned | None = None
    ended: Entry | None = None


class CallRules(Protocol[Rule]):
    """Sequential rules that know the recorded call: the events, the answer, and the times."""

    @property
    def is_determined(self) -> bool:
        """Decide whether the calls that took effect, with their answers, determine the state."""
        return False

    def initial(self) -> Rule:
        """Return the state at the beginning."""

    def effects(self, state: Rule, call: RecordedCall, part: Part) -> Iterable[Effect[Rule]]:
        """Return the ways in which a part of a call may take effect; the first one is ``WHOLE``.

        Those that contradict the call's events or its answer may be left out.
        """

    def may_go_first(self, call: RecordedCall, others: Iterable[RecordedCall]) -> bool:
        """Decide whether a call of one part may as well take effect now, if it can.

        It may if each order that goes on with some of the others and then has the call is still
        allowed, and ends in the same state, with the call in front.

        Args:
            call: A call that returns.
            others: The calls that an order may have before it.
        """
        return False


@dataclass(frozen=True, slots=True)
class ModelRules(CallRules[Rule]):
    """Sequential rules of ``purgatory_model``: those of a call, whatever it showed."""

    rules: Rules[Rule]

    def initial(self) -> Rule:
        """Return the state at the beginning."""
        return self.rules.initial()

    def effects(self, state: Rule, call: RecordedCall, part: Part) -> Iterable[Effect[Rule]]:
        """Return the ways in which a part of a call may take effect."""
        return self.rules.effects(state, call.operation, part)


def thread_inside(thread: str, depth: int) -> str:
    """Return the name of a thread so many calls deep: a call inside a call is one deeper."""
    return thread if depth == 0 else f"{thread}{_INSIDE}{depth + 1}"


def thread_executing(thread: str, name: str) -> str:
    """Return the name of a thread while it runs a time-out, outside every call of its own."""
    return f"{thread}{_INSIDE}{_EXECUTING}{name}"


def is_executing(thread: str) -> bool:
    """Decide whether a name is a thread's while it runs a time-out."""
    return thread.partition(_INSIDE)[2].startswith(_EXECUTING)


def thread_of_line(thread: str) -> str:
    """Return the thread of the trace that a name made by one of these functions stands for."""
    return thread.partition(_INSIDE)[0]


_INSIDE = "\N{DOWNWARDS ARROW}"
_EXECUTING = "executing "


class NoHistory(Exception):
    """An event or a return outside every call; ``place`` is its index among the entries."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def calls_of(entries: Sequence[Entry], first: int = 0) -> list[RecordedCall]:
    """Return the calls of a history, in the order in which they begin, numbered from ``first`` on.

    Raises:
        NoHistory: an event or a return stands outside every call.
        ValueError: a thread calls while it is inside a call.
    """
    calls: list[RecordedCall] = []
    opened: dict[str, RecordedCall] = {}
    for place, entry in enumerate(entries):
        event = entry.event
        if isinstance(event, Called):
            if event.thread in opened:
                thread = thread_of_line(event.thread)
                raise ValueError(f"thread {thread!r} calls while it is inside a call")
            call = RecordedCall(first + len(calls), event.thread, event.operation, entry)
            calls.append(call)
            opened[event.thread] = call
            continue
        present = opened.get(event.thread)
        if present is None:
            raise NoHistory(place)
        if isinstance(event, Happened):
            present.events = (*present.events, event.event)
            present.shown.append(entry)
        else:
            present.returned = event
            present.ended = entry
            del opened[event.thread]
    return calls
