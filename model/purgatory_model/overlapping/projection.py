"""A history seen by one delayed operation: what concerns it, and nothing else.

A check of a key is one call and many effects: it goes through a list, and what it does to one
operation has nothing to do with what it does to the next. A history of a concurrent purgatory is
therefore not explained as a whole, but for each operation by itself. Its *projection* on an
operation keeps

- ``Watch``, ``Force`` and ``Satisfy`` of the operation, with their results;
- ``Check`` of each of its keys. The result becomes the operation's share: the result less the
  completions of others that the call shows. It is 1 where the check completed the operation, 0
  where not; a check that counts wrongly leaves another number, which nothing explains;
- ``CancelForKey`` of each of its keys. The result becomes the operation's places in the list;
- ``Advance`` and ``RunOne``, whichever operation they concern: the operation's events show their
  effect on this operation;
- the events that name the operation. If the hand-over to the executor (``expired``) is shown
  outside every call, it becomes a separate call ``Advance(0)``: time is left out;
- ``Shutdown``, as it is.

An event of the operation in a call that does not concern it, a check of somebody else's key or
the watch of another operation, is kept and so explained by nothing.
"""

from dataclasses import dataclass, replace
from typing import Generic

from immutables import Map

from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    History,
    HistoryEvent,
    Returned,
)
from purgatory_model.overlapping.linearizability import Memory, Monitor
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Value


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call under way, and how many other operations it has completed so far."""

    operation: op.Operation
    concerns: bool
    others_completed: int = 0


OpenCalls = Map[str, OpenCall]
"""The calls under way by thread: what a projection has to remember."""


@dataclass(frozen=True, slots=True)
class Projection:
    """The projection of a history to one delayed operation.

    Attributes:
        name: The operation's name.
        keys: The keys it is watched under.
    """

    name: str
    keys: frozenset[str]

    def of(self, history: History) -> History:
        """Return the projection of a history."""
        calls: OpenCalls = Map()
        kept: list[HistoryEvent] = []
        for event in history:
            calls, events = self.step(calls, event)
            kept += events
        return tuple(kept)

    def concerns(self, operation: op.Operation) -> bool:
        """Decide whether a call may do anything to the operation."""
        match operation:
            case op.Watch(operation=name) | op.Force(name) | op.Satisfy(name):
                return name == self.name
            case op.Check(key) | op.CancelForKey(key):
                return key in self.keys
            case op.Advance() | op.RunOne() | op.Shutdown():
                return True
            case _:
                return False

    def step(self, calls: OpenCalls, event: HistoryEvent) -> tuple[OpenCalls, History]:
        """Return the part of an event that is kept, and the calls then under way."""
        match event:
            case Called(thread, operation):
                call = OpenCall(operation, self.concerns(operation))
                return calls.set(thread, call), (event,) if call.concerns else ()
            case Happened():
                return self._happened(calls, event)
            case Returned(thread):
                open_call = calls.get(thread)
                if open_call is None:
                    return calls, (event,)
                share = replace(event, result=self._share(open_call, event.result))
                return calls.delete(thread), (share,) if open_call.concerns else ()

    def _happened(self, calls: OpenCalls, event: Happened) -> tuple[OpenCalls, History]:
        call = calls.get(event.thread)
        if event.event.task == self.name:
            if call is None and event.event.kind is EventKind.EXPIRED:
                return calls, (
                    Called(event.thread, op.Advance(0)),
                    event,
                    Returned(event.thread),
                )
            return calls, (event,)
        if call is not None and event.event.kind is EventKind.COMPLETED:
            counted = replace(call, others_completed=call.others_completed + 1)
            calls = calls.set(event.thread, counted)
        return calls, ()

    def _share(self, call: OpenCall, result: Value) -> Value:
        """Return the operation's part in the result of a call."""
        if isinstance(call.operation, op.Check) and isinstance(result, int):
            return result - call.others_completed
        if isinstance(call.operation, op.CancelForKey) and isinstance(result, tuple):
            return tuple(name for name in result if name == self.name)
        return result


@dataclass(frozen=True, slots=True)
class Projected(Generic[Memory]):
    """A monitor that sees a history's projection alone."""

    projection: Projection
    monitor: Monitor[Memory]

    def begin(self) -> tuple[OpenCalls, Memory]:
        """Return the memory before the first event."""
        return Map(), self.monitor.begin()

    def after(
        self, memory: tuple[OpenCalls, Memory], event: HistoryEvent
    ) -> tuple[OpenCalls, Memory] | None:
        """Return the memory after one more event; None where no explanation is left."""
        calls, inner = memory
        calls, events = self.projection.step(calls, event)
        for kept in events:
            after = self.monitor.after(inner, kept)
            if after is None:
                return None
            inner = after
        return calls, inner
