"""The history of a run: the calls of its threads, the events, and the results."""

from collections.abc import Callable, Iterator
from typing import Final

from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_model.overlapping.interleaving import Called, Happened, HistoryEvent, Returned
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason

SETUP: Final = "setup"
"""The name of the caller before the threads of the run begin."""

CALLS: Final = "calls"
"""The mark at the beginning of a call in the record of a run."""

RETURNS: Final = "returns"
"""The mark at the end of a call."""


class RecordedHistory:
    """Written down as it happens; only one thread moves, so the order is the order of the run.

    Attributes:
        events: From the beginning of the run.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.events: list[HistoryEvent] = []
        self._scheduler = scheduler

    def thread(self) -> str:
        """Return the thread that moves now."""
        running = self._scheduler.running
        return SETUP if running is None else running.name

    def call(
        self, operation: Operation, carry_out: Callable[[], tuple[Value, Reason | None]]
    ) -> None:
        """Make a call in the running thread.

        Args:
            operation: What is called.
            carry_out: Calls it; gives the result, or the reason why it was refused.
        """
        thread = self.thread()
        self.events.append(Called(thread, operation))
        self._scheduler.mark(CALLS, operation)
        result, raised = carry_out()
        self.events.append(Returned(thread, result, raised))
        self._scheduler.mark(RETURNS, self.events[-1])

    def happened(self, event: Event) -> None:
        """Note an event in the running thread."""
        self.events.append(Happened(self.thread(), event))

    def opened(self) -> Iterator[tuple[Operation, Returned | None]]:
        """Yield each call twice: at its beginning with None, at its end with its return."""
        inside: dict[str, Operation] = {}
        for event in self.events:
            if isinstance(event, Called):
                inside[event.thread] = event.operation
                yield event.operation, None
            elif isinstance(event, Returned):
                yield inside.pop(event.thread), event

    def calls(self) -> Iterator[tuple[Operation, Returned]]:
        """Yield each call with its return, in the order of the returns."""
        for operation, returned in self.opened():
            if returned is not None:
                yield operation, returned

    def called(self) -> Iterator[Operation]:
        """Yield the operations called, in the order of the calls."""
        for event in self.events:
            if isinstance(event, Called):
                yield event.operation
