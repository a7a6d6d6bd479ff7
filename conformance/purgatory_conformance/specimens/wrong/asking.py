"""Servers that go wrong when a request asks for memory: how much, when, and who waits."""

from collections.abc import Callable

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.channel_muting import Channel, SmallServer
from purgatory_conformance.specimens.small.specimen import Refusal


@breaks("MUTING-ASK").by(SmallServer.memory_for)
def asks_for_largest(self: SmallServer, size: int) -> int:
    """Each request is granted the largest size, and holds it."""
    return self.most


@breaks("MUTING-ASK").by(SmallServer.asks_now)
def asks_with_body(self: SmallServer, channel: Channel) -> bool:
    """Memory is asked for when the first byte of the body has come."""
    return bool(not channel.missing or channel.wire or channel.taken or channel.ending)


@breaks("MUTING-ASK")
class AsksForWhatCame(SmallServer):
    """Memory is granted for the bytes of the body that have come, and the rest when it comes."""

    def grant(self, channel: Channel, size: int) -> None:
        came = channel.unread + len(channel.taken)
        super().grant(channel, min(size, max(came, 1)))

    def receive(self, channel: Channel, size: int) -> None:
        if channel.memory:
            self.debit(size - channel.memory)
            channel.memory = size
        super().receive(channel, size)


@breaks("MUTING-ASK").by(SmallServer.read_size)
def asks_before_size(self: SmallServer, channel: Channel) -> bool:
    """A channel takes memory with the first byte of size, as much as the largest request needs."""
    is_known = SmallServer.read_size(self, channel)
    if channel.head and channel.memory is None and self.available >= self.most:
        self.grant(channel, self.most)
    elif is_known and channel.memory is not None:
        self.give_back(channel)
    return is_known


@breaks("MUTING-READ-AFTER-GRANT").by(SmallServer.attend)
def reads_ahead(self: SmallServer, channel: Channel) -> None:
    """A channel that waits is read all the same, into a buffer that is not counted."""
    if channel.waits:
        while channel.wire:
            channel.taken += channel.wire.popleft()
    SmallServer.attend(self, channel)


@breaks("MUTING-READ-AFTER-GRANT", "MUTING-ONE-AT-A-TIME").by(SmallServer.read)
def reads_asyncio(self: SmallServer, channel: Channel) -> None:
    """All that lies in a socket is read whenever a channel is not muted, as asyncio does."""
    while channel.wire:
        channel.taken += channel.wire.popleft()
    SmallServer.read(self, channel)


@breaks("MUTING-WAIT").by(SmallServer.refuse)
def refused_is_closed(self: SmallServer, channel: Channel) -> None:
    """A refused request closes its connection."""
    self.close(channel)


@breaks("MUTING-WAIT").by(SmallServer.refuse)
def refused_is_dropped(self: SmallServer, channel: Channel) -> None:
    """A request that is refused is read and thrown away."""
    self.take(channel, channel.missing)
    channel.size = None


@breaks("MUTING-ONLY-REFUSED").by(SmallServer.shown_waiting)
def idle_waits_too(self: SmallServer, channel: Channel) -> bool:
    """A refused request also mutes channels without a request."""
    is_idle = channel.size is None and not channel.is_ordered
    return channel.waits or (is_idle and bool(self.line))


@breaks("MUTING-ONLY-REFUSED").by(SmallServer.shown_waiting)
def half_size_waits(self: SmallServer, channel: Channel) -> bool:
    """A channel with a part of its four bytes is muted while nothing is available."""
    return channel.waits or (bool(channel.head) and self.available <= 0)


@breaks("MUTING-EMPTY").by(SmallServer.ask)
def empty_needs_memory(self: SmallServer, channel: Channel, size: int) -> None:
    """A request of no bytes waits while nothing is available."""
    if self.must_stand_behind(channel) or not self.is_enough(size):
        self.refuse(channel)
    else:
        self.grant(channel, size)


@breaks("MUTING-BAD-SIZE")
class NegativeIsEmpty(SmallServer):
    """A negative size is taken for a request of no bytes."""

    def is_possible(self, size: int) -> bool:
        return size <= self.most

    def asks_now(self, channel: Channel) -> bool:
        if channel.size is not None and channel.size < 0:
            channel.size = 0
        return super().asks_now(channel)

    def read(self, channel: Channel) -> None:
        if channel.size is None and not self.read_size(channel):
            return
        channel.size = max(channel.size or 0, 0)
        super().read(channel)


@breaks("MUTING-BAD-SIZE", "MUTING-WAIT").by(SmallServer.is_possible)
def largest_is_too_large(self: SmallServer, size: int) -> bool:
    """A request of the largest size closes its connection."""
    return 0 <= size < max(self.most, 2)


@breaks("MUTING-BAD-SIZE").by(SmallServer.is_possible)
def too_large_is_taken(self: SmallServer, size: int) -> bool:
    """A request above the largest is taken if the limit has room for it."""
    return 0 <= size <= max(self.limit, self.most)


@breaks("MUTING-BAD-SIZE").by(SmallServer.turn_away)
def bad_size_is_ignored(self: SmallServer, channel: Channel, size: int) -> None:
    """An impossible size leaves its connection open, and its bytes are skipped."""
    channel.head = b""


@breaks("MUTING-BAD-SIZE").by(SmallServer.turn_away)
def bad_size_takes_memory(self: SmallServer, channel: Channel, size: int) -> None:
    """The pool is asked for an impossible size, and debits a byte for it."""
    self.debit(1)
    SmallServer.turn_away(self, channel, size)


@breaks("MUTING-BAD-SIZE").by(SmallServer.turn_away)
def bad_size_closes_all(self: SmallServer, channel: Channel, size: int) -> None:
    """An impossible size closes all connections."""
    for each in self.channels:
        if each.is_open:
            self.close(each)


@breaks("MUTING-CONFIG").by(SmallServer.check_limits)
def any_limits(self: SmallServer, limit: int, most: int) -> None:
    """A server can be made whose largest request exceeds its limit."""
    SmallServer.check_limits(self, min(limit, 0), most)


@breaks("MUTING-CONFIG").by(SmallServer.check_limits)
def limit_must_be_larger(self: SmallServer, limit: int, most: int) -> None:
    """A limit that equals the largest request is refused, by the letter of the proposal."""
    SmallServer.check_limits(self, limit, most)
    if limit == most:
        raise Refusal


@breaks("MUTING-CONFIG").by(SmallServer.check_limits)
def limit_is_needed(self: SmallServer, limit: int, most: int) -> None:
    """A server cannot be made without a limit."""
    SmallServer.check_limits(self, limit, most)
    if limit <= 0:
        raise Refusal


@breaks("MUTING-CONFIG").by(SmallServer.check_limits)
def empty_largest(self: SmallServer, limit: int, most: int) -> None:
    """A server can be made that takes no request but those of no bytes."""
    if most < 0 or 0 < limit < most:
        raise Refusal


@breaks("MUTING-NOT-WITH-MEMORY")
class MutesWithMemory(SmallServer):
    """A channel that holds memory and is not complete is muted while nothing is available."""

    def attend(self, channel: Channel) -> None:
        if channel.memory and self.available <= 0 and not channel.is_ordered:
            self.refuse_again(channel)
            return
        super().attend(channel)

    def refuse_again(self, channel: Channel) -> None:
        """Stand in the line with memory in hand."""
        if channel not in self.line:
            self.refuse(channel)

    def grant(self, channel: Channel, size: int) -> None:
        if channel.memory:
            channel.waits = False
            return
        super().grant(channel, size)


@breaks("MUTING-GRANTED-FINISHES").by(SmallServer.attend)
def holders_starve(self: SmallServer, channel: Channel) -> None:
    """Nothing at all is read while nothing is available."""
    if not (channel.memory and self.available <= 0):
        SmallServer.attend(self, channel)


@breaks("MUTING-BOUND").by(SmallServer.is_enough)
def one_more_at_zero(self: SmallServer, size: int) -> bool:
    """A pool that is not strict grants once more when nothing is left."""
    return SmallServer.is_enough(self, size) or (not self.strict and self.available == 0)


@breaks("MUTING-BOUND").by(SmallServer.is_enough)
def strict_ignores_size(self: SmallServer, size: int) -> bool:
    """A server whose pool is strict grants while anything is left."""
    return self.available > 0


@breaks("MUTING-BOUND")
class LooksOncePerPoll(SmallServer):
    """The pool is looked at once in a poll, for all that ask in it."""

    seen: int | None = None

    def poll(self, meanwhile: Callable[[], None] | None = None) -> None:
        self.seen = self.available
        super().poll(meanwhile)
        self.seen = None

    def is_enough(self, size: int) -> bool:
        if self.seen is None or self.available > self.seen:
            return super().is_enough(size)
        return self.seen >= size if self.strict else self.seen > 0


@breaks("MUTING-CONSERVATION", "MUTING-ASK").by(SmallServer.refuse)
def refusal_costs(self: SmallServer, channel: Channel) -> None:
    """Each refused request costs the pool a byte."""
    SmallServer.refuse(self, channel)
    self.available -= 1


@breaks("MUTING-CONSERVATION").by(SmallServer.connect)
def connection_costs(self: SmallServer, channel: Channel) -> None:
    """Each connection costs the pool a byte."""
    SmallServer.connect(self, channel)
    self.available -= 1


@breaks("MUTING-CONSERVATION", "MUTING-RELEASE").by(SmallServer.respond)
def response_costs(self: SmallServer, channel: Channel) -> None:
    """Each response costs the pool a byte."""
    SmallServer.respond(self, channel)
    self.available -= 1


@breaks("MUTING-HANDSHAKE").by(SmallServer.connect)
def handshake_needs_memory(self: SmallServer, channel: Channel) -> None:
    """A new connection under TLS is closed while nothing is available."""
    SmallServer.connect(self, channel)
    if self.tls and self.available <= 0:
        self.close(channel)
