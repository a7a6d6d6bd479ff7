"""Channels that wait for memory: clients send, network threads read, handlers give memory back.

Theory of operation. A client *announces* a request by its size, and *sends the rest* later. A
network thread has its own channels and goes round: it *polls*, that is, looks at the pool;
*selects* the channels that have something to read; *reads* them one by one; and is *done*. Where a
channel's request begins, the read asks the pool for memory. If none is left the channel *waits*. A
request that is there to its end is *handled*, and the channel is muted until the *response*; the
handler *releases* the memory at any moment, also between select and read.

A channel has a set of reasons to read nothing, and is read when it is empty. A pool that is not
strict grants as long as a byte is left. With ``first_come`` a poll gives memory to those who wait,
in the order of their refusals, and a newcomer stands behind them; there is one line for all
threads, and each thread gives to its own channels. Without, a poll lets all of them ask again, and
whoever is read first has the memory.

A thread that ``sleeps`` stays in select until there is something to read or to send, or somebody
wakes it. A release wakes whoever the memory is for: the thread of the channel that is next, or
every thread that has waiting channels.

TLS takes more from the socket than the four bytes of size, before anybody knows whether there is
memory: what came with a size that is refused is *buffered*, and no socket will tell of it.

A client has sent one request at the most that is not received.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from purgatory_model.overlapping.interleaving import Step


class Sent(Enum):
    """The unread part of a channel's request."""

    NOTHING = "nothing"
    HEADER = "header"
    WHOLE = "whole"


class Receive(Enum):
    """The progress of the request that a channel receives."""

    NONE = "none"
    WAITS = "waits"
    HOLDS = "holds"


class Mute(Enum):
    """A reason to read nothing of a channel."""

    MEMORY = "memory"
    ORDER = "order"


class Phase(Enum):
    """The next action of the network thread."""

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
        is_looked_for: Whether its thread has seen memory for it, and has not yet taken it.
    """

    left: int
    sent: Sent = Sent.NOTHING
    receive: Receive = Receive.NONE
    muted: frozenset[Mute] = frozenset()
    is_buffered: bool = False
    is_handled: bool = False
    is_selected: bool = False
    is_looked_for: bool = False

    @property
    def is_answering(self) -> bool:
        """Decide whether the channel's handler has ended, and its response waits to be sent."""
        return Mute.ORDER in self.muted and not self.is_handled

    @property
    def has_bytes(self) -> bool:
        """Decide whether the receive can take bytes."""
        if self.sent is Sent.HEADER:
            return self.receive is Receive.NONE
        return self.sent is Sent.WHOLE

    def with_mute(self, reason: Mute) -> "Channel":
        """Return the channel muted for this reason, too."""
        return replace(self, muted=self.muted | {reason})

    def without_mute(self, reason: Mute) -> "Channel":
        """Return the channel not muted for this reason."""
        return replace(self, muted=self.muted - {reason})


@dataclass(frozen=True, slots=True)
class MutingState:
    """The channels by number, the pool, the line of those who wait, and where each thread is.

    ``woken`` are the threads whose present or next select does not sleep.
    """

    channels: tuple[Channel, ...]
    available_bytes: int
    line: tuple[int, ...] = ()
    phases: tuple[Phase, ...] = (Phase.POLL,)
    woken: frozenset[int] = frozenset()

    def channel(self, number: int) -> Channel:
        """Return the channel of this number, from 1."""
        return self.channels[number - 1]

    def with_channel(self, number: int, changed: Channel) -> "MutingState":
        """Return this state with a channel changed."""
        before, after = self.channels[: number - 1], self.channels[number:]
        return replace(self, channels=(*before, changed, *after))

    def phase(self, thread: int) -> Phase:
        """Return the next action of the thread of this number, from 1."""
        return self.phases[thread - 1]

    def with_phase(self, thread: int, phase: Phase) -> "MutingState":
        """Return this state with a thread moved."""
        before, after = self.phases[: thread - 1], self.phases[thread:]
        return replace(self, phases=(*before, phase, *after))

    @property
    def numbered(self) -> Iterator[tuple[int, Channel]]:
        """Yield the channels with their numbers."""
        return enumerate(self.channels, start=1)

    @property
    def outstanding(self) -> int:
        """Return the number of requests with memory, being received or handled."""
        return sum((each.receive is Receive.HOLDS) + each.is_handled for each in self.channels)


VARIANTS: Mapping[str, str] = {
    "reads-buffered": "buffered bytes are read though the channel waits for memory",
    "unmutes-unfilled": "memory that comes back un-mutes only channels that have none",
    "mutes-holders": "a refusal mutes channels that have memory, too",
    "forgets-buffered": "only the socket says what there is to read",
    "never-unmutes": "memory that comes back un-mutes nobody",
    "forgets-order": "memory that comes back ends every mute",
    "credits-twice": "a release is credited a second time",
    "looks-then-takes": "a thread looks whether there is memory, and takes it in a later step",
    "wakes-nobody": "a release wakes no thread",
}
"""Faults that may be followed; the first two together are what released Kafka does under TLS."""

MutingSteps = Iterator[tuple[Step, MutingState]]
MutingChannels = Iterator[tuple[int, Channel]]


@dataclass(frozen=True, slots=True)
class ChannelMuting:
    """Channels, network threads, handlers and a pool.

    Attributes:
        channels: How many channels there are.
        threads: How many network threads; the channels are dealt out to them in turn.
        pool_bytes: What the pool has.
        request_bytes: What each request takes, at most what the pool has.
        requests: How many requests each client sends.
        tls: Whether bytes that come with a refused size are taken from the socket.
        first_come: Whether memory that comes back is given in the order of refusals.
        sleeps: Whether select waits without a time-out.
        variants: Faults that are followed, see ``VARIANTS``.
    """

    channels: int = 2
    threads: int = 1
    pool_bytes: int = 2
    request_bytes: int = 2
    requests: int = 2
    tls: bool = False
    first_come: bool = True
    sleeps: bool = False
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
        if not 1 <= self.threads <= self.channels:
            raise ValueError(f"threads are {self.threads}; they must be 1 to {self.channels}")

    def initial(self) -> MutingState:
        """Return the state before any request, with all memory available."""
        return MutingState(
            (Channel(self.requests),) * self.channels,
            self.pool_bytes,
            phases=(Phase.POLL,) * self.threads,
        )

    @property
    def thread_numbers(self) -> range:
        """Return the numbers of the threads, from 1."""
        return range(1, self.threads + 1)

    def thread_of(self, number: int) -> int:
        """Return the thread that reads a channel."""
        return 1 + (number - 1) % self.threads

    def steps(self, state: MutingState) -> MutingSteps:
        """Yield the labelled steps that leave a state."""
        yield from self._clients(state)
        for thread in self.thread_numbers:
            yield from self.thread_steps(state, thread)
        yield from self._handlers(state)

    def thread_steps(self, state: MutingState, thread: int) -> MutingSteps:
        """Yield the next steps of a network thread; none while it sleeps."""
        match state.phase(thread):
            case Phase.POLL:
                yield Step("Poll", (thread,)), self._poll(state, thread)
            case Phase.SELECT:
                if not self.is_asleep(state, thread):
                    yield Step("Select", (thread,)), self._select(state, thread)
            case Phase.READ:
                yield from self._reads(state, thread)

    def own(self, state: MutingState, thread: int) -> MutingChannels:
        """Return the channels of a thread, with their numbers."""
        return ((each, it) for each, it in state.numbered if self.thread_of(each) == thread)

    def is_asleep(self, state: MutingState, thread: int) -> bool:
        """Decide whether select finds nothing to read, nothing to send, and no wake-up.

        Rules: MUTING-NO-TIGHT-LOOP.
        """
        return (
            self.sleeps
            and state.phase(thread) is Phase.SELECT
            and thread not in state.woken
            and not any(
                self._is_found(channel) or channel.is_answering
                for _, channel in self.own(state, thread)
            )
        )

    def meant_for(self, state: MutingState) -> frozenset[int]:
        """Return the threads for whose channels there is memory."""
        if state.available_bytes < 1:
            return frozenset()
        if self.first_come:
            return frozenset(map(self.thread_of, state.line[:1]))
        return frozenset(
            self.thread_of(number)
            for number, channel in state.numbered
            if Mute.MEMORY in channel.muted
        )

    def _clients(self, state: MutingState) -> MutingSteps:
        """Yield the steps of clients that announce a request, or send the rest of it."""
        for number, channel in state.numbered:
            if channel.sent is Sent.NOTHING and channel.left:
                announced = replace(channel, sent=Sent.HEADER, left=channel.left - 1)
                yield Step("Announce", (number,)), state.with_channel(number, announced)
            if channel.sent is Sent.HEADER:
                whole = replace(channel, sent=Sent.WHOLE)
                yield Step("SendRest", (number,)), state.with_channel(number, whole)

    def _poll(self, state: MutingState, thread: int) -> MutingState:
        """Look at the pool: who waits gets memory, or may ask again.

        Rules: MUTING-RECOVER, MUTING-FIRST-COME, MUTING-TWO-REASONS.
        """
        polled = state.with_phase(thread, Phase.SELECT)
        if "never-unmutes" in self.variants:
            return polled
        if self.first_come:
            return self._woken(self._given_to_the_first(polled, thread))
        if state.available_bytes < 1:
            return polled
        for number, channel in self.own(state, thread):
            polled = polled.with_channel(number, self._let_on(channel))
        return polled

    def _woken(self, state: MutingState) -> MutingState:
        """Wake the threads for which there is memory.

        Rules: MUTING-WAKE.
        """
        if not self.sleeps or "wakes-nobody" in self.variants:
            return state
        return replace(state, woken=state.woken | self.meant_for(state))

    def _given_to_the_first(self, state: MutingState, thread: int) -> MutingState:
        """Return the state after a thread has given memory to its channels at the line's head.

        Where the next channel is another thread's, that thread gives to it.
        """
        while self.meant_for(state) == {thread}:
            first, *others = state.line
            given = replace(state.channel(first), receive=Receive.HOLDS).without_mute(Mute.MEMORY)
            state = replace(
                state.with_channel(first, given),
                line=tuple(others),
                available_bytes=state.available_bytes - self.request_bytes,
            )
        return state

    def _let_on(self, channel: Channel) -> Channel:
        """Return a waiting channel that is read again, since there is memory."""
        if "forgets-order" in self.variants:
            return replace(channel, muted=frozenset())
        if "unmutes-unfilled" in self.variants and channel.receive is Receive.HOLDS:
            return channel
        return channel.without_mute(Mute.MEMORY)

    def _select(self, state: MutingState, thread: int) -> MutingState:
        """Find the channels that there is something to read of, and no reason against it."""
        selected = state.with_phase(thread, Phase.READ)
        for number, channel in self.own(state, thread):
            found = replace(channel, is_selected=self._is_found(channel))
            selected = selected.with_channel(number, found)
        return replace(selected, woken=state.woken - {thread})

    def _is_found(self, channel: Channel) -> bool:
        if not channel.has_bytes:
            return False
        if "reads-buffered" in self.variants and channel.is_buffered:
            return Mute.ORDER not in channel.muted
        is_silent = "forgets-buffered" in self.variants and channel.is_buffered
        return not channel.muted and not is_silent

    def _reads(self, state: MutingState, thread: int) -> MutingSteps:
        """Read one of the channels that were found; when there is none, the round is over.

        Rules: MUTING-FAIR-CHOICE, MUTING-SERVED.
        """
        selected = [(each, it) for each, it in self.own(state, thread) if it.is_selected]
        looked_for = [each for each, channel in selected if channel.is_looked_for]
        for number in looked_for:
            yield Step("Take", (number,)), self._taken(state, number)
        if looked_for:
            return
        for number, channel in selected:
            if "looks-then-takes" in self.variants and self._may_have(state, channel):
                looked = replace(channel, is_looked_for=True)
                yield Step("Look", (number,)), state.with_channel(number, looked)
            else:
                yield Step("Read", (number,)), self._read(state, number)
        if not selected:
            yield Step("Done", (thread,)), state.with_phase(thread, Phase.POLL)

    def _may_have(self, state: MutingState, channel: Channel) -> bool:
        """Decide whether there is memory for a channel that has none, and no channel before it."""
        if channel.receive is Receive.HOLDS or (self.first_come and state.line):
            return False
        return state.available_bytes >= 1

    def _read(self, state: MutingState, number: int) -> MutingState:
        channel = replace(state.channel(number), is_selected=False)
        if channel.receive is Receive.HOLDS:
            return state.with_channel(number, _received(channel))
        if self._may_have(state, channel):
            return self._granted(state, number, channel)
        return self._refused(state, number, channel)

    def _taken(self, state: MutingState, number: int) -> MutingState:
        """Return the state after seen memory is taken, without another look."""
        channel = replace(state.channel(number), is_selected=False, is_looked_for=False)
        return self._granted(state, number, channel)

    def _granted(self, state: MutingState, number: int, channel: Channel) -> MutingState:
        """Return the state after a grant: bytes of the body go into the buffer.

        Of a channel that is muted only what TLS has taken does; the rest is in the socket.
        """
        left = replace(state, available_bytes=state.available_bytes - self.request_bytes)
        if channel.sent is Sent.WHOLE and Mute.MEMORY not in channel.muted:
            return left.with_channel(number, _received(channel))
        holds = replace(channel, receive=Receive.HOLDS, is_buffered=False)
        return left.with_channel(number, holds)

    def _refused(self, state: MutingState, number: int, channel: Channel) -> MutingState:
        """Return the state after a refusal: the channel waits, and bytes stay in TLS buffers."""
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
        """Yield the steps of handlers: a release at any time, a response between two rounds."""
        back = self.request_bytes * (2 if "credits-twice" in self.variants else 1)
        for number, channel in state.numbered:
            if channel.is_handled:
                after = state.with_channel(number, replace(channel, is_handled=False))
                more = replace(after, available_bytes=state.available_bytes + back)
                yield Step("Release", (number,)), self._woken(more)
            elif channel.is_answering and state.phase(self.thread_of(number)) is Phase.POLL:
                answered = channel.without_mute(Mute.ORDER)
                yield Step("Respond", (number,)), state.with_channel(number, answered)


def _received(channel: Channel) -> Channel:
    """Return the channel with its request handed over, and muted until the response."""
    return replace(
        channel,
        sent=Sent.NOTHING,
        receive=Receive.NONE,
        is_buffered=False,
        is_handled=True,
    ).with_mute(Mute.ORDER)
