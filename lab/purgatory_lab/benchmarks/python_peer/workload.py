"""The workload of the proposal.

This thread gives requests, the completer completes them, and the purgatory's own thread lets the
others time out.

Requests are completed by force: where all share three keys, a check would try all that wait.
"""

import time
from array import array
from collections.abc import Mapping
from typing import Final

from purgatory_lab.benchmarks.python_peer.completer import Completer
from purgatory_lab.benchmarks.python_peer.costs import Stopwatch, expect
from purgatory_lab.benchmarks.python_peer.designs import Design, MeasuredPurgatory, Record
from purgatory_lab.benchmarks.python_peer.draws import percentile
from purgatory_lab.benchmarks.python_peer.messages import (
    CannotMeasure,
    Figure,
    Measurement,
    Request,
)
from purgatory_lab.benchmarks.python_peer.resident import peak_bytes, reset_peak
from purgatory_lab.benchmarks.python_peer.workload_inputs import TIME_OUT_MS, Inputs, drawn_inputs

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
