"""The measures of a timer that is called directly: hot, fifo, random, expire."""

import time
from array import array
from typing import Any

from purgatory_lab.benchmarks.python_peer.costs import Costs, Stopwatch, Tally, expect
from purgatory_lab.benchmarks.python_peer.draws import Draws, drawn_replacements
from purgatory_lab.benchmarks.python_peer.messages import Measurement, Request
from purgatory_lab.benchmarks.python_peer.timers import MeasuredTimer, TimerKind

_PATIENCE_S = 30.0


class TimerMeasures:
    """The measures of one kind of timer."""

    def __init__(self, kind: TimerKind) -> None:
        """Prepare nothing before a measure is taken."""
        self._kind = kind

    def hot(self, request: Request) -> Measurement:
        """Add a timer and cancel it, with others behind it."""
        draws = Draws(request.seed)
        first = self._kind.pending.draw(draws, request.pending)
        fresh = self._kind.pending.draw(draws, request.operations)
        tally = Tally()
        with self._kind.open() as timer:
            _fill(timer, first, tally)
            costs = _hot(timer, fresh, tally)
            expect("timers pending", request.pending, timer.size())
        expect("tasks that ran", 0, tally.runs)
        return costs.answer(request.operations)

    def fifo(self, request: Request) -> Measurement:
        """Cancel the timer that was added first of all that are pending, and add a fresh one."""
        return self._replace(request, oldest=True)

    def random(self, request: Request) -> Measurement:
        """Cancel a timer drawn at random, and add a fresh one in its place."""
        return self._replace(request, oldest=False)

    def expire(self, request: Request) -> Measurement:
        """Add timers and have them run.

        The count of runs is judged after the last one is due; where one task ran twice and another
        not at all the count is right, and only the size of the timer may tell.
        """
        delays_ms = self._kind.expiring.draw(Draws(request.seed), request.operations)
        tally = Tally()
        with self._kind.open() as timer:
            watch = Stopwatch()
            _fill(timer, delays_ms, tally)
            added = watch.costs()
            if timer.lead_to_end is not None:
                timer.lead_to_end()
            else:
                # One long sleep: looking all the time would cost more than the timer does.
                time.sleep(max(delays_ms) / 1000)
                tally.wait_for(request.operations, _PATIENCE_S)
            costs = watch.costs()
            expect("timers left", 0, timer.size())
            leads = timer.lead_to_end is not None
        expect("tasks that ran", request.operations, tally.runs)
        return costs.answer(request.operations, one_thread=leads, add_cpu_ns=added.thread_ns)

    def _replace(self, request: Request, *, oldest: bool) -> Measurement:
        first, victims, fresh = drawn_replacements(request, self._kind.pending, oldest=oldest)
        tally = Tally()
        with self._kind.open() as timer:
            handles = _fill(timer, first, tally)
            costs = _replace(timer, handles, victims, fresh, tally)
            expect("timers pending", request.pending, timer.size())
        expect("tasks that ran", 0, tally.runs)
        return costs.answer(request.operations)


def _fill(timer: MeasuredTimer, delays_ms: "array[int]", tally: Tally) -> list[Any]:
    add, ran = timer.add, tally.ran
    return [add(ran, delay_ms) for delay_ms in delays_ms]


def _hot(timer: MeasuredTimer, delays_ms: "array[int]", tally: Tally) -> Costs:
    add, cancel, ran = timer.add, timer.cancel, tally.ran
    watch = Stopwatch()
    for delay_ms in delays_ms:
        cancel(add(ran, delay_ms))
    return watch.costs()


def _replace(
    timer: MeasuredTimer,
    handles: list[Any],
    victims: "array[int]",
    delays_ms: "array[int]",
    tally: Tally,
) -> Costs:
    add, cancel, ran = timer.add, timer.cancel, tally.ran
    watch = Stopwatch()
    for victim, delay_ms in zip(victims, delays_ms, strict=True):
        cancel(handles[victim])
        handles[victim] = add(ran, delay_ms)
    return watch.costs()
