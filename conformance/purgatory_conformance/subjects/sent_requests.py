"""Requests of a client to a server under test: their bytes and their names.

Source: ``spec/protocol.md``, channels that wait for memory.
"""

from typing import Final

SIZE_BYTES: Final = 4
"""Bytes of size before each body."""

_MODULUS: Final = 251
_CYCLE: Final = bytes(range(_MODULUS))


def body_of(number: int, size_bytes: int) -> bytes:
    """Return the body of a request of this number, from 1: byte i is (number + i) mod 251."""
    return _part_of_body(number, 0, size_bytes)


class SentRequests:
    """The requests of one channel, in the order of their announcement."""

    def __init__(self, channel: str) -> None:
        """Begin a channel on which nothing has been sent."""
        self._channel = channel
        self._sizes: list[int] = []
        self._received: set[int] = set()
        # What was sent of the request that was announced last, its size included.
        self._done_bytes = 0
        # For each byte that was sent: 1 for a byte of a body, 0 for a byte of a size.
        self._is_of_body = bytearray()

    def announce(self, size_bytes: int, sent_bytes: int) -> bytes:
        """Return the bytes that begin the next request: so many of its size and body together."""
        self._sizes.append(size_bytes)
        self._done_bytes = 0
        return self.send(sent_bytes)

    def send(self, sent_bytes: int) -> bytes:
        """Return so many further bytes of the request that was announced last."""
        size_bytes, done_bytes = self._sizes[-1], self._done_bytes
        self._done_bytes += sent_bytes
        head = size_bytes.to_bytes(SIZE_BYTES, "big", signed=True)[done_bytes : self._done_bytes]
        begin = max(done_bytes - SIZE_BYTES, 0)
        end = min(self._done_bytes - SIZE_BYTES, size_bytes)
        body = _part_of_body(len(self._sizes), begin, end)
        self._is_of_body += bytes(len(head)) + b"\1" * len(body)
        return head + body

    def receive(self, body: bytes) -> str:
        """Return the name of the first unreceived request with this body; else number 0."""
        for number, size_bytes in enumerate(self._sizes, 1):
            is_due = number not in self._received and size_bytes == len(body)
            if is_due and body == body_of(number, size_bytes):
                self._received.add(number)
                return f"{self._channel}#{number}"
        return f"{self._channel}#0"

    def of_bodies(self, unread_bytes: int) -> int:
        """Return the number of the last sent bytes that belong to bodies."""
        return self._is_of_body.count(1, len(self._is_of_body) - unread_bytes)


def _part_of_body(number: int, begin: int, end: int) -> bytes:
    first, count = (number + begin) % _MODULUS, max(0, end - begin)
    return (_CYCLE * (count // _MODULUS + 2))[first : first + count]
