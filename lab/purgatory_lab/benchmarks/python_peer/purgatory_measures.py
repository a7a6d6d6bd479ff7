"""The measures of a purgatory: watch and complete, and what one event costs its caller."""

import gc
import time
from array import array
from collections.abc import Iterable, Sequence

from purgatory_lab.benchmarks.python_peer.costs import Costs, Stopwatch, expect
from purgatory_lab.benchmarks.python_peer.designs import CountedRequest, Design, MeasuredPurgatory
from purgatory_lab.benchmarks.python_peer.draws import Draws, key_names, percentile
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Measurement, Request

TIME_OUT_MS = 60_000


class PurgatoryMeasures:
    """The measures of one design."""

    def __init__(self, design: Design) -> None:
        """Prepare nothing before a measure is taken."""
        self._design = design

    def purgatory(self, request: Request) -> Measurement:
        """Watch operations under three keys each, mark them, check every key once.

        Of an interpreted class ``own_ns`` is the implementation's share: what is left for each
        operation when the loop, the making of the operations and three tries are done once more
        without a purgatory and taken off. Two tries are those of the watch, one is the check's.
        """
        if request.operation == "ready-made":
            return self.complete_ready_made(request).answer(request.operations)
        costs, watching = self.complete_interpreted(request)
        own_ns = (costs.thread_ns - self.users_share(request).thread_ns) / request.operations
        return costs.answer(request.operations, watch_cpu_ns=watching.thread_ns, own_ns=own_ns)

    def complete_interpreted(self, request: Request) -> tuple[Costs, Costs]:
        """Watch and complete operations of an interpreted class; the costs, and the watching's."""
        names = key_names(request.keys)
        watched = drawn_keys(names, request.operations, Draws(request.seed))
        purgatory = self._design.purgatory()
        try:
            stopwatch = Stopwatch()
            operations = self._watch(purgatory, watched, request.payload)
            watching = stopwatch.costs()
            for operation in operations:
                operation.ready = True
            completed = sum(map(purgatory.check_and_complete, names))
            costs = stopwatch.costs()
        finally:
            purgatory.close()
        judge_completions(operations)
        expect("operations that checks have completed", request.operations, completed)
        return costs, watching

    def complete_ready_made(self, request: Request) -> Costs:
        """Complete operations made of callables, which share one condition and one count.

        Raises:
            CannotMeasure: the design has none, or they are to hold something.
        """
        make = self._design.ready_made
        if make is None:
            raise CannotMeasure("this design has no operation made of callables")
        if request.payload:
            raise CannotMeasure("an operation made of callables holds no payload")
        names = key_names(request.keys)
        watched = drawn_keys(names, request.operations, Draws(request.seed))
        ready, completions = False, 0

        def is_ready() -> bool:
            return ready

        def count() -> None:
            nonlocal completions
            completions += 1

        purgatory = self._design.purgatory()
        watch = purgatory.try_complete_else_watch
        operations: list[object] = []
        keep = operations.append
        try:
            stopwatch = Stopwatch()
            for keys in watched:
                operation = make(TIME_OUT_MS, is_ready, count)
                watch(operation, keys)
                keep(operation)
            ready = True
            completed = sum(map(purgatory.check_and_complete, names))
            costs = stopwatch.costs()
        finally:
            purgatory.close()
        expect("completions", request.operations, completions)
        expect("operations that checks have completed", request.operations, completed)
        return costs

    def users_share(self, request: Request) -> Costs:
        """Return the cost of the loop and of the user's code, without a purgatory."""
        make = self._design.request
        operations: list[CountedRequest] = []
        keep = operations.append
        making = Stopwatch()
        for _ in range(request.operations):
            keep(make(TIME_OUT_MS, request.payload))
        made = making.costs()
        trying = Stopwatch()
        for operation in operations:
            operation.try_complete()
            operation.try_complete()
            operation.try_complete()
        tried = trying.costs()
        turning = Stopwatch()
        for _ in operations:
            pass
        return made + tried - turning.costs()

    def event(self, request: Request) -> Measurement:
        """Check one key of an operation that waits under many and is ready.

        It is always the first key, whose list has the fresh operation alone. One check is too
        short for a reading of processor time, which is left open.
        """
        names = key_names(request.keys)
        operations: list[CountedRequest] = []
        walls_ns = array("q")
        purgatory = self._design.purgatory()
        clock, check, name = time.perf_counter_ns, purgatory.check_and_complete, names[0]
        try:
            gc.collect()
            for _ in range(request.operations):
                operation = self._design.request(TIME_OUT_MS, request.payload)
                operations.append(operation)
                purgatory.try_complete_else_watch(operation, names)
                operation.ready = True
                before_ns = clock()
                check(name)
                walls_ns.append(clock() - before_ns)
        finally:
            purgatory.close()
        judge_completions(operations)
        detail = {
            "median_ns": percentile(walls_ns, 0.5),
            "p99_ns": percentile(walls_ns, 0.99),
            "max_ns": max(walls_ns),
        }
        return Measurement(request.operations, None, None, sum(walls_ns), detail)

    def _watch(
        self,
        purgatory: MeasuredPurgatory,
        watched: Sequence[tuple[str, str, str]],
        payload: int,
    ) -> list[CountedRequest]:
        make, watch = self._design.request, purgatory.try_complete_else_watch
        operations: list[CountedRequest] = []
        keep = operations.append
        for keys in watched:
            operation = make(TIME_OUT_MS, payload)
            watch(operation, keys)
            keep(operation)
        return operations


def drawn_keys(names: list[str], count: int, draws: Draws) -> list[tuple[str, str, str]]:
    """Return three different keys for each of so many operations.

    Raises:
        CannotMeasure: there are fewer than three.
    """
    if len(names) < 3:
        raise CannotMeasure(f"three different keys are drawn, and there are {len(names)}")
    if len(names) == 3:
        return [(names[0], names[1], names[2])] * count
    return [draws.three_of(names) for _ in range(count)]


def judge_completions(operations: Iterable[CountedRequest]) -> None:
    """Refuse operations that were not completed exactly once.

    Raises:
        CannotMeasure: some was not.
    """
    never = again = 0
    for operation in operations:
        never += operation.completions == 0
        again += operation.completions > 1
    expect("operations that were never completed", 0, never)
    expect("operations that were completed again", 0, again)
