"""Timer tasks run in the thread of a loop."""

import asyncio
import threading
from functools import partial

import pytest

from purgatory_impl import Purgatory, Timer, VirtualClock
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation, EventLoopExecutor
from tests.impl.event_loops.mailboxes import run
from tests.impl.threads import LONG_S


def test_timer_tasks_run_in_the_thread_of_the_loop() -> None:
    """They run in order, in the thread of the loop, with turns for others in between."""
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
    """Given a purgatory whose timer runs its tasks in the loop: it is answered."""

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
