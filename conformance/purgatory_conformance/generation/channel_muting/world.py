"""A generator's knowledge of a server: the model's state, if all goes by the rules.

Where several channels want the same memory the world follows one of the right ends. What the
subject does may be another: what is asked afterwards is then about requests that it has not
received, which the judge knows, and the case goes on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from purgatory_conformance.generation.source import Source
from purgatory_model.channel_muting import (
    SIZE_BYTES,
    Channel,
    ChannelMutingModel,
    ChannelMutingState,
    Coming,
    Peer,
    channel_of,
)
from purgatory_spec import operations as op
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingFeature,
    ChannelMutingProfile,
    EndWhileWaiting,
)

_MOST_BUSY = 6
"""The number of channels that a poll may find something to do for: it has any order."""

MOST_COMING = 3
"""The most requests that a client sends ahead."""

MOST_UNREAD_BYTES = 2**16 - 2**9
"""The most bytes of a client that lie unread, and so of one write, with room for TLS records.

A client is asked for no more than the server's socket takes while the server does not read. Linux
gives a socket 128 KiB by default, of which older kernels offer half to the client; a newer one
(6.18) was seen to stop at 118,926 bytes.
"""

_BOUNDARIES_BYTES = tuple(
    power + more - head
    for power in (2**8, 2**12, 2**13, 2**14, 2**15, 2**16, 2**24)
    for head in (0, SIZE_BYTES)
    for more in (0, 1, -1)
)
"""Sizes about those of pages, of records, and of integers, without and with the four bytes."""

_FEW_CHANNELS = 8
_MOST_BUSY_IN_A_CROWD = 2
"""The same where more than a few channels are open: each way of a poll takes longer."""

_OF_ENDING = {
    op.Ending.CLOSE: ChannelMutingFeature.HANG_UP,
    op.Ending.HALF_CLOSE: ChannelMutingFeature.HALF_CLOSE,
    op.Ending.RESET: ChannelMutingFeature.RESET,
}


@dataclass(slots=True)
class ChannelMutingWorld:
    """The predicted state of a server, and the names that are in play."""

    configuration: ChannelMutingConfiguration
    profile: ChannelMutingProfile
    model: ChannelMutingModel = field(init=False)
    state: ChannelMutingState = field(init=False)
    unseen: frozenset[str] = frozenset()
    """The channels whose time is over since the server's last look, and those that were broken.

    Whatever has the server's thread do something may have it close them. The broken ones do not
    count where the model lets any call of the server notice an end.
    """

    last: str = ""
    """The channel that was asked last: half of the asks go on with it."""

    def __post_init__(self) -> None:
        """Begin with a server without any connection."""
        self.model = ChannelMutingModel(self.configuration, self.profile)
        self.state = self.model.initial()

    def apply(self, operation: op.Operation) -> None:
        """Follow an operation, taking the first of the ways in which it may go."""
        self.state = self.model.expectations(self.state, operation)[0].complete(())
        match operation:
            case op.Poll() | op.PollWhile() | op.PollBeside():
                self.unseen = frozenset()
            case op.HangUp(name, op.Ending.RESET) if not self._notices_at_once:
                self.unseen |= {name}
            case op.Elapse():
                channels = self.state.channels.items()
                self.unseen |= {n for n, each in channels if each.is_open and self._is_over(each)}

    @property
    def _notices_at_once(self) -> bool:
        """Decide whether the server may notice in any call that a client has ended."""
        return self.profile.end_while_waiting is EndWhileWaiting.AT_ONCE

    def short_spans_ms(self) -> list[int]:
        """Return parts of the limit of time, or of one that others have, ms."""
        limit_ms = self.configuration.idle_limit_ms or self.configuration.receive_limit_ms or 100
        return [1, limit_ms // 3 + 1, limit_ms // 2 + 1]

    def readings_ms(self) -> list[int]:
        """Return the readings worth passing to: by parts of the limit, and when a limit ends."""
        idle_ms, slow_ms = self.configuration.idle_limit_ms, self.configuration.receive_limit_ms
        readings = {self.state.now_ms + span_ms for span_ms in self.short_spans_ms()}
        for channel in self.state.channels.values():
            if channel.is_open:
                ends = {channel.active_ms + idle_ms} if idle_ms else set()
                ends |= {channel.held_ms + slow_ms} if slow_ms and channel.holds else set()
                readings |= {end + more for end in ends for more in (-1, 0, 1)}
        return sorted(readings)

    def has(self, feature: ChannelMutingFeature) -> bool:
        """Decide whether the subject offers this."""
        return feature in self.profile.features

    def fresh_name(self) -> str:
        """Return the name of a channel that was never connected."""
        return f"c{len(self.state.channels) + 1}"

    @property
    def most(self) -> int:
        """Return the largest request, bytes."""
        return self.configuration.max_request_bytes

    def size(self, source: Source) -> int:
        """Draw the size of a request: any, the largest, what is just available, or a boundary."""
        most, available = self.most, self.state.available_bytes
        kind = source.integer(0, 3)
        if kind == 1:
            return most
        sizes = (available, available + 1, available - 1) if kind == 2 else _BOUNDARIES_BYTES
        possible = [size for size in sizes if 0 < size <= most] if kind else []
        return source.item(possible) if possible else source.integer(1, most)

    @property
    def handled(self) -> list[str]:
        """Return the requests whose memory is out, in alphabetical order."""
        return sorted(self.state.handled)

    def channels(self) -> list[tuple[str, Channel]]:
        """Return the open channels whose clients are there, by name."""
        return [
            (name, channel)
            for name, channel in sorted(self.state.channels.items())
            if channel.is_open and channel.peer is Peer.THERE
        ]

    @property
    def idle(self) -> list[str]:
        """Return channels that are not muted and have nothing to receive."""
        return [n for n, each in self.channels() if each.may_be_read and not each.coming]

    @property
    def ordered(self) -> list[str]:
        """Open channels whose last request is not answered."""
        return sorted(
            name
            for name, channel in self.state.channels.items()
            if channel.is_open and channel.is_ordered
        )

    @property
    def begun(self) -> list[tuple[str, Coming]]:
        """Return channels whose client has begun a request, with that request."""
        return [
            (name, channel.coming[-1])
            for name, channel in self.channels()
            if channel.coming and self.is_going_on(channel.coming[-1])
        ]

    def is_going_on(self, coming: Coming) -> bool:
        """Decide whether more of a request can be sent."""
        return coming.sent_bytes < self._whole_bytes(coming.size_bytes)

    @property
    def _can_be_followed(self) -> bool:
        """Decide whether few channels have something to do in the next poll, in any order.

        The order of requests does not matter where all find memory.
        """
        channels = [each for each in self.state.channels.values() if each.is_open]
        most = _MOST_BUSY if len(channels) <= _FEW_CHANNELS else _MOST_BUSY_IN_A_CROWD
        is_busy = self._may_end if self.state.has_room else self._is_busy
        return sum(map(is_busy, channels)) <= most

    def _is_busy(self, channel: Channel) -> bool:
        """Decide whether a poll may find something to do for a channel, before or after others.

        The line of those that wait is served in its order; without a line they ask in any.
        """
        if self._may_end(channel):
            return True
        if channel.waits:
            return not self.model.is_first_come and self.state.available_bytes > 0
        return channel.may_be_read and channel.has_unread

    def _may_end(self, channel: Channel) -> bool:
        """Decide whether the server may close a channel: its client has ended, or is late."""
        return channel.peer is not Peer.THERE or self._is_over(channel)

    def _is_over(self, channel: Channel) -> bool:
        """Decide whether a limit of time may be over for a channel."""
        idle_ms = self.configuration.idle_limit_ms
        slow_ms = self.configuration.receive_limit_ms
        now_ms = self.state.now_ms
        is_slow = 0 < slow_ms <= now_ms - channel.held_ms and channel.holds
        return is_slow or (0 < idle_ms <= now_ms - channel.used_ms and not channel.waits)

    def can_be_asked(self, operation: op.Operation) -> bool:
        """Decide whether a subject of this profile can be asked the operation now."""
        match operation:
            case op.Connect(name):
                return name not in self.state.channels and not self.unseen
            case op.Release(request, form):
                is_itself = form is op.ReleaseForm.ITSELF
                return is_itself and request in self.state.handled and not self.unseen
            case op.Poll():
                return self._can_be_followed
            case op.PollWhile(request):
                is_offered = self.has(ChannelMutingFeature.POLL_WHILE)
                return is_offered and request in self.state.handled and self._can_be_followed
            case op.PollBeside(name):
                can_flood = self.has(ChannelMutingFeature.POLL_BESIDE) and self.configuration.tls
                return can_flood and name in self.idle
            case op.Elapse(to_ms):
                return self.has(ChannelMutingFeature.ELAPSE) and to_ms >= self.state.now_ms
            case op.Announce(name) | op.Send(name) | op.HangUp(name):
                channel = self.state.channels.get(name)
                if channel is None or not channel.is_open or channel.peer is not Peer.THERE:
                    return False
                return self._client_may(channel, operation)
            case op.Respond(name) | op.Throttle(name) | op.Unthrottle(name) | op.Close(name):
                channel = self.state.channels.get(name)
                if channel is None or not channel.is_open:
                    return False
                return self._server_may(channel, operation)
            case _:
                return True

    def _client_may(self, channel: Channel, operation: op.Announce | op.Send | op.HangUp) -> bool:
        """Decide whether a client that is there may go on so, or end so."""
        match operation:
            case op.HangUp(_, ending):
                return self.has(_OF_ENDING[ending])
            case op.Announce(_, size_bytes, sent_bytes):
                return self._may_announce(channel, size_bytes, sent_bytes)
            case op.Send(_, sent_bytes):
                return self._may_send(channel, sent_bytes)

    def _server_may(
        self, channel: Channel, operation: op.Respond | op.Throttle | op.Unthrottle | op.Close
    ) -> bool:
        """Decide whether the server can be asked to do this with an open channel.

        A response may be written after the release, or where both ways exist. A response to a
        channel that is gone may fail.
        """
        name = operation.channel
        if not self.unseen <= ({name} if isinstance(operation, op.Respond) else set()):
            return False
        match operation:
            case op.Respond():
                has_released = name not in map(channel_of, self.state.handled)
                return has_released or self.has(ChannelMutingFeature.RESPOND_FIRST)
            case op.Throttle():
                anytime = self.has(ChannelMutingFeature.THROTTLE_ANYTIME) or channel.is_ordered
                is_free = anytime and not channel.is_throttled
                return is_free and self.has(ChannelMutingFeature.THROTTLE)
            case op.Unthrottle():
                return channel.is_throttled
            case op.Close():
                return self.has(ChannelMutingFeature.CLOSE)

    def _may_announce(self, channel: Channel, size_bytes: int, sent_bytes: int) -> bool:
        """Decide whether a client may begin such a request: the previous one was sent whole."""
        coming = channel.coming
        is_free = not coming or (not self.is_going_on(coming[-1]) and len(coming) < MOST_COMING)
        if coming and not 0 <= coming[-1].size_bytes <= self.most:
            return False
        return is_free and 1 <= sent_bytes <= min(
            self._whole_bytes(size_bytes), self._room_bytes(channel)
        )

    def _whole_bytes(self, size_bytes: int) -> int:
        """Return what a client may send of a request: of one that cannot be, the size alone."""
        return SIZE_BYTES + (size_bytes if 0 <= size_bytes <= self.most else 0)

    def _may_send(self, channel: Channel, sent_bytes: int) -> bool:
        """Decide whether so many bytes are left of the request that a client has begun."""
        if not channel.coming:
            return False
        left_bytes = (
            self._whole_bytes(channel.coming[-1].size_bytes) - channel.coming[-1].sent_bytes
        )
        return 1 <= sent_bytes <= min(left_bytes, self._room_bytes(channel))

    def _room_bytes(self, channel: Channel) -> int:
        """Return how many further bytes a client may send before more of them is read."""
        return MOST_UNREAD_BYTES - channel.unread_bytes


def is_offered(configuration: ChannelMutingConfiguration, profile: ChannelMutingProfile) -> bool:
    """Decide whether a subject of this profile offers such a server."""
    return needed(configuration) <= profile.features


def needed(configuration: ChannelMutingConfiguration) -> frozenset[ChannelMutingFeature]:
    """Return the features that declare servers of the configuration's sort."""
    return frozenset(_needed(configuration))


def _needed(configuration: ChannelMutingConfiguration) -> Iterable[ChannelMutingFeature]:
    yield ChannelMutingFeature.TLS if configuration.tls else ChannelMutingFeature.PLAIN
    yield ChannelMutingFeature.STRICT if configuration.strict else ChannelMutingFeature.NON_STRICT
    if configuration.idle_limit_ms:
        yield ChannelMutingFeature.IDLE_LIMIT
    if configuration.receive_limit_ms:
        yield ChannelMutingFeature.RECEIVE_LIMIT
