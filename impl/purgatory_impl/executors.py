"""Executors: queues of expired tasks, and the threads that run them.

The timer hands tasks over under its lock, in the order of expiry, and that only queues them.
Afterwards, outside all locks, it calls ``wake``, and from there the executors differ. In every one
of them tasks run one at a time, in the order of the queue, and a task that raises, an exception of
whatever class, is logged (logger ``purgatory``, with the executor's name) and harms no other.

A ``KeyboardInterrupt`` or ``SystemExit`` in the main thread asks the program to end. It is not
logged but goes on to the caller: of ``run_one`` at once, since the rest of the queue is the
caller's; of an inline executor when the rest of the queue has run. A second request meanwhile goes
on at once, so that Ctrl-C ends a queue that never becomes empty. What is left in the queue runs
when the executor is woken next, which the next add or pass of a timer does.

An executor may serve several timers. For an executor of your own subclass ``SteppedExecutor`` and
let ``wake`` arrange that ``run_one`` is called until it returns False; ``event_loops`` has one for
the loops of asyncio.
"""

import logging
import threading
import time
from collections.abc import Iterable
from typing import Final

from purgatory_impl.compiler import mypyc_attr
from purgatory_impl.exclusion import SectionLock, pure, refused_after_fork
from purgatory_impl.failures import asks_to_leave, log_failure, named_safely
from purgatory_impl.task import COMPILED, Task
from purgatory_impl.task_queue import TaskQueue

_LOGGER: Final = logging.getLogger("purgatory")
_ident: Final = threading.get_ident

LONGEST_WAIT_MS: Final = int(threading.TIMEOUT_MAX) * 1000
"""The longest time that a thread can be waited for, ms: centuries, or 49 days on Windows."""

_LOOKS_AGAIN_S: Final = 0.001
"""The sleep between two looks at an executor by a thread that waits until it is idle, s."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Executor:
    """The queue of expired tasks, without anybody who runs them.

    Attributes:
        name: Begins the lines that the executor logs, and the name of its thread.
    """

    __slots__ = ("__weakref__", "_lock", "_token", "_unwoken", "_waiting", "name")

    def __init__(self, name: str = "purgatory") -> None:
        self.name = name
        self._lock = SectionLock() if COMPILED else pure(threading.Lock())
        self._token = refused_after_fork(self, self._lock)
        self._waiting = TaskQueue()
        # Whether tasks were handed over that no wake has come for, or one that has failed.
        self._unwoken = False

    def __repr__(self) -> str:
        """Return the class, the name, and how many tasks wait; read without the lock."""
        return f"<{type(self).__name__} {self.name!r}, {len(self._waiting)} tasks queued>"

    @property
    def queued(self) -> int:
        """Return the number of tasks that were handed over and have not begun to run."""
        with self._lock:
            return len(self._waiting)

    def wake(self) -> object:
        """See to it that queued tasks run; called after each hand-over, outside all locks."""

    def hand_over(self, tasks: Iterable[Task]) -> None:
        """Append tasks to the queue, in their order.

        An executor of yours may refuse them: it raises an ``Exception``, and takes none of them.
        The timer keeps them and hands them over again with its next pass.

        Rules: TIMER-EXECUTOR-ORDER, TIMER-EXECUTOR-REFUSES.
        """
        with self._lock:
            self._unwoken = True
            self._waiting.put(tasks)


@mypyc_attr(allow_interpreted_subclasses=True)
class SteppedExecutor(Executor):
    """Tasks wait until somebody runs them one by one: every interleaving can be had."""

    __slots__ = ()

    def run_one(self) -> bool:
        """Run the task that has waited longest.

        Returns:
            False where the queue was empty.

        Raises:
            KeyboardInterrupt, SystemExit: the task has raised it, in the main thread.

        Rules: TIMER-EXECUTOR-ORDER, TIMER-THROWING-TASK.
        """
        with self._lock:
            task = self._waiting.take()
        if task is None:
            return False
        _run(task, self)
        return True


@mypyc_attr(allow_interpreted_subclasses=True)
class InlineExecutor(Executor):
    """Tasks run in the thread that made them expire, whenever the timer lets go of its lock.

    That is after an add and after a pass, and after every 1,024 steps of a long pass.
    What a running task makes expire joins the queue and runs after it, not inside it. While one
    thread runs tasks it also runs those of other threads, whose calls return at once.
    """

    __slots__ = ("_runner",)

    def __init__(self, name: str = "purgatory") -> None:
        super().__init__(name)
        # The identity of the thread that runs tasks; 0 where none does.
        self._runner = 0

    def wake(self) -> None:
        """Run all queued tasks, unless some thread, perhaps this one, is already doing so.

        Raises:
            KeyboardInterrupt, SystemExit: a task has raised it in the main thread, or an interrupt
                has come between two tasks. The tasks behind have run, unless there was a second
                one: then they are still queued.

        Rules: TIMER-EXECUTOR-ORDER, TIMER-THROWING-TASK, TIMER-ADVANCE-INSIDE.
        """
        try:
            self._run_queued()
        except BaseException:
            self._run_queued()
            raise

    def _run_queued(self) -> None:
        me = _ident()
        is_runner = False
        try:
            with self._lock:
                if self._runner:
                    return
                self._runner = me
                is_runner = True
            while True:
                if not self._run_next():
                    break
        except BaseException:
            with self._lock:
                # Where this thread had finished, another may run tasks by now.
                if is_runner and self._runner == me:
                    self._runner = 0
            raise

    def _run_next(self) -> bool:
        with self._lock:
            task = self._waiting.take()
            if task is None:
                self._runner = 0
                return False
        _run(task, self)
        return True


@mypyc_attr(allow_interpreted_subclasses=True)
class ThreadExecutor(Executor):
    """Tasks run in one daemon thread of the executor's own."""

    __slots__ = ("_changed", "_closed", "_running", "_sleep", "_worker")

    def __init__(self, name: str = "purgatory") -> None:
        super().__init__(name)
        # The worker looks for a task under this lock, and whoever has put one tells under it.
        self._sleep = threading.Lock()
        self._changed = threading.Condition(self._sleep)
        self._closed = False
        self._running = False
        self._worker = threading.Thread(target=self._work, name=f"{name}-executor", daemon=True)
        self._worker.start()

    def wake(self) -> None:
        """Wake the thread that runs the tasks."""
        try:
            self._tell()
        except BaseException:
            # Interrupted: the worker may sleep still.
            self._tell()
            raise
        with self._lock:
            lost = len(self._waiting) if self._closed and not self._worker.is_alive() else 0
        if lost:
            _LOGGER.error("%s: the executor is closed; %d tasks will not run", self.name, lost)

    def wait_until_idle(self, timeout_ms: int) -> bool:
        """Wait until no task is queued or running, at most ``timeout_ms``.

        Returns:
            False where the time ran out.
        """
        deadline_s = time.monotonic() + min(timeout_ms, LONGEST_WAIT_MS) / 1000
        while not self._is_idle():
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                return False
            # Not on the condition: Ctrl-C inside its ``wait`` may leave the lock to somebody else.
            time.sleep(min(left_s, _LOOKS_AGAIN_S))
        return True

    def close(self, timeout_ms: int = 5000) -> None:
        """Run what is queued, then end the thread; may be called again, and from inside a task.

        Args:
            timeout_ms: How long to wait for the thread; it is not waited for from inside a task.

        Rules: TIMER-SHUTDOWN-QUEUE.
        """
        with self._lock:
            self._closed = True
        self._tell()
        join(self._worker, timeout_ms)

    def _tell(self) -> None:
        with self._sleep:
            self._changed.notify_all()

    def _is_idle(self) -> bool:
        with self._lock:
            return not self._running and not len(self._waiting)

    def _work(self) -> None:
        while self._run_next():
            pass

    def _run_next(self) -> bool:
        task = self._next_task()
        if task is None and not self._wait_for_task():
            return False
        if task is not None:
            try:
                _run(task, self)
            finally:
                with self._lock:
                    self._running = False
        return True

    def _next_task(self) -> Task | None:
        """Take a task to run it; None where none waits."""
        with self._lock:
            task = self._waiting.take()
            if task is not None:
                self._running = True
            return task

    def _wait_for_task(self) -> bool:
        """Sleep until a task waits; False where none will: the executor is closed."""
        with self._sleep:
            while True:
                with self._lock:
                    if len(self._waiting):
                        return True
                    if self._closed:
                        return False
                self._changed.wait()


def join(thread: threading.Thread, timeout_ms: int) -> None:
    """Wait for a thread to end, unless it is the calling one; log where the time runs out."""
    if thread is threading.current_thread():
        return
    thread.join(min(timeout_ms, LONGEST_WAIT_MS) / 1000)
    if thread.is_alive():
        _LOGGER.warning("Thread %s has not ended after %d ms", thread.name, timeout_ms)


def _run(task: Task, executor: Executor) -> None:
    """Run a task and log its failure, unless it asks the program to end.

    Rules: TIMER-THROWING-TASK.
    """
    try:
        task.run()
    except BaseException as failure:
        if asks_to_leave(failure):
            raise
        log_failure("%s: the task %s failed", executor.name, named_safely(task))
