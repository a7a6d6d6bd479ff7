"""Channels that wait for memory: which of them a poll reads, and which wait, hold or are muted.

Theory of operation. Clients send requests, each four bytes of size and a body. A channel asks the
pool for the memory of a request when it has the size. Where it is granted the channel *holds*, and
takes the body as it comes; where it is refused the channel *waits*, and is not read. A request that
was received is *handled*: its memory stays out until the release, and its channel is *ordered*
until the response. A channel is read when it neither waits nor is ordered nor throttled.

A step ``poll`` is a sequence of *moves*, each of one channel: it takes bytes, asks, receives,
closes. The order of the moves is free, and with it who has the memory that several want. The poll
is over when no move is left that must be made; some moves may be made or left, such as to notice
that a client has gone whose request is being handled. So a poll has several ends, which are found
by making the moves in every order. Moves that concern neither memory nor the line are made first:
their order makes no difference.

Under recovery ``first_come`` those who wait stand in a *line*. Memory goes to its head, and whoever
comes while others wait stands behind them. A release may serve the line, or leave that to the next
poll.

Each way in which a step may go names the rules that it puts to the test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial

from immutables import Map

from purgatory_model.memory_pool_arithmetic import is_granted
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, accepted, possible
from purgatory_spec.operations import (
    Announce,
    Close,
    Connect,
    Construct,
    Elapse,
    Ending,
    HangUp,
    Operation,
    Poll,
    PollBeside,
    PollWhile,
    Release,
    Respond,
    Send,
    Throttle,
    Unthrottle,
    operation_name,
)
from purgatory_spec.outcomes import Event, Outcome, Value, received
from purgatory_spec.profiles import (
    AskAgain,
    ChannelMutingConfiguration,
    ChannelMutingObservable,
    ChannelMutingProfile,
    EndWhileWaiting,
    Recovery,
)
from purgatory_spec.reasons import Reason

SIZE_BYTES = 4
"""The bytes of a request's size."""


class Receive(Enum):
    """How far a channel is with the first request that it has not received."""

    NONE = "none"
    """It has not asked for memory."""
    WAITS = "waits"
    ASKS_LATER = "asks_later"
    """It was refused, waits no longer, and asks again with the next bytes of the request."""
    HOLDS = "holds"


class Peer(Enum):
    """What has become of a channel's client."""

    THERE = "there"
    HALF_CLOSED = "half_closed"
    CLOSED = "closed"
    RESET = "reset"


_PEERS = {
    Ending.CLOSE: Peer.CLOSED,
    Ending.HALF_CLOSE: Peer.HALF_CLOSED,
    Ending.RESET: Peer.RESET,
}


@dataclass(frozen=True, slots=True)
class Coming:
    """A request that was announced and is not received: its place, its size, the bytes sent so far.

    ``sent_bytes`` counts the four bytes of size, too.
    """

    number: int
    size_bytes: int
    sent_bytes: int

    @property
    def is_announced(self) -> bool:
        """Whether its size is known."""
        return self.sent_bytes >= SIZE_BYTES

    @property
    def is_whole(self) -> bool:
        """Whether the client has sent all bytes."""
        return self.sent_bytes == SIZE_BYTES + self.size_bytes

    @property
    def body_bytes(self) -> int:
        """The bytes of the body that the client has sent."""
        return max(0, self.sent_bytes - SIZE_BYTES)


@dataclass(frozen=True, slots=True)
class Channel:
    """A connection.

    Attributes:
        coming: The requests that are announced and not received, in order.
        announced: How many were announced in all.
        taken_bytes: What was read of the first of them, its size included.
        receive: How far the channel is with it.
        is_stuck: Whether it holds and is muted for memory all the same; by a variant alone.
        is_buffered: Whether TLS has taken bytes behind the request received last, and no more came.
        is_forgotten: Whether nothing is read before its client sends more; by a variant alone.
        is_ordered: Whether its last request is not answered.
        is_throttled: Whether the server has slowed it down.
        is_open: Whether the server has not closed it.
        peer: Whether its client has ended, and how.
        read_ms: When it was read last, or connected.
        active_ms: When anything has happened to it that may count as activity.
        held_ms: Since when it holds.
    """

    coming: tuple[Coming, ...] = ()
    announced: int = 0
    taken_bytes: int = 0
    receive: Receive = Receive.NONE
    is_stuck: bool = False
    is_buffered: bool = False
    is_forgotten: bool = False
    is_ordered: bool = False
    is_throttled: bool = False
    is_open: bool = True
    peer: Peer = Peer.THERE
    read_ms: int = 0
    active_ms: int = 0
    held_ms: int = 0

    @property
    def first(self) -> Coming | None:
        """The request that is received next, or is being received."""
        return self.coming[0] if self.coming else None

    @property
    def waits(self) -> bool:
        """Whether it is muted for memory."""
        return self.is_open and (self.receive is Receive.WAITS or self.is_stuck)

    @property
    def holds(self) -> bool:
        """Whether it has memory for a request that is not received."""
        return self.is_open and self.receive is Receive.HOLDS

    @property
    def may_be_read(self) -> bool:
        """Whether no reason is left for which it is muted."""
        return self.is_open and not (self.waits or self.is_ordered or self.is_throttled)

    @property
    def has_unread(self) -> bool:
        """Whether something was sent that has not been read."""
        first = self.first
        if first is None:
            return False
        return len(self.coming) > 1 or first.sent_bytes > self.taken_bytes

    @property
    def has_news(self) -> bool:
        """Whether behind the size of the first request something lies in the socket, or its end."""
        first = self.first
        return self.peer is not Peer.THERE or (first is not None and first.body_bytes > 0)

    @property
    def unread_bytes(self) -> int:
        """The bytes of bodies that were sent and not read."""
        return sum(each.body_bytes for each in self.coming) - max(0, self.taken_bytes - SIZE_BYTES)


@dataclass(frozen=True, slots=True)
class ChannelMutingState:
    """Everything that the future of a server depends on.

    ``handled`` are the requests whose memory a handler has, each with its size. ``line`` are the
    channels that wait, in the order of their refusals; it stays empty under ``everyone``.
    ``depleted_ms`` is how long channels have waited, up to ``waits_ms``: since then some wait.
    """

    available_bytes: int
    channels: Map[str, Channel] = Map()
    handled: Map[str, int] = Map()
    line: tuple[str, ...] = ()
    now_ms: int = 0
    depleted_ms: int = 0

    def with_channel(self, name: str, channel: Channel) -> "ChannelMutingState":
        """This state with another state of a channel."""
        return replace(self, channels=self.channels.set(name, channel))

    @property
    def waiting(self) -> list[str]:
        """The channels that are muted for memory, by name."""
        return sorted(name for name, channel in self.channels.items() if channel.waits)

    @property
    def outstanding_bytes(self) -> int:
        """The memory of all requests that are being received or handled."""
        held = sum(
            channel.coming[0].size_bytes for channel in self.channels.values() if channel.holds
        )
        return held + sum(self.handled.values())


VARIANTS: Mapping[str, str] = {
    "tls_stuck": "memory that is granted to a channel out of its TLS buffers, as it waits, leaves "
    "it muted",
    "tls_forgets": "bytes that TLS has taken behind an empty request are not read before the "
    "client sends more",
    "waiting_is_idle": "a channel that waits for memory is closed as idle",
}
"""The variants by name, each with a sentence: what servers do that are known to break a rule."""

Why = frozenset[str]

_PARTS: Mapping[str, tuple[str, ...]] = {
    ChannelMutingObservable.AVAILABLE: ("MUTING-CONSERVATION",),
    ChannelMutingObservable.UNREAD: ("MUTING-READ-AFTER-GRANT",),
    ChannelMutingObservable.DEPLETED_TIME: ("MUTING-DEPLETED",),
    "always": ("MUTING-CONSERVATION",),
}


@dataclass(frozen=True, slots=True)
class _Move:
    """The move of one channel in a poll.

    ``must`` moves are made before the poll ends. ``is_free`` says that the move concerns neither
    memory nor the line, so that it may be made before all others.
    """

    after: ChannelMutingState
    why: Why
    received: str | None = None
    must: bool = True
    is_free: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a poll is: the state, what was received, and the release that is still to come."""

    state: ChannelMutingState
    received: frozenset[str] = frozenset()
    release: str | None = None
    was_released: bool = False


@dataclass(frozen=True, slots=True)
class ChannelMutingModel:
    """A server's channels under a configuration and a profile; it may follow some variants."""

    configuration: ChannelMutingConfiguration
    profile: ChannelMutingProfile
    variants: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Reject the name of an unknown variant."""
        unknown = self.variants - VARIANTS.keys()
        if unknown:
            raise ValueError(f"there is no variant {min(unknown)!r}")

    @property
    def is_first_come(self) -> bool:
        """Whether those who wait stand in a line."""
        return self.profile.recovery is Recovery.FIRST_COME

    @property
    def asks_with_bytes(self) -> bool:
        """Whether who was refused asks again only for a client that has gone on."""
        return not self.is_first_come and self.profile.ask_again is AskAgain.WITH_BYTES

    @property
    def bound_bytes(self) -> int:
        """The most that may be outstanding. Rules: MUTING-BOUND."""
        configuration = self.configuration
        beyond_bytes = 0 if configuration.strict else configuration.max_request_bytes - 1
        return configuration.limit_bytes + beyond_bytes

    def initial(self) -> ChannelMutingState:
        """A server without connections."""
        return ChannelMutingState(self.configuration.limit_bytes)

    def accept(
        self, state: ChannelMutingState, operation: Operation, outcome: Outcome
    ) -> frozenset[ChannelMutingState]:
        """The states in which an observed outcome leaves the server; empty means divergence."""
        return accepted(self.expectations(state, operation), outcome)

    def successors(
        self, state: ChannelMutingState, operation: Operation
    ) -> Iterator[tuple[Outcome, ChannelMutingState]]:
        """Every outcome of an operation with the state after it."""
        return possible(self.expectations(state, operation))

    def expectations(
        self, state: ChannelMutingState, operation: Operation
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """The ways in which an operation may go.

        Raises:
            ValueError: the clock would go back, or the operation is none of a server.
        """
        match operation:
            case Poll():
                return self._polled(_Place(state))
            case PollWhile(request):
                if request not in state.handled:
                    return (self._unknown(state),)
                return self._polled(_Place(state, release=request))
            case PollBeside(channel):
                return self._polled_beside(state, channel)
            case Connect(channel):
                return (self._connect(state, channel),)
            case Release(request):
                return self._release(state, request)
            case Construct(size_bytes, max_single_bytes):
                return (self._construct(state, size_bytes, max_single_bytes),)
            case Elapse(to_ms):
                return (self._way(state, at(state, to_ms), self._why_of_time(state, to_ms)),)
            case (
                Announce(channel)
                | Send(channel)
                | Respond(channel)
                | Throttle(channel)
                | Unthrottle(channel)
                | Close(channel)
                | HangUp(channel)
            ):
                if channel not in state.channels:
                    return (self._unknown(state),)
                return self._of_channel(state, channel, operation)
            case _:
                raise ValueError(f"a server has no operation {operation_name(operation)}")

    def _of_channel(
        self, state: ChannelMutingState, name: str, operation: Operation
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """The ways in which an operation on a channel may go."""
        channel = state.channels[name]
        match operation:
            case Announce(_, size_bytes, sent_bytes):
                return (self._way(state, _announced(state, name, size_bytes, sent_bytes)),)
            case Send(_, sent_bytes):
                return (self._way(state, _sent(state, name, sent_bytes)),)
            case Respond():
                return self._respond(state, name)
            case Throttle():
                if not channel.is_ordered:
                    return (self._way(state, state),)
                throttled = replace(channel, is_throttled=True)
                return (self._way(state, state.with_channel(name, throttled)),)
            case Unthrottle():
                ended = replace(channel, is_throttled=False, active_ms=state.now_ms)
                return (self._way(state, state.with_channel(name, ended)),)
            case Close():
                if not channel.is_open:
                    return (self._way(state, state),)
                closed = self.closed(state, name)
                return self._perhaps_served(state, closed, frozenset({"MUTING-CLOSE"}))
            case HangUp(_, ending):
                gone = replace(channel, peer=_PEERS[ending], is_buffered=False, is_forgotten=False)
                return (self._way(state, state.with_channel(name, gone)),)
            case _:
                raise ValueError(f"a channel has no operation {operation_name(operation)}")

    def observe(self, state: ChannelMutingState) -> Mapping[str, Value]:
        """The declared observables by name. What lies in a broken socket is free."""
        channels = sorted(state.channels.items())
        waited_ms = state.depleted_ms
        values: dict[ChannelMutingObservable, Value] = {
            ChannelMutingObservable.AVAILABLE: state.available_bytes,
            ChannelMutingObservable.OPEN: tuple(n for n, each in channels if each.is_open),
            ChannelMutingObservable.WAITING: tuple(state.waiting),
            ChannelMutingObservable.ORDERED: tuple(
                n for n, each in channels if each.is_open and each.is_ordered
            ),
            ChannelMutingObservable.HOLDING: tuple(n for n, each in channels if each.holds),
            ChannelMutingObservable.DEPLETED_TIME: waited_ms,
        }
        if self.configuration.tls:
            values[ChannelMutingObservable.UNREAD] = None
        elif all(each.peer is not Peer.RESET for _, each in channels if each.is_open):
            values[ChannelMutingObservable.UNREAD] = sum(
                each.unread_bytes for _, each in channels if each.is_open
            )
        declared = self.profile.observables
        return {name.value: value for name, value in values.items() if name in declared}

    def closed(self, state: ChannelMutingState, name: str) -> ChannelMutingState:
        """A connection is closed: what it holds comes back, and it leaves the line.

        Rules: MUTING-END-MID-REQUEST, MUTING-CLOSE, MUTING-CONSERVATION.
        """
        channel = state.channels[name]
        back_bytes = channel.coming[0].size_bytes if channel.holds else 0
        gone = replace(
            channel,
            is_open=False,
            coming=(),
            taken_bytes=0,
            receive=Receive.NONE,
            is_stuck=False,
            is_buffered=False,
            is_forgotten=False,
        )
        return replace(
            state.with_channel(name, gone),
            available_bytes=state.available_bytes + back_bytes,
            line=tuple(each for each in state.line if each != name),
        )

    def _connect(self, state: ChannelMutingState, name: str) -> Expectation[ChannelMutingState]:
        """A connection is taken. Rules: MUTING-OTHERS-GO-ON, MUTING-HANDSHAKE."""
        why = {"MUTING-OTHERS-GO-ON"} if state.waiting else set()
        if self.configuration.tls and state.available_bytes <= 0:
            why.add("MUTING-HANDSHAKE")
        channel = Channel(read_ms=state.now_ms, active_ms=state.now_ms)
        return self._way(state, state.with_channel(name, channel), frozenset(why))

    def _release(
        self, state: ChannelMutingState, request: str
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """A handler gives the memory of its request back. Rules: MUTING-RELEASE."""
        if request not in state.handled:
            return (self._unknown(state),)
        after, why = _released(state, request)
        return self._perhaps_served(state, after, why)

    def _respond(
        self, state: ChannelMutingState, name: str
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """A response is written; to a client that has gone it may fail.

        Rules: MUTING-ONE-AT-A-TIME, MUTING-TWO-REASONS, MUTING-THROTTLE, MUTING-HALF-CLOSE.
        """
        channel = state.channels[name]
        answered = replace(channel, is_ordered=False, active_ms=state.now_ms)
        after = state.with_channel(name, answered)
        why = {"MUTING-OTHERS-GO-ON"} if state.waiting else set()
        if channel.is_throttled:
            why.add("MUTING-THROTTLE")
        if channel.peer is Peer.HALF_CLOSED:
            why.add("MUTING-HALF-CLOSE")
        ways = [self._way(state, after, frozenset(why))]
        if channel.is_open and channel.peer in (Peer.CLOSED, Peer.RESET):
            ways.append(self._way(state, self.closed(after, name)))
        return tuple(ways)

    def _perhaps_served(
        self, before: ChannelMutingState, after: ChannelMutingState, why: Why
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Memory has come back: the line is served now, or by the next poll.

        Rules: MUTING-FIRST-COME.
        """
        ways = [self._way(before, after, why)]
        served = after
        while (grant := self._first_served(served)) is not None:
            served, why = grant.after, why | grant.why
        if served is not after:
            ways.append(self._way(before, served, why))
        return tuple(ways)

    def _construct(
        self, state: ChannelMutingState, limit_bytes: int, max_request_bytes: int
    ) -> Expectation[ChannelMutingState]:
        """Try to make another server; this one is left alone. Rules: MUTING-CONFIG."""
        why = frozenset({"MUTING-CONFIG"})
        if max_request_bytes >= 1 and (limit_bytes <= 0 or limit_bytes >= max_request_bytes):
            return self._way(state, state, why)
        return self._way(state, state, why, rejected=Reason.INVALID_ARGUMENT)

    def _polled(self, begin: _Place) -> tuple[Expectation[ChannelMutingState], ...]:
        """Every end of a poll: all moves that must be made, in every order that matters."""
        ends: dict[tuple[frozenset[str], ChannelMutingState], Why] = {}
        seen: dict[_Place, Why] = {}
        before = begin.state
        open_places: list[tuple[_Place, Why]] = [(begin, self._why_of_muted(before))]
        while open_places:
            place, why = open_places.pop()
            known = seen.get(place)
            if known is not None and why <= known:
                continue
            seen[place] = why if known is None else why | known
            must_go_on = False
            for move, then in self._moves(place):
                must_go_on = must_go_on or move.must
                open_places.append((then, why | move.why))
                if move.must and move.is_free:
                    break
            if not must_go_on:
                end = (place.received, place.state)
                ends[end] = ends.get(end, frozenset()) | why
        return tuple(
            self._way(before, after, why | self._why_of_end(before, after), received=names)
            for (names, after), why in ends.items()
        )

    def _polled_beside(
        self, state: ChannelMutingState, name: str
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """A poll beside a client that sends without end, which its server may turn out.

        What it sends is a sign of life, and no byte of a request: the poll goes as any other.

        Rules: MUTING-TURNS.
        """
        channel = state.channels.get(name)
        if channel is None:
            return (self._unknown(state),)
        if not (channel.is_open and channel.peer is Peer.THERE):
            return self._polled(_Place(state))
        sends = replace(channel, active_ms=state.now_ms, is_buffered=False, is_forgotten=False)
        after = state.with_channel(name, sends)
        stays = self._polled(_Place(after))
        if not channel.may_be_read:
            return stays
        leaves = self._polled(_Place(self.closed(after, name)))
        return tuple(
            replace(way, rules=_with_effect(way.rules, "MUTING-TURNS")) if way.groups else way
            for way in (*stays, *leaves)
        )

    def _moves(self, place: _Place) -> Iterator[tuple[_Move, _Place]]:
        """The moves that can be made, those that are free of others first."""
        moves = list(self._moves_of_channels(place.state))
        for move in sorted(moves, key=lambda each: not (each.must and each.is_free)):
            names = place.received
            if move.received is not None:
                names = names | {move.received}
            yield move, replace(place, state=move.after, received=names)
        if place.was_released and "tls_stuck" in self.variants:
            for stuck in self._stuck(place.state):
                yield stuck, replace(place, state=stuck.after)
        if place.release is not None:
            after, why = _released(place.state, place.release)
            released = _Place(after, place.received, was_released=True)
            yield _Move(after, why | {"MUTING-NOT-WITH-MEMORY"}), released

    def _moves_of_channels(self, state: ChannelMutingState) -> Iterator[_Move]:
        grant = self._first_served(state)
        if grant is not None:
            yield grant
        for name, channel in sorted(state.channels.items()):
            if channel.is_open:
                yield from self._moves_of(state, name, channel)

    def _moves_of(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[_Move]:
        """What a channel may do now, or must. Rules: MUTING-BUFFERED."""
        ends = list(self._ends(state, name, channel))
        yield from ends
        if channel.waits:
            yield from self._moves_of_waiting(state, name, channel)
        elif channel.may_be_read:
            for move in self._reads(state, name, channel):
                why = move.why | {"MUTING-BUFFERED"} if channel.is_buffered else move.why
                must = move.must and not channel.is_forgotten
                yield replace(move, why=why, must=must, is_free=move.is_free and not ends)

    def _ends(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[_Move]:
        """Ends that may be noticed at any time: the client has gone, or a limit has passed."""
        if channel.peer in (Peer.CLOSED, Peer.RESET):
            yield self._close(state, name, "MUTING-END-WHILE-HANDLED", must=False)
        yield from self._too_late(state, name, channel)

    def _reads(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[_Move]:
        """What reading a channel does that nothing mutes. Rules: MUTING-BAD-SIZE."""
        first = channel.first
        if first is None or not first.is_announced:
            yield from self._begin(state, name, channel, first)
        elif channel.receive is Receive.HOLDS:
            yield from self._receive(state, name, channel, first)
        elif not 0 <= first.size_bytes <= self.configuration.max_request_bytes:
            yield self._close(state, name, "MUTING-BAD-SIZE")
        elif first.size_bytes == 0:
            yield self._whole(state, name, channel, first, "MUTING-EMPTY")
        elif channel.receive is not Receive.ASKS_LATER or channel.has_news:
            yield self._ask(state, name, channel, first)

    def _begin(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming | None
    ) -> Iterator[_Move]:
        """No size is known: a part of one is taken, or the end is noticed.

        Rules: MUTING-ONLY-REFUSED.
        """
        if first is not None and first.sent_bytes > channel.taken_bytes:
            taken = replace(
                channel,
                taken_bytes=first.sent_bytes,
                read_ms=state.now_ms,
                active_ms=state.now_ms,
            )
            why = frozenset({"MUTING-ONLY-REFUSED"} if state.available_bytes <= 0 else ())
            yield _Move(state.with_channel(name, taken), why, is_free=True)
        elif channel.peer is not Peer.THERE:
            yield self._close(state, name, "MUTING-END-MID-REQUEST", is_free=True)

    def _moves_of_waiting(
        self, state: ChannelMutingState, name: str, channel: Channel
    ) -> Iterator[_Move]:
        """A channel that waits: it asks again, or its client has gone.

        Rules: MUTING-RECOVER, MUTING-END-WHILE-WAITING.
        """
        first = channel.first
        if first is None or channel.is_stuck:
            return
        if self.asks_with_bytes and not channel.has_news:
            if state.available_bytes > 0:
                yield self._unmuted(state, name, channel)
        elif not self.is_first_come and self._is_granted(state, first.size_bytes):
            yield self._granted(state, name, channel, first, "MUTING-RECOVER")
        if channel.peer is not Peer.THERE and not first.is_whole:
            at_once = self.profile.end_while_waiting is EndWhileWaiting.AT_ONCE
            must = at_once and not self.configuration.tls
            yield self._close(state, name, "MUTING-END-WHILE-WAITING", must=must)

    @property
    def _forgets(self) -> bool:
        """Variant: an empty request makes the server forget the bytes that TLS has taken."""
        return self.configuration.tls and "tls_forgets" in self.variants

    def _unmuted(self, state: ChannelMutingState, name: str, channel: Channel) -> _Move:
        """A channel stops waiting without memory, and is read again. Rules: MUTING-RECOVER."""
        is_idle = "waiting_is_idle" in self.variants
        later = replace(
            channel,
            receive=Receive.ASKS_LATER,
            read_ms=channel.read_ms if is_idle else state.now_ms,
            active_ms=state.now_ms,
        )
        return _Move(state.with_channel(name, later), frozenset({"MUTING-RECOVER"}))

    def _ask(self, state: ChannelMutingState, name: str, channel: Channel, first: Coming) -> _Move:
        """The size is known: memory is asked for.

        Rules: MUTING-ASK, MUTING-WAIT, MUTING-BOUND, MUTING-FIRST-COME, MUTING-READ-AFTER-GRANT.
        """
        there_is = self._is_granted(state, first.size_bytes)
        if there_is and not state.line:
            return self._granted(state, name, channel, first, "MUTING-ASK")
        waits = replace(
            channel,
            receive=Receive.WAITS,
            taken_bytes=SIZE_BYTES,
            read_ms=state.now_ms,
            active_ms=state.now_ms,
        )
        after = state.with_channel(name, waits)
        if self.is_first_come:
            after = replace(after, line=(*state.line, name))
        why = {"MUTING-WAIT", "MUTING-FIRST-COME" if there_is else "MUTING-BOUND"}
        if any(each.holds for each in state.channels.values()):
            why.add("MUTING-NOT-WITH-MEMORY")
        if first.body_bytes:
            why.add("MUTING-READ-AFTER-GRANT")
        return _Move(after, frozenset(why))

    def _is_granted(self, state: ChannelMutingState, size_bytes: int) -> bool:
        return is_granted(state.available_bytes, size_bytes, self.configuration.strict)

    def _first_served(self, state: ChannelMutingState) -> _Move | None:
        """Memory goes to the head of the line, if there is enough. Rules: MUTING-FIRST-COME."""
        if not state.line:
            return None
        name = state.line[0]
        channel = state.channels[name]
        first = channel.coming[0]
        if not self._is_granted(state, first.size_bytes):
            return None
        served = self._granted(state, name, channel, first, "MUTING-RECOVER")
        why = served.why | {"MUTING-FIRST-COME"} if len(state.line) > 1 else served.why
        return replace(served, after=replace(served.after, line=state.line[1:]), why=why)

    def _granted(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming, rule: str
    ) -> _Move:
        """A channel has the memory of its request.

        Rules: MUTING-ASK, MUTING-RECOVER, MUTING-BUFFERED.
        """
        holds = replace(
            channel,
            receive=Receive.HOLDS,
            taken_bytes=SIZE_BYTES,
            read_ms=state.now_ms,
            active_ms=state.now_ms,
            held_ms=state.now_ms,
        )
        after = replace(
            state.with_channel(name, holds),
            available_bytes=state.available_bytes - first.size_bytes,
        )
        why = {rule, "MUTING-ASK"}
        if after.outstanding_bytes >= self.bound_bytes:
            why.add("MUTING-BOUND")
        if self.configuration.tls and rule == "MUTING-RECOVER" and first.body_bytes:
            why.add("MUTING-BUFFERED")
        if state.waiting and rule == "MUTING-ASK":
            why.add("MUTING-OTHERS-GO-ON")
        if channel.waits and channel.peer is not Peer.THERE:
            why.add("MUTING-END-WHILE-WAITING")
        return _Move(after, frozenset(why))

    def _receive(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming
    ) -> Iterator[_Move]:
        """A channel that holds takes the bytes of the body from the socket.

        Rules: MUTING-GRANTED-FINISHES, MUTING-END-MID-REQUEST.
        """
        if first.is_whole:
            rule = "MUTING-GRANTED-FINISHES" if state.available_bytes <= 0 else "MUTING-ASK"
            yield self._whole(state, name, channel, first, rule)
        elif first.sent_bytes > channel.taken_bytes:
            taken = replace(
                channel,
                taken_bytes=first.sent_bytes,
                read_ms=state.now_ms,
                active_ms=state.now_ms,
            )
            why = frozenset({"MUTING-ONLY-REFUSED"} if state.available_bytes <= 0 else ())
            yield _Move(state.with_channel(name, taken), why, is_free=True)
        elif channel.peer is not Peer.THERE:
            yield self._close(state, name, "MUTING-END-MID-REQUEST")

    def _whole(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming, rule: str
    ) -> _Move:
        """A request is received. Rules: MUTING-ORDER, MUTING-ONE-AT-A-TIME, MUTING-EMPTY."""
        request = request_name(name, first.number)
        read = replace(
            channel,
            coming=channel.coming[1:],
            taken_bytes=0,
            receive=Receive.NONE,
            is_buffered=self.configuration.tls and len(channel.coming) > 1,
            is_forgotten=self._forgets and first.size_bytes == 0 and len(channel.coming) > 1,
            is_ordered=True,
            read_ms=state.now_ms,
            active_ms=state.now_ms,
        )
        after = replace(
            state.with_channel(name, read), handled=state.handled.set(request, first.size_bytes)
        )
        why = {rule}
        if first.number > 1:
            why.add("MUTING-ORDER")
        if read.coming:
            why.add("MUTING-ONE-AT-A-TIME")
        if state.waiting:
            why.add("MUTING-OTHERS-GO-ON")
        if channel.peer is Peer.HALF_CLOSED:
            why.add("MUTING-HALF-CLOSE")
        return _Move(after, frozenset(why), request, is_free=True)

    def _close(
        self,
        state: ChannelMutingState,
        name: str,
        rule: str,
        *,
        must: bool = True,
        is_free: bool = False,
    ) -> _Move:
        return _Move(self.closed(state, name), frozenset({rule}), must=must, is_free=is_free)

    def _too_late(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[_Move]:
        """A limit of time has passed, or just not.

        Rules: MUTING-IDLE, MUTING-NOT-IDLE, MUTING-SLOW-SENDER.
        """
        slow_ms = self.configuration.receive_limit_ms
        if slow_ms and channel.holds and state.now_ms - channel.held_ms >= slow_ms:
            is_over = state.now_ms - channel.held_ms > slow_ms
            must = is_over and not channel.coming[0].is_whole
            yield self._close(state, name, "MUTING-SLOW-SENDER", must=must)
        idle_ms = self.configuration.idle_limit_ms
        if not idle_ms or state.now_ms - channel.read_ms < idle_ms:
            return
        if channel.receive is Receive.WAITS:
            if "waiting_is_idle" in self.variants:
                yield self._close(state, name, "MUTING-NOT-IDLE", must=False)
            return
        is_over = state.now_ms - channel.active_ms > idle_ms
        is_muted = channel.is_ordered or channel.is_throttled
        must = is_over and not is_muted and not channel.has_unread
        yield self._close(state, name, "MUTING-IDLE", must=must)

    def _stuck(self, state: ChannelMutingState) -> Iterator[_Move]:
        """Variant: channels that wait are granted memory out of their TLS buffers, and stay muted.

        What TLS has taken is in the memory then, and the rest stays in the socket.
        """
        if not self.configuration.tls:
            return
        for name in state.waiting:
            channel = state.channels[name]
            first = channel.coming[0]
            if channel.is_stuck or not first.body_bytes:
                continue
            if not self._is_granted(state, first.size_bytes):
                continue
            granted = self._granted(state, name, channel, first, "MUTING-RECOVER").after
            stuck = replace(granted.channels[name], is_stuck=True)
            yield _Move(granted.with_channel(name, stuck), frozenset(), must=False)

    def _why_of_muted(self, state: ChannelMutingState) -> Why:
        """What a poll puts to the test by channels that it must leave alone."""
        why: set[str] = set()
        comes_back = bool(state.waiting) and state.available_bytes > 0
        for channel in state.channels.values():
            if not channel.is_open:
                continue
            has_more = channel.first is not None and channel.first.is_announced
            if channel.is_ordered and has_more:
                why.add("MUTING-ONE-AT-A-TIME")
                if comes_back:
                    why.add("MUTING-TWO-REASONS")
            if channel.is_throttled and not channel.is_ordered and has_more:
                why.add("MUTING-THROTTLE")
            if channel.receive is Receive.WAITS and self._is_past_idle(state, channel):
                why.add("MUTING-NOT-IDLE")
        return frozenset(why)

    def _is_past_idle(self, state: ChannelMutingState, channel: Channel) -> bool:
        idle_ms = self.configuration.idle_limit_ms
        return bool(idle_ms) and state.now_ms - channel.read_ms > idle_ms

    def _why_of_end(self, before: ChannelMutingState, after: ChannelMutingState) -> Why:
        """What the end of a poll puts to the test. Rules: MUTING-IDLE-RETURNS."""
        is_empty = not after.handled and not any(each.is_open for each in after.channels.values())
        return frozenset({"MUTING-IDLE-RETURNS"} if is_empty and before.channels else ())

    def _why_of_time(self, state: ChannelMutingState, to_ms: int) -> Why:
        waited = bool(state.waiting) and to_ms > state.now_ms
        return frozenset({"MUTING-DEPLETED"} if waited else ())

    def _unknown(self, state: ChannelMutingState) -> Expectation[ChannelMutingState]:
        return self._way(state, state, rejected=Reason.UNKNOWN_NAME)

    def _way(
        self,
        before: ChannelMutingState,
        after: ChannelMutingState,
        why: Why = frozenset(),
        *,
        received: frozenset[str] = frozenset(),
        rejected: Reason | None = None,
    ) -> Expectation[ChannelMutingState]:
        """A way in which a step may go. Rules: MUTING-CONSERVATION, MUTING-NOT-WITH-MEMORY."""
        tested = set(why)
        if before.available_bytes != after.available_bytes:
            tested.add("MUTING-CONSERVATION")
        return Expectation(
            groups=(frozenset(map(_received, received)),) if received else (),
            complete=partial(_given, after),
            observe=self.observe,
            rejected=rejected,
            rules={**_PARTS, "effect": tuple(sorted(tested))} if tested else _PARTS,
        )


def request_name(channel: str, number: int) -> str:
    """The name of a channel's request: ``c1#2``."""
    return f"{channel}#{number}"


def channel_of(request: str) -> str:
    """The channel of a request by its name."""
    return request.partition("#")[0]


def at(state: ChannelMutingState, to_ms: int) -> ChannelMutingState:
    """The clock reads ``to_ms``; while channels wait their time counts. Rules: MUTING-DEPLETED.

    Raises:
        ValueError: the clock would go back.
    """
    if to_ms < state.now_ms:
        raise ValueError(f"the clock reads {state.now_ms} and cannot go back to {to_ms}")
    passed_ms = to_ms - state.now_ms if state.waiting else 0
    return replace(state, now_ms=to_ms, depleted_ms=state.depleted_ms + passed_ms)


def _announced(
    state: ChannelMutingState, name: str, size_bytes: int, sent_bytes: int
) -> ChannelMutingState:
    """A client begins a request; to a connection that is closed it sends in vain."""
    channel = state.channels[name]
    number = channel.announced + 1
    coming = Coming(number, size_bytes, sent_bytes)
    more = (*channel.coming, coming) if channel.is_open else ()
    sends = replace(channel, announced=number, coming=more, is_buffered=False, is_forgotten=False)
    return state.with_channel(name, sends)


def _sent(state: ChannelMutingState, name: str, sent_bytes: int) -> ChannelMutingState:
    """A client goes on with the request that it has begun."""
    channel = state.channels[name]
    if not channel.is_open or not channel.coming:
        return state
    *others, last = channel.coming
    more = replace(last, sent_bytes=last.sent_bytes + sent_bytes)
    sends = replace(channel, coming=(*others, more), is_buffered=False, is_forgotten=False)
    return state.with_channel(name, sends)


def _released(state: ChannelMutingState, request: str) -> tuple[ChannelMutingState, Why]:
    """The memory of a request is back.

    Rules: MUTING-RELEASE, MUTING-END-WHILE-HANDLED, MUTING-IDLE-RETURNS.
    """
    size_bytes = state.handled[request]
    after = replace(
        state,
        available_bytes=state.available_bytes + size_bytes,
        handled=state.handled.delete(request),
    )
    why = {"MUTING-RELEASE"}
    if not state.channels[channel_of(request)].is_open:
        why.add("MUTING-END-WHILE-HANDLED")
        if not after.handled and not any(each.is_open for each in after.channels.values()):
            why.add("MUTING-IDLE-RETURNS")
    return after, frozenset(why)


def _with_effect(rules: Mapping[str, tuple[str, ...]], rule: str) -> Mapping[str, tuple[str, ...]]:
    """The rules of an expectation with one more that its effect puts to the test."""
    return {**rules, "effect": tuple(sorted({*rules.get("effect", ()), rule}))}


def _received(request: str) -> Event:
    return received(request)


def _given(after: ChannelMutingState, _: tuple[Event, ...]) -> ChannelMutingState:
    return after
