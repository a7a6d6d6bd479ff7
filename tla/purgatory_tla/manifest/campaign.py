"""Many models at a time; their findings come in the order in which the models were begun."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace

from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.manifest.manifest import Model, RunTime
from purgatory_tla.manifest.models import Finding, Settings, run_model

Listener = Callable[[Model, Progress | None], None]
"""Takes a model when it begins, and then about once a second its progress."""


class _Stopped(Exception):
    """The campaign was ended; raised inside the runs, so that they end their tools."""


def run_models(
    models: Sequence[Model], settings: Settings, at_a_time: int, listener: Listener
) -> Generator[Finding, None, None]:
    """Run models and give what was found, the large models first, else in the order given.

    A finding waits for those before it, so that two runs print the same table. Where the caller
    stops taking, or anything is raised, the running tools are ended first.

    Raises:
        MissingTool: a checker, or the Java for a checker, is not installed.
    """
    over = threading.Event()

    def run(model: Model) -> Finding:
        def told(progress: Progress | None) -> None:
            if over.is_set():
                raise _Stopped
            listener(model, progress)

        told(None)
        return run_model(model, replace(settings, progress=told))

    # The longest first: then no core is left with one of them at the end.
    ordered = sorted(models, key=lambda each: each.run_time is RunTime.SMALL)
    pool = ThreadPoolExecutor(at_a_time)
    in_order = deque(pool.submit(run, model) for model in ordered)
    waiting: set[Future[Finding]] = set(in_order)
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()  # what was raised is told at once, whatever is before it
            while in_order and in_order[0].done():
                yield in_order.popleft().result()
    finally:
        over.set()
        pool.shutdown(wait=True, cancel_futures=True)
