"""Mistakes of callers are refused at once or do no harm, and alike in both builds."""

# The table is run on the sources here, and on the compiled wheel by the packaging tests.

import contextlib
import copy
import functools
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import purgatory_impl as impl

from .threads import LONG_S


class Whole:
    """An integer that is not Python's, as those of NumPy are."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Waits(impl.DelayedOperation):
    """Is completed by force or by its time-out alone."""

    def __init__(self, delay_ms: int = 10) -> None:
        super().__init__(delay_ms)

    def try_complete(self) -> bool:
        return False


async def coroutine() -> None:
    """Somebody's function for an event loop."""


def anything(value: object) -> Any:
    """Return the value as a caller without a type checker gives it."""
    return value


class Bench:
    """A timer, a purgatory on it and a pool, none of which has a thread."""

    def __init__(self) -> None:
        self.clock = impl.VirtualClock()
        self.executor = impl.SteppedExecutor()
        self.timer = impl.Timer(clock=self.clock, executor=self.executor)
        self.purgatory: impl.Purgatory[Any] = impl.Purgatory(timer=self.timer)
        self.pool = impl.SimpleMemoryPool(10, 10)
        self.task = self.timer.add(print, 5)
        self.watched = Waits()
        self.purgatory.try_complete_else_watch(self.watched, ["k"])

    def counts(self) -> tuple[int, ...]:
        """Return the counts that no misuse may change."""
        return (
            self.timer.size,
            self.purgatory.entries,
            self.purgatory.pending,
            self.purgatory.stale,
            self.pool.available_bytes,
        )


@pytest.fixture
def bench() -> Bench:
    return Bench()


class Misuse(NamedTuple):
    """A caller's mistake, the exception that it raises, and words of the message."""

    does: Callable[[Bench], object]
    raised: type[Exception]
    says: str


COPIES: dict[str, Callable[[object], object]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
}
COPIED: dict[str, Callable[[Bench], object]] = {
    "one-shot task": lambda bench: bench.task,
    "callable task": lambda bench: impl.CallableTask(list),
    "operation": lambda bench: bench.watched,
    "timer": lambda bench: bench.timer,
    "purgatory": lambda bench: bench.purgatory,
    "pool": lambda bench: bench.pool,
    "leak-detecting pool": lambda bench: impl.LeakDetectingMemoryPool(1, 1),
}


def pending_task(bench: Bench) -> impl.TimerTask:
    task = impl.CallableTask(list)
    bench.timer.add(task, 5)
    return task


NOT_A_TASK = impl.errors.NotATask
WRONG = impl.errors.InvalidConfiguration
MISUSES: dict[str, Misuse] = {
    "init of a pending task": Misuse(
        lambda bench: impl.TimerTask.__init__(pending_task(bench)), TypeError, "in use"
    ),
    "init of a watched operation": Misuse(
        lambda bench: impl.DelayedOperation.__init__(bench.watched, 1), TypeError, "in use"
    ),
    "init of a timer": Misuse(lambda bench: impl.Timer.__init__(bench.timer), TypeError, "in use"),
    "init of a purgatory": Misuse(
        lambda bench: impl.Purgatory.__init__(bench.purgatory), TypeError, "in use"
    ),
    "init of a pool": Misuse(
        lambda bench: impl.SimpleMemoryPool.__init__(bench.pool, 1, 1), TypeError, "in use"
    ),
    "run of a pending one-shot": Misuse(lambda bench: bench.task.run(), TypeError, "is pending"),
    "add of nothing": Misuse(
        lambda bench: bench.timer.add(anything(None), 1), NOT_A_TASK, "None is"
    ),
    "add of a number": Misuse(lambda bench: bench.timer.add(anything(42), 1), NOT_A_TASK, "42 is"),
    "add of an operation": Misuse(
        lambda bench: bench.timer.add(Waits(), 1), NOT_A_TASK, "the purgatory that watches it"
    ),
    "add of a watched operation": Misuse(
        lambda bench: bench.timer.add(bench.watched, 1), NOT_A_TASK, "the purgatory"
    ),
    "add of an ended one-shot": Misuse(
        lambda bench: bench.task.cancel() and bench.timer.add(bench.task, 1),
        impl.OneShotEnded,
        "not pending any more",
    ),
    "a delay that is a text": Misuse(
        lambda bench: bench.timer.add(print, anything("1")), impl.InvalidDelay, "whole number"
    ),
    "a delay that is a fraction": Misuse(
        lambda bench: bench.timer.add(print, anything(0.5)), impl.InvalidDelay, "whole number"
    ),
    "a delay of nothing": Misuse(
        lambda bench: bench.timer.add(print, anything(None)), impl.InvalidDelay, "whole number"
    ),
    "a delay that is too large": Misuse(
        lambda bench: bench.timer.add(print, 2**53), impl.DelayTooLarge, "the largest is"
    ),
    "an operation's delay that is a fraction": Misuse(
        lambda bench: impl.DelayedOperation(anything(0.5)), impl.InvalidDelay, "whole number"
    ),
    "a tick of nothing": Misuse(lambda bench: impl.Timer(tick_ms=0), WRONG, "at least 1"),
    "a tick that is a fraction": Misuse(
        lambda bench: impl.Timer(tick_ms=anything(1.5)), WRONG, "whole number"
    ),
    "a tick that is a text": Misuse(
        lambda bench: impl.Timer(tick_ms=anything("1")), WRONG, "whole number"
    ),
    "a tick beyond all delays": Misuse(lambda bench: impl.Timer(tick_ms=2**60), WRONG, "at most"),
    "a wheel of one bucket": Misuse(lambda bench: impl.Timer(wheel_size=1), WRONG, "at least 2"),
    "a wheel of a thousand million": Misuse(
        lambda bench: impl.Timer(wheel_size=10**9), WRONG, "at most 1048576"
    ),
    "a purge that is never due": Misuse(
        lambda bench: impl.Purgatory(purge_due=anything("never")), WRONG, "'amortised' or 'fixed'"
    ),
    "a negative interval": Misuse(
        lambda bench: impl.Purgatory(purge_interval=-1), WRONG, "at least 0"
    ),
    "an interval that is a text": Misuse(
        lambda bench: impl.Purgatory(purge_interval=anything("1")), WRONG, "whole number"
    ),
    "an unknown accounting": Misuse(
        lambda bench: impl.Purgatory(accounting=anything("guess")), WRONG, "no accounting 'guess'"
    ),
    "no keys": Misuse(
        lambda bench: bench.purgatory.try_complete_else_watch(Waits(), []),
        impl.errors.NoKeys,
        "no key",
    ),
    "a text for keys": Misuse(
        lambda bench: bench.purgatory.try_complete_else_watch(Waits(), "key"),
        impl.errors.KeysAreText,
        r"give \['key'\]",
    ),
    "bytes for keys": Misuse(
        lambda bench: bench.purgatory.try_complete_else_watch(Waits(), b"key"),
        impl.errors.KeysAreText,
        "would be keys",
    ),
    "keys that cannot be gone through": Misuse(
        lambda bench: bench.purgatory.try_complete_else_watch(Waits(), anything(1)),
        TypeError,
        "iterable",
    ),
    "a key that cannot be hashed": Misuse(
        lambda bench: bench.purgatory.try_complete_else_watch(Waits(), [[]]), TypeError, "hash"
    ),
    "a pool of nothing": Misuse(lambda bench: impl.SimpleMemoryPool(0, 0), WRONG, "at least 1"),
    "a pool that is a fraction": Misuse(
        lambda bench: impl.SimpleMemoryPool(anything(1.5), 1), WRONG, "whole number"
    ),
    "a buffer of nothing": Misuse(
        lambda bench: bench.pool.try_allocate(0), impl.errors.InvalidAllocation, "1 to 10"
    ),
    "a buffer that is a text": Misuse(
        lambda bench: bench.pool.try_allocate(anything("1")), impl.errors.InvalidAllocation, "'1'"
    ),
    "a release of nothing": Misuse(
        lambda bench: bench.pool.release(anything(None)), impl.errors.NotABuffer, "no buffer"
    ),
    "a release of somebody's": Misuse(
        lambda bench: bench.pool.release(memoryview(bytearray(1))),
        impl.errors.ForeignBuffer,
        "not come",
    ),
}
MISUSES |= {
    f"{way} of a {what}": Misuse(
        functools.partial(lambda bench, make, whole: make(whole(bench)), make=make, whole=whole),
        TypeError,
        "cannot be copied or pickled",
    )
    for way, make in COPIES.items()
    for what, whole in COPIED.items()
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_refused_and_changes_nothing(name: str, bench: Bench) -> None:
    misuse = MISUSES[name]
    before = bench.counts()
    with pytest.raises(misuse.raised, match=misuse.says):
        misuse.does(bench)
    left = 1 if name == "init of a pending task" else 0
    gone = 1 if name == "add of an ended one-shot" else 0
    assert bench.counts() == (before[0] + left - gone, *before[1:])


@pytest.mark.parametrize("kind", [int, Whole])
def test_integers_of_any_type_are_taken(kind: Callable[[int], Any]) -> None:
    clock = impl.VirtualClock()
    timer = impl.Timer(
        tick_ms=kind(2), wheel_size=kind(3), clock=clock, executor=impl.SteppedExecutor()
    )
    timer.add(print, kind(5))
    assert (timer.next_expiry_ms, timer.size) == (4, 1)
    purgatory: impl.Purgatory[str] = impl.Purgatory(timer=timer, purge_interval=kind(5))
    operation = Waits(kind(7))
    purgatory.try_complete_else_watch(operation, ["k"])
    assert (operation.delay_ms, purgatory.pending) == (7, 1)
    assert impl.SimpleMemoryPool(kind(10), kind(5)).size_bytes == 10


class Answers(impl.DelayedOperation):
    """Its try and its callbacks return anything."""

    def __init__(self, answer: object, completes: bool) -> None:
        super().__init__(5)
        self.answer = answer
        self.completes = completes
        self.called: list[str] = []

    def try_complete(self) -> object:
        if self.completes:
            self.force_complete()
        return self.answer

    def on_complete(self) -> object:
        self.called.append("complete")
        return self.answer

    def on_expiration(self) -> object:
        self.called.append("expiration")
        return self.answer


@pytest.mark.parametrize("answer", [True, False, None, 1, 0, "yes", "", [], 2.5, object()])
def test_an_answer_of_any_type_is_true_or_false(answer: object, bench: Bench) -> None:
    operation = Answers(answer, completes=True)
    completed = bench.purgatory.try_complete_else_watch(operation, ["a"])
    assert completed is bool(answer)
    assert operation.called == ["complete"]


@pytest.mark.parametrize("answer", [True, None, 0, "x"])
def test_what_callbacks_return_is_ignored(answer: object, bench: Bench) -> None:
    operation = Answers(answer, completes=False)
    assert not bench.purgatory.try_complete_else_watch(operation, ["a"])
    bench.clock.set_ms(5)
    bench.timer.advance()
    while bench.executor.run_one():
        pass
    assert operation.called == ["complete", "expiration"]
    assert bench.purgatory.pending == 1  # of the bench's own operation, due at 10


@pytest.mark.parametrize("answer", [True, None, 0, "x"])
def test_what_a_task_and_an_executor_return_is_ignored(
    answer: object, logged: pytest.LogCaptureFixture
) -> None:
    class Task(impl.TimerTask):
        def run(self) -> object:
            ran.append(self)
            return answer

    class Woken(impl.SteppedExecutor):
        def wake(self) -> object:
            return answer

    ran: list[Task] = []
    executor = Woken()
    timer = impl.Timer(clock=impl.VirtualClock(), executor=executor)
    timer.add(Task(), 0)
    assert executor.run_one()
    assert len(ran) == 1
    assert logged.records == []


@pytest.mark.parametrize(
    "wrap", [lambda call: call, lambda call: impl.CallableTask(lambda: call())]
)
def test_a_coroutine_function_is_told_when_it_runs(
    wrap: Callable[[Any], Any], bench: Bench, logged: pytest.LogCaptureFixture
) -> None:
    """To look at each callable as it is added would cost a fifth of the adding."""
    bench.timer.add(wrap(coroutine), 0)
    assert bench.executor.run_one()
    (record,) = logged.records
    assert record.exc_info is not None
    assert "has made the coroutine coroutine, and nothing runs it" in str(record.exc_info[1])


@pytest.mark.parametrize("when", ["before", "pending", "queued", "after"])
def test_a_time_out_that_a_caller_runs_leaves_the_counts_right(when: str, bench: Bench) -> None:
    """In the end it is completed once and nothing is owed but the bench's own operation."""
    operation = Answers(False, completes=False)
    if when == "before":
        operation.run()
    bench.purgatory.try_complete_else_watch(operation, ["a"])
    if when == "pending":
        operation.run()
    bench.clock.set_ms(5)
    bench.timer.advance()
    if when == "queued":
        operation.run()
    while bench.executor.run_one():
        pass
    if when == "after":
        operation.run()
    assert operation.called == ["complete", "expiration"]
    assert bench.purgatory.pending == 1


def test_a_second_init_of_a_one_shot_harms_nobody(bench: Bench) -> None:
    """Given two tasks of one bucket that the timer has made of callables: both run."""
    ran: list[str] = []
    first, second = (bench.timer.add(functools.partial(ran.append, each), 4) for each in "ab")
    with contextlib.suppress(TypeError):
        first.__init__(print)  # type: ignore[misc]
    bench.clock.set_ms(4)
    bench.timer.advance()
    while bench.executor.run_one():
        pass
    assert ran == ["a", "b"]
    assert not second.cancel()


def every_error() -> Iterator[Exception]:
    yield impl.errors.UsedAfterFork()
    yield impl.errors.InvalidConfiguration("wrong")
    yield impl.errors.InvalidDelay("x")
    yield impl.errors.DelayTooLarge(5, 4)
    yield impl.errors.NotATask("nothing")
    yield impl.errors.KeysAreText("ab")
    yield impl.errors.NotABuffer(3)
    yield impl.errors.InvalidResponse("text")
    yield impl.errors.ResponseTooLarge(2**31, 2**31 - 1)
    yield impl.errors.InvalidAllocation("0 bytes")
    for kind in (
        impl.errors.TaskOfAnotherTimer,
        impl.errors.OneShotEnded,
        impl.errors.TimerClosed,
        impl.errors.NoKeys,
        impl.errors.OperationOfAnotherPurgatory,
        impl.errors.PurgatoryClosed,
        impl.errors.ForeignBuffer,
        impl.errors.BufferPart,
        impl.errors.BufferReleased,
        impl.errors.BufferInUse,
        impl.errors.RequestAnswered,
        impl.errors.ServerFailed,
    ):
        yield kind()


@pytest.mark.parametrize("error", [*every_error()], ids=lambda error: type(error).__name__)
def test_errors_go_to_another_process_as_they_are(error: Exception) -> None:
    error.add_note("seen")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert getattr(other, "reason", None) == getattr(error, "reason", None)
        assert other.__notes__ == ["seen"]


def test_no_error_is_left_out() -> None:
    tried = {type(error) for error in every_error()}
    classes = {each for each in vars(impl.errors).values() if isinstance(each, type)}
    assert {each for each in classes if issubclass(each, Exception)} - tried == {
        impl.errors.PurgatoryError,
        impl.errors.TimerError,
        impl.errors.WatchError,
        impl.errors.MemoryPoolError,
        impl.errors.InvalidRelease,
    }


class FailsAtFirst(impl.MonotonicClock):
    """A clock in whose first wait each thread fails."""

    def __init__(self) -> None:
        self.failed: set[str] = set()

    def wait_until(self, condition: threading.Condition, deadline_ms: int | None) -> None:
        name = threading.current_thread().name
        if name not in self.failed:
            self.failed.add(name)
            raise OSError("no time")
        super().wait_until(condition, deadline_ms)


@pytest.mark.usefixtures("no_thread_left")
def test_a_clock_that_fails_does_not_end_a_reaper(logged: pytest.LogCaptureFixture) -> None:
    """A task still runs and a purge is still made, and each failure is logged."""
    clock = FailsAtFirst()
    ran = threading.Event()
    with (
        impl.Timer(clock=clock, executor=impl.InlineExecutor()) as timer,
        impl.Purgatory[str](timer=timer, purge_interval=0) as purgatory,
    ):
        timer.add(ran.set, 1)
        assert ran.wait(LONG_S)
        operation = Waits(10_000)
        purgatory.try_complete_else_watch(operation, ["a", "b"])
        operation.force_complete()
        give_up = time.monotonic() + LONG_S
        while purgatory.entries and time.monotonic() < give_up:
            time.sleep(0.005)
        assert purgatory.entries == 0
    failed = [record.getMessage() for record in logged.records]
    assert set(failed) <= {
        "purgatory-timer: a pass of the reaper failed",
        "purgatory: a pass of the reaper failed",
        "purgatory: a purge failed",
    }
    assert len(failed) == len(clock.failed) >= 1
