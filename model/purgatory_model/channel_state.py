"""Channels that wait for memory: what the future of a server depends on."""

from enum import Enum

import msgspec
from immutables import Map

from purgatory_model.replacing import replace

SIZE_BYTES = 4
"""The bytes of a request's size."""


class Receive(Enum):
    """The state of a channel's first request that it has not received."""

    NONE = "none"
    """It has not asked for memory."""
    WAITS = "waits"
    ASKS_LATER = "asks_later"
    """It was refused, waits no longer, and asks again with the next bytes of the request."""
    HOLDS = "holds"


class Peer(Enum):
    """The state of a channel's client."""

    THERE = "there"
    HALF_CLOSED = "half_closed"
    CLOSED = "closed"
    RESET = "reset"


class Coming(msgspec.Struct, frozen=True):
    """A request that was announced and is not received: its place, its size, the bytes sent so far.

    ``sent_bytes`` counts the four bytes of size, too.
    """

    number: int
    size_bytes: int
    sent_bytes: int

    @property
    def is_announced(self) -> bool:
        """Decide whether the size of the request is known."""
        return self.sent_bytes >= SIZE_BYTES

    @property
    def is_whole(self) -> bool:
        """Decide whether the client has sent all bytes."""
        return self.sent_bytes == SIZE_BYTES + self.size_bytes

    @property
    def body_bytes(self) -> int:
        """Return the bytes of the body that the client has sent."""
        return max(0, self.sent_bytes - SIZE_BYTES)


class Channel(msgspec.Struct, frozen=True, cache_hash=True):
    """A connection of a client.

    Attributes:
        coming: The requests that are announced and not received, in order.
        announced: How many were announced in all.
        taken_bytes: What was read of the first of them, its size included.
        receive: How far the channel is with it.
        is_stuck: Whether it holds and is muted for memory all the same; by a variant alone.
        is_buffered: Whether TLS has taken bytes behind the request received last, and no more came.
        is_forgotten: Whether nothing is read before its client sends more; by a variant alone.
        is_ordered: Whether its last request is not answered.
        is_throttled: Whether the server has slowed it down.
        is_open: Whether the server has not closed it.
        peer: Whether its client has ended, and how.
        used_ms: When it was last read or written, or connected.
        active_ms: When anything has happened to it that may count as activity.
        held_ms: Since when it holds.
    """

    coming: tuple[Coming, ...] = ()
    announced: int = 0
    taken_bytes: int = 0
    receive: Receive = Receive.NONE
    is_stuck: bool = False
    is_buffered: bool = False
    is_forgotten: bool = False
    is_ordered: bool = False
    is_throttled: bool = False
    is_open: bool = True
    peer: Peer = Peer.THERE
    used_ms: int = 0
    active_ms: int = 0
    held_ms: int = 0

    @property
    def first(self) -> Coming | None:
        """Return the request that is received next, or is being received."""
        return self.coming[0] if self.coming else None

    def read(self, now_ms: int, *, receive: Receive, taken_bytes: int | None = None) -> "Channel":
        """Read the channel now, which is activity; what was taken stays unless it is given."""
        taken_bytes = self.taken_bytes if taken_bytes is None else taken_bytes
        return replace(
            self, receive=receive, taken_bytes=taken_bytes, used_ms=now_ms, active_ms=now_ms
        )

    @property
    def waits(self) -> bool:
        """Decide whether the channel is muted for memory."""
        return self.is_open and (self.receive is Receive.WAITS or self.is_stuck)

    @property
    def holds(self) -> bool:
        """Decide whether the channel has memory for a request that is not received."""
        return self.is_open and self.receive is Receive.HOLDS

    @property
    def may_be_read(self) -> bool:
        """Decide whether no reason is left for which the channel is muted."""
        return self.is_open and not (self.waits or self.is_ordered or self.is_throttled)

    @property
    def has_unread(self) -> bool:
        """Decide whether the client has sent bytes that have not been read."""
        first = self.first
        if first is None:
            return False
        return len(self.coming) > 1 or first.sent_bytes > self.taken_bytes

    @property
    def has_news(self) -> bool:
        """Decide whether the socket holds more than the first request's size, or its end."""
        first = self.first
        return self.peer is not Peer.THERE or (first is not None and first.body_bytes > 0)

    @property
    def unread_bytes(self) -> int:
        """Return the bytes of bodies that were sent and not read."""
        return sum(each.body_bytes for each in self.coming) - max(0, self.taken_bytes - SIZE_BYTES)


class ChannelMutingState(msgspec.Struct, frozen=True, cache_hash=True):
    """Everything that the future of a server depends on.

    ``handled`` are the requests whose memory a handler has, each with its size. ``line`` are the
    channels that wait, in the order of their refusals; it stays empty under ``everyone``.
    ``depleted_ms`` is how long channels have waited, up to ``waits_ms``: since then some wait.
    """

    available_bytes: int
    channels: Map[str, Channel] = Map()
    handled: Map[str, int] = Map()
    line: tuple[str, ...] = ()
    now_ms: int = 0
    depleted_ms: int = 0

    def with_channel(self, name: str, channel: Channel) -> "ChannelMutingState":
        """Return this state with another state of a channel."""
        return replace(self, channels=self.channels.set(name, channel))

    @property
    def waiting(self) -> list[str]:
        """Return the channels that are muted for memory, by name."""
        return sorted(name for name, channel in self.channels.items() if channel.waits)

    @property
    def has_room(self) -> bool:
        """Decide whether all requests find memory, whichever asks first, and leave some."""
        asking = (each for each in self.channels.values() if each.coming and not each.holds)
        return sum(max(0, each.coming[0].size_bytes) for each in asking) < self.available_bytes

    @property
    def outstanding_bytes(self) -> int:
        """Return the memory of all requests that are being received or handled."""
        held = sum(
            channel.coming[0].size_bytes for channel in self.channels.values() if channel.holds
        )
        return held + sum(self.handled.values())


def request_name(channel: str, number: int) -> str:
    """Return the name of a channel's request: ``c1#2``."""
    return f"{channel}#{number}"


def channel_of(request: str) -> str:
    """Return the channel of a request by its name."""
    return request.partition("#")[0]


def at(state: ChannelMutingState, to_ms: int) -> ChannelMutingState:
    """Set the clock to ``to_ms``; channels' waits count. Rules: MUTING-DEPLETED.

    Raises:
        ValueError: the clock would go back.
    """
    if to_ms < state.now_ms:
        raise ValueError(f"the clock reads {state.now_ms} and cannot go back to {to_ms}")
    passed_ms = to_ms - state.now_ms if state.waiting else 0
    return replace(state, now_ms=to_ms, depleted_ms=state.depleted_ms + passed_ms)
