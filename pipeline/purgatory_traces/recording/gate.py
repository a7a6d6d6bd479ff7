"""The gate: who is inside a call, and how everybody is kept from beginning another one.

A thread is inside from the beginning of its outermost call, or of the run of an expired task, to
its end. While the gate is closed whoever is outside waits before going in, and those inside leave
one after the other; calls from inside a call or a callback always pass, or nobody would leave.
"""

import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_QUIET_WITHIN_NS: Final = 200_000_000
_LOOK_AGAIN_SECONDS: Final = 0.0005


class RecordedThread:
    """The facts about a thread: its name in the trace, and its depth in calls."""

    __slots__ = ("__weakref__", "depth", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.depth = 0


class Gate:
    """Knows the threads that have passed; ended threads are forgotten."""

    def __init__(self) -> None:
        self._threads: weakref.WeakSet[RecordedThread] = weakref.WeakSet()
        self.local: Final = threading.local()
        """The place of the calling thread, as ``thread``, once the thread has been here."""
        self.is_closed = False
        self._change = threading.Lock()
        self._opened = threading.Event()
        self._opened.set()

    def thread(self) -> RecordedThread:
        """Return the calling thread as the recorder knows it."""
        try:
            thread: RecordedThread = self.local.thread
        except AttributeError:
            thread = self._first_seen()
        return thread

    def enter(self) -> RecordedThread:
        """Go in, or one step deeper; waits outside while the gate is closed."""
        try:
            thread: RecordedThread = self.local.thread
        except AttributeError:
            thread = self._first_seen()
        # First counted, then looked: whoever closes the gate sees the one or is seen.
        thread.depth += 1
        while self.is_closed and thread.depth == 1:
            thread.depth = 0
            self._opened.wait()
            thread.depth = 1
        return thread

    def leave(self) -> RecordedThread:
        """Undo the latest ``enter`` of this thread."""
        thread: RecordedThread = self.local.thread
        thread.depth -= 1
        return thread

    @contextmanager
    def closed(self) -> Iterator[bool]:
        """Close the gate for a while; whether all have left, within a fifth of a second."""
        self._opened.clear()
        self.is_closed = True
        try:
            yield self._all_have_left()
        finally:
            self.is_closed = False
            self._opened.set()

    def _all_have_left(self) -> bool:
        deadline_ns = time.monotonic_ns() + _QUIET_WITHIN_NS
        own = self.thread()
        while True:
            with self._change:
                inside = any(each.depth for each in self._threads if each is not own)
            if not inside:
                return True
            if time.monotonic_ns() > deadline_ns:
                return False
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _first_seen(self) -> RecordedThread:
        """Get to know this thread; names of threads that live are told apart."""
        with self._change:
            name = wished = threading.current_thread().name
            taken = {each.name for each in self._threads}
            number = 2
            while name in taken:
                name = f"{wished}-{number}"
                number += 1
            thread = self.local.thread = RecordedThread(name)
            self._threads.add(thread)
            return thread
