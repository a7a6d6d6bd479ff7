"""Ctrl-C while a reply is waited for, at any place: the process and its threads still end."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import pytest

from purgatory_conformance.subjects.adapter_process import AdapterProcess
from purgatory_conformance.subjects.fault import Fault

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
MOST_PLACES = 400
WAITING = ("adapter_process.py", "queue.py", "threading.py")

Trace = Callable[[FrameType, str, object], "Trace | None"]


@contextmanager
def interrupted_at(place: int) -> Iterator[list[str]]:
    """Raise ``KeyboardInterrupt`` at one of the calls and returns of what waits for a line."""
    left, where = place, list[str]()

    def trace(frame: FrameType, event: str, _argument: object) -> Trace | None:
        nonlocal left
        if Path(frame.f_code.co_filename).name not in WAITING:
            return None
        frame.f_trace_lines = False
        left -= 1
        if left == 0:
            where.append(f"{event} of {frame.f_code.co_qualname}, line {frame.f_lineno}")
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        with suppress(KeyboardInterrupt, Fault):
            yield where
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("answered", [True, False])
def test_an_interrupted_wait_leaves_no_lock_behind(answered: bool) -> None:
    """Given a process that answers, or is silent: ending the process returns."""
    for place in range(1, MOST_PLACES):
        process = AdapterProcess((sys.executable, "-S", "-c", ECHO))
        process.write(b"x\n" if answered else b"x", seconds=1.0)
        with interrupted_at(place) as where:
            process.read_line(120 if answered else 0.05)
        ending = threading.Thread(target=process.end, daemon=True)
        ending.start()
        ending.join(120)
        assert not ending.is_alive(), f"an interrupt at the {where} is waited for"
        if not where:
            break
    assert 4 < place < MOST_PLACES - 1
