"""The workload of the proposal.

This thread gives requests, the completer completes them, and the purgatory's own thread lets the
others time out.

Requests are completed by force: where all share three keys, a check would try all that wait.
"""

import threading
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp, log
from statistics import NormalDist
from typing import Final, TypeAlias

from purgatory_lab.benchmarks.python_peer.costs import Stopwatch, expect
from purgatory_lab.benchmarks.python_peer.designs import (
    Design,
    ForcedRequest,
    MeasuredPurgatory,
    Record,
)
from purgatory_lab.benchmarks.python_peer.draws import Draws, key_names, percentile
from purgatory_lab.benchmarks.python_peer.messages import (
    CannotMeasure,
    Figure,
    Measurement,
    Request,
)
from purgatory_lab.benchmarks.python_peer.resident import peak_bytes, reset_peak

TIME_OUT_MS: Final = 200

_NORMAL: Final = NormalDist()
_PERCENTILES_MS: Final = {"low": (20, 60), "high": (200, 400)}
"""The 50th and the 75th percentile of the time until a request can be completed, ms."""

_SHARED_CHOICES: Final = 4096


@dataclass(frozen=True)
class Inputs:
    """Everything that is drawn before the clock starts.

    Attributes:
        arrivals_ns: When each request is to be given, ns from the begin.
        latencies_ns: After what time each can be completed, ns.
        keys: Choices of three keys; request number n has number n modulo their count.
    """

    arrivals_ns: "array[int]"
    latencies_ns: "array[int]"
    keys: list[tuple[str, str, str]]


def drawn_inputs(request: Request) -> Inputs:
    """Draw the inputs of a workload.

    Raises:
        CannotMeasure: there are fewer than three keys.
    """
    if request.keys < 3:
        raise CannotMeasure(f"a request has three different keys, and there are {request.keys}")
    draws = Draws(request.seed)
    names = key_names(request.keys)
    choices = _SHARED_CHOICES if request.keys > 3 else 1
    keys = [draws.three_of(names) for _ in range(choices)]
    latencies_ns = _latencies_ns(draws, request.case, request.operations)
    return Inputs(_arrivals_ns(draws, request.rate, request.operations), latencies_ns, keys)


def _arrivals_ns(draws: Draws, rate: float, count: int) -> "array[int]":
    arrivals_ns = array("q", bytes(8 * count))
    if rate > 0:
        now_ns, mean_ns = 0.0, 1e9 / rate
        for number in range(count):
            now_ns -= log(draws.unit()) * mean_ns
            arrivals_ns[number] = int(now_ns)
    return arrivals_ns


def _latencies_ns(draws: Draws, case: str, count: int) -> "array[int]":
    """Log-normal times; those beyond an hour are an hour."""
    median_ms, upper_ms = _PERCENTILES_MS[case]
    mean = log(median_ms * 1e6)
    deviation = log(upper_ms / median_ms) / _NORMAL.inv_cdf(0.75)
    most = log(3600e9)
    inverse, unit = _NORMAL.inv_cdf, draws.unit
    return array(
        "q", (int(exp(min(mean + deviation * inverse(unit()), most))) for _ in range(count))
    )


MOST_AT_ONCE: Final = 256

_Entry: TypeAlias = tuple[int, int, ForcedRequest]


class Completer:
    """A queue of requests by their time, and the thread that takes them out.

    Attributes:
        completed: The number of requests completed by the thread.
        lags_ns: The lag of each request taken, ns; a request that had expired by then is included,
            since the lag of this thread may be the cause.
        failure: The exception that ended the thread early; None without a failure.
    """

    def __init__(self) -> None:
        """Start the completing thread."""
        self.completed = 0
        self.lags_ns = array("q")
        self.failure: BaseException | None = None
        self._waiting: list[_Entry] = []
        self._changed = threading.Condition(threading.Lock())
        self._closed = False
        self._numbers = 0
        self._thread = threading.Thread(target=self._run, name="completer", daemon=True)
        self._thread.start()

    def complete_at(self, due_ns: int, request: ForcedRequest) -> None:
        """Complete a request when ``time.perf_counter_ns`` has come so far; for one thread."""
        self._numbers += 1
        entry = (due_ns, self._numbers, request)
        with self._changed:
            heappush(self._waiting, entry)
            if self._waiting[0] is entry:
                self._changed.notify()

    def close(self) -> None:
        """End the thread; what is not due yet stays as it is."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._next_batch():
                self._complete(batch)
        except BaseException as failure:
            self.failure = failure

    def _complete(self, batch: list[_Entry]) -> None:
        clock, note = time.perf_counter_ns, self.lags_ns.append
        completed = 0
        for due_ns, _, request in batch:
            completed += request.force_complete()
            note(clock() - due_ns)
        self.completed += completed

    def _next_batch(self) -> list[_Entry]:
        """Return the due requests, some at a time; empty when there will be no more."""
        batch: list[_Entry] = []
        waiting = self._waiting
        with self._changed:
            while not batch and not self._closed:
                now_ns = time.perf_counter_ns()
                while waiting and waiting[0][0] <= now_ns and len(batch) < MOST_AT_ONCE:
                    batch.append(heappop(waiting))
                if not batch:
                    self._changed.wait((waiting[0][0] - now_ns) / 1e9 if waiting else None)
        return batch


_LEAST_SLEEP_NS: Final = 1_000_000
_PATIENCE_S: Final = 30.0


def workload(designs: Mapping[str, Design], request: Request) -> Measurement:
    """Run the workload on a design.

    Args:
        designs: By their names; the first one where the request names none.
        request: What is asked.

    Raises:
        CannotMeasure: there is no such design, or a request was not completed exactly once.
    """
    name = request.design or next(iter(designs))
    if name not in designs:
        raise CannotMeasure(f"there is no design {name!r}; there are: {', '.join(designs)}")
    design = designs[name]
    inputs, record = drawn_inputs(request), Record(request.operations)
    purgatory = design.purgatory(purge_interval=request.purge_interval)
    completer = Completer()
    try:
        reset_peak()
        watch = Stopwatch()
        giving_ns, longest_ns = _give(design, purgatory, completer, inputs, record, request)
        giving = watch.costs()
        _wait_until_decided(completer, record)
        whole = watch.costs()
    finally:
        completer.close()
        purgatory.close()
    _judge(completer, record, request.operations)
    detail: dict[str, Figure] = {
        "achieved": round(request.operations * 1e9 / giving_ns, 1),
        "cpu_us": round(whole.process_ns / 1e3 / request.operations, 3),
        "pause_max_ms": longest_ns / 1e6,
        **_lags(completer.lags_ns),
        "resident_mib": round(peak_bytes() / 2**20, 1),
        "completed": completer.completed,
        "expired": record.expired,
    }
    return Measurement(
        request.operations, giving.thread_ns, whole.process_ns, whole.wall_ns, detail
    )


def _give(
    design: Design,
    purgatory: MeasuredPurgatory,
    completer: Completer,
    inputs: Inputs,
    record: Record,
    request: Request,
) -> tuple[int, int]:
    """Give all requests at their times, never before; to the completer those that do not time out.

    A sleep lasts a millisecond at least; what falls due meanwhile is given at once.

    Returns:
        How long it took, ns, and the longest that one request took, ns.
    """
    make, payload = design.numbered_request, request.payload
    watch, complete_at = purgatory.try_complete_else_watch, completer.complete_at
    clock, sleep = time.perf_counter_ns, time.sleep
    keys, choices = inputs.keys, len(inputs.keys)
    longest_ns, time_out_ns = 0, TIME_OUT_MS * 1_000_000
    begin_ns = after_ns = clock()
    for number, (arrival_ns, latency_ns) in enumerate(
        zip(inputs.arrivals_ns, inputs.latencies_ns, strict=True)
    ):
        now_ns = after_ns
        ahead_ns = begin_ns + arrival_ns - now_ns
        if ahead_ns > 0:
            sleep(max(ahead_ns, _LEAST_SLEEP_NS) / 1e9)
            now_ns = clock()
        operation = make(TIME_OUT_MS, payload, number, record)
        watch(operation, keys[number % choices])
        if latency_ns < time_out_ns:
            complete_at(now_ns + latency_ns, operation)
        after_ns = clock()
        if after_ns - now_ns > longest_ns:
            longest_ns = after_ns - now_ns
    return after_ns - begin_ns, longest_ns


def _wait_until_decided(completer: Completer, record: Record) -> None:
    """Sleep until each request is completed, or until there is no more hope for it.

    The record is looked at, and not the two counts: these are what is judged afterwards.
    """
    last = time.monotonic() + _PATIENCE_S
    undecided = record.completions.find(0)
    while undecided >= 0 and time.monotonic() < last and completer.failure is None:
        time.sleep(0.005)
        undecided = record.completions.find(0, undecided)


def _judge(completer: Completer, record: Record, requests: int) -> None:
    """Judge that every request was completed exactly once, by completer or time-out.

    Raises:
        CannotMeasure: some was not.
    """
    if completer.failure is not None:
        raise CannotMeasure(f"the completer failed: {completer.failure!r}") from completer.failure
    once = record.completions.count(1)
    never = record.completions.count(0)
    expect("requests that were never completed", 0, never)
    expect("requests that were completed again", 0, requests - once - never)
    expect("completed and expired together", requests, completer.completed + record.expired)


def _lags(lags_ns: "array[int]") -> dict[str, Figure]:
    """Return the lags of taken requests, ms; None where none was taken."""
    return {
        f"lag_{name}_ms": percentile(lags_ns, share) / 1e6 if lags_ns else None
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }
