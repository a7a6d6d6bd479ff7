"""The holds of a timer and of its executor.

A pass of a timer is driven here as ``Timer.advance`` drives it: a hold advances the wheel by a
number of steps and hands over what has expired. How many steps a hold has really taken is found
without a look inside. The same wheel is built again, led to before that hold, and to behind it, and
both times to the end by single steps: the difference is what the hold took.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Final

from purgatory_lab.holds.stopwatch import Section, Stopwatch, Stopwatches
from purgatory_impl import CallableTask, Executor, SteppedExecutor, Task, Timer, VirtualClock
from purgatory_impl.timer import _STEPS_PER_HOLD
from purgatory_impl.wheel import Wheel

STEPS_BOUND: Final = 1024
"""Steps of one hold of a pass, as documented: a bucket popped, or a task taken out of one."""

NOTHING: Final = Section("nothing, as often", "none", "", None)
"""A call of an empty function: what the machine adds to the longest of so many holds."""

DUE: Final = Section("flush, all due in one bucket", "timer", "steps", STEPS_BOUND)
CASCADE: Final = Section("flush, one overflow bucket comes down", "timer", "steps", STEPS_BOUND)
HAND_OVER: Final = Section("of it, the hand-over", "timer and executor", "places", STEPS_BOUND)
TAKE: Final = Section("next task leaves the queue", "executor", "places", STEPS_BOUND)
ADD: Final = Section("add", "timer", "", None)
LIST: Final = Section("close a purgatory on a given timer", "timer", "tasks", None)
DROP: Final = Section("close a timer", "timer", "tasks", None)

STEPS_PER_HOLD: Final = _STEPS_PER_HOLD
_WHEEL_SIZE: Final = 20
_LONGEST_DELAY_MS: Final = 60_000


class Miscount(Exception):
    """The steps of a wheel do not add up, so that a hold cannot be judged."""


class HandedOver(SteppedExecutor):
    """Counts the tasks that a timer hands over in one hold of the lock.

    Attributes:
        most: The most tasks at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    def hand_over(self, tasks: Iterable[Task]) -> None:
        """Queue tasks, and count them."""
        handed = list(tasks)
        self.most = max(self.most, len(handed))
        super().hand_over(handed)


class Queue:
    """Hands over to an executor, and sees how long the list is that may be copied as it grows."""

    def __init__(self, executor: Executor, watch: Stopwatch) -> None:
        self._executor = executor
        self._watch = watch

    def hand_over(self, tasks: list[Task]) -> None:
        """Queue tasks; each place of the list that they are in is a step."""
        self._watch.timed(self._executor.hand_over, tasks)
        self._watch.count(len(self._executor._waiting._last.tasks))


class TimerHolds:
    """A number of tasks, and what a timer does with all of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._tasks = [CallableTask(int) for _ in range(size)]
        draws = random.Random(1)
        self._spread_ms = [draws.randrange(1, _LONGEST_DELAY_MS) for _ in range(size)]
        # One bucket of level 1; and the third one of level 2, none of it due when it is popped.
        first_ms = 2 * _WHEEL_SIZE
        again_ms = [first_ms + 1 + each % (_WHEEL_SIZE - 1) for each in range(size)]
        self._flushes = {DUE: ([5] * size, 5), CASCADE: (again_ms, first_ms)}
        self._left: dict[tuple[Section, int], int] = {}

    def measure(self, watches: Stopwatches) -> None:
        """Measure all sections once."""
        nothing = watches.of(NOTHING)
        for _ in range(self._size):
            nothing.timed(_nothing)
        for section in self._flushes:
            self._flush(section, watches)
        watches.of(DUE).count(self._handed_over_at_once())
        self._add(watches.of(ADD))
        self._close(watches)

    def steps_of(self, section: Section, hold: int) -> int:
        """How many steps a hold of a flush takes, which is found by single steps.

        Args:
            section: ``DUE`` or ``CASCADE``.
            hold: The number of the hold, counted from 0.

        Raises:
            Miscount: a single step takes more than one task.
        """
        steps = self._steps_left(section, 0)
        if steps < self._size:
            raise Miscount(
                f"{section.name}: {self._size:,} tasks were gone through in {steps:,} single steps"
            )
        return self._steps_left(section, hold) - self._steps_left(section, hold + 1)

    def _timer(self, delays_ms: list[int], executor: Executor) -> Timer:
        """A timer with all tasks."""
        timer = _empty_timer(executor)
        for task, delay_ms in zip(self._tasks, delays_ms, strict=True):
            timer.add(task, delay_ms)
        return timer

    def _flush(self, section: Section, watches: Stopwatches) -> None:
        delays_ms, now_ms = self._flushes[section]
        executor = SteppedExecutor()
        timer = self._timer(delays_ms, executor)
        watch = watches.of(section)
        queue = Queue(executor, watches.of(HAND_OVER)) if section is DUE else None
        more = True
        while more:
            expired: list[Task] = []
            popped = timer._wheel.popped_buckets
            more = watch.timed(_hold_of_pass, timer._wheel, queue, now_ms, expired)
            # What is seen from outside: a task that is put again is not.
            watch.count(len(expired) + timer._wheel.popped_buckets - popped)
        timer.close()
        if section is DUE:
            _take_all(executor, watches.of(TAKE))

    def _steps_left(self, section: Section, holds: int) -> int:
        """How many single steps a flush takes after a number of holds; counted once."""
        known = self._left.get((section, holds))
        if known is not None:
            return known
        delays_ms, now_ms = self._flushes[section]
        timer = self._timer(delays_ms, SteppedExecutor())
        for _ in range(holds):
            timer._wheel.advance(now_ms, STEPS_PER_HOLD, [])
        steps = 0
        while timer._wheel.advance(now_ms, 1, []):
            steps += 1
        timer.close()
        self._left[section, holds] = steps
        return steps

    def _handed_over_at_once(self) -> int:
        """How many tasks the timer itself hands over in one hold, at most."""
        delays_ms, now_ms = self._flushes[DUE]
        executor = HandedOver()
        timer = self._timer(delays_ms, executor)
        clock = timer.clock
        assert isinstance(clock, VirtualClock)
        clock.set_ms(now_ms)
        timer.advance()
        timer.close()
        return executor.most

    def _add(self, watch: Stopwatch) -> None:
        fresh = [CallableTask(int) for _ in range(self._size)]
        timer = _empty_timer(SteppedExecutor())
        for task, delay_ms in zip(fresh, self._spread_ms, strict=True):
            watch.timed(timer.add, task, delay_ms)
        timer.close()

    def _close(self, watches: Stopwatches) -> None:
        timer = self._timer(self._spread_ms, SteppedExecutor())
        for section, close in ((LIST, timer._wheel.waiting), (DROP, timer._wheel.drop_all)):
            watch = watches.of(section)
            watch.count(len(watch.timed(close)))
        timer.close()


def _nothing() -> None:
    """Do nothing."""


def _empty_timer(executor: Executor) -> Timer:
    """A timer on a clock that stands still."""
    return Timer(tick_ms=1, wheel_size=_WHEEL_SIZE, clock=VirtualClock(), executor=executor)


def _hold_of_pass(wheel: Wheel, queue: Queue | None, now_ms: int, expired: list[Task]) -> bool:
    """Do the work of one hold of a pass; whether more is due."""
    more = wheel.advance(now_ms, STEPS_PER_HOLD, expired)
    if queue is not None and expired:
        queue.hand_over(expired)
    return more


def _take_all(executor: Executor, watch: Stopwatch) -> None:
    """Take all tasks out of the queue of an executor; a place given back is a step."""
    queue = executor._waiting
    taken: Task | None = None
    while True:
        batch = queue._first
        places = len(batch.tasks)
        taken = watch.timed(queue.take)
        if taken is None:
            break
        given_back = queue._first is not batch or not batch.tasks
        watch.count(places if given_back else 1)
