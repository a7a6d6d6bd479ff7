"""Executors that refuse: no task is lost, none runs twice, and no thread dies."""

import gc
import time
import weakref
from collections.abc import Callable, Iterable
from functools import partial

import pytest

import purgatory_impl as impl

from .threads import LONG_S


class Full(Exception):
    """The queue of the executor is full."""


class Fickle(impl.SteppedExecutor):
    """Takes tasks only while it has room, and counts the times that it was asked in vain."""

    def __init__(self) -> None:
        super().__init__()
        self.has_room = False
        self.refused = 0

    def hand_over(self, tasks: Iterable[impl.Task]) -> None:
        if not self.has_room:
            self.refused += 1
            raise Full
        super().hand_over(tasks)

    def ran(self) -> None:
        """Run everything that was taken."""
        while self.run_one():
            pass


@pytest.fixture
def executor() -> Fickle:
    return Fickle()


@pytest.fixture
def clock() -> impl.VirtualClock:
    return impl.VirtualClock(0)


@pytest.fixture
def timer(executor: Fickle, clock: impl.VirtualClock) -> impl.Timer:
    return impl.Timer(clock=clock, executor=executor)


def advance(timer: impl.Timer, clock: impl.VirtualClock, to_ms: int) -> bool:
    clock.set_ms(to_ms)
    return timer.advance()


def eventually(holds: Callable[[], bool]) -> None:
    """Wait for a condition that another thread brings about."""
    deadline_s = time.monotonic() + LONG_S
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.001)


def test_refused_tasks_stay_pending_and_run_once(
    timer: impl.Timer, clock: impl.VirtualClock, executor: Fickle
) -> None:
    """The exception reaches the caller of each pass, and the next one hands the tasks over."""
    ran: list[int] = []
    for delay_ms in (3, 1, 2, 900):
        timer.add(partial(ran.append, delay_ms), delay_ms)
    for _ in range(2):
        with pytest.raises(Full):
            advance(timer, clock, 3)
        assert (timer.size, executor.queued, timer.next_expiry_ms) == (4, 0, timer.wheel_clock_ms)
    executor.has_room = True
    assert advance(timer, clock, 3)
    assert (timer.size, executor.queued) == (1, 3)
    executor.ran()
    assert ran == [1, 2, 3]
    assert not advance(timer, clock, 4)


def test_a_refused_task_can_be_cancelled_and_moved(
    timer: impl.Timer, clock: impl.VirtualClock, executor: Fickle
) -> None:
    ran: list[str] = []
    cancelled, moved = timer.add(lambda: ran.append("c"), 1), timer.add(lambda: ran.append("m"), 1)
    with pytest.raises(Full):
        advance(timer, clock, 1)
    assert cancelled.cancel()
    timer.add(moved, 10)
    assert timer.size == 1
    executor.has_room = True
    advance(timer, clock, 10)
    assert executor.queued == 0
    advance(timer, clock, 11)
    executor.ran()
    assert ran == ["m"]


def test_a_task_that_is_due_as_it_is_added_is_kept(
    timer: impl.Timer, clock: impl.VirtualClock, executor: Fickle
) -> None:
    """The add succeeds: the task is pending, and the next pass hands it over."""
    ran: list[str] = []
    task = timer.add(lambda: ran.append("now"), 0)
    assert (timer.size, timer.next_expiry_ms) == (1, 0)
    with pytest.raises(Full):
        timer.advance()
    assert task.cancel()
    timer.add(lambda: ran.append("again"), 0)
    executor.has_room = True
    assert timer.advance()
    executor.ran()
    assert ran == ["again"]


def test_thousands_are_refused_in_one_pass(
    timer: impl.Timer, clock: impl.VirtualClock, executor: Fickle
) -> None:
    """A long pass asks the executor once, and keeps the order of ticks."""
    ran: list[int] = []
    for number in range(5000):
        timer.add(partial(ran.append, number), 1 + number // 100)
    with pytest.raises(Full):
        advance(timer, clock, 50)
    assert (timer.size, executor.refused) == (5000, 1)
    executor.has_room = True
    advance(timer, clock, 50)
    executor.ran()
    assert ran == list(range(5000))


def test_closing_drops_refused_tasks(
    timer: impl.Timer, clock: impl.VirtualClock, executor: Fickle
) -> None:
    timer.add(print, 1)
    with pytest.raises(Full):
        advance(timer, clock, 1)
    timer.close()
    executor.has_room = True
    assert not timer.advance()
    assert (timer.size, executor.queued) == (0, 0)


def test_the_reaper_tries_again(executor: Fickle, logged: pytest.LogCaptureFixture) -> None:
    """It logs each refused pass, and hands the task over when there is room."""
    ran: list[str] = []
    with impl.Timer(executor=executor) as timer:
        timer.add(lambda: ran.append("a"), 1)
        eventually(lambda: executor.refused > 0)
        assert timer.size == 1
        executor.has_room = True
        eventually(lambda: executor.queued == 1)
        executor.ran()
    assert ran == ["a"]
    assert "a pass of the reaper failed" in logged.text


class Waiting(impl.DelayedOperation):
    """An operation that only its time-out completes."""

    def try_complete(self) -> bool:
        return False


def test_a_purgatory_loses_no_time_out(
    timer: impl.Timer, clock: impl.VirtualClock, executor: Fickle
) -> None:
    """Refused time-outs count as pending; whatever completes an operation takes its time-out."""
    with impl.Purgatory[str](timer=timer) as purgatory:
        forced, expires, at_once = Waiting(1), Waiting(1), Waiting(0)
        for operation in (forced, expires, at_once):
            assert not purgatory.try_complete_else_watch(operation, ["key"])
        clock.set_ms(1)
        with pytest.raises(Full):
            purgatory.advance()
        assert (purgatory.pending, purgatory.timer_size) == (3, 3)
        assert forced.force_complete()
        assert (purgatory.pending, purgatory.timer_size) == (2, 2)
        executor.has_room = True
        purgatory.advance()
        executor.ran()
        assert expires.is_completed
        assert at_once.is_completed
        assert (purgatory.pending, purgatory.timer_size) == (0, 0)


class Collectable(impl.TimerTask):
    """A task that a weak reference may know."""

    def run(self) -> None:
        pass


def test_a_refusal_keeps_no_task(
    timer: impl.Timer, executor: Fickle, clock: impl.VirtualClock
) -> None:
    """A task that ran in the end is gone without the help of the garbage collector."""
    task = Collectable()
    left = weakref.ref(task)
    timer.add(task, 5)
    del task
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(Full):
            advance(timer, clock, 5)
        executor.has_room = True
        timer.advance()
        executor.ran()
        assert left() is None
    finally:
        gc.enable()
