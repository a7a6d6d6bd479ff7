"""Servers that go wrong when a connection ends, or its time is over."""

from purgatory_conformance.specimens.small.channel_muting import (
    Channel,
    Request,
    SmallServer,
)
from purgatory_spec.operations import Ending


class EndKeepsMemory(SmallServer):
    """A connection that ends within a request takes its memory along."""

    def end(self, channel: Channel) -> None:
        """Nobody looks what it held."""
        channel.memory = None
        super().end(channel)


class EndReturnsWhatCame(SmallServer):
    """A connection that ends within a request gives back as much as it had sent."""

    def end(self, channel: Channel) -> None:
        """The filled part of the buffer."""
        if channel.memory:
            channel.memory = len(channel.body)
        super().end(channel)


class EndFreesHandled(SmallServer):
    """The end of a connection frees the memory of its request, which is still handled."""

    def end(self, channel: Channel) -> None:
        """The handler's release then finds nothing."""
        super().end(channel)
        request = channel.handled
        if request is not None and not request.is_released:
            self.credit(request.memory)
            request.memory = 0


class ReleaseAfterEndIsLost(SmallServer):
    """A release whose connection has ended credits nothing."""

    def release(self, request: Request) -> None:
        """There is no connection to look it up by."""
        if not request.channel.is_open:
            request.memory = 0
        super().release(request)


class ReleaseAfterEndCountsTwice(SmallServer):
    """A release whose connection has ended is credited twice."""

    def release(self, request: Request) -> None:
        """Once for the handler, once for the connection."""
        super().release(request)
        if not request.channel.is_open:
            self.credit(request.memory)


class EndsWaitForEver(SmallServer):
    """A channel whose client ended while it waited is left open, and keeps what it is granted."""

    def end(self, channel: Channel) -> None:
        """Only looked for before the size is known."""
        if channel.size is None:
            super().end(channel)

    def is_hopeless(self, channel: Channel) -> bool:
        """Nobody looks."""
        return False


class LeavingCredits(SmallServer):
    """A channel that leaves the line gives back memory that it never had."""

    def leave(self, channel: Channel) -> None:
        """Whoever goes gives back."""
        was_waiting = channel.waits
        super().leave(channel)
        if was_waiting:
            self.credit(channel.size or 0)


class GonersStandInLine(SmallServer):
    """A channel that was closed keeps its place in the line, and nobody behind it has memory."""

    def leave(self, channel: Channel) -> None:
        """It is still in the line."""

    def serve(self) -> None:
        """Who does not answer is asked again later."""
        if not self.line or self.next_in_line().is_open:
            super().serve()


class HalfCloseDrops(SmallServer):
    """Who sends no more is closed at once, and what was sent is dropped."""

    def attend(self, channel: Channel) -> None:
        """The end is looked at before the bytes."""
        if channel.ending is Ending.HALF_CLOSE and not channel.is_ordered:
            self.close(channel)
        else:
            super().attend(channel)


class HalfCloseUnanswered(SmallServer):
    """Who sends no more is closed when its request was received, and gets no response."""

    def receive(self, channel: Channel, size: int) -> None:
        """Nobody is there, it seems."""
        super().receive(channel, size)
        if channel.ending is Ending.HALF_CLOSE:
            self.close(channel)


class CloseKeepsMemory(SmallServer):
    """A connection that the server closes takes the memory of its request along."""

    def give_back(self, channel: Channel) -> None:
        """Only a client's end, and a limit, give back."""
        if channel.ending or self.idle_limit_ms or self.receive_limit_ms:
            super().give_back(channel)
        else:
            channel.memory = None


class CloseFreesHandled(SmallServer):
    """A connection that the server closes frees the memory of its request, which is handled."""

    def close(self, channel: Channel) -> None:
        """The handler's release then finds nothing."""
        super().close(channel)
        request = channel.handled
        if request is not None and not request.is_released and not channel.ending:
            self.credit(request.memory)
            request.memory = 0


class CloseWaitsForResponse(SmallServer):
    """A connection whose request is handled is not closed."""

    def close(self, channel: Channel) -> None:
        """Gracefully, and then forgets it."""
        if not channel.is_ordered or channel.ending:
            super().close(channel)


class IdleNever(SmallServer):
    """No connection is ever idle."""

    def is_idle(self, channel: Channel) -> bool:
        """The limit is not looked at."""
        return False


class IdleTooSoon(SmallServer):
    """A connection is idle after half the limit."""

    def is_idle(self, channel: Channel) -> bool:
        """Looks twice in the limit, and counts looks."""
        if not self.idle_limit_ms or not self.can_be_idle(channel):
            return False
        return self.now_ms - channel.active_ms > self.idle_limit_ms // 2


class IdleByResponses(SmallServer):
    """A connection from which nothing was asked and answered is idle, whatever has come."""

    def take(self, channel: Channel, most: int) -> bytes:
        """What is read is no sign of life."""
        before_ms = channel.active_ms
        found = super().take(channel, most)
        channel.active_ms = before_ms
        return found


class IdleKeepsMemory(SmallServer):
    """A connection that is closed as idle takes its memory along."""

    def expire(self) -> None:
        """Only the connection is thought of."""
        for channel in self.channels:
            if channel.is_open and self.is_idle(channel):
                channel.memory = None
        super().expire()


class WaitingIsIdle(SmallServer):
    """A channel that waits for memory is idle."""

    def can_be_idle(self, channel: Channel) -> bool:
        """Nothing has come from it."""
        return channel.waits or super().can_be_idle(channel)


class GrantRenewsNothing(SmallServer):
    """A channel that has waited beyond the idle limit is closed when it has its memory."""

    def renew_at_grant(self, channel: Channel) -> None:
        """Only what is read is a sign of life."""


class SlowNever(SmallServer):
    """A request may hold its memory for ever."""

    def is_slow(self, channel: Channel) -> bool:
        """The limit is not looked at."""
        return False


class TrickleRenews(SmallServer):
    """Each byte that comes gives a request its whole time again."""

    def is_active(self, channel: Channel) -> None:
        """A sign of life is a sign of life."""
        super().is_active(channel)
        channel.granted_ms = self.now_ms


class SlowKeepsMemory(SmallServer):
    """A connection that is closed as slow takes its memory along."""

    def expire(self) -> None:
        """Only the connection is thought of."""
        for channel in self.channels:
            if channel.is_open and self.is_slow(channel):
                channel.memory = None
        super().expire()


class LastKeepsByte(SmallServer):
    """When the last connection has closed a byte is not given back."""

    def close(self, channel: Channel) -> None:
        """Somewhere it lies."""
        super().close(channel)
        if not any(each.is_open for each in self.channels):
            self.available -= 1
