"""Servers with bugs that people reported."""

from functools import cached_property

from purgatory_conformance.specimens.mutant import Kind, breaks
from purgatory_conformance.specimens.small.channel_muting import Channel, Request, SmallServer
from purgatory_conformance.subjects.sent_requests import SIZE_BYTES
from purgatory_spec.operations import Ending


@breaks(
    "MUTING-BUFFERED",
    "MUTING-TURNS",
    "MUTING-ASK",
    report="libwebsockets#309, pgbouncer#1530",
    kind=Kind.SIZES,
)
class OneReadOfTls(SmallServer):
    """A read takes 4,096 bytes from TLS, and what is left there is read only if more comes."""

    def take(self, channel: Channel, most: int) -> bytes:
        return super().take(channel, min(most, 4_096))

    def has_buffered(self, channel: Channel) -> bool:
        return super().has_buffered(channel) and len(channel.body) < 4_096


class ServesWhenTold(SmallServer):
    """A server that looks at its line only when something says that memory came back."""

    came_back = False

    def credit(self, count: int) -> None:
        """Note that memory came back."""
        self.came_back = True
        super().credit(count)

    def recover(self) -> None:
        """Look at the line, if memory came back."""
        if self.came_back:
            self.came_back = False
            super().recover()


@breaks(
    "MUTING-RECOVER",
    "MUTING-CLOSE",
    "MUTING-END-WHILE-WAITING",
    report="go#37852, embassy#6964",
    kind=Kind.ORDER,
)
class NextIsNotServed(ServesWhenTold):
    """The head of the line leaves, and whoever stands behind it waits until memory comes back."""

    def leave(self, channel: Channel) -> None:
        channel.waits = False
        if channel in self.line:
            self.line.remove(channel)
            self.end_wait()


@breaks(
    "MUTING-CLOSE",
    "MUTING-RECOVER",
    "MUTING-END-MID-REQUEST",
    report="asyncio#270",
    kind=Kind.ORDER,
)
class WokenThenGone(ServesWhenTold):
    """A channel that waited and was granted memory is closed, and nobody wakes the next one."""

    def grant(self, channel: Channel, size: int) -> None:
        if channel.waits:
            self.have_waited.add(channel)
        super().grant(channel, size)

    def give_back(self, channel: Channel) -> None:
        if channel in self.have_waited and channel.memory:
            self.available += channel.memory
            channel.memory = None
        super().give_back(channel)

    @cached_property
    def have_waited(self) -> set[Channel]:
        return set()


@breaks("MUTING-RECOVER", report="marusama#4", kind=Kind.ORDER)
class WokenOnlyFromNothing(SmallServer):
    """Memory that comes back wakes the waiting channels only if there was none before."""

    was_dry = False

    def credit(self, count: int) -> None:
        self.was_dry = self.was_dry or self.available <= 0
        super().credit(count)

    def serve(self) -> None:
        if self.was_dry:
            self.was_dry = False
            super().serve()


@breaks(
    "MUTING-CLOSE",
    "MUTING-END-MID-REQUEST",
    "MUTING-END-WHILE-WAITING",
    report="cats-effect#403",
    kind=Kind.ORDER,
).by(SmallServer.leave)
def part_is_lost(self: SmallServer, channel: Channel) -> None:
    """A waiting channel takes the memory that is free, and loses this part when closed."""
    if channel in self.line:
        self.debit(max(0, min(self.available, channel.missing)))
    SmallServer.leave(self, channel)


@breaks(
    "MUTING-CLOSE",
    "MUTING-END-MID-REQUEST",
    "MUTING-SLOW-SENDER",
    "MUTING-IDLE",
    report="asyncpg#467",
    kind=Kind.ORDER,
)
class GrantedThenGone(SmallServer):
    """Memory that was granted after a wait is lost if the connection ends before it is used."""

    def grant(self, channel: Channel, size: int) -> None:
        if channel.waits:
            self.have_waited.add(channel)
        super().grant(channel, size)

    def give_back(self, channel: Channel) -> None:
        if channel in self.have_waited and not channel.body:
            channel.memory = None
        super().give_back(channel)

    @cached_property
    def have_waited(self) -> set[Channel]:
        return set()


@breaks("MUTING-BUFFERED", "MUTING-ORDER", report="bun#28657", kind=Kind.ORDER).by(
    SmallServer.receive
)
def drops_behind_an_empty_request(self: SmallServer, channel: Channel, size: int) -> None:
    """Bytes that lie decrypted behind a request without a body are dropped."""
    SmallServer.receive(self, channel, size)
    if self.tls and not size:
        channel.taken = b""
        channel.wire.clear()


@breaks(
    "MUTING-ONE-AT-A-TIME",
    "MUTING-ORDER",
    "MUTING-EMPTY",
    "MUTING-HALF-CLOSE",
    "MUTING-READ-AFTER-GRANT",
    report="raven#566, cpp-httplib#1271",
    kind=Kind.ORDER,
).by(SmallServer.receive)
def drops_what_came_along(self: SmallServer, channel: Channel, size: int) -> None:
    """Bytes that have come together with the end of a request are dropped."""
    SmallServer.receive(self, channel, size)
    if not self.tls:
        channel.wire.clear()


@breaks(
    "MUTING-IDLE-RETURNS",
    "MUTING-IDLE",
    "MUTING-CONSERVATION",
    report="rust-mssql#151",
    kind=Kind.HISTORIES,
).by(SmallServer.expire)
def reaper_credits_again(self: SmallServer) -> None:
    """An idle connection that is closed gives back what its last request has given back."""
    for channel in self.channels:
        handled = channel.handled
        if channel.is_open and self.is_idle(channel) and handled and handled.is_released:
            self.credit(handled.memory)
    SmallServer.expire(self)


@breaks("MUTING-DEPLETED", report="rabbitmq#379", kind=Kind.ORDER)
class OneBitForSeveral(SmallServer):
    """A single bit stands for all waiting channels, and the first grant clears the bit."""

    bit = False

    def refuse(self, channel: Channel) -> None:
        super().refuse(channel)
        if not self.bit:
            self.bit, self.waits_since_ms = True, self.now_ms

    def end_wait(self) -> None:
        if self.bit:
            self.waited_ms += self.now_ms - self.waits_since_ms
            self.bit = False

    def depleted_ms(self) -> int:
        return self.waited_ms + (self.now_ms - self.waits_since_ms if self.bit else 0)


@breaks("MUTING-THROTTLE", report="envoy#13772", kind=Kind.ORDER)
class EdgeIsLost(SmallServer):
    """Bytes that come while a channel is throttled are noticed only when more come."""

    def attend(self, channel: Channel) -> None:
        if channel.is_throttled:
            self.unnoticed[channel] = channel.unread
        super().attend(channel)

    def is_ready(self, channel: Channel) -> bool:
        is_lost = channel.unread and self.unnoticed.get(channel) == channel.unread
        return super().is_ready(channel) and not is_lost

    @cached_property
    def unnoticed(self) -> dict[Channel, int]:
        return {}


@breaks("MUTING-HALF-CLOSE", "MUTING-THROTTLE", report="asyncio#488", kind=Kind.ORDER).by(
    SmallServer.throttle
)
def throttle_after_the_end(self: SmallServer, channel: Channel) -> None:
    """A server that throttles a channel whose client has ended raises an error."""
    if channel.ending:
        raise LookupError(channel.name)
    SmallServer.throttle(self, channel)


@breaks("MUTING-THROTTLE", "MUTING-CLOSE", report="envoy#3639", kind=Kind.HISTORIES).by(
    SmallServer.unthrottle
)
def resumed_after_the_end(self: SmallServer, channel: Channel) -> None:
    """The end of a throttle raises an error where the channel has been closed meanwhile."""
    if not channel.is_open:
        raise LookupError(channel.name)
    SmallServer.unthrottle(self, channel)


@breaks("MUTING-THROTTLE", report="cpython#89322", kind=Kind.ORDER).by(SmallServer.is_muted)
def decrypted_bytes_are_read(self: SmallServer, channel: Channel) -> bool:
    """A throttled channel is read on while bytes of it lie decrypted."""
    return channel.waits or channel.is_ordered or (channel.is_throttled and not channel.taken)


@breaks(
    "MUTING-THROTTLE",
    "MUTING-HALF-CLOSE",
    "MUTING-BUFFERED",
    "MUTING-ORDER",
    report="uvloop#661",
    kind=Kind.ORDER,
).by(SmallServer.unthrottle)
def end_drops_what_lies_decrypted(self: SmallServer, channel: Channel) -> None:
    """Decrypted bytes are dropped as a throttle ends, where the client has ended meanwhile."""
    if channel.ending:
        channel.taken = b""
    SmallServer.unthrottle(self, channel)


@breaks("MUTING-BUFFERED", "MUTING-THROTTLE", "MUTING-ORDER", report="netty#12445", kind=Kind.ORDER)
class DeafAfterAResume(SmallServer):
    """A throttle that ends while bytes lie decrypted leaves the channel deaf to those behind."""

    def unthrottle(self, channel: Channel) -> None:
        super().unthrottle(channel)
        if self.tls and (channel.taken or channel.wire):
            channel.taken += b"".join(channel.wire)
            channel.wire.clear()
            self.deaf.add(channel)

    def next_record(self, channel: Channel) -> bytes | None:
        return None if channel in self.deaf else super().next_record(channel)

    @cached_property
    def deaf(self) -> set[Channel]:
        return set()


@breaks("MUTING-BUFFERED", "MUTING-ORDER", report="reactor-netty#4347", kind=Kind.ORDER).by(
    SmallServer.respond
)
def forgets_a_part(self: SmallServer, channel: Channel) -> None:
    """A request that lies decrypted in part when a response is written is forgotten."""
    SmallServer.respond(self, channel)
    lying = channel.taken
    if self.tls and len(lying) < SIZE_BYTES + int.from_bytes(lying[:SIZE_BYTES], "big"):
        channel.taken = b""


# Ends and idle time


@breaks(
    "MUTING-CLOSE", "MUTING-SLOW-SENDER", "MUTING-IDLE", report="netty#7040", kind=Kind.HISTORIES
).by(SmallServer.close)
def close_refunds_nothing(self: SmallServer, channel: Channel) -> None:
    """A server that closes a connection by itself does not give back what that holds."""
    if not channel.ending:
        channel.memory = None
    SmallServer.close(self, channel)


@breaks("MUTING-END-MID-REQUEST", report="pekko-http#1259", kind=Kind.HISTORIES).by(SmallServer.end)
def reset_refunds_nothing(self: SmallServer, channel: Channel) -> None:
    """A reset connection keeps the memory of its request."""
    if channel.ending is Ending.RESET:
        channel.memory = None
    SmallServer.end(self, channel)


@breaks("MUTING-END-WHILE-HANDLED", report="h2#183", kind=Kind.HISTORIES).by(SmallServer.release)
def release_after_the_end(self: SmallServer, request: Request) -> None:
    """The memory of a request whose connection has ended never comes back."""
    if request.channel.is_open:
        SmallServer.release(self, request)


@breaks(
    "MUTING-CLOSE",
    "MUTING-END-WHILE-WAITING",
    "MUTING-CONSERVATION",
    report="airbyte#74898",
    kind=Kind.HISTORIES,
).by(SmallServer.leave)
def frees_what_was_refused(self: SmallServer, channel: Channel) -> None:
    """The close of a waiting connection credits memory that the pool never granted."""
    refused = channel.missing if channel in self.line else 0
    SmallServer.leave(self, channel)
    self.credit(refused)


@breaks("MUTING-IDLE", report="netty#5817", kind=Kind.HISTORIES).by(SmallServer.expire)
def every_poll_is_a_read(self: SmallServer) -> None:
    """A poll that has read nothing of a channel begins its idle time anew."""
    for channel in self.channels:
        if channel.is_open and not self.is_muted(channel):
            self.is_active(channel)
    SmallServer.expire(self)


@breaks("MUTING-THROTTLE", report="cpython#103607", kind=Kind.ORDER).by(SmallServer.throttle)
def throttled_before_it_began(self: SmallServer, channel: Channel) -> None:
    """A channel is throttled only once a request of it was received."""
    if channel.handled is not None:
        SmallServer.throttle(self, channel)


@breaks("MUTING-THROTTLE", report="swoole#6220", kind=Kind.ORDER).by(SmallServer.grant)
def grant_ends_throttling(self: SmallServer, channel: Channel, size: int) -> None:
    """A channel that was throttled as it waited is read on as soon as it has its memory."""
    SmallServer.grant(self, channel, size)
    channel.is_throttled = False


@breaks("MUTING-THROTTLE", report="bun#35108", kind=Kind.ORDER)
class WelcomeEndsThrottling(SmallServer):
    """The handler of a new connection runs in the first poll, and ends throttling."""

    def attend(self, channel: Channel) -> None:
        if channel not in self.welcomed:
            self.welcomed.add(channel)
            channel.is_throttled = False
        super().attend(channel)

    @cached_property
    def welcomed(self) -> set[Channel]:
        return set()
