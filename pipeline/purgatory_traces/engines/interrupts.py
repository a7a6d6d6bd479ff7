"""Ctrl-C that waits: what must not be cut off half-way is ended first."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def remembered_interrupt(tell: str = "") -> Iterator[threading.Event]:
    """Set an event at Ctrl-C; raise ``KeyboardInterrupt`` at a second one.

    In a thread that is not the main one nothing changes: Ctrl-C never comes there.

    Args:
        tell: What the first one says on standard error; nothing if empty.
    """
    interrupted = threading.Event()

    def remember(number: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            signal.default_int_handler(number, frame)
        interrupted.set()
        if tell:
            # Past Python's own buffer, which what was interrupted may be writing to.
            os.write(sys.stderr.fileno(), f"{tell}\n".encode())

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, remember)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
