"""Responses that peers do not read, under a bound of bytes.

A response is counted when the socket does not take it whole at once, with all its bytes until the
last one is taken: so long its memory is kept. The count is that of all network threads of a server.

Nobody can be made to read, and a handler that waited for a peer would wait for an attacker. So a
response that would exceed the bound has others closed for it: those whose peers have taken nothing
for the longest time. A peer that reads is behind all that do not, and a response that is larger
than the bound is sent all the same if it is the only one.

Only the network thread finds out what a socket takes, and handlers may be faster than it. So a
large response waits at the bound until those before it were tried, and those that must go are
closed. That is a wait for a thread that waits for nobody, and it ends after a second in any case.
"""

import threading
from collections import OrderedDict
from typing import Final

from purgatory_impl.network.channel import Channel

LARGE_BYTES: Final = 64 * 1024
"""Responses above this size are counted from the call of ``respond`` on."""


class UnreadResponses:
    """The channels whose sockets have not taken their response, the longest standstill first.

    Attributes:
        longest_wait_s: How long a large response waits at the bound, s.
    """

    def __init__(self, limit_bytes: int) -> None:
        """Count nothing yet.

        Args:
            limit_bytes: The bound; 0 and less is none.
        """
        self.longest_wait_s = 1.0
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._owing: OrderedDict[Channel, int] = OrderedDict()
        # They are to be closed, by their own threads, and are counted until then.
        self._closing: dict[Channel, int] = {}
        # Large responses that no socket was offered yet.
        self._untried_bytes = 0
        self._lock = threading.Lock()
        self._less = threading.Condition(self._lock)

    @property
    def bytes_(self) -> int:
        """The bytes of responses that sockets have not taken whole."""
        return self._bytes + self._untried_bytes

    def announce(self, bytes_: int, *, is_waiting: bool) -> None:
        """Count a large response that no socket was offered yet.

        Args:
            bytes_: The size of the response, in bytes.
            is_waiting: Whether to wait, at the bound, for those before it; a network thread must
                not wait for itself.
        """
        with self._lock:
            if is_waiting:
                self._less.wait_for(lambda: not self._is_too_much(bytes_), self.longest_wait_s)
            self._untried_bytes += bytes_

    def tried(self, channel: Channel, announced_bytes: int, left_bytes: int) -> list[Channel]:
        """Count what a socket has left of a response, and return the channels to close for it.

        Args:
            channel: Whose response it is; it is never returned.
            announced_bytes: As it was announced, in bytes; 0 if it was not.
            left_bytes: The size of the response, in bytes; 0 if the socket has taken it whole.
        """
        closing: list[Channel] = []
        with self._lock:
            self._untried_bytes -= announced_bytes
            self._bytes += left_bytes
            if left_bytes and self._limit_bytes > 0:
                excess = self._bytes - sum(self._closing.values()) - self._limit_bytes
                while excess > 0 and self._owing:
                    stuck, owed = self._owing.popitem(last=False)
                    self._closing[stuck] = owed
                    closing.append(stuck)
                    excess -= owed
            if left_bytes:
                self._owing[channel] = left_bytes
            self._less.notify_all()
        return closing

    def progress(self, channel: Channel) -> None:
        """Note that the peer has taken some bytes."""
        with self._lock:
            if channel in self._owing:
                self._owing.move_to_end(channel)

    def remove(self, channel: Channel) -> None:
        """Count a channel's response no longer: it was taken whole, or the channel is closed."""
        with self._lock:
            owed = self._owing.pop(channel, 0) or self._closing.pop(channel, 0)
            self._bytes -= owed
            self._less.notify_all()

    def _is_too_much(self, bytes_: int) -> bool:
        """Whether a further response would exceed the bound, and there will soon be less."""
        will_be_less = self._untried_bytes > 0 or len(self._closing) > 0
        return will_be_less and 0 < self._limit_bytes < self.bytes_ + bytes_
