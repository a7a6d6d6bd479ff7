"""Many clients of the mailboxes in one process: threads and coroutines, which both send, too."""

import asyncio
import threading
from collections import Counter
from typing import Final

from mailboxes.mailboxes import Mailboxes
from purgatory_impl.event_loops import AsyncioPurgatory

END: Final = "end"
"""The message that ends one client."""

WAIT_MS: Final = 60_000


class Clients:
    """So many threads and as many coroutines that receive, and what each kind has received."""

    def __init__(self, of_each_kind: int, mailboxes: int, messages: int) -> None:
        """Make clients that do nothing yet.

        Args:
            of_each_kind: How many threads receive, and how many coroutines.
            mailboxes: How many there are; clients are spread evenly over them.
            messages: How many are sent, evenly to all mailboxes.
        """
        self._of_each_kind = of_each_kind
        self._names = [f"mailbox-{number}" for number in range(mailboxes)]
        self._messages = messages
        self._mailboxes = Mailboxes()
        self.sent = Counter(map(str, range(messages)))
        self.received_by_threads: Counter[str] = Counter()
        self.received_by_coroutines: Counter[str] = Counter()
        self.given_up = 0
        self._lock = threading.Lock()

    def run(self) -> None:
        """Send all messages, and return when every client has ended."""
        threads = [
            threading.Thread(target=self._receive, args=(self._mailbox_of(number),), daemon=True)
            for number in range(self._of_each_kind)
        ]
        try:
            for thread in threads:
                thread.start()
            asyncio.run(self._coroutines())
            for thread in threads:
                thread.join()
        finally:
            self._mailboxes.close()

    def left(self) -> int:
        """Return the number of messages not received."""
        return self._mailboxes.left()

    def _mailbox_of(self, number: int) -> str:
        return self._names[number % len(self._names)]

    def _receive(self, mailbox: str) -> None:
        """Receive messages in a thread until told to end."""
        while (message := self._mailboxes.receive(mailbox, WAIT_MS)) != END:
            if message is not None:
                with self._lock:
                    self.received_by_threads[message] += 1

    async def _coroutines(self) -> None:
        half = self._messages // 2
        async with (
            AsyncioPurgatory(self._mailboxes.purgatory) as waiting,
            asyncio.TaskGroup() as clients,
        ):
            for number in range(self._of_each_kind):
                clients.create_task(self._receive_in_loop(waiting, self._mailbox_of(number)))
            sender = asyncio.to_thread(self._send, range(half))
            await asyncio.gather(sender, self._send_in_loop(range(half, self._messages)))
            for number in range(self._of_each_kind):
                for _ in ("thread", "coroutine"):
                    self._mailboxes.put(self._mailbox_of(number), END)

    async def _receive_in_loop(self, waiting: AsyncioPurgatory[str], mailbox: str) -> None:
        """Receive messages in a coroutine until told to end, and often give up and begin anew."""
        patience_s = 0.001
        message: str | None = None
        while message != END:
            message = None
            try:
                async with asyncio.timeout(patience_s):
                    message = await self._mailboxes.receive_in_loop(waiting, mailbox, WAIT_MS)
            except TimeoutError:
                # The time may be up in the turn in which a message comes: it is not lost.
                self.given_up += 1
                patience_s = min(2 * patience_s, 1.0)
            if message is not None and message != END:
                self.received_by_coroutines[message] += 1

    def _send(self, numbers: range) -> None:
        """Send a share of the messages from a thread."""
        for number in numbers:
            self._mailboxes.put(self._mailbox_of(number), str(number))

    async def _send_in_loop(self, numbers: range) -> None:
        """Send a share from a coroutine, and let others go on after each message."""
        for number in numbers:
            self._mailboxes.put(self._mailbox_of(number), str(number))
            await asyncio.sleep(0)
