"""The run of one setting: a clock of whole milliseconds, and what happens in each of them.

Theory of operation. In a millisecond in which something happens, in this order: the reaper makes
its pass, if one is due; the requests of the millisecond arrive; the events of the millisecond check
their keys. Milliseconds in which nothing happens are skipped. Holdings are counted at the end of a
millisecond, and weighted by the time for which they last. The run ends when every request is
completed.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Protocol

from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.workload import Request


class Design(Protocol):
    """A purgatory under study. Requests are numbers, counted up from 0.

    Attributes:
        counts: The counts so far.
        live: Requests that are watched and not completed.
    """

    counts: Counts
    live: int

    def watch(self, request: int, now_ms: int) -> None:
        """Watch a request that arrives."""

    def event(self, request: int) -> None:
        """Let a request be completable from now on, and check its key."""

    def next_pass_ms(self, now_ms: int) -> int | None:
        """Return the time of the reaper's next pass; None for no pass."""

    def reap(self, now_ms: int) -> None:
        """Make the reaper's pass at a time."""

    def hold(self, milliseconds: int) -> None:
        """Hold all counts for some milliseconds."""

    def finish(self) -> None:
        """Complete the counts at the end of the run."""


def run(requests: Iterator[Request], design: Design) -> Counts:
    """Bring all requests to a design and wait until they are completed; what was counted."""
    events: dict[int, list[int]] = {}
    event_times: list[int] = []
    now_ms = number = 0
    arriving = next(requests, None)
    while arriving is not None or event_times or design.live:
        pass_ms = design.next_pass_ms(now_ms)
        times = [] if pass_ms is None else [max(pass_ms, now_ms)]
        if arriving is not None:
            times.append(arriving.arrival_ms)
        if event_times:
            times.append(event_times[0])
        then_ms = min(times)
        design.hold(then_ms - now_ms)
        now_ms = then_ms
        if pass_ms is not None and pass_ms <= now_ms:
            design.reap(now_ms)
        while arriving is not None and arriving.arrival_ms == now_ms:
            design.watch(number, now_ms)
            completion_ms = arriving.completion_ms
            if completion_ms is not None:
                if completion_ms in events:
                    events[completion_ms].append(number)
                else:
                    events[completion_ms] = [number]
                    heappush(event_times, completion_ms)
            number += 1
            arriving = next(requests, None)
        if event_times and event_times[0] == now_ms:
            for request in events.pop(heappop(event_times)):
                design.event(request)
    design.counts.virtual_ms = now_ms
    design.finish()
    return design.counts
