"""What a client has sent to a server under test: the bytes of its requests, and their names.

Source: ``spec/protocol.md``, channels that wait for memory.
"""

from typing import Final

SIZE_BYTES: Final = 4
"""Bytes of size before each body."""

_MODULUS: Final = 251


def body_of(number: int, size_bytes: int) -> bytes:
    """The body of a channel's request of this number, from 1: byte i is (number + i) mod 251."""
    return bytes((number + place) % _MODULUS for place in range(size_bytes))


class SentRequests:
    """The requests of one channel, in the order of their announcement."""

    def __init__(self, channel: str) -> None:
        """Nothing has been sent on ``channel``."""
        self._channel = channel
        self._bodies: list[bytes] = []
        self._received: set[int] = set()
        self._rest = b""
        # For each byte that was sent: 1 for a byte of a body, 0 for a byte of a size.
        self._is_of_body = bytearray()
        self._rest_is_of_body = b""

    @property
    def sent_bytes(self) -> int:
        """How many bytes were sent."""
        return len(self._is_of_body)

    def announce(self, size_bytes: int, sent_bytes: int) -> bytes:
        """The bytes that begin the next request: so many of its size and body together."""
        body = body_of(len(self._bodies) + 1, size_bytes)
        self._bodies.append(body)
        self._rest = size_bytes.to_bytes(SIZE_BYTES, "big", signed=True) + body
        self._rest_is_of_body = bytes(SIZE_BYTES) + b"\1" * len(body)
        return self.send(sent_bytes)

    def send(self, sent_bytes: int) -> bytes:
        """So many further bytes of the request that was announced last."""
        sent, self._rest = self._rest[:sent_bytes], self._rest[sent_bytes:]
        self._is_of_body += self._rest_is_of_body[:sent_bytes]
        self._rest_is_of_body = self._rest_is_of_body[sent_bytes:]
        return sent

    def receive(self, body: bytes) -> str:
        """The name of the first request with this body that was not received; else number 0."""
        for number, sent in enumerate(self._bodies, 1):
            if number not in self._received and sent == body:
                self._received.add(number)
                return f"{self._channel}#{number}"
        return f"{self._channel}#0"

    def of_bodies(self, unread_bytes: int) -> int:
        """How many of the last bytes that were sent belong to bodies."""
        return sum(self._is_of_body[len(self._is_of_body) - unread_bytes :])
