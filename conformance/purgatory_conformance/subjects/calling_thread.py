"""The thread that calls a subject in this process, left behind where a call does not return.

A thread and no child process: a test suite hands over objects that no other process can make, and
what a subject raises keeps its traceback. The thread is a daemon, and so is any that the subject
starts from it, so that none of them keeps this process from ending. A thread that loops in Python
code is ended by an exception that is raised in it; one that waits for a lock costs nothing. Code
that never lets go of the interpreter can only be judged behind an adapter.
"""

import ctypes
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread, current_thread, main_thread
from threading import enumerate as running_threads

_NAME = "subject"
_NOT_OF_IT = {_NAME, "adapter pipe"}
"""Names of threads that are no subject's, or were left behind before."""

_OURS = {str(Path(__file__).with_name(name)) for name in ("guarded.py", "in_process.py")}

LEFT_BEHIND: set[Thread] = set()
"""The threads that were left behind: what they wait for, or started, may keep this process."""

_ATTEMPTS = 3
_ATTEMPT_S = 0.02
"""The time between two attempts, s: code that catches everything catches this exception, too."""

_MOST_FRAMES = 8
_MOST_FRAMES_OF_OTHERS = 3
_MOST_OTHERS = 4


class _LeftBehind(BaseException):
    """Raised in a thread that is left behind, to end what it is doing."""


class CallingThread:
    """A thread that makes calls one after the other; the first call starts it."""

    def __init__(self) -> None:
        """Begin without a thread: the first call starts it."""
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: Thread | None = None

    def begin(self, call: Callable[[], None]) -> Event:
        """Make a call in the thread; return the event that is set when it has returned.

        The call must not raise anything.
        """
        done = Event()

        def carry_out() -> None:
            call()
            done.set()

        self._calls.put(carry_out)
        if self._thread is None:
            self._thread = Thread(target=_work, args=(self._calls,), name=_NAME, daemon=True)
            self._thread.start()
        return done

    def end(self) -> None:
        """Let the thread end when its calls have returned; a further call starts another."""
        if self._thread is not None:
            self._calls.put(None)
            self._thread = None
            self._calls = SimpleQueue()

    def leave(self) -> str:
        """Leave the thread behind, and end it if it can be; return the stacks, innermost last."""
        thread = self._thread
        if thread is None:
            return ""
        stacks = "\n".join(_stacks(thread))
        LEFT_BEHIND.add(thread)
        self.end()
        for _ in range(_ATTEMPTS):
            if not thread.is_alive():
                return stacks
            _raise_in(thread, ctypes.py_object(_LeftBehind))
            thread.join(_ATTEMPT_S)
        # An exception that nobody takes has CPython 3.11 loop for ever in a traced function of any
        # thread: take it back, and have the interpreter notice that none is pending.
        _raise_in(thread, ctypes.py_object())
        with suppress(_LeftBehind):
            _raise_in(current_thread(), ctypes.py_object(_LeftBehind))
            while True:
                pass
        return stacks


def _raise_in(thread: Thread, error: "ctypes.py_object[type[BaseException]]") -> None:
    """Have an exception raised in a thread as soon as it runs Python; take it back where null."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), error)


def _work(calls: SimpleQueue[Callable[[], None] | None]) -> None:
    try:
        while (call := calls.get()) is not None:
            call()
    except _LeftBehind:
        pass


def _stacks(thread: Thread) -> Iterator[str]:
    """Yield the stacks of the threads that the subject may have started, then that of a call."""
    frames = sys._current_frames()
    apart = (thread, current_thread(), main_thread())
    others = [
        each for each in running_threads() if each not in apart and each.name not in _NOT_OF_IT
    ]
    # The latest ones: a test suite may run threads of its own, and steps before may have left some.
    for each in [*others[-_MOST_OTHERS:], thread]:
        frame = frames.get(each.ident or 0)
        if frame is None:
            continue
        stack: list[traceback.FrameSummary] = traceback.extract_stack(frame)
        ours = [place for place, part in enumerate(stack, 1) if part.filename in _OURS]
        stack = stack[max(ours, default=0) :]
        most = _MOST_FRAMES if each is thread else _MOST_FRAMES_OF_OTHERS
        yield f"thread {each.name!r}:"
        yield "".join(traceback.format_list(stack[-most:])).rstrip()
