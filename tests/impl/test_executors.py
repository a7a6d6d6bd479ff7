"""Executors: order, failures, idleness, closing."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial

import pytest

import purgatory_impl as impl

from .threads import LONG_S

LONG_MS = 1000 * LONG_S


@pytest.fixture(params=[impl.SteppedExecutor, impl.InlineExecutor, impl.ThreadExecutor])
def executor(request: pytest.FixtureRequest) -> Iterator[impl.Executor]:
    """One of each kind."""
    made = request.param()
    assert isinstance(made, impl.Executor)
    yield made
    if isinstance(made, impl.ThreadExecutor):
        made.close(LONG_MS)


def hand_over(executor: impl.Executor, *actions: Callable[[], object]) -> None:
    """Do what a timer does with tasks that have expired, and see that all of them have run."""
    executor.hand_over([impl.CallableTask(action) for action in actions])
    executor.wake()
    if isinstance(executor, impl.SteppedExecutor):
        while executor.run_one():
            pass
    if isinstance(executor, impl.ThreadExecutor):
        assert executor.wait_until_idle(LONG_MS)


def fail() -> None:
    raise ValueError("planned")


# Every executor


def test_tasks_run_in_the_order_of_the_queue(executor: impl.Executor) -> None:
    ran: list[int] = []
    hand_over(executor, *[partial(ran.append, number) for number in range(50)])
    hand_over(executor, lambda: ran.append(50))
    assert ran == list(range(51))
    assert executor.queued == 0


def test_a_task_that_throws_is_logged_and_harms_nobody(
    executor: impl.Executor, logged: pytest.LogCaptureFixture
) -> None:
    """The others ran, and the failure was logged once, with its traceback."""
    ran: list[str] = []
    hand_over(executor, lambda: ran.append("a"), fail, lambda: ran.append("b"))
    hand_over(executor, lambda: ran.append("c"))
    assert ran == ["a", "b", "c"]
    (record,) = logged.records
    assert (record.name, record.levelname) == ("purgatory", "ERROR")
    assert record.exc_info is not None
    assert record.exc_info[0] is ValueError


def test_what_a_task_hands_over_runs_after_what_is_queued(executor: impl.Executor) -> None:
    """The other runs last, and none runs inside another."""
    ran: list[str] = []

    def outer() -> None:
        ran.append("outer begins")
        executor.hand_over([impl.CallableTask(lambda: ran.append("inner"))])
        executor.wake()
        ran.append("outer ends")

    hand_over(executor, outer, lambda: ran.append("second"))
    assert ran == ["outer begins", "outer ends", "second", "inner"]


def test_an_executor_does_not_keep_tasks_that_ran(executor: impl.Executor) -> None:
    """Given an object that only a task refers to, when the task has run, the object is gone."""

    class Payload:
        def use(self) -> None:
            pass

    payload = Payload()
    seen = weakref.ref(payload)
    hand_over(executor, payload.use)
    del payload
    gc.collect()
    assert seen() is None


# Stepped


def test_a_stepped_executor_is_a_base_for_others() -> None:
    calls: list[Callable[[], object]] = []

    class Loop(impl.SteppedExecutor):
        def wake(self) -> None:
            calls.append(self.run_one)

    ran: list[str] = []
    clock = impl.VirtualClock()
    timer = impl.Timer(clock=clock, executor=Loop())
    timer.add(lambda: ran.append("a"), 3)
    clock.set_ms(3)
    timer.advance()
    assert (len(calls), ran) == (1, [])
    assert calls[0]() is True
    assert ran == ["a"]


# Inline


def test_a_deep_chain_of_inline_tasks_does_not_recurse() -> None:
    """All runs happen before the call returns, without nesting."""
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.InlineExecutor())
    left = 10_000

    def again() -> None:
        nonlocal left
        left -= 1
        if left:
            timer.add(task, 0)

    task = impl.CallableTask(again)
    timer.add(task, 0)
    assert left == 0


def test_inline_tasks_of_two_threads_do_not_overlap() -> None:
    """That call returns at once, and the task runs in the first thread, after its own."""
    executor = impl.InlineExecutor()
    entered, resume = threading.Event(), threading.Event()
    ran: list[tuple[str, str]] = []

    def slow() -> None:
        entered.set()
        assert resume.wait(LONG_S)
        ran.append(("slow", threading.current_thread().name))

    thread = threading.Thread(target=hand_over, args=(executor, slow), name="first")
    thread.start()
    assert entered.wait(LONG_S)
    hand_over(executor, lambda: ran.append(("quick", threading.current_thread().name)))
    assert (ran, executor.queued) == ([], 1)
    resume.set()
    thread.join(LONG_S)
    assert ran == [("slow", "first"), ("quick", "first")]


# Thread


def test_thread_tasks_run_in_one_daemon_thread() -> None:
    """Given a thread executor: all run in the same thread, a daemon, and not in the caller's."""
    executor = impl.ThreadExecutor()
    threads: list[threading.Thread] = []
    hand_over(executor, *[lambda: threads.append(threading.current_thread())] * 10)
    executor.close(LONG_MS)
    assert len(threads) == 10
    (thread,) = set(threads)
    assert thread is not threading.current_thread()
    assert thread.daemon


def test_idle_means_neither_queued_nor_running() -> None:
    """That fails while the task runs, though nothing is queued, and succeeds afterwards."""
    executor = impl.ThreadExecutor()
    entered, resume = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        resume.wait(LONG_S)

    executor.hand_over([impl.CallableTask(hold)])
    executor.wake()
    assert entered.wait(LONG_S)
    assert (executor.queued, executor.wait_until_idle(1)) == (0, False)
    resume.set()
    assert executor.wait_until_idle(LONG_MS)
    executor.close(LONG_MS)


def test_closing_runs_what_is_queued_and_ends_the_thread() -> None:
    before = set(threading.enumerate())
    executor = impl.ThreadExecutor()
    entered, resume = threading.Event(), threading.Event()
    ran: list[str] = []

    def hold() -> None:
        entered.set()
        resume.wait(LONG_S)

    actions = (hold, partial(ran.append, "a"), partial(ran.append, "b"))
    executor.hand_over([impl.CallableTask(action) for action in actions])
    executor.wake()
    assert entered.wait(LONG_S)
    closer = threading.Thread(target=executor.close, args=(LONG_MS,))
    closer.start()
    resume.set()
    closer.join(LONG_S)
    executor.close(LONG_MS)
    assert ran == ["a", "b"]
    assert set(threading.enumerate()) <= before


def test_closing_gives_up_when_the_time_is_over(logged: pytest.LogCaptureFixture) -> None:
    """The call returns and says so in the log."""
    executor = impl.ThreadExecutor()
    resume = threading.Event()
    executor.hand_over([impl.CallableTask(lambda: resume.wait(LONG_S))])
    executor.wake()
    executor.close(timeout_ms=1)
    assert [record.message for record in logged.records] == [
        "Thread purgatory-executor has not ended after 1 ms"
    ]
    resume.set()
    executor.close(LONG_MS)


def test_tasks_for_a_closed_thread_are_reported(logged: pytest.LogCaptureFixture) -> None:
    executor = impl.ThreadExecutor()
    executor.close(LONG_MS)
    timer = impl.Timer(clock=impl.VirtualClock(), executor=executor)
    timer.add(fail, 0)
    assert executor.queued == 1
    assert [record.message for record in logged.records] == [
        "purgatory: the executor is closed; 1 tasks will not run"
    ]


@pytest.mark.parametrize("timeout_ms", [2**62, 2**64, 2**1100])
def test_any_time_may_be_waited(timeout_ms: int) -> None:
    """Given times beyond what the platform can wait, in 64 bits and beyond."""
    executor = impl.ThreadExecutor()
    assert executor.wait_until_idle(timeout_ms)
    with impl.Timer() as timer:
        timer.close(timeout_ms)
    executor.close(timeout_ms)
