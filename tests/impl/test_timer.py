"""The timer on a virtual clock: every rule, exactly."""

import random
import threading
from typing import NamedTuple

import pytest

from purgatory_impl import (
    LARGEST_DELAY_MS,
    CallableTask,
    DelayTooLarge,
    InlineExecutor,
    InvalidConfiguration,
    InvalidDelay,
    SteppedExecutor,
    TaskOfAnotherTimer,
    Timer,
    TimerClosed,
    TimerTask,
    VirtualClock,
)
from purgatory_spec.reasons import Reason


class Seen(NamedTuple):
    """All observables of a timer."""

    size: int = 0
    queued: int = 0
    wheel_clock_ms: int = 0
    queued_buckets: int = 0
    next_expiry_ms: int | None = None
    levels: int = 1


class Bench:
    """A timer on a virtual clock with a stepped executor, and tasks that record their names."""

    def __init__(self, tick_ms: int = 1, wheel_size: int = 20, start_ms: int = 0) -> None:
        self.clock = VirtualClock(start_ms)
        self.executor = SteppedExecutor()
        self.timer = Timer(
            tick_ms=tick_ms, wheel_size=wheel_size, clock=self.clock, executor=self.executor
        )
        self.ran: list[str] = []
        self.tasks: dict[str, TimerTask] = {}

    def task(self, name: str) -> TimerTask:
        if name not in self.tasks:
            self.tasks[name] = CallableTask(lambda: self.ran.append(name))
        return self.tasks[name]

    def add(self, name: str, delay_ms: int) -> TimerTask:
        task = self.task(name)
        assert self.timer.add(task, delay_ms) is task
        return task

    def advance(self, to_ms: int) -> bool:
        self.clock.set_ms(to_ms)
        return self.timer.advance()

    def run_all(self) -> list[str]:
        """The names of the tasks that ran since this was last asked, the queued ones included."""
        while self.executor.run_one():
            pass
        ran = list(self.ran)
        self.ran.clear()
        return ran

    def seen(self) -> Seen:
        return Seen(
            self.timer.size,
            self.executor.queued,
            self.timer.wheel_clock_ms,
            self.timer.queued_buckets,
            self.timer.next_expiry_ms,
            self.timer.levels,
        )


# When a task expires


def test_the_boundary_cases_of_a_coarse_tick() -> None:
    """Given a timer of tick 10 and wheel size 5, started at 1003.

    When tasks are added around the edges of tick and level and time goes on.
    Then each expires at the first advance that is not earlier than its tick, all counts as stated.
    """
    bench = Bench(tick_ms=10, wheel_size=5, start_ms=1003)
    assert bench.seen() == Seen(wheel_clock_ms=1000)
    bench.clock.set_ms(1000)
    for delay_ms in (5, 9, 10, 25, 49, 50, 99):
        bench.add(f"d{delay_ms}", delay_ms)
    assert bench.seen() == Seen(5, 2, 1000, 4, 1010, 2)
    assert bench.run_all() == ["d5", "d9"]
    assert (bench.advance(1009), bench.run_all()) == (False, [])
    assert (bench.advance(1019), bench.run_all()) == (True, ["d10"])
    assert (bench.advance(1020), bench.run_all()) == (True, ["d25"])
    assert bench.seen() == Seen(3, 0, 1020, 2, 1040, 2)
    assert (bench.advance(1049), bench.run_all()) == (True, ["d49"])
    assert bench.seen() == Seen(2, 0, 1040, 1, 1050, 2)
    assert (bench.advance(1050), bench.run_all()) == (True, ["d50"])
    assert bench.seen() == Seen(1, 0, 1050, 1, 1090, 2)
    assert (bench.advance(1089), bench.run_all()) == (False, [])
    assert (bench.advance(1095), bench.run_all()) == (True, ["d99"])
    assert bench.seen() == Seen(0, 0, 1090, 0, None, 2)


def test_the_expiry_counts_from_the_clock_and_not_from_the_own_clock() -> None:
    """Given a timer of tick 10, started at 1003, so that its own clock is 1000.

    When a task is added with delay 7.
    Then its expiry is 1010, so that it waits, where 1000 + 7 would be due.
    """
    bench = Bench(tick_ms=10, start_ms=1003)
    bench.add("a", 7)
    assert bench.seen() == Seen(1, 0, 1000, 1, 1010, 1)


def test_due_is_relative_to_the_own_clock() -> None:
    """Given a timer of tick 1 whose own clock stands at 8000 while the clock reads 20000.

    When tasks with delays 0, -1 and 5 are added.
    Then they wait in the bucket of 16000, and one advance expires those two that are due.
    """
    bench = Bench()
    bench.add("a", 8000)
    assert (bench.advance(8000), bench.run_all()) == (True, ["a"])
    assert bench.advance(20_000) is False
    bench.add("zero", 0)
    bench.add("past", -1)
    bench.add("five", 5)
    assert bench.seen() == Seen(3, 0, 8000, 1, 16_000, 4)
    assert bench.advance(20_000) is True
    assert bench.seen() == Seen(1, 2, 20_000, 1, 20_005, 4)
    assert bench.run_all() == ["past", "zero"]
    bench.add("now", 0)
    assert bench.seen() == Seen(1, 1, 20_000, 1, 20_005, 4)
    assert bench.run_all() == ["now"]


def test_zero_and_negative_delays_are_already_due() -> None:
    """Given a timer whose own clock is the clock's reading.

    When tasks with a delay of zero, below zero, and far below zero are added.
    Then they are handed to the executor at once, in this order, without an advance.
    """
    bench = Bench(start_ms=50)
    for name, delay_ms in (("zero", 0), ("minus", -1), ("far", -(2**70))):
        bench.add(name, delay_ms)
    assert bench.seen() == Seen(0, 3, 50, 0, None, 1)
    assert bench.run_all() == ["zero", "minus", "far"]


def test_the_largest_delay_is_kept_exactly() -> None:
    """Given a timer.

    When a task is added with the largest delay.
    Then it expires at that very millisecond, and not one before.
    """
    bench = Bench(start_ms=3)
    bench.add("a", LARGEST_DELAY_MS)
    assert LARGEST_DELAY_MS == 2**53 - 1
    bench.advance(LARGEST_DELAY_MS + 2)
    assert bench.run_all() == []
    bench.advance(LARGEST_DELAY_MS + 3)
    assert bench.run_all() == ["a"]


def test_a_larger_delay_is_refused_and_changes_nothing() -> None:
    """Given a pending task.

    When it is added again with a delay above the largest.
    Then that is refused as too large, and the arming before stays.
    """
    bench = Bench()
    task = bench.add("a", 10)
    before = bench.seen()
    with pytest.raises(DelayTooLarge) as refusal:
        bench.timer.add(task, LARGEST_DELAY_MS + 1)
    assert refusal.value.reason is Reason.TOO_LARGE
    assert bench.seen() == before
    assert (bench.advance(10), bench.run_all()) == (True, ["a"])


@pytest.mark.parametrize("delay", [0.5, 250.0, "250", None])
def test_a_delay_that_is_no_integer_is_refused(delay: int) -> None:
    """Given a pending task.

    When it is added again with a delay that is not an integer.
    Then that is refused as an invalid argument, and the arming before stays.
    """
    bench = Bench()
    task = bench.add("a", 10)
    before = bench.seen()
    with pytest.raises(InvalidDelay) as refusal:
        bench.timer.add(task, delay)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert bench.seen() == before


def test_a_foreign_integer_becomes_an_ordinary_one() -> None:
    """Given an integer type of another library.

    When it is used as a delay.
    Then the expiry is an integer of Python's own.
    """

    class Int64:
        def __index__(self) -> int:
            return 10

    bench = Bench()
    bench.timer.add(bench.task("a"), Int64())
    assert type(bench.timer.next_expiry_ms) is int
    assert bench.seen() == Seen(1, 0, 0, 1, 10, 1)


@pytest.mark.parametrize(("tick_ms", "wheel_size"), [(0, 20), (-1, 20), (1, 1), (1, 0)])
def test_a_wheel_that_cannot_turn_is_refused(tick_ms: int, wheel_size: int) -> None:
    """Given a tick below 1 or fewer than 2 buckets.

    When a timer is built.
    Then that is refused as an invalid argument, and no thread is left behind.
    """
    before = set(threading.enumerate())
    with pytest.raises(InvalidConfiguration) as refusal:
        Timer(tick_ms=tick_ms, wheel_size=wheel_size)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert set(threading.enumerate()) == before


# Adding again, and cancelling


def test_adding_a_pending_task_moves_it() -> None:
    """Given a task pending for 10.

    When it is added again at 4 with delay 3, and then with delay 30.
    Then it is counted once, runs once, at 34, and its buckets of 10 and 7 are popped empty.
    """
    bench = Bench()
    bench.add("a", 10)
    bench.clock.set_ms(4)
    bench.add("a", 3)
    assert bench.seen() == Seen(1, 0, 0, 2, 7, 1)
    bench.add("a", 30)
    assert bench.seen() == Seen(1, 0, 0, 3, 7, 2)
    assert (bench.advance(33), bench.run_all()) == (True, [])
    assert (bench.advance(34), bench.run_all()) == (True, ["a"])
    assert (bench.advance(1000), bench.run_all()) == (False, [])


def test_a_pending_task_that_becomes_due_runs_once() -> None:
    """Given a pending task.

    When it is added again with delay 0 while the own clock is the present tick.
    Then it leaves its bucket, is handed over at once, and runs once.
    """
    bench = Bench()
    bench.add("a", 10)
    bench.add("a", 0)
    assert bench.seen() == Seen(0, 1, 0, 1, 10, 1)
    assert bench.advance(10) is True
    assert bench.run_all() == ["a"]


def test_a_cancelled_or_fired_task_can_be_armed_again() -> None:
    """Given a task.

    When it is cancelled and added, and after it ran added again.
    Then it runs once for each arming that was not cancelled.
    """
    bench = Bench()
    task = bench.add("a", 10)
    assert task.cancel() is True
    bench.add("a", 20)
    assert (bench.advance(20), bench.run_all()) == (True, ["a"])
    bench.add("a", 5)
    assert (bench.advance(25), bench.run_all()) == (True, ["a"])


def test_a_task_in_the_executors_queue_can_be_armed_again() -> None:
    """Given a task that was handed to the executor and has not run.

    When it is added again.
    Then that run and the new arming are two.
    """
    bench = Bench()
    bench.add("a", 1)
    bench.advance(1)
    bench.add("a", 1)
    assert bench.seen() == Seen(1, 1, 1, 1, 2, 1)
    bench.advance(2)
    assert bench.run_all() == ["a", "a"]


def test_a_cancelled_task_leaves_an_empty_bucket() -> None:
    """Given a task pending for 30 on a timer of tick 10.

    When it is cancelled, and cancelled again.
    Then it is not counted and never runs, and its bucket is popped when due: true, nothing ran.
    """
    bench = Bench(tick_ms=10)
    task = bench.add("a", 30)
    assert (bench.timer.cancel(task), task.cancel(), bench.timer.cancel(task)) == (
        True,
        False,
        False,
    )
    assert bench.seen() == Seen(0, 0, 0, 1, 30, 1)
    assert (bench.advance(29), bench.advance(35), bench.run_all()) == (False, True, [])
    assert bench.seen() == Seen(0, 0, 30, 0, None, 1)
    bench.clock.set_ms(30)
    bench.add("b", 9)
    assert bench.run_all() == ["b"]


def test_cancelling_a_task_that_is_not_pending_has_no_effect() -> None:
    """Given a task that was never added, one in the executor's queue, and one that has run.

    When they are cancelled.
    Then nothing changes: the one in the queue runs all the same.
    """
    bench = Bench()
    unknown = bench.task("unknown")
    ran = bench.add("ran", 0)
    assert bench.run_all() == ["ran"]
    handed_over = bench.add("handed over", 1)
    bench.advance(1)
    before = bench.seen()
    for task in (unknown, ran, handed_over):
        assert (task.cancel(), bench.timer.cancel(task)) == (False, False)
    assert bench.seen() == before
    assert bench.run_all() == ["handed over"]


def test_cancelling_takes_the_one_task_out_of_a_shared_bucket() -> None:
    """Given three tasks in one bucket.

    When the middle one is cancelled.
    Then the others run.
    """
    bench = Bench()
    for name in ("a", "b", "c"):
        bench.add(name, 5)
    assert bench.tasks["b"].cancel() is True
    assert bench.timer.size == 2
    bench.advance(5)
    assert bench.run_all() == ["a", "c"]


# Advancing


def test_an_advance_with_nothing_due_changes_nothing() -> None:
    """Given a pending task.

    When the timer is advanced before its bucket is due.
    Then the answer is false and every observable is as before, the own clock included.
    """
    bench = Bench()
    assert bench.advance(7) is False
    bench.add("a", 30)
    before = bench.seen()
    assert bench.advance(19) is False
    assert bench.seen() == before == Seen(1, 0, 0, 1, 20, 2)


def test_one_advance_expires_in_the_order_of_ticks() -> None:
    """Given tasks on several levels, added in no order.

    When one advance passes all of them.
    Then they are handed over by tick, and the own clock is the last bucket's expiry, not the clock.
    """
    bench = Bench()
    delays = [8000, 3, 401, 19, 399, 20, 400, 1, 21]
    for delay_ms in delays:
        bench.add(str(delay_ms), delay_ms)
    assert bench.advance(9000) is True
    assert bench.run_all() == [str(delay_ms) for delay_ms in sorted(delays)]
    assert bench.seen() == Seen(0, 0, 8000, 0, None, 4)


def test_a_pass_is_handed_over_in_bounded_parts() -> None:
    """Given 5000 tasks in one bucket.

    When they expire.
    Then they are handed over in several parts of a bounded size, between which the lock is free.
    """

    class Counting(SteppedExecutor):
        """Records how many tasks are handed over at a time."""

        def __init__(self) -> None:
            super().__init__()
            self.parts: list[int] = []

        def hand_over(self, tasks: object) -> None:
            assert isinstance(tasks, list)
            self.parts.append(len(tasks))
            super().hand_over(tasks)

    executor = Counting()
    clock = VirtualClock()
    timer = Timer(clock=clock, executor=executor)
    for _ in range(5000):
        timer.add(int, 5)
    clock.set_ms(5)
    assert timer.advance() is True
    assert (sum(executor.parts), max(executor.parts) <= 1024) == (5000, True)


@pytest.mark.parametrize("seed", range(8))
def test_random_histories_obey_the_rules(seed: int) -> None:
    """Given timers of many shapes, and their rules stated without a wheel.

    When tasks are added, moved and cancelled at random while time goes on.
    Then exactly the tasks that are due expire, in the order of ticks, and all counts agree.
    """
    chance = random.Random(seed)
    tick_ms, wheel_size = chance.choice([1, 2, 3, 7, 10]), chance.choice([2, 3, 5, 20])
    start_ms = chance.choice([-100_003, -7, 0, 1003])
    bench = Bench(tick_ms, wheel_size, start_ms)
    interval_ms = tick_ms * wheel_size
    pending: dict[str, int] = {}

    def tick_of(name: str) -> int:
        return pending[name] // tick_ms * tick_ms

    for _ in range(1500):
        now_ms = bench.clock.now_ms()
        name = f"task {chance.randrange(30)}"
        action = chance.random()
        if action < 0.55:
            edge_ms = chance.choice([0, tick_ms, interval_ms, interval_ms * wheel_size])
            delay_ms = edge_ms + chance.randint(-2, 2) + chance.randrange(interval_ms * 3)
            pending[name] = now_ms + delay_ms
            due = tick_of(name) <= bench.timer.wheel_clock_ms
            bench.add(name, delay_ms)
            if due:
                del pending[name]
            assert bench.run_all() == ([name] if due else [])
        elif action < 0.7:
            assert bench.task(name).cancel() is (pending.pop(name, None) is not None)
        else:
            next_ms = bench.timer.next_expiry_ms
            now_ms += chance.choice([0, 1, tick_ms, interval_ms, interval_ms * wheel_size])
            result = bench.advance(now_ms)
            assert result is (next_ms is not None and next_ms <= now_ms)
            due_names = [name for name in pending if tick_of(name) <= now_ms]
            ran = bench.run_all()
            assert sorted(ran) == sorted(due_names)
            assert [tick_of(name) for name in ran] == sorted(map(tick_of, due_names))
            for name in due_names:
                del pending[name]
            following_ms = bench.timer.next_expiry_ms
            assert following_ms is None or following_ms > now_ms
        seen = bench.seen()
        assert (seen.size, seen.queued) == (len(pending), 0)
        assert seen.queued_buckets <= seen.levels * wheel_size
        assert seen.wheel_clock_ms % tick_ms == 0
        assert seen.wheel_clock_ms <= now_ms
        first_ms = min(map(tick_of, pending), default=None)
        if first_ms is not None:
            assert seen.next_expiry_ms is not None
            assert seen.next_expiry_ms <= first_ms


# From inside a running task


def inline() -> tuple[Timer, VirtualClock]:
    """A timer whose tasks run in the caller, and its clock."""
    clock = VirtualClock()
    return Timer(clock=clock, executor=InlineExecutor()), clock


def test_a_running_task_may_add_itself_and_others() -> None:
    """Given a task that adds itself with delay 10 and another with delay 0 when it runs.

    When the timer is advanced.
    Then the other runs after it, not inside it, and it runs again 10 later.
    """
    timer, clock = inline()
    ran: list[str] = []

    def tick() -> None:
        ran.append(f"begin {clock.now_ms()}")
        timer.add(task, 10)
        timer.add(lambda: ran.append("other"), 0)
        ran.append("end")

    task = timer.add(CallableTask(tick), 10)
    for now_ms in (10, 20):
        clock.set_ms(now_ms)
        timer.advance()
    assert ran == ["begin 10", "end", "other", "begin 20", "end", "other"]
    assert timer.size == 1


def test_a_running_task_may_cancel() -> None:
    """Given three tasks that expire together and one later; the first cancels all of them.

    When they run.
    Then those already handed over run all the same, the later one never.
    """
    timer, clock = inline()
    ran: list[str] = []

    def first() -> None:
        ran.append(f"first {[task.cancel() for task in tasks]}")

    tasks = [timer.add(first, 5)]
    tasks += [timer.add(lambda: ran.append("together"), 5) for _ in range(2)]
    tasks += [timer.add(lambda: ran.append("later"), 6)]
    clock.set_ms(5)
    timer.advance()
    clock.set_ms(6)
    assert timer.advance() is True
    assert ran == ["first [False, False, False, True]", "together", "together"]


def test_a_running_task_may_advance() -> None:
    """Given two tasks of one tick; the first lets time go on and advances the timer.

    When they run.
    Then what expires inside runs after what was already queued.
    """
    timer, clock = inline()
    ran: list[object] = []

    def first() -> None:
        clock.set_ms(9)
        ran.append(timer.advance())

    timer.add(first, 5)
    timer.add(lambda: ran.append("second"), 5)
    timer.add(lambda: ran.append("third"), 9)
    clock.set_ms(5)
    assert timer.advance() is True
    assert ran == [True, "second", "third"]


def test_no_user_code_runs_under_a_lock() -> None:
    """Given tasks that expire on being added and in an advance, and objects dropped at closing.

    When they run and are finalised, and when the executor is woken.
    Then the timer's lock is free each time.
    """
    locked: list[bool] = []

    class Watching(InlineExecutor):
        def wake(self) -> None:
            locked.append(timer._lock.locked())
            super().wake()

    class Finalised:
        def run(self) -> None:
            pass

        def __del__(self) -> None:
            locked.append(timer._lock.locked())

    clock = VirtualClock()
    timer = Timer(clock=clock, executor=Watching())
    timer.add(lambda: locked.append(timer._lock.locked()), 0)
    timer.add(lambda: locked.append(timer._lock.locked()), 5)
    timer.add(Finalised().run, 1000)
    clock.set_ms(5)
    timer.advance()
    timer.close()
    assert locked == [False] * 5


# Tasks and timers


def test_a_subclass_overrides_run() -> None:
    """Given a subclass of the task with state of its own.

    When it expires.
    Then its ``run`` is called.
    """

    class Counter(TimerTask):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def run(self) -> None:
            self.count += 1

    timer, _ = inline()
    counter = Counter()
    assert timer.add(counter, 0) is counter
    assert counter.count == 1


def test_a_task_without_action_says_so() -> None:
    """Given a task whose class does not override ``run``.

    When it is run.
    Then the error names what is missing.
    """
    with pytest.raises(NotImplementedError, match="override run"):
        TimerTask().run()


def test_a_task_pending_in_another_timer_is_refused() -> None:
    """Given a task pending in one timer.

    When it is added to a second.
    Then that is refused and the first arming stays; cancelled there, it may go over.
    """
    one, other = Bench(), Bench()
    task = one.add("a", 5)
    with pytest.raises(TaskOfAnotherTimer) as refusal:
        other.timer.add(task, 1)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert other.timer.cancel(task) is False
    assert (one.seen(), other.seen()) == (Seen(1, 0, 0, 1, 5, 1), Seen())
    assert task.cancel() is True
    other.timer.add(task, 7)
    assert one.timer.cancel(task) is False
    assert other.seen() == Seen(1, 0, 0, 1, 7, 1)
    assert (one.advance(100), one.run_all()) == (True, [])
    assert (other.advance(7), other.run_all(), one.run_all()) == (True, [], ["a"])


def test_a_task_of_a_closed_timer_may_go_over() -> None:
    """Given a task that was dropped by a timer that closed.

    When it is added to another timer.
    Then it runs there.
    """
    one, other = Bench(), Bench()
    task = one.add("a", 5)
    one.timer.close()
    other.timer.add(task, 1)
    other.advance(1)
    other.run_all()
    assert one.run_all() == ["a"]


# Closing


def test_closing_drops_what_is_pending_and_keeps_what_is_queued() -> None:
    """Given a task in the executor's queue and two pending ones.

    When the timer is closed, and closed again.
    Then the queued one runs, the pending ones never, and nothing is counted any more.
    """
    bench = Bench()
    bench.add("queued", 1)
    pending = bench.add("pending", 5)
    bench.add("far", 500)
    bench.advance(1)
    bench.timer.close()
    bench.timer.close()
    assert bench.seen() == Seen(0, 1, 1, 0, None, 3)
    assert pending.cancel() is False
    assert bench.advance(1000) is False
    assert bench.run_all() == ["queued"]


@pytest.mark.parametrize("delay_ms", [-1, 0, 10, LARGEST_DELAY_MS, LARGEST_DELAY_MS + 1])
def test_a_closed_timer_takes_no_task(delay_ms: int) -> None:
    """Given a closed timer.

    When a task is added with whatever delay.
    Then that is refused as closed.
    """
    bench = Bench()
    bench.timer.close()
    with pytest.raises(TimerClosed) as refusal:
        bench.timer.add(bench.task("a"), delay_ms)
    assert refusal.value.reason is Reason.CLOSED
    assert (bench.seen(), bench.run_all()) == (Seen(), [])


def test_a_task_may_close_its_timer() -> None:
    """Given two tasks of one tick and one later; the first closes the timer.

    When they expire.
    Then the second, already handed over, runs; the later one never; inside, adding is refused.
    """
    timer, clock = inline()
    ran: list[str] = []

    def closing() -> None:
        timer.close()
        with pytest.raises(TimerClosed):
            timer.add(int, 1)
        ran.append("closing")

    timer.add(closing, 5)
    timer.add(lambda: ran.append("second"), 5)
    timer.add(lambda: ran.append("later"), 6)
    clock.set_ms(5)
    assert timer.advance() is True
    clock.set_ms(6)
    assert timer.advance() is False
    assert ran == ["closing", "second"]


def test_leaving_the_with_block_closes() -> None:
    """Given a timer in a ``with`` block that an exception leaves.

    When the block is left.
    Then the timer is closed and the exception goes on.
    """
    with (
        pytest.raises(KeyError),
        Timer(clock=VirtualClock(), executor=SteppedExecutor()) as timer,
    ):
        raise KeyError
    with pytest.raises(TimerClosed):
        timer.add(int, 1)
