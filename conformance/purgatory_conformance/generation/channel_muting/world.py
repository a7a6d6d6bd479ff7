"""A generator's knowledge of a server: the model's state, if all goes by the rules.

Where several channels want the same memory the world follows one of the right ends. What the
subject does may be another: what is asked afterwards is then about requests that it has not
received, which the judge knows, and the case goes on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

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
)

MOST_CHANNELS = 5
"""How many connections are open at once."""

MOST_COMING = 3
"""How many requests a client sends ahead."""

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

    def __post_init__(self) -> None:
        """Begin without any connection."""
        self.model = ChannelMutingModel(self.configuration, self.profile)
        self.state = self.model.initial()

    def apply(self, operation: op.Operation) -> None:
        """Follow an operation, taking the first of the ways in which it may go."""
        _, self.state = next(iter(self.model.successors(self.state, operation)))

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
        if not coming.is_announced:
            return True
        return 0 <= coming.size_bytes <= self.most and not coming.is_whole

    @property
    def throttleable(self) -> list[str]:
        """Return the channels that a subject of this profile can be asked to throttle."""
        if self.has(ChannelMutingFeature.THROTTLE_ANYTIME):
            names = sorted(n for n, channel in self.state.channels.items() if channel.is_open)
        else:
            names = self.ordered
        return [name for name in names if not self.state.channels[name].is_throttled]

    def can_be_asked(self, operation: op.Operation) -> bool:
        """Decide whether a subject of this profile can be asked the operation now."""
        match operation:
            case op.Connect(name):
                return name not in self.state.channels
            case op.Announce(name, size_bytes, sent_bytes):
                channel = self._client(name)
                return channel is not None and self._may_announce(channel, size_bytes, sent_bytes)
            case op.Send(name, sent_bytes):
                channel = self._client(name)
                return channel is not None and self._may_send(channel, sent_bytes)
            case op.Release(request, form):
                return form is op.ReleaseForm.ITSELF and self._may_release(request)
            case op.PollWhile(request):
                return self.has(ChannelMutingFeature.POLL_WHILE) and self._may_release(request)
            case op.PollBeside(name):
                can_flood = self.has(ChannelMutingFeature.POLL_BESIDE) and self.configuration.tls
                return can_flood and name in self.idle
            case op.Respond(name):
                return name in self.ordered and self._may_respond(name)
            case op.Throttle(name):
                return self.has(ChannelMutingFeature.THROTTLE) and name in self.throttleable
            case op.Unthrottle(name):
                channel = self.state.channels.get(name)
                return channel is not None and channel.is_open and channel.is_throttled
            case op.Close(name):
                channel = self.state.channels.get(name)
                is_open = channel is not None and channel.is_open
                return self.has(ChannelMutingFeature.CLOSE) and is_open
            case op.HangUp(name, ending):
                return self.has(_OF_ENDING[ending]) and self._client(name) is not None
            case op.Elapse(to_ms):
                return self.has(ChannelMutingFeature.ELAPSE) and to_ms >= self.state.now_ms
            case _:
                return True

    def _client(self, name: str) -> Channel | None:
        """Return an open channel by name, whose client has not hung up."""
        return dict(self.channels()).get(name)

    def _may_announce(self, channel: Channel, size_bytes: int, sent_bytes: int) -> bool:
        """Decide whether a client may begin such a request: the previous one was sent whole."""
        coming = channel.coming
        is_free = not coming or (coming[-1].is_whole and len(coming) < MOST_COMING)
        is_legal = 0 <= size_bytes <= self.most
        return is_free and 1 <= sent_bytes <= SIZE_BYTES + (size_bytes if is_legal else 0)

    def _may_send(self, channel: Channel, sent_bytes: int) -> bool:
        """Decide whether so many bytes are left of the request that a client has begun."""
        if not channel.coming:
            return False
        last = channel.coming[-1]
        is_legal = 0 <= last.size_bytes <= self.most
        whole_bytes = SIZE_BYTES + (last.size_bytes if is_legal else 0)
        return 1 <= sent_bytes <= whole_bytes - last.sent_bytes

    def _may_release(self, request: str) -> bool:
        return request in self.state.handled

    def _may_respond(self, name: str) -> bool:
        """Decide whether a response may be written: after the release, or where both ways exist."""
        if self.has(ChannelMutingFeature.RESPOND_FIRST):
            return True
        return name not in map(channel_of, self.state.handled)


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
