"""Ctrl-C that waits: what must not be cut off half-way is ended first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def remembered_interrupt() -> Iterator[threading.Event]:
    """Ctrl-C sets the event and does nothing else; a second one raises ``KeyboardInterrupt``.

    In a thread that is not the main one nothing changes: Ctrl-C never comes there.
    """
    interrupted = threading.Event()

    def remember(number: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            signal.default_int_handler(number, frame)
        interrupted.set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, remember)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
