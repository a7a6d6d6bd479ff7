"""Mailboxes: a message is put by anybody, and received by one thread or one coroutine."""

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial

from purgatory_impl import CallableOperation, Purgatory
from purgatory_impl.event_loops import AsyncioPurgatory, AwaitedOperation


class Mailboxes:
    """Messages by mailbox, in the order in which they were put."""

    def __init__(self) -> None:
        self.purgatory = Purgatory[str]("mailboxes")
        self._messages: defaultdict[str, deque[str]] = defaultdict(deque)

    def put(self, mailbox: str, message: str) -> None:
        """Put a message; whoever has waited longest there receives it."""
        self._messages[mailbox].append(message)
        self.purgatory.check_and_complete(mailbox)

    def receive(self, mailbox: str, wait_ms: int) -> str | None:
        """Receive a message in a thread; None where none comes for ``wait_ms``."""
        received: list[str] = []
        ended = threading.Event()
        take: Callable[[], bool] = partial(self._take_into, received, mailbox)
        operation = CallableOperation(take, wait_ms, on_complete=ended.set)
        self.purgatory.try_complete_else_watch(operation, [mailbox])
        ended.wait()
        return received[0] if received else None

    async def receive_in_loop(
        self, waiting: AsyncioPurgatory[str], mailbox: str, wait_ms: int
    ) -> str | None:
        """Receive a message in a coroutine; None where none comes for ``wait_ms``."""
        operation = AwaitedOperation(partial(self._take, mailbox), wait_ms)
        return await waiting.watch(operation, [mailbox])

    def left(self) -> int:
        """Return the number of messages not received."""
        return sum(len(messages) for messages in self._messages.values())

    def close(self) -> None:
        """End the threads of the purgatory."""
        self.purgatory.close()

    def _take(self, mailbox: str) -> str | None:
        try:
            return self._messages[mailbox].popleft()
        except IndexError:
            return None

    def _take_into(self, received: list[str], mailbox: str) -> bool:
        message = self._take(mailbox)
        if message is not None:
            received.append(message)
        return message is not None
