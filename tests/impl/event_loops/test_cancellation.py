"""A task that is cancelled while it waits leaves nothing, and loses nothing."""

import asyncio
from collections.abc import Callable

import pytest

from purgatory_impl import DelayedOperation, Purgatory
from purgatory_impl.event_loops import AsyncioPurgatory
from tests.impl.event_loops.mailboxes import LONG_MS, Mailbox, one_waits, run, turns
from tests.impl.threads import LONG_S


def test_a_cancelled_task_leaves_nothing_watched_and_nothing_in_the_timer(
    purgatory: Purgatory[str],
) -> None:
    """It is cancelled; the next message is not taken, and no operation is left."""
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = await one_waits(waiting, mailbox)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            assert (purgatory.timer_size, purgatory.pending, waiting.waiting) == (0, 0, 0)
            assert mailbox.put("m") == 0
            assert list(mailbox.messages) == ["m"]

    run(scenario)


def answered_then_cancelled(mailbox: Mailbox, task: asyncio.Task[str | None]) -> None:
    mailbox.put("m")
    task.cancel()


def answered_elsewhere_then_cancelled(mailbox: Mailbox, task: asyncio.Task[str | None]) -> None:
    mailbox.put_elsewhere("m")
    task.cancel()


def told_then_cancelled(mailbox: Mailbox, task: asyncio.Task[str | None]) -> None:
    """The loop has told the task, which has not gone on yet, when it is cancelled."""
    loop = asyncio.get_running_loop()
    mailbox.put("m")
    # Runs after what tells the task, and before the task goes on.
    loop.call_soon(task.cancel)


SAME_TURN = [answered_then_cancelled, answered_elsewhere_then_cancelled, told_then_cancelled]


@pytest.mark.parametrize("in_one_turn", SAME_TURN)
def test_an_answer_and_a_cancellation_in_one_turn_lose_no_message(
    purgatory: Purgatory[str], in_one_turn: Callable[[Mailbox, asyncio.Task[str | None]], None]
) -> None:
    """It gets the message, and is cancelled at its next await."""
    mailbox = Mailbox(purgatory)
    received: list[str | None] = []

    async def receive(waiting: AsyncioPurgatory[str]) -> None:
        received.append(await waiting.watch(mailbox.operation(), ["k"]))
        await asyncio.sleep(LONG_S)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = asyncio.ensure_future(receive(waiting))
            await turns()
            in_one_turn(mailbox, task)
            await asyncio.wait([task])
            assert (received, task.cancelled()) == (["m"], True)
            assert task.cancelling() == 1

    run(scenario)


@pytest.mark.parametrize("in_one_turn", SAME_TURN)
def test_a_future_that_is_set_by_the_callback_loses_the_message(
    purgatory: Purgatory[str], in_one_turn: Callable[[Mailbox, asyncio.Task[str | None]], None]
) -> None:
    """The control: what one would write first, under the same turns, receives nothing."""
    mailbox = Mailbox(purgatory)

    class Naive(DelayedOperation):
        def __init__(self) -> None:
            super().__init__(LONG_MS)
            self.loop = asyncio.get_running_loop()
            self.future: asyncio.Future[str] = self.loop.create_future()

        def try_complete(self) -> bool:
            self.message = mailbox.take()
            return self.message is not None and self.force_complete()

        def on_complete(self) -> None:
            self.loop.call_soon_threadsafe(self.answer)

        def answer(self) -> None:
            if not self.future.done():
                self.future.set_result(self.message or "")

    async def watch() -> str | None:
        operation = Naive()
        purgatory.try_complete_else_watch(operation, ["k"])
        return await operation.future

    async def scenario() -> None:
        task = asyncio.ensure_future(watch())
        await turns()
        in_one_turn(mailbox, task)
        await asyncio.wait([task])
        assert task.cancelled()
        assert list(mailbox.messages) == []

    run(scenario)


def test_a_late_cancellation_that_was_withdrawn_is_not_raised(purgatory: Purgatory[str]) -> None:
    """It gets the message; no TimeoutError, and no cancellation afterwards."""
    mailbox = Mailbox(purgatory)
    received: list[str | None] = []

    async def receive(waiting: AsyncioPurgatory[str], limit: asyncio.Timeout) -> str:
        async with limit:
            received.append(await waiting.watch(mailbox.operation(), ["k"]))
        await turns(10)
        return "went on"

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            limit = asyncio.timeout(None)
            task = asyncio.ensure_future(receive(waiting, limit))
            await turns()
            mailbox.put_elsewhere("m")
            limit.reschedule(asyncio.get_running_loop().time())
            assert await task == "went on"
            assert (received, task.cancelling()) == (["m"], 0)

    run(scenario)


@pytest.mark.parametrize("withdrawn", [0, 1, 2])
def test_of_two_late_cancellations_both_have_to_be_withdrawn(
    purgatory: Purgatory[str], withdrawn: int
) -> None:
    """It gets the message, and is cancelled unless both are withdrawn."""
    mailbox = Mailbox(purgatory)
    received: list[str | None] = []

    async def receive(waiting: AsyncioPurgatory[str]) -> None:
        received.append(await waiting.watch(mailbox.operation(), ["k"]))
        running = asyncio.current_task()
        assert running is not None
        for _ in range(withdrawn):
            running.uncancel()
        await turns(10)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = asyncio.ensure_future(receive(waiting))
            await turns()
            mailbox.put_elsewhere("m")
            task.cancel()
            task.cancel("again")
            await asyncio.wait([task])
            assert (received, task.cancelled()) == (["m"], withdrawn < 2)

    run(scenario)


def test_a_task_that_was_cancelled_before_may_wait_once_more(purgatory: Purgatory[str]) -> None:
    """It gets the message, and is not cancelled a second time for the same request."""
    mailbox = Mailbox(purgatory)

    async def receive(waiting: AsyncioPurgatory[str]) -> list[str | None]:
        try:
            await asyncio.sleep(LONG_S)
        except asyncio.CancelledError:
            message = await waiting.watch(mailbox.operation(), ["k"])
            await turns(10)
            return [message]
        return []

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = asyncio.ensure_future(receive(waiting))
            await turns()
            task.cancel()
            await turns()
            mailbox.put_elsewhere("m")
            assert await task == ["m"]

    run(scenario)


def test_a_late_cancellation_by_a_time_limit_ends_the_next_await(purgatory: Purgatory[str]) -> None:
    """It gets that message, and the second wait ends with TimeoutError."""
    mailbox = Mailbox(purgatory)
    received: list[str | None] = []

    async def receive(waiting: AsyncioPurgatory[str], limit: asyncio.Timeout) -> None:
        async with limit:
            for _ in range(2):
                received.append(await waiting.watch(mailbox.operation(), ["k"]))

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            limit = asyncio.timeout(None)
            task = asyncio.ensure_future(receive(waiting, limit))
            await turns()
            mailbox.put_elsewhere("m")
            limit.reschedule(asyncio.get_running_loop().time())
            with pytest.raises(TimeoutError):
                await task
            assert received == ["m"]

    run(scenario)


def test_a_cancelled_task_is_not_told_of_closing(purgatory: Purgatory[str]) -> None:
    """Given a coroutine that waits, the task is cancelled: there is no answer to be lost."""
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = await one_waits(waiting, mailbox)
            task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    run(scenario)


@pytest.mark.parametrize("and_cancel", [False, True])
def test_the_task_of_an_abandoned_operation_is_cancelled(
    purgatory: Purgatory[str], and_cancel: bool
) -> None:
    """Given a coroutine that waits: the task is cancelled."""
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = await one_waits(waiting, mailbox)
            (operation,) = purgatory.watched()["k"]
            assert purgatory.abandon(operation)
            if and_cancel:
                task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    run(scenario)


def test_a_coroutine_that_is_closed_leaves_nothing(purgatory: Purgatory[str]) -> None:
    """Given a coroutine that waits, and that no task runs: its operation is abandoned."""
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            coroutine = waiting.watch(mailbox.operation(), ["k"])
            coroutine.send(None)
            assert (purgatory.pending, waiting.waiting) == (1, 1)
            coroutine.close()
            assert (purgatory.pending, waiting.waiting, mailbox.put("m")) == (0, 0, 0)

    run(scenario)
