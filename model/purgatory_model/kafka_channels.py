"""Kafka's channels that wait for memory: which a poll reads, and which wait, hold or are muted.

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

A server that has memory again un-mutes everyone who waits. A channel then asks again once its
client has gone on; which of several comes first is free. ``choices.channels`` has other recoveries.

Each way in which a step may go names the rules that it puts to the test.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from purgatory_model import channel_state
from purgatory_model.channel_state import Channel, ChannelMutingState, Coming, Peer, Receive
from purgatory_model.memory_pool_arithmetic import is_granted
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, TooManyBranches, accepted, possible
from purgatory_spec import operations as op
from purgatory_spec import outcomes
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingObservable,
    ChannelMutingProfile,
)
from purgatory_spec.reasons import Reason

_PEERS = {
    op.Ending.CLOSE: Peer.CLOSED,
    op.Ending.HALF_CLOSE: Peer.HALF_CLOSED,
    op.Ending.RESET: Peer.RESET,
}

_MOST_PLACES = 4_096
"""The places of one poll that are followed, told apart by state and requests received."""

Why = frozenset[str]

_PARTS: Mapping[str, tuple[str, ...]] = {
    ChannelMutingObservable.AVAILABLE: ("MUTING-CONSERVATION",),
    ChannelMutingObservable.UNREAD: ("MUTING-READ-AFTER-GRANT",),
    ChannelMutingObservable.DEPLETED_TIME: ("MUTING-DEPLETED",),
    "always": ("MUTING-CONSERVATION",),
}


class Move(msgspec.Struct, frozen=True):
    """The move of one channel in a poll.

    ``must`` moves are made before the poll ends. ``is_free`` says that the move concerns neither
    the line nor memory, or that all find memory, so that it may be made before all others.
    """

    after: ChannelMutingState
    why: Why
    received: str | None = None
    must: bool = True
    is_free: bool = False


class Place(msgspec.Struct, frozen=True, cache_hash=True):
    """The progress of a poll: state, received requests, and the release that is still to come."""

    state: ChannelMutingState
    received: frozenset[str] = frozenset()
    release: str | None = None
    was_released: bool = False


@dataclass(frozen=True)
class KafkaChannels:
    """A server's channels under a configuration, which make Kafka's choices."""

    configuration: ChannelMutingConfiguration
    profile: ChannelMutingProfile

    @property
    def bound_bytes(self) -> int:
        """Return the most that may be outstanding. Rules: MUTING-BOUND."""
        configuration = self.configuration
        beyond_bytes = 0 if configuration.strict else configuration.max_request_bytes - 1
        return configuration.limit_bytes + beyond_bytes

    def initial(self) -> ChannelMutingState:
        """Return a server without connections."""
        return ChannelMutingState(self.configuration.limit_bytes)

    def accept(
        self, state: ChannelMutingState, operation: op.Operation, outcome: Outcome
    ) -> frozenset[ChannelMutingState]:
        """Return the states after an observed outcome of the server; empty means divergence."""
        return accepted(self.expectations(state, operation), outcome)

    def successors(
        self, state: ChannelMutingState, operation: op.Operation
    ) -> Iterator[tuple[Outcome, ChannelMutingState]]:
        """Every outcome of an operation with the state after it."""
        return possible(self.expectations(state, operation))

    def expectations(
        self, state: ChannelMutingState, operation: op.Operation
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Return the ways in which an operation may go.

        Raises:
            ValueError: the clock would go back, or the operation is none of a server.
        """
        if isinstance(operation, op.OnChannel):
            if operation.channel not in state.channels:
                return (self._unknown(state),)
            return self._of_channel(state, operation.channel, operation)
        match operation:
            case op.Poll():
                return self._polled(Place(state))
            case op.PollWhile(request):
                if request not in state.handled:
                    return (self._unknown(state),)
                return self._polled(Place(state, release=request))
            case op.PollBeside(channel):
                return self._polled_beside(state, channel)
            case op.Connect(channel):
                return (self._connect(state, channel),)
            case op.Release(request):
                return self._release(state, request)
            case op.Construct(size_bytes, max_single_bytes):
                return (self._construct(state, size_bytes, max_single_bytes),)
            case op.Elapse(to_ms):
                after = channel_state.at(state, to_ms)
                return (self._way(state, after, self._why_of_time(state, to_ms)),)
            case _:
                raise ValueError(f"a server has no operation {op.operation_name(operation)}")

    def _of_channel(
        self, state: ChannelMutingState, name: str, operation: op.OnChannel
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Return the ways in which an operation on a channel may go."""
        channel = state.channels[name]
        match operation:
            case op.Announce(_, size_bytes, sent_bytes):
                return (self._way(state, _announced(state, name, size_bytes, sent_bytes)),)
            case op.Send(_, sent_bytes):
                return (self._way(state, _sent(state, name, sent_bytes)),)
            case op.Respond():
                return self._respond(state, name)
            case op.Throttle():
                if not channel.is_ordered:
                    return (self._way(state, state),)
                throttled = replace(channel, is_throttled=True)
                return (self._way(state, state.with_channel(name, throttled)),)
            case op.Unthrottle():
                ended = replace(channel, is_throttled=False, active_ms=state.now_ms)
                return (self._way(state, state.with_channel(name, ended)),)
            case op.Close():
                if not channel.is_open:
                    return (self._way(state, state),)
                closed = self.closed(state, name)
                return self._perhaps_served(state, closed, frozenset({"MUTING-CLOSE"}))
            case op.HangUp(_, ending):
                gone = replace(channel, peer=_PEERS[ending], is_buffered=False, is_forgotten=False)
                return (self._way(state, state.with_channel(name, gone)),)

    def observe(self, state: ChannelMutingState) -> Mapping[str, Value]:
        """Return the declared observables by name. Bytes in a broken socket are free."""
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
        """Return the state with a connection closed: its memory is back, and it leaves the line.

        Rules: MUTING-END-MID-REQUEST, MUTING-CLOSE, MUTING-CONSERVATION.
        """
        channel = state.channels[name]
        back_bytes = channel.coming[0].size_bytes if channel.holds else 0
        gone = replace(channel, is_open=False, coming=(), taken_bytes=0, receive=Receive.NONE)
        gone = replace(gone, is_stuck=False, is_buffered=False, is_forgotten=False)
        available_bytes = state.available_bytes + back_bytes
        return replace(state.with_channel(name, gone), available_bytes=available_bytes)

    def _connect(self, state: ChannelMutingState, name: str) -> Expectation[ChannelMutingState]:
        """Return the effect of a connection. Rules: MUTING-OTHERS-GO-ON, MUTING-HANDSHAKE."""
        why = {"MUTING-OTHERS-GO-ON"} if state.waiting else set()
        if self.configuration.tls and state.available_bytes <= 0:
            why.add("MUTING-HANDSHAKE")
        channel = Channel(used_ms=state.now_ms, active_ms=state.now_ms)
        return self._way(state, state.with_channel(name, channel), frozenset(why))

    def _release(
        self, state: ChannelMutingState, request: str
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Return the effect of a handler's release. Rules: MUTING-RELEASE."""
        if request not in state.handled:
            return (self._unknown(state),)
        after, why = _released(state, request)
        return self._perhaps_served(state, after, why)

    def _respond(
        self, state: ChannelMutingState, name: str
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Return the ways of a response; to a client that has gone it may fail.

        Rules: MUTING-ONE-AT-A-TIME, MUTING-TWO-REASONS, MUTING-THROTTLE, MUTING-HALF-CLOSE,
        MUTING-IDLE.
        """
        channel = state.channels[name]
        answered = replace(channel, is_ordered=False, active_ms=state.now_ms)
        if channel.is_ordered and channel.peer in (Peer.THERE, Peer.HALF_CLOSED):
            answered = replace(answered, used_ms=state.now_ms)
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
        """Leave memory that has come back to the next poll."""
        return (self._way(before, after, why),)

    def _construct(
        self, state: ChannelMutingState, limit_bytes: int, max_request_bytes: int
    ) -> Expectation[ChannelMutingState]:
        """Try to make another server; this one is left alone. Rules: MUTING-CONFIG."""
        why = frozenset({"MUTING-CONFIG"})
        if max_request_bytes >= 1 and (limit_bytes <= 0 or limit_bytes >= max_request_bytes):
            return self._way(state, state, why)
        return self._way(state, state, why, rejected=Reason.INVALID_ARGUMENT)

    @lru_cache(maxsize=2048)  # noqa: B019 - a poll is drawn, judged, and tried in smaller cases
    def _polled(self, begin: Place) -> tuple[Expectation[ChannelMutingState], ...]:
        """Return every end of a poll: all moves that must be made, in every order that matters.

        Raises:
            TooManyBranches: the poll comes to too many places.
        """
        before = begin.state
        moves = self._places_of_poll(begin)
        # Each place tells the rules of all ways to it to the places behind it.
        tested = dict.fromkeys(moves, frozenset[str]()) | {begin: self._why_of_muted(before)}
        changed = deque(moves)
        while changed:
            place = changed.popleft()
            for move, then in moves[place]:
                why = tested[then] | tested[place] | move.why
                if why != tested[then]:
                    tested[then] = why
                    changed.append(then)
        ends: dict[tuple[frozenset[str], ChannelMutingState], Why] = {}
        for place, why in tested.items():
            if not any(move.must for move, _ in moves[place]):
                end = (place.received, place.state)
                ends[end] = ends.get(end, frozenset()) | why
        return tuple(
            self._way(before, after, why | self._why_of_end(before, after), received=names)
            for (names, after), why in ends.items()
        )

    def _places_of_poll(self, begin: Place) -> dict[Place, list[tuple[Move, Place]]]:
        """Return the places that a poll may come to, each with its moves, in order of depth."""
        places: dict[Place, list[tuple[Move, Place]]] = {}
        open_places = [begin]
        while open_places:
            place = open_places.pop()
            if place in places:
                continue
            if len(places) == _MOST_PLACES:
                raise TooManyBranches
            places[place] = []
            for move, then in self._moves(place):
                places[place].append((move, then))
                if move.must and move.is_free:
                    break
            open_places += [then for _, then in places[place]]
        return places

    def _polled_beside(
        self, state: ChannelMutingState, name: str
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Return the ends of a poll beside a client that sends without end.

        What it sends is a sign of life, and no byte of a request: the poll goes as any other.

        Rules: MUTING-TURNS.
        """
        channel = state.channels.get(name)
        if channel is None:
            return (self._unknown(state),)
        if not (channel.is_open and channel.peer is Peer.THERE):
            return self._polled(Place(state))
        sends = replace(channel, active_ms=state.now_ms, is_buffered=False, is_forgotten=False)
        after = state.with_channel(name, sends)
        stays = self._polled(Place(after))
        if not channel.may_be_read:
            return stays
        leaves = self._polled(Place(self.closed(after, name)))
        return tuple(
            replace(way, rules=_with_effect(way.rules, "MUTING-TURNS")) if way.groups else way
            for way in (*stays, *leaves)
        )

    def _moves(self, place: Place) -> Iterator[tuple[Move, Place]]:
        """Yield the moves that can be made; of those that are free of others, one is enough."""
        moves = list(self._moves_of_channels(place.state))
        free = [move for move in moves if move.must and move.is_free]
        for move in free[:1] or moves:
            names = place.received
            if move.received is not None:
                names = names | {move.received}
            yield move, replace(place, state=move.after, received=names)
        if place.release is not None:
            after, why = _released(place.state, place.release)
            released = Place(after, place.received, was_released=True)
            yield Move(after, why | {"MUTING-NOT-WITH-MEMORY"}), released

    def _moves_of_channels(self, state: ChannelMutingState) -> Iterator[Move]:
        for name, channel in sorted(state.channels.items()):
            if channel.is_open:
                yield from self._moves_of(state, name, channel)

    def _moves_of(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[Move]:
        """Yield the moves that a channel may make now, or must. Rules: MUTING-BUFFERED."""
        ends = list(self._ends(state, name, channel))
        yield from ends
        if channel.waits:
            yield from self._moves_of_waiting(state, name, channel)
        elif channel.may_be_read:
            for move in self._reads(state, name, channel):
                why = move.why | {"MUTING-BUFFERED"} if channel.is_buffered else move.why
                must = move.must and not channel.is_forgotten
                yield replace(move, why=why, must=must, is_free=move.is_free and not ends)

    def _ends(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[Move]:
        """Yield the ends that may be noticed at any time: of a client, or by a limit."""
        if channel.peer in (Peer.CLOSED, Peer.RESET):
            yield self._close(state, name, "MUTING-END-WHILE-HANDLED", must=False)
        yield from self._too_late(state, name, channel)

    def _reads(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[Move]:
        """Yield the moves of reading a channel that is not muted. Rules: MUTING-BAD-SIZE."""
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
    ) -> Iterator[Move]:
        """Yield the moves before a size is known: a part of one is taken, or the end is noticed.

        Rules: MUTING-ONLY-REFUSED.
        """
        if first is not None and first.sent_bytes > channel.taken_bytes:
            yield self._take(state, name, channel, first)
        elif channel.peer is not Peer.THERE:
            yield self._close(state, name, "MUTING-END-MID-REQUEST", is_free=True)

    def _take(self, state: ChannelMutingState, name: str, channel: Channel, first: Coming) -> Move:
        """Take what the client has sent of a request. Rules: MUTING-ONLY-REFUSED."""
        taken = channel.read(state.now_ms, receive=channel.receive, taken_bytes=first.sent_bytes)
        why = frozenset({"MUTING-ONLY-REFUSED"} if state.available_bytes <= 0 else ())
        return Move(state.with_channel(name, taken), why, is_free=True)

    def _moves_of_waiting(
        self, state: ChannelMutingState, name: str, channel: Channel
    ) -> Iterator[Move]:
        """Yield the moves of a channel that waits: it asks again, or its client has gone.

        Rules: MUTING-RECOVER, MUTING-END-WHILE-WAITING.
        """
        first = channel.first
        if first is None or channel.is_stuck:
            return
        yield from self._recovers(state, name, channel, first)
        if channel.peer is not Peer.THERE and not first.is_whole:
            yield self._close(state, name, "MUTING-END-WHILE-WAITING", must=self._must_notice_end)

    def _recovers(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming
    ) -> Iterator[Move]:
        """Ask again as soon as there is memory, for a client that has gone on.

        Rules: MUTING-RECOVER.
        """
        if not channel.has_news:
            if state.available_bytes > 0:
                yield self._unmuted(state, name, channel)
        elif self._is_granted(state, first.size_bytes):
            yield self._granted(state, name, channel, first, "MUTING-RECOVER")

    @property
    def _must_notice_end(self) -> bool:
        """Decide whether the end of a client must be noticed while its channel waits."""
        return False

    def _unmuted(self, state: ChannelMutingState, name: str, channel: Channel) -> Move:
        """Return the move of a waiting channel that is read again. Rules: MUTING-RECOVER."""
        later = channel.read(state.now_ms, receive=Receive.ASKS_LATER)
        is_free = self._finds_room(state, name, channel)
        return Move(state.with_channel(name, later), frozenset({"MUTING-RECOVER"}), is_free=is_free)

    def _ask(self, state: ChannelMutingState, name: str, channel: Channel, first: Coming) -> Move:
        """Return the move that asks for memory, since the size is known.

        Rules: MUTING-ASK, MUTING-BOUND.
        """
        if self._is_granted(state, first.size_bytes):
            return self._granted(state, name, channel, first, "MUTING-ASK")
        return self._refused(state, name, channel, first, "MUTING-BOUND")

    def _refused(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming, rule: str
    ) -> Move:
        """Mute a channel until there is memory. Rules: MUTING-WAIT, MUTING-READ-AFTER-GRANT."""
        waits = channel.read(
            state.now_ms, receive=Receive.WAITS, taken_bytes=channel_state.SIZE_BYTES
        )
        why = {"MUTING-WAIT", rule}
        if any(each.holds for each in state.channels.values()):
            why.add("MUTING-NOT-WITH-MEMORY")
        if first.body_bytes:
            why.add("MUTING-READ-AFTER-GRANT")
        return Move(state.with_channel(name, waits), frozenset(why))

    def _is_granted(self, state: ChannelMutingState, size_bytes: int) -> bool:
        return is_granted(state.available_bytes, size_bytes, self.configuration.strict)

    def _granted(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming, rule: str
    ) -> Move:
        """Return the move that grants a channel the memory of its request.

        Rules: MUTING-ASK, MUTING-RECOVER, MUTING-BUFFERED.
        """
        holds = replace(
            channel.read(state.now_ms, receive=Receive.HOLDS, taken_bytes=channel_state.SIZE_BYTES),
            held_ms=state.now_ms,
        )
        available_bytes = state.available_bytes - first.size_bytes
        after = replace(state.with_channel(name, holds), available_bytes=available_bytes)
        why = {rule, "MUTING-ASK"}
        if after.outstanding_bytes >= self.bound_bytes:
            why.add("MUTING-BOUND")
        if self.configuration.tls and rule == "MUTING-RECOVER" and first.body_bytes:
            why.add("MUTING-BUFFERED")
        if state.waiting and rule == "MUTING-ASK":
            why.add("MUTING-OTHERS-GO-ON")
        if channel.waits and channel.peer is not Peer.THERE:
            why.add("MUTING-END-WHILE-WAITING")
        return Move(after, frozenset(why), is_free=self._finds_room(state, name, channel))

    def _finds_room(self, state: ChannelMutingState, name: str, channel: Channel) -> bool:
        """Decide whether a channel finds memory whenever it asks, and cannot end before."""
        stays = channel.peer is Peer.THERE and not any(self._ends(state, name, channel))
        return stays and state.has_room

    def _receive(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming
    ) -> Iterator[Move]:
        """Yield the moves by which a holding channel takes bytes of the body.

        Rules: MUTING-GRANTED-FINISHES, MUTING-END-MID-REQUEST.
        """
        if first.is_whole:
            rule = "MUTING-GRANTED-FINISHES" if state.available_bytes <= 0 else "MUTING-ASK"
            yield self._whole(state, name, channel, first, rule)
        elif first.sent_bytes > channel.taken_bytes:
            yield self._take(state, name, channel, first)
        elif channel.peer is not Peer.THERE:
            yield self._close(state, name, "MUTING-END-MID-REQUEST")

    def _whole(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming, rule: str
    ) -> Move:
        """Return a request's reception. Rules: MUTING-ORDER, MUTING-ONE-AT-A-TIME, MUTING-EMPTY."""
        request = channel_state.request_name(name, first.number)
        read = replace(
            channel.read(state.now_ms, receive=Receive.NONE, taken_bytes=0),
            coming=channel.coming[1:],
            is_buffered=self.configuration.tls and len(channel.coming) > 1,
            is_forgotten=False,
            is_ordered=True,
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
        return Move(after, frozenset(why), request, is_free=True)

    def _close(
        self,
        state: ChannelMutingState,
        name: str,
        rule: str,
        *,
        must: bool = True,
        is_free: bool = False,
    ) -> Move:
        return Move(self.closed(state, name), frozenset({rule}), must=must, is_free=is_free)

    def _too_late(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[Move]:
        """Close a channel that is idle; whether the limit is met or passed, just not, is free.

        Rules: MUTING-IDLE, MUTING-NOT-IDLE.
        """
        idle_ms = self.configuration.idle_limit_ms
        if not idle_ms or state.now_ms - channel.used_ms < idle_ms:
            return
        if channel.receive is Receive.WAITS:
            return
        is_over = state.now_ms - channel.active_ms > idle_ms
        is_muted = channel.is_ordered or channel.is_throttled
        must = is_over and not is_muted and not channel.has_unread
        yield self._close(state, name, "MUTING-IDLE", must=must)

    def _why_of_muted(self, state: ChannelMutingState) -> Why:
        """Return the rules that a poll tests by channels that it must leave alone."""
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
        return bool(idle_ms) and state.now_ms - channel.used_ms > idle_ms

    def _why_of_end(self, before: ChannelMutingState, after: ChannelMutingState) -> Why:
        """Return the rules that the end of a poll tests. Rules: MUTING-IDLE-RETURNS."""
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
        """Return a way of a step. Rules: MUTING-CONSERVATION, MUTING-NOT-WITH-MEMORY."""
        tested = set(why)
        if before.available_bytes != after.available_bytes:
            tested.add("MUTING-CONSERVATION")
        return Expectation(
            groups=(frozenset(map(outcomes.received, received)),) if received else (),
            complete=lambda _: after,
            observe=self.observe,
            rejected=rejected,
            rules={**_PARTS, "effect": tuple(sorted(tested))} if tested else _PARTS,
        )


def _announced(
    state: ChannelMutingState, name: str, size_bytes: int, sent_bytes: int
) -> ChannelMutingState:
    """Return the state after a client begins a request; on a closed connection it is unchanged."""
    channel = state.channels[name]
    number = channel.announced + 1
    coming = Coming(number, size_bytes, sent_bytes)
    more = (*channel.coming, coming) if channel.is_open else ()
    sends = replace(channel, announced=number, coming=more, is_buffered=False, is_forgotten=False)
    return state.with_channel(name, sends)


def _sent(state: ChannelMutingState, name: str, sent_bytes: int) -> ChannelMutingState:
    """Return the state after a client goes on with the request that it has begun."""
    channel = state.channels[name]
    if not channel.is_open or not channel.coming:
        return state
    *others, last = channel.coming
    more = replace(last, sent_bytes=last.sent_bytes + sent_bytes)
    sends = replace(channel, coming=(*others, more), is_buffered=False, is_forgotten=False)
    return state.with_channel(name, sends)


def _released(state: ChannelMutingState, request: str) -> tuple[ChannelMutingState, Why]:
    """Return the state with the memory of a request back.

    Rules: MUTING-RELEASE, MUTING-END-WHILE-HANDLED, MUTING-IDLE-RETURNS.
    """
    size_bytes = state.handled[request]
    after = replace(
        state,
        available_bytes=state.available_bytes + size_bytes,
        handled=state.handled.delete(request),
    )
    why = {"MUTING-RELEASE"}
    if not state.channels[channel_state.channel_of(request)].is_open:
        why.add("MUTING-END-WHILE-HANDLED")
        if not after.handled and not any(each.is_open for each in after.channels.values()):
            why.add("MUTING-IDLE-RETURNS")
    return after, frozenset(why)


def _with_effect(rules: Mapping[str, tuple[str, ...]], rule: str) -> Mapping[str, tuple[str, ...]]:
    """Return the rules of an expectation with one more that its effect puts to the test."""
    return {**rules, "effect": tuple(sorted({*rules.get("effect", ()), rule}))}
