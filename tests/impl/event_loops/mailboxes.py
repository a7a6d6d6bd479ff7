"""Coroutines that wait for messages, each in a loop of its own."""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable

from purgatory_impl import DelayedOperation, Purgatory
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation
from tests.impl.threads import LONG_S

LONG_MS = 1000 * LONG_S
Scenario = Callable[[], Awaitable[None]]


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
