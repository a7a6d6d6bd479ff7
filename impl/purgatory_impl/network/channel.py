"""A connection's state: the request that is being received, and the reasons to read nothing.

The reasons are bits of one number, each set and ended by one cause alone. A channel is read only
when none is set. Memory that comes back therefore cannot let a channel on whose last request is
still being handled, and a response cannot let one on that waits for memory.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol, TypeAlias

from purgatory_impl.errors import (
    BufferReleased,
    InvalidResponse,
    RequestAnswered,
    ResponseTooLarge,
)
from purgatory_impl.network.faults import report
from purgatory_impl.network.memory_line import MemoryLine
from purgatory_impl.network.reasons import CloseReason, Mute
from purgatory_impl.network.transports import Transport

MEMORY: Final = 1
ORDER: Final = 2
THROTTLE: Final = 4

_BITS: Final = {Mute.MEMORY: MEMORY, Mute.ORDER: ORDER, Mute.THROTTLE: THROTTLE}

NO_SIZE: Final = -1
"""The size of a receive whose four bytes of size have not come."""

_LARGEST_RESPONSE: Final = 2**31 - 1
"""The largest response, bytes: the largest number in four bytes of size, signed."""

Response: TypeAlias = bytes | bytearray | memoryview
"""The body of a response."""


class Owner(Protocol):
    """The network thread of a channel: it is told of everything, and acts in its next poll."""

    def post(self, channel: Channel, letter: Callable[[], None]) -> None:
        """Call this in the next poll, and wake the thread for it; from any thread.

        A letter that raises closes the channel.
        """

    def granted(self, channel: Channel, buffer: memoryview) -> None:
        """Give the channel's request its memory."""

    def respond(self, channel: Channel, response: bytes | None) -> None:
        """Send the response of the channel's last request in the next poll; from any thread.

        None is a request without a response.
        """

    def awaits_end(self, request: Request, callback: Callable[[], object]) -> None:
        """Call this once if the peer of the request ends before the response."""

    def throttled(self, channel: Channel, *, is_throttled: bool) -> None:
        """Begin or end throttling of the channel."""

    def closed(self, channel: Channel, reason: CloseReason) -> None:
        """Close the channel, which the server wants no more."""


class Channel:
    """A connection of a network thread; only that thread touches fields without a method here.

    Attributes:
        number: The channel's own number in its thread, from 1.
        peer: The other side's address, as ``socket`` gives it; None where it has gone already.
        is_closed: Whether the connection is closed.
        received: How many requests were received whole.
    """

    __slots__ = (
        "buffer",
        "connection",
        "descriptor",
        "filled",
        "header",
        "interest",
        "is_closed",
        "is_lengthy",
        "is_ready",
        "is_responding",
        "number",
        "on_end",
        "outgoing",
        "owed",
        "owner",
        "peer",
        "reasons",
        "received",
        "size",
        "transport",
        "turn",
    )

    def __init__(
        self, owner: Owner, number: int, connection: socket.socket, transport: Transport
    ) -> None:
        self.owner = owner
        self.number = number
        self.connection = connection
        self.descriptor = connection.fileno()
        self.peer: object = _peer_of(connection)
        self.transport = transport
        self.is_ready = False
        self.is_closed = False
        self.reasons = 0
        self.interest = 0
        self.header = b""
        self.size = NO_SIZE
        self.buffer: memoryview | None = None
        self.filled = 0
        self.received = 0
        self.outgoing: deque[memoryview] = deque()
        self.owed = 0
        self.is_responding = False
        self.is_lengthy = False  # a turn was not enough for the present request, or its response
        self.turn = 0  # the poll of the present turn
        self.on_end: Callable[[], object] | None = None

    @property
    def mutes(self) -> frozenset[Mute]:
        """Return the reasons for which nothing is read now."""
        return frozenset(mute for mute, bit in _BITS.items() if self.reasons & bit)

    @property
    def is_holding(self) -> bool:
        """Decide whether a request is being received that has its memory."""
        return self.buffer is not None

    def grant(self, buffer: memoryview) -> None:
        """Take the memory that the channel has waited for; the releasing thread calls this."""
        self.owner.post(self, partial(self.owner.granted, self, buffer))

    def throttle(self) -> None:
        """Read nothing until ``unthrottle``; from any thread.

        A throttled channel whose request is being handled is read again after the response and the
        end of throttling, whichever is later.
        """
        self.owner.post(self, partial(self.owner.throttled, self, is_throttled=True))

    def unthrottle(self) -> None:
        """End throttling of the channel; from any thread."""
        self.owner.post(self, partial(self.owner.throttled, self, is_throttled=False))

    def close(self, reason: CloseReason | None = None) -> None:
        """Close the connection in the next poll; from any thread. Bytes not written are lost.

        Args:
            reason: What the closing is counted as; ``BY_US`` when absent.
        """
        reason = reason or CloseReason.BY_US
        self.owner.post(self, partial(self.owner.closed, self, reason))


class Request:
    """A request that was received, and what is owed for it: the memory once, the response once.

    Attributes:
        channel: The connection of the request.
        number: Its place among the requests of its channel, from 1.
        payload: Its bytes, in the memory of the pool; not to be used after the release.
    """

    __slots__ = ("_is_answered", "_is_released", "_line", "channel", "number", "payload")

    def __init__(
        self, channel: Channel, number: int, payload: memoryview, line: MemoryLine | None
    ) -> None:
        """Make a request; without a line its memory is not counted."""
        self.channel = channel
        self.number = number
        self.payload = payload
        self._line = line
        self._is_released = False
        self._is_answered = False

    @property
    def is_released(self) -> bool:
        """Decide whether the memory has been given back."""
        return self._is_released

    @property
    def is_answered(self) -> bool:
        """Decide whether ``respond`` was called."""
        return self._is_answered

    def release(self) -> None:
        """Give the memory back, once for each request; also when the connection has closed.

        May be called by any thread, but not by two at a time. Best before ``respond``: then the
        memory is there when the channel is read again.

        Raises:
            BufferReleased: it was given back before.
            BufferInUse: something still uses the payload through the buffer protocol.
        """
        if self._is_released:
            raise BufferReleased
        if self._line is not None:
            self._line.release(self.payload)
        self._is_released = True

    def respond(self, response: Response | None) -> None:
        """Send a response, and read the channel's next request once it is written to its end.

        Where the connection has closed it goes nowhere. From any thread, once for each request; at
        ``unread_response_bytes`` it waits until network threads have tried what was given to them
        before, and never for a peer.

        What is no response is logged and closes the connection, whose client would otherwise wait
        for ever, and no other.

        Args:
            response: The response without its size, which is put in front; None for a request
                that gets no response. Anything but ``bytes`` is copied, and may be changed after.

        Raises:
            RequestAnswered: there was a response.
            InvalidResponse: it is not made of bytes, or is a view that was released.
            ResponseTooLarge: its size is above 2147483647 bytes.

        Rules: MUTING-CLOSE.
        """
        if self._is_answered:
            raise RequestAnswered
        self._is_answered = True
        channel = self.channel
        try:
            channel.owner.respond(channel, None if response is None else _bytes_of(response))
        except BaseException as error:
            channel.close(CloseReason.BAD_RESPONSE)
            report("a response cannot be sent; its connection is closed", error)
            raise

    def on_end(self, callback: Callable[[], object]) -> None:
        """Call a function once, if the peer ends or the connection closes before the response.

        The request is still owed its response. A peer that has gone looks like one that sends no
        more and still reads, until a response is written: the connection stays open until then. So
        a handler that waits does best to respond now, with what there is.

        The network thread calls the function, in the next poll if the end was seen before. The
        function must be short and wait for nothing. If it raises, the connection is closed.
        ``on_end`` may be called from any thread; a second function replaces the first.

        Args:
            callback: What is called. A response that another thread gives at the same moment may
                come before it.

        Rules: MUTING-HALF-CLOSE, MUTING-END-WHILE-HANDLED.
        """
        owner = self.channel.owner
        owner.post(self.channel, partial(owner.awaits_end, self, callback))


def _bytes_of(response: Response) -> bytes:
    """Return the bytes of a response, which nobody changes any more.

    Raises:
        InvalidResponse: it has none, or has them no longer.
        ResponseTooLarge: there are too many.
    """
    if type(response) is bytes:
        if len(response) > _LARGEST_RESPONSE:
            raise ResponseTooLarge(len(response), _LARGEST_RESPONSE)
        return response
    # The length that a class of the user's gives may be anything; that of a view is true.
    try:
        view = memoryview(response)
    except (TypeError, ValueError, BufferError):
        raise InvalidResponse(response) from None
    with view:
        if view.nbytes > _LARGEST_RESPONSE:
            raise ResponseTooLarge(view.nbytes, _LARGEST_RESPONSE)
        return view.tobytes()


def _peer_of(connection: socket.socket) -> object:
    try:
        return connection.getpeername()
    except OSError:
        return None
