"""Servers that go wrong when memory comes back: who reads on, in which order, and its time."""

from purgatory_conformance.specimens.small.channel_muting import Channel, SmallServer


class NeverUnmutes(SmallServer):
    """A channel that waits is never read again."""

    def serve(self) -> None:
        """Nobody looks."""

    def is_back(self) -> bool:
        """Nobody looks."""
        return False


class RecoversWhenWhole(SmallServer):
    """Those who wait are let on only when all memory is back."""

    def recover(self) -> None:
        """Waits for more than is needed."""
        if self.available >= self.limit:
            super().recover()

    def memory_is_back(self) -> None:
        """Waits for more than is needed."""
        if self.available >= self.limit:
            super().memory_is_back()


class RecoversOne(SmallServer):
    """When memory comes back one channel alone asks again, and the others with a later poll."""

    is_new = False

    def recover(self) -> None:
        """The first, once for each release."""
        if self.is_new and self.line and self.is_back():
            self.is_new = False
            self.unmute(self.line[0])

    def memory_is_back(self) -> None:
        """Remember the release."""
        self.is_new = True


class StaysMutedWithMemory(SmallServer):
    """Bytes that TLS has taken are read of a channel that waits; granted memory, it stays muted.

    Only channels without memory are un-muted, as released Kafka has it.
    """

    def attend(self, channel: Channel) -> None:
        """What TLS has taken is read in every poll."""
        if channel.waits and self.has_buffered(channel):
            self.read(channel)
        else:
            super().attend(channel)

    def refuse(self, channel: Channel) -> None:
        """It may stand in the line already."""
        if channel not in self.line:
            super().refuse(channel)

    def grant(self, channel: Channel, size: int) -> None:
        """The mute is left as it is."""
        was_waiting = channel.waits
        super().grant(channel, size)
        channel.waits = was_waiting

    def unmute(self, channel: Channel) -> None:
        """Who has memory needs none."""
        if channel.memory is None:
            super().unmute(channel)


class NewcomerPasses(SmallServer):
    """A newcomer has memory that is there, whoever waits."""

    def must_stand_behind(self, channel: Channel) -> bool:
        """Memory that lies about is for whoever asks."""
        return False


class LastFirst(SmallServer):
    """Who was refused last has memory first."""

    def next_in_line(self) -> Channel:
        """A stack."""
        return self.line[-1]


class SmallestFirst(SmallServer):
    """Among those who wait the smallest request has memory first."""

    def next_in_line(self) -> Channel:
        """So that most are served."""
        return min(self.line, key=lambda channel: channel.size or 0)


class ForgetsBuffered(SmallServer):
    """What TLS has taken from the socket is read only when the socket tells of more."""

    def has_buffered(self, channel: Channel) -> bool:
        """The socket says what is ready."""
        return False

    def is_ready(self, channel: Channel) -> bool:
        """Those whose request asks again are read, if the socket is ready."""
        return bool(channel.wire or channel.ending)


class CountsEndedWaits(SmallServer):
    """The depleted time counts a wait when it has ended."""

    def depleted_ms(self) -> int:
        """Up to the last end."""
        return self.waited_ms


class CountsEachChannel(SmallServer):
    """The depleted time is the sum over the channels that wait."""

    def depleted_ms(self) -> int:
        """Two that wait count twice."""
        since_ms = self.now_ms - self.waits_since_ms
        return super().depleted_ms() + since_ms * max(len(self.line) - 1, 0)


class EndsTimeWithRelease(SmallServer):
    """Any release ends the depleted time, though somebody still waits."""

    is_over = False

    def memory_is_back(self) -> None:
        """Counts up to now, and forgets that it goes on."""
        super().memory_is_back()
        if self.line:
            self.waited_ms += self.now_ms - self.waits_since_ms
            self.is_over = True

    def end_wait(self) -> None:
        """What has been counted is not counted again."""
        if not self.is_over:
            super().end_wait()
        self.is_over = self.is_over and bool(self.line)

    def depleted_ms(self) -> int:
        """What has been counted."""
        return self.waited_ms if self.is_over else super().depleted_ms()


class CountsDepletion(SmallServer):
    """The depleted time is that in which nothing was available, asked or not."""

    def depleted_ms(self) -> int:
        """Since the last request that took the rest."""
        if self.available > 0:
            return super().depleted_ms()
        last_ms = max((each.granted_ms for each in self.channels), default=0)
        return max(super().depleted_ms(), self.now_ms - last_ms)
