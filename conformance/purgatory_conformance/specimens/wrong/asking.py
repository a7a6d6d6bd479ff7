"""Servers that go wrong when a request asks for memory: how much, when, and who waits."""

from collections.abc import Callable

from purgatory_conformance.specimens.small.channel_muting import (
    Channel,
    Refusal,
    SmallServer,
)


class AsksForLargest(SmallServer):
    """Each request is granted the largest size, and holds it."""

    def memory_for(self, size: int) -> int:
        """One class of buffers is enough."""
        return self.most


class AsksWithBody(SmallServer):
    """Memory is asked for when the first byte of the body has come."""

    def asks_now(self, channel: Channel) -> bool:
        """Four bytes of size alone ask for nothing."""
        return bool(not channel.missing or channel.wire or channel.taken or channel.ending)


class AsksForWhatCame(SmallServer):
    """Memory is granted for the bytes of the body that have come, and the rest when it comes."""

    def grant(self, channel: Channel, size: int) -> None:
        """What lies in the socket decides."""
        came = channel.unread + len(channel.taken)
        super().grant(channel, min(size, max(came, 1)))

    def receive(self, channel: Channel, size: int) -> None:
        """Takes what is missing at the end, whether or not it is there."""
        if channel.memory:
            self.debit(size - channel.memory)
            channel.memory = size
        super().receive(channel, size)


class AsksBeforeSize(SmallServer):
    """A channel takes memory with the first byte of size, as much as the largest request needs."""

    def read_size(self, channel: Channel) -> bool:
        """The rest goes back when the size is known."""
        is_known = super().read_size(channel)
        if channel.head and channel.memory is None and self.available >= self.most:
            self.grant(channel, self.most)
        elif is_known and channel.memory is not None:
            self.give_back(channel)
        return is_known


class ReadsAhead(SmallServer):
    """A channel that waits is read all the same, into a buffer that nobody counts."""

    def attend(self, channel: Channel) -> None:
        """So that the bytes are there when the memory is."""
        if channel.waits:
            while channel.wire:
                channel.taken += channel.wire.popleft()
        super().attend(channel)


class ReadsAsyncio(SmallServer):
    """All that lies in a socket is read whenever a channel is not muted, as asyncio does."""

    def read(self, channel: Channel) -> None:
        """Up to 256 KiB, before anybody can refuse."""
        while channel.wire:
            channel.taken += channel.wire.popleft()
        super().read(channel)


class RefusedIsClosed(SmallServer):
    """A connection is closed whose request is refused."""

    def refuse(self, channel: Channel) -> None:
        """The client may come back."""
        self.close(channel)


class RefusedIsDropped(SmallServer):
    """A request that is refused is read and thrown away."""

    def refuse(self, channel: Channel) -> None:
        """As far as it has come."""
        self.take(channel, channel.missing)
        channel.size = None


class IdleWaitsToo(SmallServer):
    """When a request is refused, channels without a request are muted, too."""

    def shown_waiting(self, channel: Channel) -> bool:
        """The pool has no memory for their next requests."""
        is_idle = channel.size is None and not channel.is_ordered
        return channel.waits or (is_idle and bool(self.line))


class HalfSizeWaits(SmallServer):
    """A channel with a part of its four bytes is muted while nothing is available."""

    def shown_waiting(self, channel: Channel) -> bool:
        """It will ask soon."""
        return channel.waits or (bool(channel.head) and self.available <= 0)


class EmptyNeedsMemory(SmallServer):
    """A request of no bytes waits while nothing is available."""

    def ask(self, channel: Channel, size: int) -> None:
        """Asks before it looks at the size."""
        if self.must_stand_behind(channel) or not self.is_enough(size):
            self.refuse(channel)
        else:
            self.grant(channel, size)


class NegativeIsEmpty(SmallServer):
    """A negative size is taken for a request of no bytes."""

    def is_possible(self, size: int) -> bool:
        """Only looks whether it is too much."""
        return size <= self.most

    def asks_now(self, channel: Channel) -> bool:
        """There is nothing to ask for."""
        if channel.size is not None and channel.size < 0:
            channel.size = 0
        return super().asks_now(channel)

    def read(self, channel: Channel) -> None:
        """Nothing is missing of it."""
        if channel.size is None and not self.read_size(channel):
            return
        channel.size = max(channel.size or 0, 0)
        super().read(channel)


class LargestIsTooLarge(SmallServer):
    """A request of the largest size closes its connection."""

    def is_possible(self, size: int) -> bool:
        """Counts from zero."""
        return 0 <= size < max(self.most, 2)


class TooLargeIsTaken(SmallServer):
    """A request above the largest is taken if the limit has room for it."""

    def is_possible(self, size: int) -> bool:
        """The limit of all requests is the limit of one."""
        return 0 <= size <= max(self.limit, self.most)


class BadSizeIsIgnored(SmallServer):
    """After a size that cannot be, the connection stays open, and its bytes are skipped."""

    def turn_away(self, channel: Channel, size: int) -> None:
        """The next four bytes may be better."""
        channel.head = b""


class BadSizeTakesMemory(SmallServer):
    """The pool is asked for a size that cannot be, and keeps what it has counted."""

    def turn_away(self, channel: Channel, size: int) -> None:
        """Counts first, and closes then."""
        self.debit(1)
        super().turn_away(channel, size)


class BadSizeClosesAll(SmallServer):
    """A size that cannot be closes all connections."""

    def turn_away(self, channel: Channel, size: int) -> None:
        """The error goes up to the loop."""
        for each in self.channels:
            if each.is_open:
                self.close(each)


class AnyLimits(SmallServer):
    """A server can be made whose largest request exceeds its limit."""

    @classmethod
    def check_limits(cls, limit: int, most: int) -> None:
        """Each makes sense by itself."""
        super().check_limits(min(limit, 0), most)


class LimitMustBeLarger(SmallServer):
    """A limit that equals the largest request is refused, by the letter of the proposal."""

    @classmethod
    def check_limits(cls, limit: int, most: int) -> None:
        """Larger than."""
        super().check_limits(limit, most)
        if limit == most:
            raise Refusal


class LimitIsNeeded(SmallServer):
    """A server cannot be made without a limit."""

    @classmethod
    def check_limits(cls, limit: int, most: int) -> None:
        """A pool of no bytes is no pool."""
        super().check_limits(limit, most)
        if limit <= 0:
            raise Refusal


class EmptyLargest(SmallServer):
    """A server can be made that takes no request but those of no bytes."""

    @classmethod
    def check_limits(cls, limit: int, most: int) -> None:
        """Zero is a size as well."""
        if most < 0 or 0 < limit < most:
            raise Refusal


class MutesWithMemory(SmallServer):
    """When nothing is available, a channel is muted that holds memory and is not complete."""

    def attend(self, channel: Channel) -> None:
        """Mutes whoever is readable; memory that comes back un-mutes."""
        if channel.memory and self.available <= 0 and not channel.is_ordered:
            self.refuse_again(channel)
            return
        super().attend(channel)

    def refuse_again(self, channel: Channel) -> None:
        """Stand in the line with memory in hand."""
        if channel not in self.line:
            self.refuse(channel)

    def grant(self, channel: Channel, size: int) -> None:
        """Who has memory gets no more."""
        if channel.memory:
            channel.waits = False
            return
        super().grant(channel, size)


class HoldersStarve(SmallServer):
    """Nothing at all is read while nothing is available."""

    def attend(self, channel: Channel) -> None:
        """A request that has its memory is not read either."""
        if not (channel.memory and self.available <= 0):
            super().attend(channel)


class OneMoreAtZero(SmallServer):
    """A pool that is not strict grants once more when nothing is left."""

    def is_enough(self, size: int) -> bool:
        """At least zero."""
        return super().is_enough(size) or (not self.strict and self.available == 0)


class StrictIgnoresSize(SmallServer):
    """A server whose pool is strict grants while anything is left."""

    def is_enough(self, size: int) -> bool:
        """As without strictness."""
        return self.available > 0


class LooksOncePerPoll(SmallServer):
    """The pool is looked at once in a poll, for all that ask in it."""

    seen: int | None = None

    def poll(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Look, and let all go on."""
        self.seen = self.available
        super().poll(meanwhile)
        self.seen = None

    def is_enough(self, size: int) -> bool:
        """By what was seen."""
        if self.seen is None or self.available > self.seen:
            return super().is_enough(size)
        return self.seen >= size if self.strict else self.seen > 0


class RefusalCosts(SmallServer):
    """A refused request is debited a byte."""

    def refuse(self, channel: Channel) -> None:
        """Counts first, and forgets to count back."""
        super().refuse(channel)
        self.available -= 1


class ConnectionCosts(SmallServer):
    """With each connection a byte is lost."""

    def connect(self, channel: Channel) -> None:
        """Its own buffer is taken from the pool."""
        super().connect(channel)
        self.available -= 1


class ResponseCosts(SmallServer):
    """With each response a byte is lost."""

    def respond(self, channel: Channel) -> None:
        """Its own buffer is taken from the pool."""
        super().respond(channel)
        self.available -= 1


class HandshakeNeedsMemory(SmallServer):
    """Under TLS a connection is closed that comes while nothing is available."""

    def connect(self, channel: Channel) -> None:
        """There is no memory for the handshake."""
        super().connect(channel)
        if self.tls and self.available <= 0:
            self.close(channel)
