"""Servers that go wrong when a connection ends, or its time is over."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.channel_muting import Channel, Request, SmallServer
from purgatory_spec.operations import Ending


def _free_handled(server: SmallServer, channel: Channel) -> None:
    """Credit the memory of a request whose handler will release it once more."""
    request = channel.handled
    if request is not None and not request.is_released:
        server.credit(request.memory)
        request.memory = 0


@breaks("MUTING-END-MID-REQUEST").by(SmallServer.end)
def end_keeps_memory(self: SmallServer, channel: Channel) -> None:
    """A connection that ends within a request takes its memory along."""
    channel.memory = None
    SmallServer.end(self, channel)


@breaks("MUTING-END-MID-REQUEST").by(SmallServer.end)
def end_returns_what_came(self: SmallServer, channel: Channel) -> None:
    """A connection that ends within a request gives back as much as it had sent."""
    if channel.memory:
        channel.memory = len(channel.body)
    SmallServer.end(self, channel)


@breaks("MUTING-END-WHILE-HANDLED").by(SmallServer.end)
def end_frees_handled(self: SmallServer, channel: Channel) -> None:
    """The end of a connection frees the memory of its request, which is still handled."""
    SmallServer.end(self, channel)
    _free_handled(self, channel)


@breaks("MUTING-END-WHILE-HANDLED", "MUTING-CLOSE", "MUTING-IDLE-RETURNS").by(SmallServer.release)
def release_after_end_is_lost(self: SmallServer, request: Request) -> None:
    """A release whose connection has ended credits nothing."""
    if not request.channel.is_open:
        request.memory = 0
    SmallServer.release(self, request)


@breaks("MUTING-END-WHILE-HANDLED", "MUTING-CLOSE", "MUTING-IDLE-RETURNS").by(SmallServer.release)
def release_after_end_counts_twice(self: SmallServer, request: Request) -> None:
    """A release whose connection has ended is credited twice."""
    SmallServer.release(self, request)
    if not request.channel.is_open:
        self.credit(request.memory)


@breaks("MUTING-END-WHILE-WAITING", "MUTING-END-MID-REQUEST")
class EndsWaitForEver(SmallServer):
    """A channel whose client ended while it waited is left open, and keeps what it is granted."""

    def end(self, channel: Channel) -> None:
        if channel.size is None:
            super().end(channel)

    def is_hopeless(self, channel: Channel) -> bool:
        return False


@breaks("MUTING-END-WHILE-WAITING", "MUTING-CLOSE").by(SmallServer.leave)
def leaving_credits(self: SmallServer, channel: Channel) -> None:
    """A channel that leaves the line gives back memory that it never had."""
    was_waiting = channel.waits
    SmallServer.leave(self, channel)
    if was_waiting:
        self.credit(channel.size or 0)


@breaks("MUTING-FIRST-COME", "MUTING-RECOVER", "MUTING-ASK", "MUTING-DEPLETED")
class GonersStandInLine(SmallServer):
    """A channel that was closed keeps its place in the line, and nobody behind it has memory."""

    def leave(self, channel: Channel) -> None:
        """Leave the channel in the line."""

    def serve(self) -> None:
        if not self.line or self.next_in_line().is_open:
            super().serve()


@breaks("MUTING-HALF-CLOSE").by(SmallServer.attend)
def half_close_drops(self: SmallServer, channel: Channel) -> None:
    """A half-closed connection is closed at once, and what was sent is dropped."""
    if channel.ending is Ending.HALF_CLOSE and not channel.is_ordered:
        self.close(channel)
    else:
        SmallServer.attend(self, channel)


@breaks("MUTING-HALF-CLOSE").by(SmallServer.receive)
def half_close_unanswered(self: SmallServer, channel: Channel, size: int) -> None:
    """A half-closed connection is closed after its request, and gets no response."""
    SmallServer.receive(self, channel, size)
    if channel.ending is Ending.HALF_CLOSE:
        self.close(channel)


@breaks("MUTING-CLOSE").by(SmallServer.give_back)
def close_keeps_memory(self: SmallServer, channel: Channel) -> None:
    """A connection that the server closes takes the memory of its request along."""
    if channel.ending or self.idle_limit_ms or self.receive_limit_ms:
        SmallServer.give_back(self, channel)
    else:
        channel.memory = None


@breaks("MUTING-CLOSE", "MUTING-BAD-SIZE").by(SmallServer.close)
def close_frees_handled(self: SmallServer, channel: Channel) -> None:
    """A connection that the server closes frees the memory of its request, which is handled."""
    SmallServer.close(self, channel)
    if not channel.ending:
        _free_handled(self, channel)


@breaks("MUTING-CLOSE").by(SmallServer.close)
def close_waits_for_response(self: SmallServer, channel: Channel) -> None:
    """A connection whose request is handled is not closed."""
    if not channel.is_ordered or channel.ending:
        SmallServer.close(self, channel)


@breaks("MUTING-IDLE").by(SmallServer.is_idle)
def idle_never(self: SmallServer, channel: Channel) -> bool:
    """A connection is never closed as idle."""
    return False


@breaks("MUTING-IDLE").by(SmallServer.is_idle)
def idle_too_soon(self: SmallServer, channel: Channel) -> bool:
    """A connection is idle after half the limit."""
    if not self.idle_limit_ms or not self.can_be_idle(channel):
        return False
    return self.now_ms - channel.active_ms > self.idle_limit_ms // 2


@breaks("MUTING-IDLE").by(SmallServer.take)
def idle_by_responses(self: SmallServer, channel: Channel, most: int) -> bytes:
    """A connection from which nothing was asked and answered is idle, whatever has come."""
    before_ms = channel.active_ms
    found = SmallServer.take(self, channel, most)
    channel.active_ms = before_ms
    return found


@breaks("MUTING-IDLE").by(SmallServer.respond)
def idle_by_requests(self: SmallServer, channel: Channel) -> None:
    """A connection from which nothing has come is idle, whatever was just written to it."""
    before_ms = channel.active_ms
    SmallServer.respond(self, channel)
    channel.active_ms = before_ms


@breaks("MUTING-IDLE").by(SmallServer.expire)
def idle_keeps_memory(self: SmallServer) -> None:
    """A connection that is closed as idle takes its memory along."""
    for channel in self.channels:
        if channel.is_open and self.is_idle(channel):
            channel.memory = None
    SmallServer.expire(self)


@breaks("MUTING-NOT-IDLE").by(SmallServer.can_be_idle)
def waiting_is_idle(self: SmallServer, channel: Channel) -> bool:
    """A channel that waits for memory is idle."""
    return channel.waits or SmallServer.can_be_idle(self, channel)


@breaks("MUTING-NOT-IDLE", "MUTING-WAIT", "MUTING-IDLE").by(SmallServer.renew_at_grant)
def grant_renews_nothing(self: SmallServer, channel: Channel) -> None:
    """A channel that has waited beyond the idle limit is closed when it has its memory."""


@breaks("MUTING-SLOW-SENDER").by(SmallServer.is_slow)
def slow_never(self: SmallServer, channel: Channel) -> bool:
    """A request may hold its memory for ever."""
    return False


@breaks("MUTING-SLOW-SENDER").by(SmallServer.is_active)
def trickle_renews(self: SmallServer, channel: Channel) -> None:
    """Each byte that comes gives a request its whole time again."""
    SmallServer.is_active(self, channel)
    channel.granted_ms = self.now_ms


@breaks("MUTING-SLOW-SENDER", "MUTING-THROTTLE").by(SmallServer.expire)
def slow_keeps_memory(self: SmallServer) -> None:
    """A connection that is closed as slow takes its memory along."""
    for channel in self.channels:
        if channel.is_open and self.is_slow(channel):
            channel.memory = None
    SmallServer.expire(self)


@breaks("MUTING-IDLE-RETURNS", "MUTING-BAD-SIZE", "MUTING-CLOSE").by(SmallServer.close)
def last_keeps_byte(self: SmallServer, channel: Channel) -> None:
    """A byte is not given back when the last connection has closed."""
    SmallServer.close(self, channel)
    if not any(each.is_open for each in self.channels):
        self.available -= 1
