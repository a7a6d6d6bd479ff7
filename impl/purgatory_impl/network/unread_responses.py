"""Responses that peers do not read, under a bound of bytes.

A response is counted if the socket does not take all its bytes at once. The whole response counts
until the socket has taken the last byte, since its memory is kept until then. All network threads
of a server share one count.

A handler that waited for a peer to read would wait for an attacker. So a response that would exceed
the bound has other channels closed: first the channel whose peer has taken nothing for the longest
time. A channel whose peer reads is closed last. A response that is larger than the bound is sent if
no other response is counted.

Handlers may respond faster than the network thread writes. So at the bound ``respond`` waits with a
large response until the network threads have tried the earlier responses and closed the channels
that must be closed. Network threads wait for no handler and no peer, and the wait ends after a
second in any case.
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
        """Begin without any response to count.

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
        """Return the bytes of the responses that sockets have not taken whole."""
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
                while True:
                    if excess <= 0 or not self._owing:
                        break
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
        """Decide whether one more response would exceed the bound, though soon less is unread."""
        will_be_less = self._untried_bytes > 0 or len(self._closing) > 0
        return will_be_less and 0 < self._limit_bytes < self.bytes_ + bytes_
