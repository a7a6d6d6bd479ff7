"""Channels that wait for memory: clients send, one network thread reads, handlers give memory back.

Theory of operation. A client *announces* a request by its size, and *sends the rest* later. The
network thread goes round: it *polls*, that is, looks at the pool; *selects* the channels that have
something to read; *reads* them one by one; and is *done*. Where a channel's request begins, the
read asks the pool for memory. If none is left the channel *waits*. A request that is there to its
end is *handled*, and the channel is muted until the *response*; the handler *releases* the memory
at any moment, also between select and read.

A channel has a set of reasons to read nothing, and is read when it is empty. A pool that is not
strict grants as long as a byte is left. With ``first_come`` a poll gives memory to those who wait,
in the order of their refusals, and a newcomer stands behind them. Without, a poll lets all of them
ask again, and whoever is read first has the memory.

TLS takes more from the socket than the four bytes of size, before anybody knows whether there is
memory: what came with a size that is refused is *buffered*, and no socket will tell of it.

A client has sent one request at the most that is not received.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from purgatory_model.overlapping.interleaving import Step


class Sent(Enum):
    """What there is to read of a channel."""

    NOTHING = "nothing"
    HEADER = "header"
    WHOLE = "whole"


class Receive(Enum):
    """How far the request has come that a channel receives."""

    NONE = "none"
    WAITS = "waits"
    HOLDS = "holds"


class Mute(Enum):
    """A reason to read nothing of a channel."""

    MEMORY = "memory"
    ORDER = "order"


class Phase(Enum):
    """What the network thread does next."""

    POLL = "poll"
    SELECT = "select"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Channel:
    """A connection: its client, its present request, and the reasons to read nothing.

    Attributes:
        left: How many requests its client has still to send.
        sent: The bytes that the socket has.
        receive: How far the present request has come.
        muted: The reasons to read nothing.
        is_buffered: Whether TLS has taken what there is to read.
        is_handled: Whether a handler has its last request, with the memory.
        is_selected: Whether select has found it and it has not been read since.
    """

    left: int
    sent: Sent = Sent.NOTHING
    receive: Receive = Receive.NONE
    muted: frozenset[Mute] = frozenset()
    is_buffered: bool = False
    is_handled: bool = False
    is_selected: bool = False

    @property
    def has_bytes(self) -> bool:
        """Whether the receive can take bytes."""
        if self.sent is Sent.HEADER:
            return self.receive is Receive.NONE
        return self.sent is Sent.WHOLE

    def with_mute(self, reason: Mute) -> "Channel":
        """Muted for this reason, too."""
        return replace(self, muted=self.muted | {reason})

    def without_mute(self, reason: Mute) -> "Channel":
        """Not muted for this reason."""
        return replace(self, muted=self.muted - {reason})


@dataclass(frozen=True, slots=True)
class MutingState:
    """The channels by number, the pool, the line of those who wait, and the thread's place."""

    channels: tuple[Channel, ...]
    available_bytes: int
    line: tuple[int, ...] = ()
    phase: Phase = Phase.POLL

    def channel(self, number: int) -> Channel:
        """The channel of this number, from 1."""
        return self.channels[number - 1]

    def with_channel(self, number: int, changed: Channel) -> "MutingState":
        """This state with a channel changed."""
        before, after = self.channels[: number - 1], self.channels[number:]
        return replace(self, channels=(*before, changed, *after))

    @property
    def numbered(self) -> Iterator[tuple[int, Channel]]:
        """The channels with their numbers."""
        return enumerate(self.channels, start=1)

    @property
    def outstanding(self) -> int:
        """How many requests have memory, being received or handled."""
        return sum((each.receive is Receive.HOLDS) + each.is_handled for each in self.channels)


VARIANTS: Mapping[str, str] = {
    "reads-buffered": "buffered bytes are read though the channel waits for memory",
    "unmutes-unfilled": "memory that comes back un-mutes only channels that have none",
    "mutes-holders": "a refusal mutes channels that have memory, too",
    "forgets-buffered": "only the socket says what there is to read",
    "never-unmutes": "memory that comes back un-mutes nobody",
    "forgets-order": "memory that comes back ends every mute",
    "credits-twice": "a release is credited a second time",
}
"""Faults that may be followed; the first two together are what released Kafka does under TLS."""

MutingSteps = Iterator[tuple[Step, MutingState]]


@dataclass(frozen=True, slots=True)
class ChannelMuting:
    """Channels, a network thread, handlers and a pool.

    Attributes:
        channels: How many channels there are.
        pool_bytes: What the pool has.
        request_bytes: What each request takes, at most what the pool has.
        requests: How many requests each client sends.
        tls: Whether bytes that come with a refused size are taken from the socket.
        first_come: Whether memory that comes back is given in the order of refusals.
        variants: Faults that are followed, see ``VARIANTS``.
    """

    channels: int = 2
    pool_bytes: int = 2
    request_bytes: int = 2
    requests: int = 2
    tls: bool = False
    first_come: bool = True
    variants: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Reject a variant that there is not, and requests that can never be received."""
        unknown = self.variants - VARIANTS.keys()
        if unknown:
            raise ValueError(f"there is no variant {min(unknown)!r}")
        if not 1 <= self.request_bytes <= self.pool_bytes:
            raise ValueError(
                f"a request has {self.request_bytes} bytes; it must be 1 to {self.pool_bytes}"
            )

    def initial(self) -> MutingState:
        """Nothing is sent, and all memory is there."""
        return MutingState((Channel(self.requests),) * self.channels, self.pool_bytes)

    def steps(self, state: MutingState) -> MutingSteps:
        """The labelled steps that leave a state."""
        yield from self._clients(state)
        match state.phase:
            case Phase.POLL:
                yield Step("Poll"), self._poll(state)
            case Phase.SELECT:
                yield Step("Select"), self._select(state)
            case Phase.READ:
                yield from self._reads(state)
        yield from self._handlers(state)

    def _clients(self, state: MutingState) -> MutingSteps:
        """A client announces a request, or sends the rest of it."""
        for number, channel in state.numbered:
            if channel.sent is Sent.NOTHING and channel.left:
                announced = replace(channel, sent=Sent.HEADER, left=channel.left - 1)
                yield Step("Announce", (number,)), state.with_channel(number, announced)
            if channel.sent is Sent.HEADER:
                whole = replace(channel, sent=Sent.WHOLE)
                yield Step("SendRest", (number,)), state.with_channel(number, whole)

    def _poll(self, state: MutingState) -> MutingState:
        """Look at the pool: who waits gets memory, or may ask again."""
        polled = replace(state, phase=Phase.SELECT)
        if "never-unmutes" in self.variants:
            return polled
        if self.first_come:
            return self._given_to_the_first(polled)
        if state.available_bytes < 1:
            return polled
        return replace(polled, channels=tuple(map(self._let_on, state.channels)))

    def _given_to_the_first(self, state: MutingState) -> MutingState:
        """Memory goes to the head of the line, as long as there is some."""
        while state.line and state.available_bytes >= 1:
            first, *others = state.line
            given = replace(state.channel(first), receive=Receive.HOLDS).without_mute(Mute.MEMORY)
            state = replace(
                state.with_channel(first, given),
                line=tuple(others),
                available_bytes=state.available_bytes - self.request_bytes,
            )
        return state

    def _let_on(self, channel: Channel) -> Channel:
        """There is memory: a channel that waits for some is read again."""
        if "forgets-order" in self.variants:
            return replace(channel, muted=frozenset())
        if "unmutes-unfilled" in self.variants and channel.receive is Receive.HOLDS:
            return channel
        return channel.without_mute(Mute.MEMORY)

    def _select(self, state: MutingState) -> MutingState:
        """Find the channels that there is something to read of, and no reason against it."""
        found = tuple(
            replace(channel, is_selected=self._is_found(channel)) for channel in state.channels
        )
        return replace(state, channels=found, phase=Phase.READ)

    def _is_found(self, channel: Channel) -> bool:
        if not channel.has_bytes:
            return False
        if "reads-buffered" in self.variants and channel.is_buffered:
            return Mute.ORDER not in channel.muted
        is_silent = "forgets-buffered" in self.variants and channel.is_buffered
        return not channel.muted and not is_silent

    def _reads(self, state: MutingState) -> MutingSteps:
        """Read one of the channels that were found; when there is none, the round is over."""
        selected = [number for number, channel in state.numbered if channel.is_selected]
        for number in selected:
            yield Step("Read", (number,)), self._read(state, number)
        if not selected:
            yield Step("Done"), replace(state, phase=Phase.POLL)

    def _read(self, state: MutingState, number: int) -> MutingState:
        channel = replace(state.channel(number), is_selected=False)
        if channel.receive is Receive.HOLDS:
            return state.with_channel(number, _received(channel))
        if state.available_bytes < 1 or (self.first_come and state.line):
            return self._refused(state, number, channel)
        return self._granted(state, number, channel)

    def _granted(self, state: MutingState, number: int, channel: Channel) -> MutingState:
        """Memory is granted, and the bytes of the body go into the buffer.

        Of a channel that is muted only what TLS has taken does; the rest is in the socket.
        """
        left = replace(state, available_bytes=state.available_bytes - self.request_bytes)
        if channel.sent is Sent.WHOLE and Mute.MEMORY not in channel.muted:
            return left.with_channel(number, _received(channel))
        holds = replace(channel, receive=Receive.HOLDS, is_buffered=False)
        return left.with_channel(number, holds)

    def _refused(self, state: MutingState, number: int, channel: Channel) -> MutingState:
        """Memory is refused: the channel waits, and bytes in the TLS buffers stay there."""
        waits = replace(
            channel,
            receive=Receive.WAITS,
            is_buffered=channel.is_buffered or (self.tls and channel.sent is Sent.WHOLE),
        ).with_mute(Mute.MEMORY)
        after = state.with_channel(number, waits)
        if self.first_come:
            after = replace(after, line=(*state.line, number))
        if "mutes-holders" in self.variants:
            muted = tuple(
                each.with_mute(Mute.MEMORY) if each.receive is Receive.HOLDS else each
                for each in after.channels
            )
            after = replace(after, channels=muted)
        return after

    def _handlers(self, state: MutingState) -> MutingSteps:
        """A handler gives memory back at any time; a response is complete between two rounds."""
        back = self.request_bytes * (2 if "credits-twice" in self.variants else 1)
        for number, channel in state.numbered:
            if channel.is_handled:
                after = state.with_channel(number, replace(channel, is_handled=False))
                more = replace(after, available_bytes=state.available_bytes + back)
                yield Step("Release", (number,)), more
            elif Mute.ORDER in channel.muted and state.phase is Phase.POLL:
                answered = channel.without_mute(Mute.ORDER)
                yield Step("Respond", (number,)), state.with_channel(number, answered)


def _received(channel: Channel) -> Channel:
    """The request is whole: a handler has it, and nothing is read until the response."""
    return replace(
        channel,
        sent=Sent.NOTHING,
        receive=Receive.NONE,
        is_buffered=False,
        is_handled=True,
    ).with_mute(Mute.ORDER)
