"""The longest pause: how far apart two pairs of add and cancel can end while timers fall due."""

import time
from array import array
from heapq import nlargest
from itertools import pairwise
from typing import Final

from purgatory_lab.benchmarks.python_peer.costs import Costs, Stopwatch, Tally, expect
from purgatory_lab.benchmarks.python_peer.draws import FAR, Delays, Draws
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Measurement, Request
from purgatory_lab.benchmarks.python_peer.timers import MeasuredTimer, OpenTimer

_DUE_SPAN_MS: Final = 1000
_LEAST_MS: Final = 1000
_SPARE_MS: Final = 200
_ADDS_PER_MS: Final = 100
"""The number of timers to add in a millisecond; every Python is faster."""

_HOT_DELAYS: Final = 4096
_PATIENCE_S: Final = 30.0


def pause(open_timer: OpenTimer, request: Request) -> Measurement:
    """Add and cancel for ``operations`` ms, while ``pending`` timers fall due in the middle."""
    if request.operations < _LEAST_MS:
        raise CannotMeasure(f"operations are milliseconds here, at least {_LEAST_MS}")
    draws = Draws(request.seed)
    offsets_ms = Delays(0, _DUE_SPAN_MS).draw(draws, request.pending)
    hot_ms = FAR.draw(draws, _HOT_DELAYS)
    due, hot = Tally(), Tally()
    ends_ns = array("q")
    with open_timer() as timer:
        begin_ms = _now_ms() + _SPARE_MS + request.pending // _ADDS_PER_MS
        _add_all(timer, offsets_ms, begin_ms + (request.operations - _DUE_SPAN_MS) // 2, due)
        left_ms = begin_ms - _now_ms()
        if left_ms < 0:
            raise CannotMeasure(f"the timers were added {-left_ms} ms later than was planned")
        time.sleep(left_ms / 1000)
        costs = _add_and_cancel(timer, hot_ms, request.operations, hot, ends_ns)
        due.wait_for(request.pending, _PATIENCE_S)
        expect("timers left", 0, timer.size())
    expect("timers that fell due", request.pending, due.runs)
    expect("cancelled timers that ran", 0, hot.runs)
    return _answer(request, costs, ends_ns)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _add_all(
    timer: MeasuredTimer, offsets_ms: "array[int]", due_from_ms: int, tally: Tally
) -> None:
    add, ran = timer.add, tally.ran
    for offset_ms in offsets_ms:
        add(ran, due_from_ms + offset_ms - _now_ms())


def _add_and_cancel(
    timer: MeasuredTimer,
    delays_ms: "array[int]",
    length_ms: int,
    tally: Tally,
    ends_ns: "array[int]",
) -> Costs:
    add, cancel, ran, note = timer.add, timer.cancel, tally.ran, ends_ns.append
    clock = time.perf_counter_ns
    watch = Stopwatch()
    now_ns = clock()
    last_ns = now_ns + length_ms * 1_000_000
    note(now_ns)
    while True:
        for delay_ms in delays_ms:
            cancel(add(ran, delay_ms))
            now_ns = clock()
            note(now_ns)
            if now_ns >= last_ns:
                return watch.costs()


def _answer(request: Request, costs: Costs, ends_ns: "array[int]") -> Measurement:
    pairs = len(ends_ns) - 1
    # The gap that one in a thousand exceeds, and all that are longer.
    longest = nlargest(pairs // 1000 + 1, (end - begin for begin, end in pairwise(ends_ns)))
    return costs.answer(
        request.operations,
        pairs=pairs,
        max_ms=longest[0] / 1e6,
        p999_ms=longest[-1] / 1e6,
    )
