"""Servers that go wrong when memory comes back: who reads on, in which order, and its time."""

from purgatory_conformance.specimens.mutant import breaks, everyone
from purgatory_conformance.specimens.small.channel_muting import Channel, SmallServer


@everyone("MUTING-RECOVER")
@breaks("MUTING-RECOVER", "MUTING-FIRST-COME", "MUTING-IDLE")
class NeverUnmutes(SmallServer):
    """A channel that waits is never read again."""

    def serve(self) -> None:
        """Serve no waiting channel."""

    def is_back(self) -> bool:
        return False


@everyone("MUTING-RECOVER")
class RecoversWhenWhole(SmallServer):
    """Waiting channels go on only when all memory is back."""

    def recover(self) -> None:
        if self.available >= self.limit:
            super().recover()

    def memory_is_back(self) -> None:
        if self.available >= self.limit:
            super().memory_is_back()


@everyone("MUTING-RECOVER", "MUTING-IDLE")
class RecoversOne(SmallServer):
    """Memory that comes back lets one channel ask again; the others ask in a later poll."""

    is_new = False

    def recover(self) -> None:
        if self.is_new and self.line and self.is_back():
            self.is_new = False
            self.unmute(self.line[0])

    def memory_is_back(self) -> None:
        self.is_new = True


@everyone("MUTING-NOT-WITH-MEMORY")
class StaysMutedWithMemory(SmallServer):
    """Bytes that TLS has taken are read of a channel that waits; granted memory, it stays muted.

    Only channels without memory are un-muted, as released Kafka has it.
    """

    def attend(self, channel: Channel) -> None:
        if channel.waits and self.has_buffered(channel):
            self.read(channel)
        else:
            super().attend(channel)

    def refuse(self, channel: Channel) -> None:
        if channel not in self.line:
            super().refuse(channel)

    def grant(self, channel: Channel, size: int) -> None:
        was_waiting = channel.waits
        super().grant(channel, size)
        channel.waits = was_waiting

    def unmute(self, channel: Channel) -> None:
        if channel.memory is None:
            super().unmute(channel)


@breaks("MUTING-FIRST-COME").by(SmallServer.must_stand_behind)
def newcomer_passes(self: SmallServer, channel: Channel) -> bool:
    """A new request gets the available memory although others wait."""
    return False


@breaks("MUTING-FIRST-COME").by(SmallServer.next_in_line)
def last_first(self: SmallServer) -> Channel:
    """The channel that was refused last gets memory first."""
    return self.line[-1]


@breaks("MUTING-FIRST-COME").by(SmallServer.next_in_line)
def smallest_first(self: SmallServer) -> Channel:
    """The smallest waiting request gets memory first."""
    return min(self.line, key=lambda channel: channel.size or 0)


@breaks("MUTING-BUFFERED", "MUTING-GRANTED-FINISHES")
class ForgetsBuffered(SmallServer):
    """Bytes that TLS has taken from the socket are read only when the socket has more."""

    def has_buffered(self, channel: Channel) -> bool:
        return False

    def is_ready(self, channel: Channel) -> bool:
        return bool(channel.wire or channel.ending)


@breaks("MUTING-DEPLETED").by(SmallServer.depleted_ms)
def counts_ended_waits(self: SmallServer) -> int:
    """The depleted time counts a wait when it has ended."""
    return self.waited_ms


@breaks("MUTING-DEPLETED").by(SmallServer.depleted_ms)
def counts_each_channel(self: SmallServer) -> int:
    """The depleted time is the sum over the channels that wait."""
    since_ms = self.now_ms - self.waits_since_ms
    return SmallServer.depleted_ms(self) + since_ms * max(len(self.line) - 1, 0)


@breaks("MUTING-DEPLETED")
class EndsTimeWithRelease(SmallServer):
    """Any release ends the depleted time, although a channel still waits."""

    is_over = False

    def memory_is_back(self) -> None:
        super().memory_is_back()
        if self.line:
            self.waited_ms += self.now_ms - self.waits_since_ms
            self.is_over = True

    def end_wait(self) -> None:
        if not self.is_over:
            super().end_wait()
        self.is_over = self.is_over and bool(self.line)

    def depleted_ms(self) -> int:
        return self.waited_ms if self.is_over else super().depleted_ms()


@breaks("MUTING-DEPLETED").by(SmallServer.depleted_ms)
def counts_depletion(self: SmallServer) -> int:
    """The depleted time is that in which nothing was available, asked or not."""
    if self.available > 0:
        return SmallServer.depleted_ms(self)
    last_ms = max((each.granted_ms for each in self.channels), default=0)
    return max(SmallServer.depleted_ms(self), self.now_ms - last_ms)
