"""Servers that go wrong while a request is handled: order, release, response, throttling."""

from collections.abc import Iterable
from itertools import count

from purgatory_conformance.specimens.small.channel_muting import (
    Channel,
    Request,
    SmallServer,
)


class ReadsNextWhileHandled(SmallServer):
    """The next request of a channel is asked for and read while the last one is handled."""

    def is_muted(self, channel: Channel) -> bool:
        """Order is kept when it is handed on."""
        return channel.waits or channel.is_throttled

    def receive(self, channel: Channel, size: int) -> None:
        """Wait for the response with the request in hand."""
        if not channel.is_ordered:
            super().receive(channel, size)


class ReceivesWhileHandled(SmallServer):
    """The requests of a channel are received one after another, answered or not."""

    def is_muted(self, channel: Channel) -> bool:
        """Order is the client's business."""
        return channel.waits or channel.is_throttled


class _RemembersWaits(SmallServer):
    """A server that knows which channels have waited since their last reception."""

    has_waited: frozenset[Channel] = frozenset()

    def refuse(self, channel: Channel) -> None:
        """Remember who waits."""
        super().refuse(channel)
        self.has_waited |= {channel}

    def hand_on(self, channel: Channel, body: bytes) -> None:
        """A request is handed on by ``hand_on_waited`` if it has waited."""
        if channel in self.has_waited:
            self.has_waited -= {channel}
            self.hand_on_waited(channel, body)
        else:
            super().hand_on(channel, body)

    def hand_on_waited(self, channel: Channel, body: bytes) -> None:
        """What goes wrong."""


class SpoiltByWaiting(_RemembersWaits):
    """A request that has waited is received with another first byte."""

    def hand_on_waited(self, channel: Channel, body: bytes) -> None:
        """Its place was used in between."""
        super().hand_on(channel, b"\xff" + body[1:])


class ReceivedTwiceAfterWaiting(_RemembersWaits):
    """A request that has waited is received twice."""

    def hand_on_waited(self, channel: Channel, body: bytes) -> None:
        """Once by the recovery, once by the poll."""
        super().hand_on(channel, body)
        self.received.append(Request(channel, body, 0))


class RecoveryEndsOrder(SmallServer):
    """Memory that comes back lets all channels on, also those whose request is handled."""

    def memory_is_back(self) -> None:
        """One list of muted channels."""
        for channel in self.channels:
            channel.is_ordered = False
        super().memory_is_back()


class ReleaseEndsOrder(SmallServer):
    """A channel is read again when its request's memory is released."""

    def release(self, request: Request) -> None:
        """Who gives the memory back is done."""
        super().release(request)
        request.channel.is_ordered = False


class ResponseEndsWaits(SmallServer):
    """A response lets those on that wait, without memory."""

    def respond(self, channel: Channel) -> None:
        """Un-mutes by one word."""
        super().respond(channel)
        for each in self.line:
            each.waits = False


class ReleaseTwice(SmallServer):
    """A request's memory comes back with its release, and once more with a later response."""

    def respond(self, channel: Channel) -> None:
        """Whoever is through gives back."""
        super().respond(channel)
        if channel.handled is not None and channel.handled.is_released:
            self.credit(channel.handled.memory)


class ReleaseForgets(SmallServer):
    """The memory of a request does not come back."""

    def release(self, request: Request) -> None:
        """Is told, and does nothing."""
        request.is_released = True


class ReleaseKeepsByte(SmallServer):
    """Of the memory of a request a byte stays out."""

    def release(self, request: Request) -> None:
        """The last one."""
        request.memory = max(request.memory - 1, 0)
        super().release(request)


class ReleaseAtResponse(SmallServer):
    """A request's memory comes back with the response, and not when its handler releases it."""

    def release(self, request: Request) -> None:
        """The response does it."""
        if not request.channel.is_open:
            super().release(request)

    def respond(self, channel: Channel) -> None:
        """The handler is through."""
        super().respond(channel)
        if channel.handled is not None:
            super().release(channel.handled)


class ThrottleEndsWithResponse(SmallServer):
    """A response ends the throttling of its channel."""

    def respond(self, channel: Channel) -> None:
        """One state for both."""
        super().respond(channel)
        channel.is_throttled = False


class ThrottleEndsOrder(SmallServer):
    """The end of throttling lets a channel on whose request is not answered."""

    def unthrottle(self, channel: Channel) -> None:
        """One state for both."""
        super().unthrottle(channel)
        channel.is_ordered = False


class ThrottleStays(SmallServer):
    """A channel that was throttled is not read again where the response came last."""

    def unthrottle(self, channel: Channel) -> None:
        """An event that fits only after the response."""
        if not channel.is_ordered:
            super().unthrottle(channel)


class ThrottleKeepsMemory(SmallServer):
    """The memory of a request stays out while its channel is throttled."""

    def release(self, request: Request) -> None:
        """Throttled channels are left alone."""
        if not request.channel.is_throttled:
            super().release(request)


class ThrottleHoldsResponse(SmallServer):
    """The response of a throttled channel is written when the throttling ends."""

    held: frozenset[Channel] = frozenset()

    def respond(self, channel: Channel) -> None:
        """Throttled channels are left alone."""
        if channel.is_throttled:
            self.held |= {channel}
        else:
            super().respond(channel)

    def unthrottle(self, channel: Channel) -> None:
        """Now."""
        super().unthrottle(channel)
        if channel in self.held:
            self.held -= {channel}
            super().respond(channel)


class ConnectionsStopWhileWaiting(SmallServer):
    """A connection is closed that comes while somebody waits."""

    def connect(self, channel: Channel) -> None:
        """The pool has no memory for a connection."""
        super().connect(channel)
        if self.line:
            self.close(channel)


class ResponsesStopWhileWaiting(SmallServer):
    """A response is not written while somebody waits."""

    def respond(self, channel: Channel) -> None:
        """The thread stands still."""
        if not self.line:
            super().respond(channel)


class HoldersStopWhileWaiting(SmallServer):
    """A request that has its memory is not read while another one waits."""

    def attend(self, channel: Channel) -> None:
        """The thread stands still."""
        if not (channel.memory and self.line):
            super().attend(channel)


class ReadsUntilNothingComes(SmallServer):
    """A channel is read until nothing comes, whether what comes brings data or not."""

    def records_of_a_turn(self) -> Iterable[int]:
        """Count without end."""
        return count()
