"""Servers with bugs that people reported."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.channel_muting import Channel, SmallServer


@breaks("MUTING-BUFFERED", "MUTING-TURNS", "MUTING-ASK", report="libwebsockets#309")
class OneReadOfTls(SmallServer):
    """A read takes 4,096 bytes from TLS, and what is left there is read only if more comes."""

    def take(self, channel: Channel, most: int) -> bytes:
        return super().take(channel, min(most, 4_096))

    def has_buffered(self, channel: Channel) -> bool:
        return super().has_buffered(channel) and len(channel.body) < 4_096


@breaks("MUTING-RECOVER", "MUTING-CLOSE", "MUTING-END-WHILE-WAITING", report="go#37852")
class NextIsNotServed(SmallServer):
    """The head of the line leaves, and whoever stands behind it waits until memory comes back."""

    came_back = False

    def leave(self, channel: Channel) -> None:
        channel.waits = False
        if channel in self.line:
            self.line.remove(channel)
            self.end_wait()

    def credit(self, count: int) -> None:
        self.came_back = True
        super().credit(count)

    def recover(self) -> None:
        if self.came_back:
            self.came_back = False
            super().recover()
