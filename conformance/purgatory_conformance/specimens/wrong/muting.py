"""Servers that go wrong while a request is handled: order, release, response, throttling."""

from collections.abc import Iterable
from itertools import count

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.channel_muting import Channel, Request, SmallServer


@breaks("MUTING-ONE-AT-A-TIME", "MUTING-HALF-CLOSE")
class ReadsNextWhileHandled(SmallServer):
    """The next request of a channel is asked for and read while the last one is handled."""

    def is_muted(self, channel: Channel) -> bool:
        return channel.waits or channel.is_throttled

    def receive(self, channel: Channel, size: int) -> None:
        if not channel.is_ordered:
            super().receive(channel, size)


@breaks("MUTING-ONE-AT-A-TIME", "MUTING-HALF-CLOSE").by(SmallServer.is_muted)
def receives_while_handled(self: SmallServer, channel: Channel) -> bool:
    """The requests of a channel are received one after another, answered or not."""
    return channel.waits or channel.is_throttled


class _RemembersWaits(SmallServer):
    """A server that knows which channels have waited since their last reception."""

    has_waited: frozenset[Channel] = frozenset()

    def refuse(self, channel: Channel) -> None:
        super().refuse(channel)
        self.has_waited |= {channel}

    def hand_on(self, channel: Channel, body: bytes) -> None:
        if channel in self.has_waited:
            self.has_waited -= {channel}
            self.hand_on_waited(channel, body)
        else:
            super().hand_on(channel, body)

    def hand_on_waited(self, channel: Channel, body: bytes) -> None:
        """Hand on a request that has waited, with a fault."""


@breaks("MUTING-ORDER").by(_RemembersWaits.hand_on_waited)
def spoilt_by_waiting(self: _RemembersWaits, channel: Channel, body: bytes) -> None:
    """A request that has waited is received with another first byte."""
    _RemembersWaits.hand_on(self, channel, b"\xff" + body[1:])


@breaks("MUTING-ORDER").by(_RemembersWaits.hand_on_waited)
def received_twice_after_waiting(self: _RemembersWaits, channel: Channel, body: bytes) -> None:
    """A request that has waited is received twice."""
    _RemembersWaits.hand_on(self, channel, body)
    self.received.append(Request(channel, body, 0))


@breaks("MUTING-TWO-REASONS", "MUTING-ONE-AT-A-TIME").by(SmallServer.memory_is_back)
def recovery_ends_order(self: SmallServer) -> None:
    """Memory that comes back lets channels go on whose request is still handled."""
    for channel in self.channels:
        channel.is_ordered = False
    SmallServer.memory_is_back(self)


@breaks("MUTING-TWO-REASONS").by(SmallServer.release)
def release_ends_order(self: SmallServer, request: Request) -> None:
    """A channel is read again when its request's memory is released."""
    SmallServer.release(self, request)
    request.channel.is_ordered = False


@breaks("MUTING-TWO-REASONS").by(SmallServer.respond)
def response_ends_waits(self: SmallServer, channel: Channel) -> None:
    """A response lets waiting channels go on without memory."""
    SmallServer.respond(self, channel)
    for each in self.line:
        each.waits = False


@breaks("MUTING-RELEASE").by(SmallServer.respond)
def release_twice(self: SmallServer, channel: Channel) -> None:
    """A request's memory comes back with its release, and once more with a later response."""
    SmallServer.respond(self, channel)
    if channel.handled is not None and channel.handled.is_released:
        self.credit(channel.handled.memory)


@breaks("MUTING-RELEASE").by(SmallServer.release)
def release_forgets(self: SmallServer, request: Request) -> None:
    """The memory of a request does not come back."""
    request.is_released = True


@breaks("MUTING-RELEASE").by(SmallServer.release)
def release_keeps_byte(self: SmallServer, request: Request) -> None:
    """A byte of a request's memory is not given back."""
    request.memory = max(request.memory - 1, 0)
    SmallServer.release(self, request)


@breaks("MUTING-RELEASE")
class ReleaseAtResponse(SmallServer):
    """A request's memory comes back with the response, and not when its handler releases it."""

    def release(self, request: Request) -> None:
        if not request.channel.is_open:
            super().release(request)

    def respond(self, channel: Channel) -> None:
        super().respond(channel)
        if channel.handled is not None:
            super().release(channel.handled)


@breaks("MUTING-THROTTLE").by(SmallServer.respond)
def throttle_ends_with_response(self: SmallServer, channel: Channel) -> None:
    """A response ends the throttling of its channel."""
    SmallServer.respond(self, channel)
    channel.is_throttled = False


@breaks("MUTING-THROTTLE").by(SmallServer.unthrottle)
def throttle_ends_order(self: SmallServer, channel: Channel) -> None:
    """The end of throttling lets a channel go on before its request is answered."""
    SmallServer.unthrottle(self, channel)
    channel.is_ordered = False


@breaks(
    "MUTING-THROTTLE", "MUTING-ASK", "MUTING-EMPTY", "MUTING-IDLE", "MUTING-END-MID-REQUEST"
).by(SmallServer.unthrottle)
def throttle_stays(self: SmallServer, channel: Channel) -> None:
    """A channel that was throttled is not read again where the response came last."""
    if not channel.is_ordered:
        SmallServer.unthrottle(self, channel)


@breaks("MUTING-THROTTLE", "MUTING-RELEASE").by(SmallServer.release)
def throttle_keeps_memory(self: SmallServer, request: Request) -> None:
    """The memory of a request stays out while its channel is throttled."""
    if not request.channel.is_throttled:
        SmallServer.release(self, request)


@breaks("MUTING-THROTTLE")
class ThrottleHoldsResponse(SmallServer):
    """The response of a throttled channel is written when the throttling ends."""

    held: frozenset[Channel] = frozenset()

    def respond(self, channel: Channel) -> None:
        if channel.is_throttled:
            self.held |= {channel}
        else:
            super().respond(channel)

    def unthrottle(self, channel: Channel) -> None:
        super().unthrottle(channel)
        if channel in self.held:
            self.held -= {channel}
            super().respond(channel)


@breaks("MUTING-OTHERS-GO-ON").by(SmallServer.connect)
def connections_stop_while_waiting(self: SmallServer, channel: Channel) -> None:
    """A new connection is closed while a channel waits."""
    SmallServer.connect(self, channel)
    if self.line:
        self.close(channel)


@breaks("MUTING-OTHERS-GO-ON").by(SmallServer.respond)
def responses_stop_while_waiting(self: SmallServer, channel: Channel) -> None:
    """A response is not written while a channel waits."""
    if not self.line:
        SmallServer.respond(self, channel)


@breaks("MUTING-OTHERS-GO-ON", "MUTING-GRANTED-FINISHES", "MUTING-BOUND").by(SmallServer.attend)
def holders_stop_while_waiting(self: SmallServer, channel: Channel) -> None:
    """A request that has its memory is not read while another one waits."""
    if not (channel.memory and self.line):
        SmallServer.attend(self, channel)


@breaks("MUTING-TURNS", "MUTING-WAIT", "MUTING-IDLE").by(SmallServer.records_of_a_turn)
def reads_until_nothing_comes(self: SmallServer) -> Iterable[int]:
    """A channel is read until nothing comes, whether what comes brings data or not."""
    return count()
