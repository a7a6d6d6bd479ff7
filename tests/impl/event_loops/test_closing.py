"""Coroutines that wait in a purgatory are told when it is closed."""

import asyncio

import pytest

from purgatory_impl import Purgatory, PurgatoryClosed, Timer, VirtualClock
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation
from tests.impl.event_loops.mailboxes import LONG_MS, Mailbox, one_waits, run, turns


def test_who_waits_is_told_at_the_end(purgatory: Purgatory[str]) -> None:
    """Each of them gets PurgatoryClosed, as does whoever comes later; no operation is left."""
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
    """Both are answered, and closing ends without waiting for the time to be over."""
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
    """The coroutine gets PurgatoryClosed, and does not wait for a time-out that was dropped."""

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
    async def scenario() -> None:
        async with AsyncioPurgatory[str]() as waiting:
            mailbox = Mailbox(waiting.purgatory)
            task = await one_waits(waiting, mailbox)
            mailbox.put_elsewhere("m")
            assert await task == "m"
        with pytest.raises(PurgatoryClosed):
            waiting.purgatory.try_complete_else_watch(mailbox.operation(), ["k"])

    run(scenario)
