"""The measures of asyncio's timer: ``call_later`` and ``cancel`` in the loop's own thread.

The loop gets its turn after every thousand operations, as in a program that awaits: in its turn the
loop sifts out cancelled timers. On a virtual clock it is the same loop with another ``time``. It is
not safe to call from other threads, on either clock.
"""

import asyncio
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from purgatory_lab.benchmarks.python_peer.costs import Costs, Stopwatch, Tally, expect
from purgatory_lab.benchmarks.python_peer.draws import (
    FAR,
    NEAR,
    VIRTUAL,
    Delays,
    Draws,
    drawn_replacements,
)
from purgatory_lab.benchmarks.python_peer.messages import Measurement, Request
from purgatory_lab.benchmarks.python_peer.timers import END_MS

_TURN = 1000
_PATIENCE_S = 30.0

_Handles: TypeAlias = list[asyncio.TimerHandle]
_Item = TypeVar("_Item")


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock the caller leads; it must never be left with timers alone."""

    now_s = 0.0

    def time(self) -> float:
        """Return the time that was set, seconds."""
        return self.now_s


class AsyncioMeasures:
    """The measures of the loop, on one of the clocks."""

    def __init__(self, *, virtual: bool) -> None:
        """Prepare nothing before a measure is taken."""
        self._virtual = virtual
        self._pending: Delays = VIRTUAL if virtual else FAR
        self._expiring: Delays = VIRTUAL if virtual else NEAR

    def hot(self, request: Request) -> Measurement:
        """Add a timer and cancel it, with others behind it."""
        draws = Draws(request.seed)
        first = self._pending.draw(draws, request.pending)
        fresh = list(_turns(_seconds(self._pending.draw(draws, request.operations))))
        tally = Tally()
        with self._open() as loop:
            _fill(loop, first, tally)
            costs = loop.run_until_complete(_hot(loop, fresh, tally))
        expect("tasks that ran", 0, tally.runs)
        return costs.answer(request.operations)

    def fifo(self, request: Request) -> Measurement:
        """Cancel the timer that was added first of all that are pending, and add a fresh one."""
        return self._replace(request, oldest=True)

    def random(self, request: Request) -> Measurement:
        """Cancel a timer drawn at random, and add a fresh one in its place."""
        return self._replace(request, oldest=False)

    def expire(self, request: Request) -> Measurement:
        """Add timers and have them run."""
        delays_ms = self._expiring.draw(Draws(request.seed), request.operations)
        tally = Tally()
        with self._open() as loop:
            watch = Stopwatch()
            _fill(loop, delays_ms, tally)
            added = watch.costs()
            loop.run_until_complete(_all_run(loop, max(delays_ms), len(delays_ms), tally))
            costs = watch.costs()
        expect("tasks that ran", request.operations, tally.runs)
        # As with the other timers: on the real clock the time of the process is what counts.
        leads = self._virtual
        return costs.answer(request.operations, one_thread=leads, add_cpu_ns=added.thread_ns)

    def _replace(self, request: Request, *, oldest: bool) -> Measurement:
        first, victims, fresh = drawn_replacements(request, self._pending, oldest=oldest)
        turns = list(_turns(list(zip(victims, _seconds(fresh), strict=True))))
        tally = Tally()
        with self._open() as loop:
            handles = _fill(loop, first, tally)
            costs = loop.run_until_complete(_replaced(loop, handles, turns, tally))
        expect("tasks that ran", 0, tally.runs)
        return costs.answer(request.operations)

    @contextmanager
    def _open(self) -> Iterator[asyncio.AbstractEventLoop]:
        loop = VirtualLoop() if self._virtual else asyncio.SelectorEventLoop()
        try:
            yield loop
        finally:
            loop.close()


async def _hot(loop: asyncio.AbstractEventLoop, turns: list[list[float]], tally: Tally) -> Costs:
    call_later: Callable[[float, Callable[[], None]], asyncio.TimerHandle] = loop.call_later
    ran = tally.ran
    watch = Stopwatch()
    for delays_s in turns:
        for delay_s in delays_s:
            call_later(delay_s, ran).cancel()
        await asyncio.sleep(0)
    return watch.costs()


async def _replaced(
    loop: asyncio.AbstractEventLoop,
    handles: _Handles,
    turns: list[list[tuple[int, float]]],
    tally: Tally,
) -> Costs:
    call_later: Callable[[float, Callable[[], None]], asyncio.TimerHandle] = loop.call_later
    ran = tally.ran
    watch = Stopwatch()
    for turn in turns:
        for victim, delay_s in turn:
            handles[victim].cancel()
            handles[victim] = call_later(delay_s, ran)
        await asyncio.sleep(0)
    return watch.costs()


async def _all_run(loop: asyncio.AbstractEventLoop, last_ms: int, count: int, tally: Tally) -> None:
    """Lead the clock to the end, or sleep until then; then wait for all runs with patience."""
    if isinstance(loop, VirtualLoop):
        loop.now_s = END_MS / 1000
    else:
        await asyncio.sleep(last_ms / 1000)
    patience = time.monotonic() + _PATIENCE_S
    while tally.runs < count and time.monotonic() < patience:
        await asyncio.sleep(0)


def _fill(loop: asyncio.AbstractEventLoop, delays_ms: "array[int]", tally: Tally) -> _Handles:
    call_later, ran = loop.call_later, tally.ran
    return [call_later(delay_ms / 1000, ran) for delay_ms in delays_ms]


def _seconds(delays_ms: "array[int]") -> list[float]:
    return [delay_ms / 1000 for delay_ms in delays_ms]


def _turns(items: list[_Item]) -> Iterator[list[_Item]]:
    for start in range(0, len(items), _TURN):
        yield items[start : start + _TURN]
