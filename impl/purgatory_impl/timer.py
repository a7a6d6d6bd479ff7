"""The timer: tasks run once, some milliseconds from now, and may be cancelled at any time before.

    with Timer() as timer:
        task = timer.add(refresh, 250)
        ...
        task.cancel()

A timer joins four parts, each with a module of its own: the *wheel* knows where tasks wait, the
*clock* what time it is, the *executor* who runs what has expired, and the *reaper*, a thread,
advances the wheel. The reaper sleeps until the first bucket is due, and an add that is due earlier
wakes it. A timer on a virtual clock has no reaper: whoever sets the clock advances the timer.

Locks. One lock guards the wheel, the tasks that wait in it and the hand-over to the executor. No
task and no executor's ``wake`` runs under it. A long pass holds it for a bounded number of steps at
a time; in between it wakes the executor and lets other threads in. Once for all pending tasks it is
held by closing alone, of the timer or of a purgatory that it was given to. The order of locks is:
change of owner or the reaper's sleep, timer, then executor or clock. The lock is not re-entrant, so
a timer must not be used from a signal handler or a ``__del__``: these may interrupt a thread that
holds it.

Ownership. A task belongs to the timer it was added to last. Adding it to a second timer while it
is pending in the first is an error and not a move, since two timers may have two clocks.
"""

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, SupportsIndex, cast

from purgatory_impl.arguments import Delay, can_be_called, configured, see_kind, whole_ms
from purgatory_impl.clocks import Clock, MonotonicClock, VirtualClock, monotonic_ms
from purgatory_impl.compiler import mypyc_attr
from purgatory_impl.errors import (
    DelayTooLarge,
    NotATask,
    OneShotEnded,
    TaskOfAnotherTimer,
    TimerClosed,
    refuse_second_init,
)
from purgatory_impl.exclusion import SectionLock, freed_after_fork, pure, refused_after_fork
from purgatory_impl.executors import Executor, ThreadExecutor, join
from purgatory_impl.failures import log_failure
from purgatory_impl.guarded import GuardedTask
from purgatory_impl.task import COMPILED, OneShotTask, Task, TaskOwner
from purgatory_impl.wheel import Wheel

LARGEST_DELAY_MS: Final = 2**53 - 1
"""The largest delay, ms: the largest integer that is safe in every language."""

LARGEST_WHEEL_SIZE: Final = 2**20
"""The largest number of buckets on a level: each takes a hundred bytes, used or not."""

_PAUSE_SECONDS: Final = 1.0
"""The seconds that the reaper rests after a pass of it has failed."""

_STEPS_PER_HOLD: Final = 1024
_OWNER_CHANGE: Final = SectionLock() if COMPILED else pure(threading.Lock())
freed_after_fork(_OWNER_CHANGE)


@mypyc_attr(allow_interpreted_subclasses=True)
class Timer(TaskOwner):
    """A timer on a hierarchical timing wheel; all methods may be called from any thread."""

    __slots__ = (
        "__weakref__",
        "_alarm_ms",
        "_asleep",
        "_clock",
        "_closed",
        "_earlier",
        "_executor",
        "_is_monotonic",
        "_lock",
        "_own_executor",
        "_reaper",
        "_sleep",
        "_token",
        "_virtual",
        "_wheel",
        "name",
    )

    def __init__(
        self,
        *,
        name: str = "purgatory",
        tick_ms: SupportsIndex = 1,
        wheel_size: SupportsIndex = 20,
        clock: Clock | None = None,
        executor: Executor | None = None,
        reaper: bool | None = None,
    ) -> None:
        """Build the timer and start its threads.

        Args:
            name: Begins the names of the timer's threads and the lines that it logs.
            tick_ms: The resolution, ms, at least 1. Expiries are rounded down to it.
            wheel_size: Buckets on each level, 2 to ``LARGEST_WHEEL_SIZE``.
            clock: Where the time comes from; a ``MonotonicClock`` when absent.
            executor: Who runs tasks; a ``ThreadExecutor`` when absent, which is closed with the
                timer. An executor that is given stays open: it may serve others too.
            reaper: Whether a thread advances the timer. When absent, one does unless the clock is
                a ``VirtualClock``.

        Raises:
            InvalidConfiguration: no wheel can be built of these sizes.
            TypeError: the timer is in use already.
        """
        if getattr(self, "_wheel", None) is not None:
            refuse_second_init(self)
        tick = configured("tick_ms", tick_ms, largest=LARGEST_DELAY_MS)
        size = configured("wheel_size", wheel_size, least=2, largest=LARGEST_WHEEL_SIZE)
        self.name = name
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._wheel = Wheel(tick, size, self._clock.now_ms())
        # The library's own clocks are read without a search for the method.
        self._is_monotonic = type(self._clock) is MonotonicClock
        self._virtual = self._clock if type(self._clock) is VirtualClock else None
        self._lock = SectionLock() if COMPILED else pure(threading.Lock())
        self._token = refused_after_fork(self, self._lock)
        self._closed = False
        self._own_executor: ThreadExecutor | None = None
        if executor is None:
            executor = self._own_executor = ThreadExecutor(name)
        self._executor = executor
        # The reaper's state: asleep or not, the alarm's time, the condition that wakes it early.
        self._asleep = False
        self._alarm_ms: int | None = None
        self._sleep = threading.Lock()
        self._earlier = threading.Condition(self._sleep)
        self._reaper: threading.Thread | None = None
        if not isinstance(self._clock, VirtualClock) if reaper is None else reaper:
            self._reaper = threading.Thread(target=self._reap, name=f"{name}-reaper", daemon=True)
            self._reaper.start()

    def __repr__(self) -> str:
        """Return the class, the name, and the number of pending tasks; read without the lock."""
        closed = ", closed" if self._closed else ""
        return f"<{type(self).__name__} {self.name!r}, {self._wheel.size} tasks pending{closed}>"

    def __enter__(self) -> "Timer":
        """Return the timer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the timer at the end of the block."""
        self.close()

    def add(self, task: Task | Callable[[], object], delay_ms: Delay) -> Task:
        """Arm a task: it is to run once, ``delay_ms`` from now.

        A task that is pending is moved: only the last add counts. A task that is due by the
        wheel's own clock goes to the executor at once; where that refuses it, it is kept for the
        next pass. An add that is refused changes nothing; an
        earlier arming stays.

        Args:
            task: A task, or a callable, of which a one-shot task is made.
            delay_ms: Whole milliseconds, or a ``timedelta`` of so many. Negative means already
                due.

        Returns:
            The task, for cancelling it. One that was made of a callable can be moved while it is
            pending, and not be added again later.

        Raises:
            InvalidDelay: the delay is no whole number of milliseconds.
            NotATask: it cannot be called, or it is a delayed operation, whose time-out is its
                purgatory's to arm.
            OneShotEnded: the task was made of a callable and is not pending any more.
            DelayTooLarge: the delay exceeds ``LARGEST_DELAY_MS``.
            TaskOfAnotherTimer: the task is pending in another timer.
            TimerClosed: the timer is closed, whatever the delay.

        Rules: TIMER-ALREADY-DUE, TIMER-ZERO-DELAY, TIMER-NEGATIVE-DELAY, TIMER-LARGEST-DELAY,
        TIMER-READD-CANCELLED, TIMER-READD-FIRED, TIMER-ADD-INSIDE, TIMER-SHUTDOWN-CLOSED.
        """
        delay = delay_ms if isinstance(delay_ms, int) else whole_ms(delay_ms)
        if delay > LARGEST_DELAY_MS:
            raise TimerClosed if self._closed else DelayTooLarge(delay, LARGEST_DELAY_MS)
        if isinstance(task, Task):
            if isinstance(task, GuardedTask):
                raise NotATask("a delayed operation is armed by the purgatory that watches it")
            armed = task
            _, waits = self._add_quietly(task, delay, isinstance(task, OneShotTask))
        else:
            if not can_be_called(task):
                raise NotATask(f"{task!r} is neither a task nor anything that can be called")
            armed = OneShotTask(task)
            # Nobody else has it yet, so that it need not be adopted under a lock.
            armed._timer = self
            _, waits = self._add_quietly(armed, delay)
        if not waits or self._executor._unwoken:
            self._wake_executor()
        return armed

    def cancel(self, task: Task) -> bool:
        """End the arming of a task in this timer, if there is one; never an error.

        A task that was handed to the executor runs all the same.

        Returns:
            Whether the task was pending here: it will not run for the arming that this call ended.

        Raises:
            TypeError: it is no task.

        Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED, TIMER-CANCEL-TOO-LATE,
        TIMER-CANCEL-UNKNOWN, TIMER-CANCEL-INSIDE.
        """
        if not COMPILED:
            see_kind("task", task, Task)
        with self._lock:
            was_pending = task._timer is self and self._wheel.remove(task)
        if was_pending and isinstance(task, OneShotTask):
            # Outside the lock: a finaliser is user code.
            task._let_go()
        return was_pending

    def advance(self) -> bool:
        """Do what is due at the clock's present reading, without waiting for anything.

        Returns:
            Whether a bucket was popped, or a task was handed over that had been kept. The bucket
            may have been empty, or have passed its tasks down.
            False where the timer is closed.

        Raises:
            Exception: what the executor raised that refused the tasks which are due. They are kept,
                pending as before, and the next pass hands them over before others.

        Rules: TIMER-NOT-EARLY, TIMER-NOT-LATE, TIMER-TICK-ORDER, TIMER-EXACTLY-ONCE,
        TIMER-ADVANCE-RESULT, TIMER-IDLE-ADVANCE, TIMER-ADVANCE-INSIDE, TIMER-EXECUTOR-REFUSES.
        """
        now_ms = self._clock.now_ms()
        popped = gives_again = False
        refusal: Exception | None = None
        more = True
        while more:
            expired: list[Task] = []
            with self._lock:
                # A closed timer has an empty wheel, where nothing is due.
                popped_before = self._wheel.popped_buckets
                if not gives_again:
                    gives_again = self._wheel.give_again()
                more = self._wheel.advance(now_ms, _STEPS_PER_HOLD, expired)
                popped = popped or self._wheel.popped_buckets != popped_before
                if expired:
                    # Under the lock, so that two passes cannot overtake each other here.
                    refusal = self._hand_over(expired, refusal)
                    popped = True
            if expired or self._executor._unwoken:
                # Not once at the end: a million tasks would have left the caches before they run.
                self._wake_executor()
            if more:
                # Give way: without this the lock would be taken again before a waiter wakes up.
                time.sleep(0)
        if refusal is not None:
            try:
                raise refusal
            finally:
                # The error knows this frame, which would keep it and the last tasks alive.
                refusal = None
        return popped

    def close(self, timeout_ms: int = 5000) -> None:
        """Take no more tasks, drop those that are pending, and end the timer's threads.

        Tasks that were handed to the executor before still run. May be called again, by several
        threads, and from inside a task; there it does not wait for the thread that it runs in.

        Args:
            timeout_ms: How long to wait, at most, for the reaper and again for the executor.

        Rules: TIMER-SHUTDOWN-DROPS, TIMER-SHUTDOWN-QUEUE, TIMER-SHUTDOWN-AGAIN.
        """
        with self._lock:
            self._closed = True
            dropped = self._wheel.drop_all()
        self._wake_reaper()
        # The last references to tasks go here, outside the lock: a finaliser is user code.
        while dropped:
            dropped.pop()._dropped()
        if self._reaper is not None:
            join(self._reaper, timeout_ms)
        if self._own_executor is not None:
            self._own_executor.close(timeout_ms)

    @property
    def clock(self) -> Clock:
        """Return the clock that the timer was built with."""
        return self._clock

    @property
    def size(self) -> int:
        """Return the number of tasks that wait in buckets.

        Rules: TIMER-SIZE.
        """
        with self._lock:
            return self._wheel.size

    @property
    def wheel_clock_ms(self) -> int:
        """Return the wheel's own clock, ms; it lags behind the clock while nothing is due.

        Rules: TIMER-OWN-CLOCK.
        """
        with self._lock:
            return self._wheel.clock_ms

    @property
    def queued_buckets(self) -> int:
        """Return the number of buckets in the delay queue, also those of cancelled tasks alone.

        Rules: TIMER-DELAY-QUEUE-BOUND, TIMER-EMPTIED-BUCKET.
        """
        with self._lock:
            return self._wheel.queued_buckets

    @property
    def next_expiry_ms(self) -> int | None:
        """Return the time at which the timer next has work, ms; None where it has none.

        Rules: TIMER-WAKE-UP.
        """
        with self._lock:
            return self._wheel.next_expiry_ms

    @property
    def levels(self) -> int:
        """Return the number of levels of the wheel that exist, at least 1.

        Rules: TIMER-OVERFLOW-ON-DEMAND.
        """
        with self._lock:
            return self._wheel.levels

    def _add_quietly(self, task: Task, delay_ms: int, only_move: bool = False) -> tuple[bool, bool]:
        """Arm a task and leave it to the caller to wake the executor where that has to be.

        Args:
            task: What to arm.
            delay_ms: From now.
            only_move: Refuse the task where it is not pending.

        Returns:
            Whether the task was pending here before, so that it was moved, and whether it waits in
            a bucket or is kept. Otherwise it was handed over and the executor is to be woken.
        """
        if self._is_monotonic:
            now_ms = monotonic_ms()
        elif self._virtual is not None:
            now_ms = self._virtual.now_ms()
        else:
            now_ms = self._clock.now_ms()
        expiry_ms = now_ms + delay_ms
        was_pending = waits = is_armed = is_earlier = False
        try:
            while True:
                if is_armed:
                    break
                if task._timer is not self:
                    self._adopt(task)
                with self._lock:
                    if self._closed:
                        raise TimerClosed
                    if only_move and task._next is None:
                        raise OneShotEnded
                    # Another timer may have taken the task just now: then ask it again.
                    if task._timer is self:
                        was_pending = task._next is not None
                        queued = self._wheel.queued_buckets
                        waits = self._arm(task, expiry_ms)
                        # Only a bucket that has come into the delay queue can be the first there.
                        if self._asleep and self._wheel.queued_buckets != queued:
                            is_earlier = self._is_before_alarm()
                        is_armed = True
            if is_earlier:
                self._wake_reaper()
        except BaseException:
            # Interrupted: nobody else would wake a reaper that counts as awake.
            if is_earlier:
                self._wake_reaper()
            raise
        return was_pending, waits

    def _hand_over(self, expired: Sequence[Task], refusal: Exception | None) -> Exception | None:
        """Give expired tasks to the executor; keep those that the executor refuses.

        Args:
            expired: Due tasks, in no bucket.
            refusal: The exception of an earlier hand-over of this pass: these are kept as well.

        Returns:
            The exception of the first refused hand-over; None where the executor took all tasks.

        Rules: TIMER-EXECUTOR-REFUSES.
        """
        if refusal is None:
            try:
                self._executor.hand_over(expired)
            except Exception as failure:
                # Given to no other name here: the error knows this frame, and so the tasks.
                self._wheel.keep(expired)
                return failure
            return None
        self._wheel.keep(expired)
        return refusal

    def _wake_executor(self) -> None:
        """Wake the executor; where that is interrupted, the next add or pass does it again."""
        executor = self._executor
        try:
            # Cleared first: what is handed over from now on has a wake of its own.
            executor._unwoken = False
            executor.wake()
        except BaseException:
            executor._unwoken = True
            raise

    def _wake_reaper(self) -> None:
        with self._sleep:
            self._earlier.notify_all()

    def _hand_over_again(self, task: Task) -> None:
        """Give the executor a task back that it has run in vain; keep a refused task.

        Rules: TIMER-EXECUTOR-REFUSES.
        """
        try:
            self._executor.hand_over((task,))
        except Exception:
            with self._lock:
                is_kept = not self._closed and task._next is None
                if is_kept:
                    self._wheel.keep((task,))
            if is_kept:
                self._wake_reaper()
        else:
            self._executor.wake()

    def _waiting(self) -> list[Task]:
        """Return the tasks that wait in buckets now, in no order that means anything."""
        with self._lock:
            return self._wheel.waiting()

    def _adopt(self, task: Task) -> None:
        """Make this timer the owner of a task that is not pending in another one."""
        with _OWNER_CHANGE:
            owner = task._timer
            if owner is None:
                task._timer = self
            elif owner is not self:
                # The owner reads and writes the task under its own lock.
                with cast("Timer", owner)._lock:
                    if task._next is not None:
                        raise TaskOfAnotherTimer
                    task._timer = self

    def _arm(self, task: Task, expiry_ms: int) -> bool:
        """End the task's previous arming, if any, and put the task into its bucket.

        Returns:
            False where the task is due and was handed to the executor.

        Rules: TIMER-READD-PENDING, TIMER-OWN-CLOCK, TIMER-EXECUTOR-REFUSES.
        """
        if task._next is not None:
            self._wheel.remove(task)
        if self._wheel.place(task, expiry_ms):
            return True
        return self._hand_over((task,), None) is not None

    def _is_before_alarm(self) -> bool:
        """Decide whether the first bucket is due before the reaper wakes; then count it as awake.

        Rules: TIMER-WAKE-UP.
        """
        earliest_ms = self._wheel.next_expiry_ms
        if earliest_ms is None or (self._alarm_ms is not None and earliest_ms >= self._alarm_ms):
            return False
        self._asleep = False
        return True

    def _reap(self) -> None:
        """Run the reaper thread: sleep, advance, until the timer is closed."""
        goes_on = True
        while goes_on:
            try:
                goes_on = self._sleep_until_due()
                if goes_on:
                    self.advance()
            except BaseException:
                # Tasks cannot get here, but a user's clock can, and the ``wake`` of an executor.
                log_failure("%s: a pass of the reaper failed", self.name)
                with self._sleep:
                    if not self._closed:
                        self._earlier.wait(_PAUSE_SECONDS)

    def _sleep_until_due(self) -> bool:
        """Wait for the first bucket to be due; False once the timer is closed.

        Rules: TIMER-WAKE-UP.
        """
        # Who finds the reaper asleep wakes it under this lock, and so not before it waits.
        with self._sleep:
            while True:
                with self._lock:
                    if self._closed:
                        return False
                    earliest_ms = self._wheel.next_expiry_ms
                    self._alarm_ms = earliest_ms
                    self._asleep = True
                if earliest_ms is not None and earliest_ms <= self._clock.now_ms():
                    break
                self._clock.wait_until(self._earlier, earliest_ms)
            with self._lock:
                self._asleep = False
            return True
