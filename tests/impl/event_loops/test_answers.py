"""A coroutine that waits in a purgatory is answered, once."""

import asyncio
import weakref
from collections.abc import Callable

import pytest

from purgatory_impl import NoKeys, OperationOfAnotherPurgatory, Purgatory
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation
from tests.impl.event_loops.mailboxes import LONG_MS, Mailbox, one_waits, run
from tests.impl.purgatory_bench import Planned


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
    """The coroutine gets it, and nobody waits any longer."""
    mailbox = Mailbox(purgatory)

    async def scenario() -> None:
        async with AsyncioPurgatory(purgatory) as waiting:
            task = await one_waits(waiting, mailbox)
            mailbox.put_elsewhere("m")
            assert await task == "m"
            assert waiting.waiting == 0

    run(scenario)


def test_the_time_out_answers_none_or_what_the_operation_makes(purgatory: Purgatory[str]) -> None:

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
    """Answer and failure are garbage once the coroutine has let them go."""

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
    """The failure is raised, and nothing is watched."""

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
                assert failing.is_completed
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
