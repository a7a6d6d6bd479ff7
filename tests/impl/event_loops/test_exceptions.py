"""Exceptions of an operation's callables reach the awaiting task, whatever their class."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

import purgatory_impl as impl
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation, EventLoopExecutor
from tests.impl.event_loops.mailboxes import LONG_MS, Mailbox, one_waits, run, turns
from tests.impl.test_exceptions import FAILURES, REQUESTS, Own, throw
from tests.impl.threads import LONG_S

Failure = Callable[[], BaseException]
Operation = AwaitedOperation[str]


def seen_by(failure: Failure) -> type[BaseException]:
    """Return the exception that a task gets: a coroutine cannot raise ``StopIteration``."""
    made = type(failure())
    return RuntimeError if made is StopIteration else made


async def outcome(task: Awaitable[object]) -> object:
    """Return what a task has returned or raised, but for a limit of time."""
    try:
        return await task
    except TimeoutError:
        raise
    except BaseException as failure:
        return failure


def thrown_later(failure: Failure, tries: int) -> Callable[[], str | None]:
    """A ``take`` that raises after so many tries."""
    left = [None] * tries

    def take() -> str | None:
        return left.pop() if left else throw(failure)

    return take


# Where ``otherwise`` is called: each makes the operation end without an answer.


async def by_the_time_out(purgatory: impl.Purgatory[str], operation: Operation) -> None:
    """In the thread of the timer's executor: its delay is short."""


async def by_force_here(purgatory: impl.Purgatory[str], operation: Operation) -> None:
    operation.force_complete()


async def by_force_elsewhere(purgatory: impl.Purgatory[str], operation: Operation) -> None:
    await asyncio.to_thread(operation.force_complete)


async def by_another_loop(purgatory: impl.Purgatory[str], operation: Operation) -> None:
    async def force() -> None:
        operation.force_complete()

    await asyncio.to_thread(asyncio.run, force())


WAYS = [by_the_time_out, by_force_here, by_force_elsewhere, by_another_loop]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("failure", FAILURES.values(), ids=list(FAILURES))
def test_what_otherwise_raises_reaches_the_task(
    purgatory: impl.Purgatory[str],
    way: Callable[[impl.Purgatory[str], Operation], Awaitable[None]],
    failure: Failure,
) -> None:
    """The coroutine gets the exception, and nothing is left."""

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            delay_ms = 1 if way is by_the_time_out else LONG_MS
            operation = Operation(lambda: None, delay_ms, otherwise=partial(throw, failure))
            task = asyncio.ensure_future(outcome(waiting.watch(operation, ["k"])))
            await turns()
            await way(purgatory, operation)
            assert type(await task) is seen_by(failure)
            assert waiting.waiting == 0

    run(scenario)


@pytest.mark.parametrize("tries", [0, 1, 2], ids=["first", "second", "check"])
@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("failure", FAILURES.values(), ids=list(FAILURES))
def test_what_take_raises_reaches_the_task(
    purgatory: impl.Purgatory[str], failure: Failure, tries: int, elsewhere: bool
) -> None:
    """The coroutine gets the exception, and whoever checks does not."""

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            operation = AwaitedOperation(thrown_later(failure, tries), LONG_MS)
            task = asyncio.ensure_future(outcome(waiting.watch(operation, ["k"])))
            await turns()
            if elsewhere:
                await asyncio.to_thread(purgatory.check_and_complete, "k")
            else:
                purgatory.check_and_complete("k")
            assert type(await task) is seen_by(failure)
            assert (waiting.waiting, operation.is_completed) == (0, True)

    run(scenario)


@pytest.mark.parametrize("failing", ["take", "otherwise"])
@pytest.mark.parametrize("failure", REQUESTS.values(), ids=list(REQUESTS))
def test_a_request_in_the_main_thread_reaches_the_task_and_the_caller(
    failure: Failure, failing: str
) -> None:
    """The caller gets it, and so does the coroutine."""
    assert threading.current_thread() is threading.main_thread()
    waits = threading.Event()
    got: list[object] = []
    with impl.Purgatory[str]() as purgatory:
        operation = Operation(
            thrown_later(failure, 2) if failing == "take" else lambda: None,
            LONG_MS,
            otherwise=partial(throw, failure),
        )

        async def scenario() -> None:
            waiting = AsyncioPurgatory(purgatory)
            asyncio.get_running_loop().call_later(0, waits.set)
            got.append(await outcome(waiting.watch(operation, ["k"])))

        thread = threading.Thread(target=run, args=(scenario,))
        thread.start()
        assert waits.wait(LONG_S)
        ends: dict[str, Callable[[], object]] = {
            "take": lambda: purgatory.check_and_complete("k"),
            "otherwise": operation.force_complete,
        }
        with pytest.raises(type(failure())):
            ends[failing]()
        thread.join(LONG_S)
        assert [type(each) for each in got] == [type(failure())]
        assert (purgatory.pending, purgatory.timer_size) == (0, 0)


@pytest.mark.parametrize("where", ["first", "second", "check", "force", "time-out"])
@pytest.mark.parametrize("failure", REQUESTS.values(), ids=list(REQUESTS))
def test_a_request_in_the_loop_of_the_main_thread_ends_the_run(
    failure: Failure, where: str, logged: pytest.LogCaptureFixture
) -> None:
    """The run ends with the request, the coroutine has ended too, and nothing is left."""
    ended: list[object] = []
    tries = {"first": 0, "second": 1, "check": 2}.get(where)

    async def wait(timer: impl.Timer, purgatory: impl.Purgatory[str]) -> None:
        operation = Operation(
            (lambda: None) if tries is None else thrown_later(failure, tries),
            1 if where == "time-out" else LONG_MS,
            otherwise=partial(throw, failure),
        )
        loop = asyncio.get_running_loop()
        if where == "check":
            loop.call_later(0, purgatory.check_and_complete, "k")
        if where == "force":
            loop.call_later(0, operation.force_complete)
        try:
            await AsyncioPurgatory(purgatory).watch(operation, ["k"])
        finally:
            ended.append((purgatory.pending, timer.size, operation.is_completed))

    async def scenario() -> None:
        timer = impl.Timer(executor=EventLoopExecutor())
        with timer, impl.Purgatory[str](timer=timer) as purgatory:
            await wait(timer, purgatory)

    with pytest.raises(type(failure())):
        run(scenario)
    assert ended == [(0, 0, True)]
    assert [record for record in logged.records if record.name == "purgatory"] == []


@pytest.mark.parametrize("failure", REQUESTS.values(), ids=list(REQUESTS))
def test_a_request_in_another_thread_reaches_the_task(
    purgatory: impl.Purgatory[str], failure: Failure
) -> None:
    """Given an ``otherwise`` that raises one in the thread of the timer's executor."""

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            operation = Operation(lambda: None, 1, otherwise=partial(throw, failure))
            assert type(await outcome(waiting.watch(operation, ["k"]))) is type(failure())

    run(scenario)


def test_a_cancelled_future_ends_the_task(purgatory: impl.Purgatory[str]) -> None:
    """The task that awaits is cancelled, and does not hang."""

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            future.cancel()
            operation = AwaitedOperation(lambda: None, 1, otherwise=future.result)
            task = asyncio.ensure_future(waiting.watch(operation, ["k"]))
            await asyncio.wait([task])
            assert task.cancelled()

    run(scenario)


@pytest.mark.parametrize("failing", ["take", "otherwise"])
def test_a_failure_is_kept_by_nobody(failing: str) -> None:
    """The operation keeps neither the failure nor the future."""

    async def scenario() -> None:
        with impl.Purgatory[str](reaper=False) as purgatory:
            async with AsyncioPurgatory(purgatory) as waiting:
                operation = Operation(
                    thrown_later(Own, 2) if failing == "take" else lambda: None,
                    LONG_MS,
                    otherwise=partial(throw, Own),
                )
                task = asyncio.ensure_future(outcome(waiting.watch(operation, ["k", "l"])))
                await turns()
                purgatory.check_and_complete("k")
                operation.force_complete()
                assert isinstance(await task, Own)
                assert purgatory.stale > 0
                assert (operation._failure, operation._woken) == (None, None)

    run(scenario)


def test_a_task_whose_operation_was_never_answered_can_be_cancelled(
    purgatory: impl.Purgatory[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            operation = Mailbox(purgatory).operation()
            task = asyncio.ensure_future(waiting.watch(operation, ["k"]))
            await turns()
            with monkeypatch.context() as patch:
                patch.setattr(AwaitedOperation, "on_complete", lambda _: throw(Own))
                with pytest.raises(Own):
                    operation.force_complete()
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    run(scenario)


# Arguments


async def answer() -> str:
    return "m"


class AsyncCall:
    async def __call__(self) -> str:
        return "m"

    async def method(self) -> str:
        return "m"


async def several() -> Any:
    yield "m"


ASYNC: dict[str, Any] = {
    "function": answer,
    "lambda-like partial": partial(answer),
    "partial of a partial": partial(partial(answer)),
    "object": AsyncCall(),
    "partial of an object": partial(AsyncCall()),
    "method": AsyncCall().method,
    "partial of a method": partial(AsyncCall().method),
    "generator": several,
}


@pytest.mark.parametrize("given", ASYNC.values(), ids=list(ASYNC))
def test_a_coroutine_function_is_refused_when_it_is_given(given: Any) -> None:
    with pytest.raises(TypeError, match=r"take is .* makes a coroutine"):
        AwaitedOperation(given, 5)
    with pytest.raises(TypeError, match=r"otherwise is .* makes a coroutine"):
        AwaitedOperation(lambda: None, 5, otherwise=given)


def test_what_cannot_be_called_is_refused_when_it_is_given() -> None:
    for arguments in ({"take": 7}, {"take": print, "otherwise": 7}):
        given: dict[str, Any] = {"delay_ms": 5, **arguments}
        with pytest.raises(impl.InvalidConfiguration, match="cannot be called"):
            AwaitedOperation(**given)


def test_a_class_is_taken_whatever_its_objects_do() -> None:
    """The control: what is called is the class, and that makes an object."""
    AwaitedOperation(AsyncCall, 5)


@pytest.mark.parametrize("name", ["take", "otherwise"])
def test_a_coroutine_that_is_made_all_the_same_is_told_to_the_task(
    purgatory: impl.Purgatory[str], name: str
) -> None:
    """Given callables that only show by their result that they make coroutines."""

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            given: dict[str, Any] = {"take": lambda: None, name: lambda: answer()}
            operation: AwaitedOperation[Any] = AwaitedOperation(delay_ms=1, **given)
            with pytest.raises(TypeError, match=f"{name} has made the coroutine answer"):
                await waiting.watch(operation, ["k"])

    run(scenario)


def test_it_has_no_subclasses() -> None:
    with pytest.raises(TypeError, match="has no subclasses"):
        type("Tried", (AwaitedOperation,), {})


@pytest.mark.parametrize("given", [impl.DelayedOperation(5), 7, None])
def test_only_an_awaited_operation_can_be_watched(
    purgatory: impl.Purgatory[str], given: Any
) -> None:
    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            with pytest.raises(TypeError, match=f"a {type(given).__name__}; .* AwaitedOperation"):
                await waiting.watch(given, ["k"])
            assert (waiting.waiting, purgatory.entries) == (0, 0)

    run(scenario)


# A loop that is closed under a task


def closed_under(purgatory: impl.Purgatory[str], operation: Operation) -> asyncio.Task[str | None]:
    """A task that waits in a loop which was closed."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(AsyncioPurgatory(purgatory).watch(operation, ["k", "l"]))
    loop.call_later(0, loop.stop)
    loop.run_forever()
    loop.set_exception_handler(lambda loop, context: None)
    loop.close()
    return task


def test_a_closed_loop_takes_no_message_and_frees_the_operation(
    purgatory: impl.Purgatory[str], logged: pytest.LogCaptureFixture
) -> None:
    """The message stays, the operation has neither time-out nor future, and nothing is logged."""
    mailbox = Mailbox(purgatory)
    operation = mailbox.operation()
    task = closed_under(purgatory, operation)
    tries = mailbox.tries
    assert mailbox.put("m") == 0
    assert (list(mailbox.messages), mailbox.tries) == (["m"], tries)
    assert operation.is_abandoned
    assert (purgatory.pending, purgatory.timer_size, operation._woken) == (0, 0, None)
    assert mailbox.put("n") == 0
    assert purgatory.check_and_complete("l") == 0
    assert (purgatory.entries, purgatory.stale) == (0, 0)
    assert logged.records == []
    del task


@pytest.mark.parametrize("forced", [False, True])
def test_the_end_of_an_operation_of_a_closed_loop_calls_nobody(
    logged: pytest.LogCaptureFixture, forced: bool
) -> None:
    called: list[str] = []

    def otherwise() -> str:
        called.append("otherwise")
        return "m"

    operation = Operation(lambda: None, 5, otherwise=otherwise)
    clock = impl.VirtualClock()
    with impl.Timer(clock=clock, executor=impl.InlineExecutor()) as timer:
        place = impl.Purgatory[str](timer=timer)
        task = closed_under(place, operation)
        if forced:
            assert operation.force_complete()
        clock.set_ms(5)
        timer.advance()
        assert (place.pending, timer.size, called) == (0, 0, [])
    assert operation.is_completed
    assert operation._woken is None
    assert logged.records == []
    del task


def test_an_answer_that_was_taken_while_the_loop_closed_is_logged(
    purgatory: impl.Purgatory[str], logged: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)
    answers: list[str] = []

    def take() -> str | None:
        if answers:
            loop.close()
            return answers.pop()
        return None

    operation = AwaitedOperation(take, LONG_MS)
    task = loop.create_task(AsyncioPurgatory(purgatory).watch(operation, ["k"]))
    loop.call_later(0, loop.stop)
    loop.run_forever()
    answers.append("m")
    assert purgatory.check_and_complete("k") == 1
    assert "nobody gets the answer of <AwaitedOperation" in logged.text
    del task


def test_a_closed_loop_of_an_executor_is_logged_once(logged: pytest.LogCaptureFixture) -> None:
    loop = asyncio.new_event_loop()
    executor = EventLoopExecutor(loop)
    loop.close()
    with impl.Timer(clock=impl.VirtualClock(), executor=executor) as timer:
        for _ in range(5):
            timer.add(print, 0)
    assert executor.queued == 5
    assert len(logged.records) == 1


def test_a_waiting_task_is_answered_as_ever(purgatory: impl.Purgatory[str]) -> None:
    """The control: an open loop takes the message."""
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = await one_waits(waiting, mailbox)
            assert mailbox.put("m") == 1
            assert await task == "m"

    run(scenario)
