"""An exception of a task or an operation, of whatever class, harms no other."""

# ``asyncio`` has a row of its own among the executors. ``KeyboardInterrupt`` and ``SystemExit`` in
# the main thread, where these tests run, ask the program to end: the second half of this page.

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import pytest

import purgatory_impl as impl
from purgatory_impl.event_loops import EventLoopExecutor

from .purgatory_bench import Bench, Seen
from .threads import LONG_S, Sleeps, in_threads

LONG_MS = 1000 * LONG_S
Action = Callable[[], object] | impl.Task
RunAll = Callable[[list[Action]], None]


class Own(BaseException):
    """A class of the user's that is no ``Exception``."""


class Unprintable(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise Own

    __repr__ = __str__


FAILURES: dict[str, Callable[[], BaseException]] = {
    "ordinary": lambda: ValueError("planned"),
    "own": Own,
    "cancelled": asyncio.CancelledError,
    "generator exit": GeneratorExit,
    "stop iteration": lambda: StopIteration(1),
    "stop async iteration": StopAsyncIteration,
    "group": lambda: BaseExceptionGroup("planned", [Own(), asyncio.CancelledError()]),
    "recursion": RecursionError,
    "memory": MemoryError,
    "unprintable": Unprintable,
}
REQUESTS: dict[str, Callable[[], BaseException]] = {
    "interrupt": KeyboardInterrupt,
    "exit": lambda: SystemExit(3),
}


def throw(make: Callable[[], BaseException]) -> NoReturn:
    raise make()


class UnprintableTask(impl.TimerTask):
    """A task that raises and cannot be shown either."""

    def run(self) -> None:
        raise Own

    def __repr__(self) -> str:
        raise Own


def run_stepped(actions: list[Action]) -> None:
    executor = impl.SteppedExecutor()
    add_and_pass(executor, actions)
    while executor.run_one():
        pass


def run_inline(actions: list[Action]) -> None:
    add_and_pass(impl.InlineExecutor(), actions)


def run_in_thread(actions: list[Action]) -> None:
    executor = impl.ThreadExecutor()
    add_and_pass(executor, actions)
    assert executor.wait_until_idle(LONG_MS)
    executor.close(LONG_MS)


def run_in_loop(actions: list[Action]) -> None:
    async def scenario() -> None:
        executor = EventLoopExecutor()
        add_and_pass(executor, actions)
        while executor.queued:
            await asyncio.sleep(0)

    asyncio.run(scenario())


def add_and_pass(executor: impl.Executor, actions: list[Action]) -> None:
    """One pass of a timer expires all."""
    clock = impl.VirtualClock()
    timer = impl.Timer(clock=clock, executor=executor)
    for action in actions:
        timer.add(action, 5)
    clock.set_ms(5)
    timer.advance()


EXECUTORS = {
    "stepped": run_stepped,
    "inline": run_inline,
    "thread": run_in_thread,
    "asyncio": run_in_loop,
}


@pytest.fixture(params=EXECUTORS.values(), ids=list(EXECUTORS))
def run_all(request: pytest.FixtureRequest) -> RunAll:
    """Run tasks that expire in one pass, by one of the executors."""
    run: RunAll = request.param
    return run


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_the_tasks_behind_run_in_the_same_call(
    run_all: RunAll, failure: Callable[[], BaseException], logged: pytest.LogCaptureFixture
) -> None:
    """The others have run, in order; the failure is logged once and reaches nobody."""
    ran: list[str] = []
    run_all([partial(ran.append, "a"), partial(throw, failure), partial(ran.append, "b")])
    assert ran == ["a", "b"]
    (record,) = logged.records
    assert (record.name, record.levelname) == ("purgatory", "ERROR")
    assert record.exc_info is not None
    assert record.exc_info[0] is type(failure())


@pytest.mark.parametrize("failure", [*FAILURES.values(), *REQUESTS.values()])
def test_in_another_thread_every_class_is_a_failure_like_any(
    run_all: RunAll, failure: Callable[[], BaseException], logged: pytest.LogCaptureFixture
) -> None:
    """Given the same in a thread that is not the main one, requests to end the program included."""
    ran: list[str] = []
    in_threads(
        lambda: run_all([partial(throw, failure), partial(throw, failure), lambda: ran.append("a")])
    )
    assert ran == ["a"]
    assert [record.exc_info and record.exc_info[0] for record in logged.records] == [
        type(failure())
    ] * 2


def test_a_task_that_cannot_be_shown_harms_no_other(
    run_all: RunAll, logged: pytest.LogCaptureFixture
) -> None:
    ran: list[str] = []
    run_all([UnprintableTask(), partial(ran.append, "b")])
    assert ran == ["b"]
    assert "an unprintable" in logged.text


@pytest.mark.parametrize("failure", [Own, LookupError, SystemExit])
def test_a_log_that_fails_harms_no_task(
    run_all: RunAll, failure: type[BaseException], capfd: pytest.CaptureFixture[str]
) -> None:
    """The tasks behind run, and both failures are on standard error."""

    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise failure("the log is full")

    ran: list[str] = []
    broken = Broken()
    logger = logging.getLogger("purgatory")
    logger.addHandler(broken)
    try:
        in_threads(
            lambda: run_all([partial(throw, FAILURES["ordinary"]), partial(ran.append, "b")])
        )
    finally:
        logger.removeHandler(broken)
    assert ran == ["b"]
    words = capfd.readouterr().err
    assert "ValueError: planned" in words
    assert "the log is full" in words


# Operations


class Fails(impl.DelayedOperation):
    """Raises in one of its callbacks."""

    def __init__(self, where: str, failure: Callable[[], BaseException], delay_ms: int) -> None:
        super().__init__(delay_ms)
        self.where = where
        self.failure = failure
        self.ready = False
        self.called: list[str] = []

    def meet(self, where: str) -> None:
        self.called.append(where)
        if self.where == where and self.called != ["try"]:
            raise self.failure()

    def try_complete(self) -> bool:
        self.meet("try")
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        self.meet("complete")

    def on_expiration(self) -> None:
        self.meet("expiration")


@pytest.mark.parametrize("where", ["complete", "expiration"])
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_an_expiry_that_raises_is_answered_and_counted_out(
    where: str, failure: Callable[[], BaseException], logged: pytest.LogCaptureFixture
) -> None:
    """Both are completed, once, nothing is owed, and the purgatory goes on."""
    clock = impl.VirtualClock()
    timer = impl.Timer(clock=clock, executor=impl.InlineExecutor())
    purgatory: impl.Purgatory[str] = impl.Purgatory(timer=timer)
    operations = [Fails(where, failure, 5), Fails("nowhere", failure, 5)]
    for operation in operations:
        purgatory.try_complete_else_watch(operation, ["k"])
    clock.set_ms(5)
    purgatory.advance()
    assert [operation.is_completed for operation in operations] == [True, True]
    assert operations[0].called[-1] == where
    assert operations[1].called[-1] == "expiration"
    assert (purgatory.pending, purgatory.timer_size, purgatory.stale) == (0, 0, 2)
    assert purgatory.check_and_complete("k") == 0
    assert (purgatory.entries, purgatory.stale) == (0, 0)
    assert len(logged.records) == 1


@pytest.mark.parametrize("where", ["try", "complete"])
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_check_tries_the_operations_behind_one_that_raises(
    where: str, failure: Callable[[], BaseException]
) -> None:
    """Those behind are completed, the first failure reaches the caller, and names the second."""
    bench = Bench()
    for name in "abcd":
        operation = bench.watched(name, "k")
        operation.ready = name in "bd" or where == "complete"
        if name in "ac":
            setattr(operation, f"during_{where}", partial(throw, failure))
    with pytest.raises(type(failure())) as raised:
        bench.purgatory.check_and_complete("k")
    assert len(raised.value.__notes__) == 1
    ended = ["try a", "try b", "complete b", "try c", "try d", "complete d"]
    assert [line for line in bench.log if where == "try" or line[-1] in "bd"] == (
        ended if where == "try" else [line for line in ended if line[-1] in "bd"]
    )
    left = 2 if where == "try" else 0
    assert bench.seen() == Seen(left, left and 1, left, left, 0, left)


@pytest.mark.parametrize("failure", [*FAILURES.values(), *REQUESTS.values()])
def test_a_reaper_outlives_what_its_clock_raises(
    failure: Callable[[], BaseException], logged: pytest.LogCaptureFixture
) -> None:
    """Given timers with a reaper whose clock raises once: it runs."""

    class FailsOnce(Sleeps):
        failed = False

        def wait_until(self, condition: threading.Condition, deadline_ms: int | None) -> None:
            if not self.failed:
                self.failed = True
                raise failure()
            super().wait_until(condition, deadline_ms)

    clock = impl.VirtualClock()
    sleeps = FailsOnce(clock)
    ran = threading.Event()
    with impl.Timer(clock=sleeps, reaper=True) as timer:
        timer.add(ran.set, 5)
        sleeps.await_next()
        clock.set_ms(5)
        assert ran.wait(LONG_S)
    assert len(logged.records) == 1


# Requests to end the program


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS.keys())
def test_a_request_reaches_the_caller_of_run_one(
    request_: Callable[[], BaseException], logged: pytest.LogCaptureFixture
) -> None:
    """Given a stepped executor, whose caller decides when the rest runs."""
    executor = impl.SteppedExecutor()
    ran: list[str] = []
    executor.hand_over(
        [impl.CallableTask(partial(throw, request_)), impl.CallableTask(partial(ran.append, "b"))]
    )
    with pytest.raises(type(request_())):
        executor.run_one()
    assert executor.run_one()
    assert ran == ["b"]
    assert logged.records == []


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS.keys())
def test_a_request_reaches_the_caller_when_the_queue_has_run(
    request_: Callable[[], BaseException], logged: pytest.LogCaptureFixture
) -> None:
    """The tasks behind run first, then the caller gets the request."""
    ran: list[str] = []
    with pytest.raises(type(request_())):
        run_inline(
            [
                partial(throw, request_),
                partial(ran.append, "b"),
                partial(throw, Own),
                partial(ran.append, "c"),
            ]
        )
    assert ran == ["b", "c"]
    assert len(logged.records) == 1


@pytest.mark.parametrize("by", ["a pass that expires nothing", "an add that is not due", "a wake"])
def test_a_second_request_goes_on_at_once_and_nobody_is_lost(by: str) -> None:
    """The second request reaches the caller with the task still queued, and the task runs then."""
    clock = impl.VirtualClock()
    executor = impl.InlineExecutor()
    timer = impl.Timer(clock=clock, executor=executor)
    ran: list[str] = []
    for action in (
        partial(throw, KeyboardInterrupt),
        partial(throw, SystemExit),
        partial(ran.append, "c"),
    ):
        timer.add(action, 5)
    clock.set_ms(5)
    with pytest.raises(SystemExit) as raised:
        timer.advance()
    assert isinstance(raised.value.__context__, KeyboardInterrupt)
    assert (executor.queued, ran) == (1, [])
    if by == "a wake":
        executor.wake()
    elif by == "an add that is not due":
        timer.add(print, 100)
    else:
        timer.advance()
    assert (executor.queued, ran) == (0, ["c"])


def test_an_interrupt_ends_a_chain_that_never_ends() -> None:
    """The caller goes on, after the 20th run."""
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.InlineExecutor())
    runs = 0

    def again() -> None:
        nonlocal runs
        runs += 1
        timer.add(task, 0)
        if runs % 10 == 0:
            raise KeyboardInterrupt

    task = impl.CallableTask(again)
    with pytest.raises(KeyboardInterrupt):
        timer.add(task, 0)
    assert runs == 20


def test_tasks_that_were_handed_over_when_the_wake_failed_are_woken_for_later() -> None:
    """The later pass wakes the executor, and further passes do not."""

    class Interrupted(impl.SteppedExecutor):
        def __init__(self) -> None:
            super().__init__()
            self.wakes = 0

        def wake(self) -> None:
            self.wakes += 1
            if self.wakes == 1:
                raise KeyboardInterrupt

    clock = impl.VirtualClock()
    executor = Interrupted()
    timer = impl.Timer(clock=clock, executor=executor)
    timer.add(print, 5)
    clock.set_ms(5)
    with pytest.raises(KeyboardInterrupt):
        timer.advance()
    for _ in range(3):
        timer.advance()
        timer.add(print, 100)
    assert executor.wakes == 2


def test_a_request_ends_the_run_of_the_loop_and_the_rest_runs_in_the_next() -> None:
    """The first run ends with the request, and the task runs in the second."""
    loop = asyncio.new_event_loop()
    executor = EventLoopExecutor(loop)
    ran = threading.Event()
    add_and_pass(executor, [partial(throw, KeyboardInterrupt), ran.set])
    with pytest.raises(KeyboardInterrupt):
        loop.run_forever()
    assert not ran.is_set()
    loop.call_soon(loop.call_soon, loop.stop)
    loop.run_forever()
    loop.close()
    assert ran.is_set()


@pytest.mark.parametrize("where", ["try", "complete"])
def test_a_request_in_a_check_comes_first_when_the_others_are_tried(where: str) -> None:
    """The operation is completed, and the request reaches the caller and names the failure."""
    bench = Bench()
    for name, failure in (("a", Own), ("b", KeyboardInterrupt), ("c", None)):
        operation = bench.watched(name, "k")
        operation.ready = name == "c" or where == "complete"
        if failure is not None:
            setattr(operation, f"during_{where}", partial(throw, failure))
    with pytest.raises(KeyboardInterrupt) as raised:
        bench.purgatory.check_and_complete("k")
    assert raised.value.__notes__ == ["another operation of the same walk raised Own()"]
    assert bench.log[-2:] == ["try c", "complete c"]


def test_a_second_request_ends_a_check_at_once() -> None:
    bench = Bench()
    for name in "abc":
        bench.watched(name, "k").during_try = partial(throw, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        bench.purgatory.check_and_complete("k")
    assert bench.log == ["try a", "try b"]
    assert bench.seen() == Seen(3, 1, 3, 3, 0, 3)


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS.keys())
def test_a_check_in_another_thread_tries_all_whatever_they_raise(
    request_: Callable[[], BaseException],
) -> None:
    bench = Bench()
    for name in "abc":
        bench.watched(name, "k").during_try = partial(throw, request_)

    def check() -> None:
        with pytest.raises(type(request_())):
            bench.purgatory.check_and_complete("k")

    in_threads(check)
    assert bench.log == ["try a", "try b", "try c"]
