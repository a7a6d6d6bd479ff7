"""The timer on a virtual clock: every rule, exactly."""

import random
import re
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

import purgatory_impl as impl
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
        self.clock = impl.VirtualClock(start_ms)
        self.executor = impl.SteppedExecutor()
        self.timer = impl.Timer(
            tick_ms=tick_ms, wheel_size=wheel_size, clock=self.clock, executor=self.executor
        )
        self.ran: list[str] = []
        self.tasks: dict[str, impl.TimerTask] = {}

    def task(self, name: str) -> impl.TimerTask:
        if name not in self.tasks:
            self.tasks[name] = impl.CallableTask(lambda: self.ran.append(name))
        return self.tasks[name]

    def add(self, name: str, delay_ms: int) -> impl.TimerTask:
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


@pytest.mark.parametrize("delay", [0.5, 250.0, "250", None])
def test_a_delay_that_is_no_integer_is_refused(delay: int) -> None:
    """Given a pending task: that is refused as an invalid argument, and the arming before stays."""
    bench = Bench()
    task = bench.add("a", 10)
    before = bench.seen()
    with pytest.raises(impl.InvalidDelay) as refusal:
        bench.timer.add(task, delay)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert bench.seen() == before


def test_a_foreign_integer_becomes_an_ordinary_one() -> None:
    """Given an integer type of another library: the expiry is an integer of Python's own."""

    class Int64:
        def __index__(self) -> int:
            return 10

    bench = Bench()
    bench.timer.add(bench.task("a"), Int64())
    assert type(bench.timer.next_expiry_ms) is int
    assert bench.seen() == Seen(1, 0, 0, 1, 10, 1)


@pytest.mark.parametrize(("tick_ms", "wheel_size"), [(0, 20), (-1, 20), (1, 1), (1, 0)])
def test_a_wheel_that_cannot_turn_is_refused(tick_ms: int, wheel_size: int) -> None:
    """That is refused as an invalid argument, and no thread is left behind."""
    before = set(threading.enumerate())
    with pytest.raises(impl.InvalidConfiguration) as refusal:
        impl.Timer(tick_ms=tick_ms, wheel_size=wheel_size)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert set(threading.enumerate()) <= before


# Advancing


@pytest.mark.parametrize("seed", range(8))
def test_random_histories_obey_the_rules(seed: int) -> None:
    """Exactly the tasks that are due expire, in the order of ticks, and all counts agree."""
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


def inline() -> tuple[impl.Timer, impl.VirtualClock]:
    """A timer whose tasks run in the caller, and its clock."""
    clock = impl.VirtualClock()
    return impl.Timer(clock=clock, executor=impl.InlineExecutor()), clock


def test_no_user_code_runs_under_a_lock() -> None:
    """The timer's lock is free each time."""
    locked: list[bool] = []

    class Watching(impl.InlineExecutor):
        def wake(self) -> None:
            locked.append(timer._lock.locked())
            super().wake()

    class Finalised:
        def run(self) -> None:
            pass

        def __del__(self) -> None:
            locked.append(timer._lock.locked())

    clock = impl.VirtualClock()
    timer = impl.Timer(clock=clock, executor=Watching())
    timer.add(lambda: locked.append(timer._lock.locked()), 0)
    timer.add(lambda: locked.append(timer._lock.locked()), 5)
    timer.add(Finalised().run, 1000)
    clock.set_ms(5)
    timer.advance()
    timer.close()
    assert locked == [False] * 5


def test_tasks_of_a_long_pass_run_between_its_holds() -> None:
    """Those of a hold, the popped bucket being its first step, run before the next hold."""
    timer, clock = inline()
    sizes: list[int] = []
    for _ in range(3000):
        timer.add(lambda: sizes.append(timer.size), 5)
    clock.set_ms(5)
    assert timer.advance()
    assert sizes == [1977] * 1023 + [953] * 1024 + [0] * 953


def test_a_long_pass_that_a_failure_has_ended_can_go_on() -> None:
    """The failure leaves the rest due at once, and the second pass hands over all."""

    class Failing(impl.SteppedExecutor):
        failures = 1

        def wake(self) -> None:
            self.failures -= 1
            if self.failures == 0:
                raise OSError("not woken")

    clock, executor = impl.VirtualClock(), Failing()
    timer = impl.Timer(clock=clock, executor=executor)
    for _ in range(3000):
        timer.add(int, 5)
    clock.set_ms(7)
    with pytest.raises(OSError, match="not woken"):
        timer.advance()
    assert (timer.size, timer.next_expiry_ms, executor.queued) == (1977, 5, 1023)
    timer.advance()
    assert (timer.size, timer.next_expiry_ms, executor.queued) == (0, None, 3000)


# Tasks and timers


def test_a_task_without_action_says_so() -> None:
    """Given a task whose class does not override ``run``: the error names what is missing."""
    with pytest.raises(NotImplementedError, match="override run"):
        impl.TimerTask().run()


def test_a_task_pending_in_another_timer_is_refused() -> None:
    """That is refused and the first arming stays; cancelled there, it may go over."""
    one, other = Bench(), Bench()
    task = one.add("a", 5)
    with pytest.raises(impl.TaskOfAnotherTimer) as refusal:
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
    one, other = Bench(), Bench()
    task = one.add("a", 5)
    one.timer.close()
    other.timer.add(task, 1)
    other.advance(1)
    other.run_all()
    assert one.run_all() == ["a"]


# Closing


def test_a_task_may_close_its_timer() -> None:
    """The second, already handed over, runs; the later one never; inside, adding is refused."""
    timer, clock = inline()
    ran: list[str] = []

    def closing() -> None:
        timer.close()
        with pytest.raises(impl.TimerClosed):
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


class FineClock(impl.VirtualClock):
    """A clock that stands between two milliseconds, and is read as the monotonic one: floored."""

    def __init__(self) -> None:
        super().__init__()
        self.now_us = 0

    def now_ms(self) -> int:
        return self.now_us // 1000


def early_us(tick_ms: int, added_us: int, delay_ms: int) -> int:
    """Return the time by which a task runs early, microseconds; advanced at each ms."""
    clock, log = FineClock(), list[int]()
    timer = impl.Timer(clock=clock, executor=impl.InlineExecutor(), tick_ms=tick_ms)
    clock.now_us = added_us
    timer.add(lambda: log.append(clock.now_us), delay_ms)
    clock.now_us -= added_us % 1000
    while not log:
        clock.now_us += 1000
        timer.advance()
    return added_us + delay_ms * 1000 - log[0]


@pytest.mark.parametrize("tick_ms", [1, 2, 10])
def test_a_task_runs_early_by_no_more_than_the_rule_and_the_page_say(tick_ms: int) -> None:
    """The earliest is within the early window as the rule and the page state it."""
    pages = Path(__file__).parents[2]
    earliest_us = max(
        early_us(tick_ms, added_ms * 1000 + part_us, 25)
        for added_ms in range(tick_ms)
        for part_us in (0, 1, 500, 999)
    )
    for page, unit in (("spec/timer.md", "u"), ("docs/how-to/use-the-timer.md", "tick_ms")):
        stated = re.search(
            rf"less than `{unit}( - 1)?` ms\s+before its delay has passed",
            (pages / page).read_text(encoding="utf-8"),
        )
        assert stated is not None, page
        window_ms = tick_ms - 1 if stated[1] else tick_ms
        assert earliest_us < window_ms * 1000
    assert earliest_us > (tick_ms - 1) * 1000
