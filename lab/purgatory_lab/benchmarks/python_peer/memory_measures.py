"""Bytes per pending operation. To be taken in a fresh process: see ``conversation``."""

import asyncio
import gc
from collections.abc import Callable

from purgatory_lab.benchmarks.python_peer.costs import Stopwatch, Tally, expect
from purgatory_lab.benchmarks.python_peer.designs import Design
from purgatory_lab.benchmarks.python_peer.draws import FAR, Draws, key_names
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Measurement, Request
from purgatory_lab.benchmarks.python_peer.purgatory_measures import TIME_OUT_MS, drawn_keys
from purgatory_lab.benchmarks.python_peer.resident import resident_bytes
from purgatory_lab.benchmarks.python_peer.timers import OpenTimer

_WARM_UP = 100


def memory_of_timer(open_timer: OpenTimer, request: Request) -> Measurement:
    """Return the memory of pending timers that are added directly, without kept handles."""
    delays_ms = FAR.draw(Draws(request.seed), request.pending + _WARM_UP)
    tally = Tally()
    with open_timer() as timer:
        add, ran = timer.add, tally.ran

        def fill(first: int, last: int) -> None:
            for number in range(first, last):
                add(ran, delays_ms[number])

        answer = _grown(fill, request)
        expect("timers pending", request.pending + _WARM_UP, timer.size())
    return answer


def memory_of_asyncio(request: Request) -> Measurement:
    """Return the memory of pending timers of asyncio's loop."""
    delays_ms = FAR.draw(Draws(request.seed), request.pending + _WARM_UP)
    tally = Tally()
    loop = asyncio.SelectorEventLoop()
    call_later, ran = loop.call_later, tally.ran

    def fill(first: int, last: int) -> None:
        for number in range(first, last):
            call_later(delays_ms[number] / 1000, ran)

    try:
        return _grown(fill, request)
    finally:
        loop.close()


def memory_of_purgatory(design: Design, request: Request) -> Measurement:
    """Return the memory of operations that wait under three keys and have no other references.

    Where there are more than three keys, the operations share 1,024 choices of them.
    """
    names = key_names(request.keys)
    shared = drawn_keys(names, 1024, Draws(request.seed))
    purgatory = design.purgatory()
    watch, make, payload = purgatory.try_complete_else_watch, design.request, request.payload

    def fill(first: int, last: int) -> None:
        for number in range(first, last):
            watch(make(TIME_OUT_MS, payload), shared[number % 1024])

    try:
        answer = _grown(fill, request)
        expect("entries", 3 * (request.pending + _WARM_UP), purgatory.entries)
        return answer
    finally:
        purgatory.close()


def _grown(fill: Callable[[int, int], None], request: Request) -> Measurement:
    """Fill, and say by how much the process has grown for each one that is pending."""
    if request.pending == 0:
        raise CannotMeasure(f"{request.measure} needs pending to be at least 1")
    fill(0, _WARM_UP)
    watch = Stopwatch()
    before, how = resident_bytes()
    fill(_WARM_UP, _WARM_UP + request.pending)
    costs = watch.costs()
    gc.collect()
    after, _ = resident_bytes()
    each = round((after - before) / request.pending, 1)
    return costs.answer(request.pending, bytes=each, how=how)
