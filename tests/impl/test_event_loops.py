"""Coroutines that wait in a purgatory, and timer tasks in a loop's thread."""

import asyncio
import gc
import threading
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import pytest

from purgatory_impl import (
    DelayedOperation,
    NoKeys,
    OperationOfAnotherPurgatory,
    Purgatory,
    PurgatoryClosed,
    Timer,
    VirtualClock,
)
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation, EventLoopExecutor

from .purgatory_bench import Planned
from .threads import LONG_S

LONG_MS = 1000 * LONG_S
Scenario = Callable[[], Awaitable[None]]


@pytest.fixture
def purgatory() -> Iterator[Purgatory[str]]:
    """A purgatory with threads; nothing that the test has waited for is left in it."""
    with Purgatory[str](purge_interval=0) as purgatory:
        yield purgatory
        assert (purgatory.timer_size, purgatory.pending) == (0, 0)
        assert all(one.is_completed or one.is_abandoned for one in listed(purgatory))


def listed(purgatory: Purgatory[str]) -> list[DelayedOperation]:
    return [operation for operations in purgatory.watched().values() for operation in operations]


class Mailbox:
    """Messages under one key; each is taken once."""

    def __init__(self, purgatory: Purgatory[str], key: str = "k") -> None:
        self.purgatory = purgatory
        self.key = key
        self.messages: deque[str] = deque()
        self.tries = 0

    def take(self) -> str | None:
        self.tries += 1
        try:
            return self.messages.popleft()
        except IndexError:
            return None

    def put(self, message: str) -> int:
        self.messages.append(message)
        return self.purgatory.check_and_complete(self.key)

    def put_elsewhere(self, message: str) -> None:
        """Put a message in another thread, to its end."""
        thread = threading.Thread(target=self.put, args=(message,))
        thread.start()
        thread.join(LONG_S)
        assert not thread.is_alive()

    def operation(self, delay_ms: int = LONG_MS) -> AwaitedOperation[str]:
        return AwaitedOperation(self.take, delay_ms)


def run(scenario: Scenario) -> None:
    """Run a scenario in a loop of its own, for a limited time."""

    async def limited() -> None:
        async with asyncio.timeout(LONG_S):
            await scenario()

    asyncio.run(limited())


async def turns(count: int = 3) -> None:
    """Let everything go on that can."""
    for _ in range(count):
        await asyncio.sleep(0)


async def one_waits(waiting: AsyncioPurgatory[str], mailbox: Mailbox) -> asyncio.Task[str | None]:
    """A task that waits for a message of a mailbox."""
    task = asyncio.ensure_future(waiting.watch(mailbox.operation(), [mailbox.key]))
    await turns()
    assert waiting.waiting == 1
    return task


# Answers


def test_what_is_there_is_answered_without_a_turn_of_the_loop(purgatory: Purgatory[str]) -> None:
    mailbox = Mailbox(purgatory)
    mailbox.put("m")

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            turned: list[bool] = []
            asyncio.get_running_loop().call_soon(turned.append, True)
            assert await waiting.watch(mailbox.operation(), ["k"]) == "m"
            assert turned == []

    run(scenario)


def test_an_event_in_another_thread_answers(purgatory: Purgatory[str]) -> None:
    """Given a coroutine that waits for a message.

    When another thread puts one.
    Then the coroutine gets it, and nobody waits any longer.
    """
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = await one_waits(waiting, mailbox)
            mailbox.put_elsewhere("m")
            assert await task == "m"
            assert waiting.waiting == 0

    run(scenario)


def test_the_time_out_answers_none_or_what_the_operation_makes(purgatory: Purgatory[str]) -> None:
    """Given operations whose try never takes anything: one plain, one with another answer.

    And one whose other answer fails.

    When they time out.
    Then the answers are None, that answer, and the failure.
    """

    def fail() -> str:
        raise LookupError("planned")

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            plain = AwaitedOperation[str](lambda: None, 1)
            other = AwaitedOperation(lambda: None, 1, otherwise=lambda: "other")
            failing = AwaitedOperation(lambda: None, 1, otherwise=fail)
            assert await waiting.watch(plain, ["k"]) is None
            assert await waiting.watch(other, ["k"]) == "other"
            with pytest.raises(LookupError, match="planned"):
                await waiting.watch(failing, ["k"])

    run(scenario)


def test_an_answer_is_kept_by_nobody_else() -> None:
    """Given operations under two keys, in a purgatory that nobody purges.

    When one is answered, and the answer of the other one fails.
    Then the answer and the failure are garbage once the coroutine has let them go, although
    entries of both operations are left.
    """

    class Something:
        pass

    there: list[Something] = []

    def fail() -> Something:
        raise Planned

    async def outcomes(waiting: AsyncioPurgatory[str]) -> list[weakref.ref[object]]:
        def put() -> None:
            there.append(Something())
            waiting.purgatory.check_and_complete("k")

        asyncio.get_running_loop().call_soon(put)
        take = AwaitedOperation(lambda: there.pop() if there else None, LONG_MS)
        answer = await waiting.watch(take, ["k", "l"])
        failing = AwaitedOperation(lambda: None, LONG_MS, otherwise=fail)
        asyncio.get_running_loop().call_soon(failing.force_complete)
        try:
            await waiting.watch(failing, ["k", "l"])
        except Planned as failure:
            return [weakref.ref(answer), weakref.ref(failure)]
        raise AssertionError

    async def scenario() -> None:
        with Purgatory[str](reaper=False) as purgatory:
            async with AsyncioPurgatory(purgatory) as waiting:
                references = await outcomes(waiting)
                assert purgatory.stale == 3
                assert [reference() for reference in references] == [None, None]

    run(scenario)


def test_a_forced_operation_answers(purgatory: Purgatory[str]) -> None:
    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            mailbox = Mailbox(purgatory)
            task = await one_waits(waiting, mailbox)
            for operation in purgatory.cancel_for_key("k"):
                assert operation.force_complete()
            assert await task is None

    run(scenario)


def test_a_refused_watch_leaves_nothing(purgatory: Purgatory[str]) -> None:
    """Given calls that the purgatory refuses, and a first and a second try that fail.

    When they are awaited.
    Then the failure is raised, and nothing is watched.
    """

    def fail_at(number: int) -> Callable[[], str | None]:
        tries: list[int] = []

        def take() -> str | None:
            tries.append(0)
            if len(tries) == number:
                raise LookupError("planned")
            return None

        return take

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            with pytest.raises(NoKeys):
                await waiting.watch(Mailbox(purgatory).operation(), [])
            for number in (1, 2):
                failing = AwaitedOperation(fail_at(number), LONG_MS)
                with pytest.raises(LookupError):
                    await waiting.watch(failing, ["k"])
                assert failing.is_abandoned
            foreign = Mailbox(purgatory).operation()
            with Purgatory[str]() as other:
                other.try_complete_else_watch(foreign, ["k"])
                with pytest.raises(OperationOfAnotherPurgatory):
                    await waiting.watch(foreign, ["k"])
                assert not foreign.is_abandoned
            assert waiting.waiting == 0

    run(scenario)


def test_an_operation_is_awaited_once(purgatory: Purgatory[str]) -> None:
    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            operation = AwaitedOperation[str](lambda: "m", LONG_MS)
            assert await waiting.watch(operation, ["k"]) == "m"
            with pytest.raises(TypeError, match="awaited before"):
                await waiting.watch(operation, ["k"])

    run(scenario)


def test_each_loop_has_a_place_of_its_own(purgatory: Purgatory[str]) -> None:
    waiting = AsyncioPurgatory(purgatory)

    async def scenario() -> None:
        await waiting.watch(AwaitedOperation[str](lambda: "m", 1), ["k"])

    run(scenario)
    with pytest.raises(RuntimeError, match="another event loop"):
        run(scenario)


# Cancellation


def test_a_cancelled_task_leaves_nothing_watched_and_nothing_in_the_timer(
    purgatory: Purgatory[str],
) -> None:
    """Given a coroutine that waits.

    When its task is cancelled.
    Then it is cancelled; the next message is not taken, and no operation is left.
    """
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
    """Given a coroutine that waits for a message and does something after it.

    When in one turn of the loop the message is put, and then the task is cancelled.
    Then it gets the message, and is cancelled at its next await.
    """
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
    """Given a coroutine that waits inside ``asyncio.timeout``.

    When it is answered and the time is up in the same turn.
    Then it gets the message; no TimeoutError, and no cancellation afterwards.
    """
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
    """Given a coroutine that waits for a message.

    When its task is cancelled twice in the turn in which it is answered, and some are withdrawn.
    Then it gets the message, and is cancelled unless both are withdrawn.
    """
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
    """Given a task that has been cancelled, and waits for a last message before it ends.

    When it is answered.
    Then it gets the message, and is not cancelled a second time for the same request.
    """
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


def test_a_late_cancellation_by_a_time_limit_ends_the_next_await(
    purgatory: Purgatory[str],
) -> None:
    """Given a coroutine that, in one ``asyncio.timeout``, waits twice.

    When the first message comes in the turn in which the time is up.
    Then it gets that message, and the second wait ends with TimeoutError.
    """
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
    """Given a coroutine that waits.

    When in one turn its task is cancelled, and the place is closed.
    Then the task is cancelled: there is no answer to be lost.
    """
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
    """Given a coroutine that waits.

    When somebody else abandons its operation, and perhaps its task is cancelled, too.
    Then the task is cancelled.
    """
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
    """Given a coroutine that waits, and that no task runs.

    When it is closed.
    Then its operation is abandoned.
    """
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            coroutine = waiting.watch(mailbox.operation(), ["k"])
            coroutine.send(None)
            assert (purgatory.pending, waiting.waiting) == (1, 1)
            coroutine.close()
            assert (purgatory.pending, waiting.waiting, mailbox.put("m")) == (0, 0, 0)

    run(scenario)


def test_an_answer_for_a_closed_loop_is_logged(
    purgatory: Purgatory[str], logged: pytest.LogCaptureFixture
) -> None:
    """Given a coroutine that waits in a loop which is closed.

    When its operation is completed.
    Then whoever has completed it goes on, and an error names the operation.
    """
    mailbox = Mailbox(purgatory)
    loop = asyncio.new_event_loop()
    task = loop.create_task(AsyncioPurgatory(purgatory).watch(mailbox.operation(), ["k"]))
    loop.call_later(0, loop.stop)
    loop.run_forever()
    loop.set_exception_handler(lambda loop, context: None)
    loop.close()
    assert mailbox.put("m") == 1
    assert "nobody gets the answer of <" in logged.text
    del task
    gc.collect()


# Closing


def test_who_waits_is_told_at_the_end(purgatory: Purgatory[str]) -> None:
    """Given coroutines that wait.

    When the place is left.
    Then each of them gets PurgatoryClosed, as does whoever comes later; no operation is left.
    """
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            tasks = [
                asyncio.ensure_future(waiting.watch(mailbox.operation(), ["k"])) for _ in range(5)
            ]
            await turns()
        assert waiting.waiting == 0
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [PurgatoryClosed] * 5
        assert (purgatory.timer_size, mailbox.put("m")) == (0, 0)
        with pytest.raises(PurgatoryClosed):
            await waiting.watch(mailbox.operation(), ["k"])
        await waiting.close()

    run(scenario)


def test_what_waits_may_be_answered_while_it_is_drained(purgatory: Purgatory[str]) -> None:
    """Given two coroutines that wait for messages of two mailboxes.

    When the place is closed with time to drain, and both messages come during that.
    Then both are answered, and closing ends without waiting for the time to be over.
    """
    first, second = Mailbox(purgatory, "k"), Mailbox(purgatory, "l")

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory, drain_ms=LONG_MS * 1000) as waiting:
            tasks = [
                asyncio.ensure_future(waiting.watch(each.operation(), [each.key]))
                for each in (first, second)
            ]
            await turns()
            loop = asyncio.get_running_loop()
            loop.call_later(0.001, first.put, "m")
            loop.call_later(0.002, second.put, "n")
        assert [task.result() for task in tasks] == ["m", "n"]

    run(scenario)


def test_after_the_time_to_drain_the_rest_is_told(purgatory: Purgatory[str]) -> None:
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        waiting = AsyncioPurgatory(purgatory)
        task = await one_waits(waiting, mailbox)
        await waiting.close(drain_ms=1)
        with pytest.raises(PurgatoryClosed):
            await task

    run(scenario)


@pytest.mark.parametrize("own_timer", [True, False])
def test_who_waits_in_a_purgatory_that_is_closed_is_told(own_timer: bool) -> None:
    """Given a coroutine that waits in a purgatory, with a timer of its own or a given one.

    When another thread closes the purgatory.
    Then the coroutine gets PurgatoryClosed, and does not wait for a time-out that was dropped.
    """

    async def scenario() -> None:
        with Timer() as timer:
            purgatory = Purgatory[str](timer=None if own_timer else timer)
            async with AsyncioPurgatory(purgatory) as waiting:
                task = await one_waits(waiting, Mailbox(purgatory))
                await asyncio.to_thread(purgatory.close)
                with pytest.raises(PurgatoryClosed):
                    await task
                assert (purgatory.pending, timer.size) == (0, 0)

    run(scenario)


def test_who_comes_to_wait_while_the_purgatory_is_closed_is_told() -> None:
    """Given an operation whose second try closes the purgatory, which was given its timer.

    When a coroutine waits for it.
    Then it gets PurgatoryClosed.
    """

    async def scenario() -> None:
        with Timer(clock=VirtualClock()) as timer:
            purgatory = Purgatory[str](timer=timer)
            tries: list[int] = []

            def take() -> None:
                tries.append(0)
                if len(tries) == 2:
                    purgatory.close()

            async with AsyncioPurgatory(purgatory) as waiting:
                with pytest.raises(PurgatoryClosed):
                    await waiting.watch(AwaitedOperation(take, LONG_MS), ["k"])
            assert (len(tries), timer.size) == (2, 0)

    run(scenario)


def test_a_purgatory_of_its_own_is_closed_with_it(no_thread_left: None) -> None:
    """Given a place with a purgatory of its own, in which a coroutine waits.

    When the place is closed.
    Then its purgatory is closed, with all threads.
    """

    async def scenario() -> None:
        async with AsyncioPurgatory[str]() as waiting:
            mailbox = Mailbox(waiting.purgatory)
            task = await one_waits(waiting, mailbox)
            mailbox.put_elsewhere("m")
            assert await task == "m"
        with pytest.raises(PurgatoryClosed):
            waiting.purgatory.try_complete_else_watch(mailbox.operation(), ["k"])

    run(scenario)


# The executor


def test_timer_tasks_run_in_the_thread_of_the_loop() -> None:
    """Given a timer with a reaper and the executor of a loop.

    When tasks expire, more than run in one turn.
    Then they run in order, in the thread of the loop, with turns for others in between.
    """
    ran: list[tuple[int, bool]] = []

    def note(number: int, loop_thread: int) -> None:
        ran.append((number, threading.get_ident() == loop_thread))

    async def scenario() -> None:
        loop_thread = threading.get_ident()
        last = asyncio.Event()
        clock = VirtualClock()
        executor = EventLoopExecutor()
        timer = Timer(clock=clock, executor=executor)
        for number in range(200):
            timer.add(partial(note, number, loop_thread), 5)
        timer.add(last.set, 6)
        clock.set_ms(10)
        advancing = threading.Thread(target=timer.advance)
        advancing.start()
        advancing.join(LONG_S)
        assert (ran, executor.queued) == ([], 201)
        between = 0
        while not last.is_set():
            between += 1
            await asyncio.sleep(0)
        assert between > 2
        timer.close()

    run(scenario)
    assert ran == [(number, True) for number in range(200)]


def test_a_failing_task_harms_no_other(logged: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise LookupError("planned")

    async def scenario() -> None:
        ran = asyncio.Event()
        with Timer(executor=EventLoopExecutor()) as timer:
            timer.add(fail, 0)
            timer.add(ran.set, 0)
            await ran.wait()

    run(scenario)
    assert "planned" in logged.text


def test_time_outs_that_the_loop_runs_are_answered() -> None:
    """Given a purgatory whose timer runs its tasks in the loop.

    When a coroutine waits for an operation that times out.
    Then it is answered.
    """

    async def scenario() -> None:
        with Timer(executor=EventLoopExecutor()) as timer, Purgatory[str](timer=timer) as purgatory:
            async with AsyncioPurgatory(purgatory) as waiting:
                operation = AwaitedOperation(lambda: None, 1, otherwise=lambda: "late")
                assert await waiting.watch(operation, ["k"]) == "late"

    run(scenario)


def test_tasks_for_a_closed_loop_are_logged(logged: pytest.LogCaptureFixture) -> None:
    loop = asyncio.new_event_loop()
    executor = EventLoopExecutor(loop)
    loop.close()
    clock = VirtualClock()
    with Timer(clock=clock, executor=executor) as timer:
        timer.add(print, 1)
        clock.set_ms(1)
        timer.advance()
        assert "1 tasks will not run" in logged.text
        assert executor.queued == 1


def test_an_executor_needs_a_loop() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        EventLoopExecutor()
