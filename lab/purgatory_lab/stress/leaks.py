"""Leaks of a round: objects, and lines in the log."""

from __future__ import annotations

import gc
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from purgatory_lab.stress.harness import Kind, Round

_OURS = ("purgatory_impl.", "purgatory_lab.stress.operations")


@dataclass
class LogErrors:
    """The counts of logged lines.

    Attributes:
        of_tasks: How many failures of timer tasks.
        others: Every other line of the level of warnings or above.
    """

    of_tasks: int = 0
    others: list[str] = field(default_factory=list)


class _Counting(logging.Handler):
    """Counts, and keeps no record: the traceback in it would keep operations alive."""

    def __init__(self, errors: LogErrors) -> None:
        super().__init__(logging.WARNING)
        self._errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        if " the task %s failed" in str(record.msg):
            self._errors.of_tasks += 1
        else:
            self._errors.others.append(self.format(record))


@contextmanager
def counted_log_errors() -> Iterator[LogErrors]:
    """Count the log records of the implementation, and show none."""
    errors = LogErrors()
    handler = _Counting(errors)
    logger = logging.getLogger("purgatory")
    propagate, disabled = logger.propagate, logger.disabled
    logger.propagate = logger.disabled = False
    logger.addHandler(handler)
    try:
        yield errors
    finally:
        logger.removeHandler(handler)
        logger.propagate, logger.disabled = propagate, disabled


def impl_objects() -> Counter[str]:
    """Return how many objects of each class of the implementation and of a round there are now."""
    gc.collect()
    names = (f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    return Counter(name for name in names if name.startswith(_OURS))


def judge_leaks(
    gone: Mapping[str, Callable[[], object]], before: Counter[str], result: Round
) -> None:
    """Find objects that should be gone.

    Args:
        gone: Weak references to objects that must be gone once the collector has run.
        before: The objects that existed before the round.
        result: Receives what is wrong.
    """
    left = impl_objects() - before
    # The records of operations are kept on purpose.
    del left["purgatory_lab.stress.operations.Record"]
    if left:
        result.find(Kind.LEAK, ", ".join(f"{count} {name}" for name, count in left.items()))
    for name, reference in gone.items():
        if reference() is not None:
            result.find(Kind.LEAK, f"{name} is still there")
