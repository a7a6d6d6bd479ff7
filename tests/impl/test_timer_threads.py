"""The timer in a real program: its reaper, several threads, the monotonic clock, closing."""

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

import purgatory_impl as impl
from purgatory_impl import timer as timer_module
from purgatory_impl.clocks import Clock

from .threads import LONG_S, Sleeps, in_threads, let_others_run, through_while_held

pytestmark = [pytest.mark.verify, pytest.mark.usefixtures("no_thread_left")]


# The reaper, exactly


def test_the_reaper_sleeps_from_bucket_to_bucket() -> None:
    """The reaper lies down once for each earlier bucket and each pass."""
    virtual = impl.VirtualClock()
    clock = Sleeps(virtual)
    ran: list[str] = []
    executor = impl.ThreadExecutor()
    with impl.Timer(clock=clock, executor=executor, reaper=True) as timer:
        clock.await_next()
        timer.add(lambda: ran.append("1000"), 1000)
        clock.await_next()
        timer.add(lambda: ran.append("2000"), 2000)
        let_others_run()
        timer.add(lambda: ran.append("10"), 10)
        clock.await_next()
        virtual.set_ms(10)
        clock.await_next()
        virtual.set_ms(799)
        let_others_run()
        virtual.set_ms(800)
        clock.await_next()
        virtual.set_ms(1000)
        clock.await_next()
        virtual.set_ms(1999)
        let_others_run()
        virtual.set_ms(5000)
        clock.await_next()
        assert executor.wait_until_idle(LONG_S * 1000)
        assert clock.until == [None, 800, 10, 800, 1000, 2000, None]
        assert ran == ["10", "1000", "2000"]
    executor.close()


def test_the_reaper_wakes_for_a_task_that_is_already_due() -> None:
    virtual = impl.VirtualClock()
    clock = Sleeps(virtual)
    ran = threading.Event()
    with impl.Timer(clock=clock, reaper=True) as timer:
        clock.await_next()
        virtual.set_ms(1_000_003)
        timer.add(ran.set, 0)
        assert ran.wait(LONG_S)


def test_a_cancelled_task_wakes_the_reaper_once() -> None:
    """The reaper pops it and sleeps without an alarm."""
    virtual = impl.VirtualClock()
    clock = Sleeps(virtual)
    with impl.Timer(clock=clock, reaper=True) as timer:
        clock.await_next()
        task = timer.add(int, 7)
        clock.await_next()
        assert task.cancel() is True
        virtual.set_ms(7)
        clock.await_next()
        assert clock.until == [None, 7, None]
        assert timer.wheel_clock_ms == 7


def test_the_reaper_survives_whatever_an_inline_task_raises() -> None:
    """Both others run."""

    def leave() -> None:
        raise SystemExit

    virtual = impl.VirtualClock()
    clock = Sleeps(virtual)
    ran: list[str] = []
    with impl.Timer(clock=clock, executor=impl.InlineExecutor(), reaper=True) as timer:
        clock.await_next()
        for delay_ms, action in ((5, leave), (5, partial(ran.append, "with it"))):
            timer.add(action, delay_ms)
        clock.await_next()
        timer.add(partial(ran.append, "later"), 6)
        virtual.set_ms(5)
        clock.await_next()
        assert ran == ["with it"]
        virtual.set_ms(6)
        clock.await_next()
        assert ran == ["with it", "later"]


def test_the_reaper_survives_an_executor_that_cannot_be_woken(
    logged: pytest.LogCaptureFixture,
) -> None:
    """Both are handed over, and each failure is logged."""

    class Broken(impl.SteppedExecutor):
        def wake(self) -> None:
            raise OSError("planned")

    virtual = impl.VirtualClock()
    clock = Sleeps(virtual)
    executor = Broken()
    with impl.Timer(clock=clock, executor=executor, reaper=True) as timer:
        clock.await_next()
        timer.add(int, 5)
        clock.await_next()
        timer.add(int, 6)
        virtual.set_ms(5)
        clock.await_next()
        virtual.set_ms(6)
        clock.await_next()
    assert executor.queued == 2
    assert [record.message for record in logged.records] == [
        "purgatory: a pass of the reaper failed"
    ] * 2


def test_who_advances_is_a_choice() -> None:
    """By default a virtual clock has no reaper and any other clock has one."""
    before = set(threading.enumerate())

    def reapers(clock: Clock | None, reaper: bool | None) -> int:
        with impl.Timer(clock=clock, executor=impl.SteppedExecutor(), reaper=reaper):
            return len(set(threading.enumerate()) - before)

    assert (reapers(impl.VirtualClock(), None), reapers(impl.VirtualClock(), True)) == (0, 1)
    assert (reapers(None, None), reapers(None, False)) == (1, 0)
    assert reapers(Sleeps(impl.VirtualClock()), None) == 1


# The monotonic clock


def test_tasks_run_by_themselves_and_never_early() -> None:
    """Each runs once, in the executor's thread, and never before its time."""
    clock = impl.MonotonicClock()
    ran: list[tuple[int, int, str]] = []
    done = threading.Event()

    def record(delay_ms: int) -> None:
        ran.append((delay_ms, clock.now_ms(), threading.current_thread().name))
        if len(ran) == 5:
            done.set()

    with impl.Timer() as timer:
        called_ms = clock.now_ms()
        for delay_ms in (60, 1, 45, 0, 25):
            timer.add(partial(record, delay_ms), delay_ms)
        assert done.wait(LONG_S)
    assert sorted(delay_ms for delay_ms, _, _ in ran) == [0, 1, 25, 45, 60]
    assert [delay_ms for delay_ms, at_ms, _ in ran if at_ms < called_ms + delay_ms] == []
    assert {name for _, _, name in ran} == {"purgatory-executor"}


def test_a_coarse_tick_may_run_early_but_not_before_the_tick() -> None:
    clock = impl.MonotonicClock()
    at_ms: list[int] = []
    done = threading.Event()

    def record() -> None:
        at_ms.append(clock.now_ms())
        done.set()

    with impl.Timer(tick_ms=20) as timer:
        called_ms = clock.now_ms()
        timer.add(record, 50)
        assert done.wait(LONG_S)
    assert at_ms[0] >= (called_ms + 50) // 20 * 20


def test_waiting_costs_a_wake_up_for_each_bucket_and_not_for_each_tick() -> None:
    """The reaper sleeps at most once for the start, the add, and each level that passed it down."""
    clock = Sleeps(impl.MonotonicClock())
    done = threading.Event()
    with impl.Timer(clock=clock) as timer:
        timer.add(done.set, 200)
        assert done.wait(LONG_S)
        levels = timer.levels
        sleeps = len(clock.until)
    # Twice as many, since some platforms wake a sleeper just before its time.
    assert sleeps <= 2 * (2 + levels)


def test_the_reaper_outlives_a_wait_longer_than_the_platform_allows() -> None:
    """The short one runs."""
    clock = Sleeps(impl.MonotonicClock())
    ran = threading.Event()
    with impl.Timer(clock=clock) as timer:
        clock.await_next()
        timer.add(int, impl.LARGEST_DELAY_MS)
        clock.await_next()
        timer.add(ran.set, 5)
        assert ran.wait(LONG_S)
        assert timer.size == 1


# Many threads


def test_every_public_method_takes_the_lock() -> None:
    """None gets through before the lock is free, and all do afterwards."""
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    task = timer.add(impl.CallableTask(int), 10)

    def add_unless_closed(task: impl.Task) -> None:
        with suppress(impl.TimerClosed):
            timer.add(task, 5)

    calls: list[Callable[[], object]] = [
        partial(add_unless_closed, impl.CallableTask(int)),
        partial(add_unless_closed, task),
        task.cancel,
        partial(timer.cancel, task),
        timer.advance,
        timer.close,
        lambda: timer.size,
        lambda: timer.wheel_clock_ms,
        lambda: timer.queued_buckets,
        lambda: timer.next_expiry_ms,
        lambda: timer.levels,
    ]
    assert through_while_held(timer._lock, calls) == []


def test_a_fresh_task_is_adopted_under_the_lock_of_all_timers() -> None:
    """That does not get through before the lock is free."""
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    add = partial(timer.add, impl.CallableTask(int), 5)
    assert through_while_held(timer_module._OWNER_CHANGE, [add]) == []
    assert timer.size == 1


@pytest.mark.pure
def test_a_task_taken_by_another_timer_meanwhile_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, executor = impl.VirtualClock(), impl.SteppedExecutor()
    timer, other = (impl.Timer(clock=clock, executor=executor) for _ in range(2))
    task = impl.CallableTask(int)
    lock = timer._lock

    class Late:
        """The timer's lock, which the other timer is always quicker to use."""

        def __enter__(self) -> None:
            with monkeypatch.context() as patch:
                patch.setattr(timer, "_lock", lock)
                other.add(task, 5)
            lock.__enter__()

        def __exit__(self, *_: object) -> None:
            lock.release()

    with monkeypatch.context() as patch:
        patch.setattr(timer, "_lock", Late())
        with pytest.raises(impl.TaskOfAnotherTimer):
            timer.add(task, 5)
    assert (timer.size, other.size) == (0, 1)


@pytest.mark.usefixtures("eager_switching")
def test_each_arming_runs_once_or_was_cancelled() -> None:
    """Each task ran exactly once where its cancel came too late or never, and else not at all."""
    runs = [0] * 2000
    cancelled = [False] * 2000
    with impl.Timer() as timer:

        def work(first: int) -> None:
            chance = random.Random(first)
            for number in range(first, first + 500):
                task = timer.add(partial(count, number), chance.randrange(-1, 40))
                if number % 2:
                    if chance.random() < 0.3:
                        time.sleep(0.0005)
                    cancelled[number] = task.cancel()

        def count(number: int) -> None:
            runs[number] += 1

        in_threads(*[partial(work, first) for first in range(0, 2000, 500)])
        drain(timer)
    assert runs == [int(not was_cancelled) for was_cancelled in cancelled]
    assert sum(cancelled) > 0
    assert sum(cancelled[0::2]) == 0


@pytest.mark.usefixtures("eager_switching")
def test_passes_that_overlap_keep_the_order_of_ticks() -> None:
    """Each task is handed over once, and in the order of ticks."""
    clock = impl.VirtualClock()
    executor = impl.SteppedExecutor()
    timer = impl.Timer(clock=clock, executor=executor)
    ran: list[int] = []
    delays = [1 + number % 500 for number in range(3000)] + [250] * 4000
    for delay_ms in delays:
        timer.add(partial(ran.append, delay_ms), delay_ms)

    def advance() -> None:
        for now_ms in range(0, 501, 25):
            clock.set_ms(max(now_ms, clock.now_ms()))
            timer.advance()

    in_threads(advance, advance, advance, advance)
    timer.advance()
    assert executor.queued == len(delays)
    while executor.run_one():
        pass
    assert ran == sorted(delays)


@pytest.mark.usefixtures("eager_switching")
def test_a_task_is_pending_in_one_timer_at_most() -> None:
    """One of the two is refused, and the task is pending once."""
    clock = impl.VirtualClock()
    executor = impl.SteppedExecutor()
    timers = [impl.Timer(clock=clock, executor=executor) for _ in range(2)]
    tasks = [impl.CallableTask(int) for _ in range(1000)]
    refused = [0, 0]

    def work(side: int) -> None:
        for task in tasks:
            try:
                timers[side].add(task, 10)
            except impl.TaskOfAnotherTimer:
                refused[side] += 1

    in_threads(partial(work, 0), partial(work, 1))
    assert sum(refused) == 1000
    assert [timer.size for timer in timers] == [1000 - count for count in refused]
    clock.set_ms(10)
    for timer in timers:
        timer.advance()
    assert executor.queued == 1000


def drain(timer: impl.Timer) -> None:
    """Wait until every task that is pending now has run, and so has one that is due after them."""
    last = threading.Event()
    timer.add(last.set, 60)
    assert last.wait(LONG_S)


# Closing


def test_closing_ends_the_threads_and_drops_what_is_pending() -> None:
    """Both threads have ended, the task has not run, and adding is refused."""
    before = set(threading.enumerate())
    ran: list[str] = []
    timer = impl.Timer()
    assert len(set(threading.enumerate()) - before) == 2
    timer.add(lambda: ran.append("far"), 60_000)
    timer.close()
    timer.close()
    assert set(threading.enumerate()) <= before
    assert (ran, timer.size, timer.advance()) == ([], 0, False)
    with pytest.raises(impl.TimerClosed):
        timer.add(int, 1)


def test_closing_lets_queued_tasks_run() -> None:
    """The queued task runs before the call returns."""
    ran: list[str] = []
    entered, resume = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        resume.wait(LONG_S)

    timer = impl.Timer(clock=impl.VirtualClock())
    timer.add(hold, 0)
    timer.add(lambda: ran.append("queued"), 0)
    timer.add(lambda: ran.append("pending"), 1)
    assert entered.wait(LONG_S)
    closer = threading.Thread(target=timer.close)
    closer.start()
    resume.set()
    closer.join(LONG_S)
    assert ran == ["queued"]


@pytest.mark.parametrize("executor", [None, impl.InlineExecutor()], ids=["thread", "inline"])
def test_a_task_may_close_its_timer_from_its_own_thread(
    executor: impl.InlineExecutor | None,
) -> None:
    """The call returns there, and the threads end."""
    closed = threading.Event()

    def close() -> None:
        timer.close()
        closed.set()

    timer = impl.Timer(executor=executor)
    timer.add(close, 5)
    assert closed.wait(LONG_S)
    timer.close()


def test_an_executor_that_was_given_stays_open() -> None:
    """Given two timers that share an executor: the tasks of the other still run."""
    executor = impl.ThreadExecutor()
    ran = threading.Event()
    with impl.Timer(executor=executor) as other:
        impl.Timer(executor=executor).close()
        other.add(ran.set, 1)
        assert ran.wait(LONG_S)
    executor.close()
