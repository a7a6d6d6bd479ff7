"""Channels that stand in a line, that ask again without a sign, or that are closed early.

Under recovery ``first_come`` those who wait stand in a *line*. Memory goes to its head, and whoever
comes while others wait stands behind them. A release may serve the line, or leave that to the next
poll.
"""

from collections.abc import Iterator
from functools import partial

from purgatory_model.channel_state import Channel, ChannelMutingState, Coming, Peer, Receive
from purgatory_model.kafka_channels import KafkaChannels, Move, Why
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, TooManyBranches
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event
from purgatory_spec.profiles import AskAgain, ChannelMutingFeature, EndWhileWaiting, Recovery

_BESIDE_POLLS = op.Connect | op.Respond | op.Throttle | op.Unthrottle | op.Close | op.Release
"""The calls between polls, in which the thread may have a turn that reads nothing."""

_MOST_ENDS = 64


class AnyChannels(KafkaChannels):
    """A server's channels by the choices of a profile."""

    @property
    def is_first_come(self) -> bool:
        """Decide whether waiting channels stand in a line."""
        return self.profile.recovery is Recovery.FIRST_COME

    @property
    def asks_with_bytes(self) -> bool:
        """Decide whether a refused channel asks again only for a client that has gone on."""
        return not self.is_first_come and self.profile.ask_again is AskAgain.WITH_BYTES

    def expectations(
        self, state: ChannelMutingState, operation: op.Operation
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Return the ways in which an operation may go; ends may also be noticed between polls.

        Raises:
            TooManyBranches: too many clients have ended, or are late.

        Rules: MUTING-END-WHILE-WAITING, MUTING-SLOW-SENDER, MUTING-IDLE.
        """
        ways = super().expectations(state, operation)
        at_once = self.profile.end_while_waiting is EndWhileWaiting.AT_ONCE
        if not (at_once and isinstance(operation, _BESIDE_POLLS)):
            return ways
        return tuple(noticed for way in ways for noticed in self._noticed(way))

    def _noticed(
        self, way: Expectation[ChannelMutingState]
    ) -> Iterator[Expectation[ChannelMutingState]]:
        """Yield a way with each choice of the ended connections that are closed behind it."""
        yield way
        ends = set[ChannelMutingState]()
        following = list(self._closes_ended(way.complete(())))
        while following:
            end = following.pop()
            if end in ends:
                continue
            if len(ends) == _MOST_ENDS:
                raise TooManyBranches
            ends.add(end)
            yield replace(way, complete=partial(_ended, end))
            following += self._closes_ended(end)
            if (grant := self._first_served(end)) is not None:
                following.append(grant.after)

    def _closes_ended(self, state: ChannelMutingState) -> Iterator[ChannelMutingState]:
        """Yield the states in which one more connection that has ended, or is late, is closed."""
        for name, channel in state.channels.items():
            if not channel.is_open:
                continue
            yield from (end.after for end in self._ends(state, name, channel))
            is_cut = channel.waits and channel.first is not None and not channel.first.is_whole
            if is_cut and channel.peer is Peer.HALF_CLOSED:
                yield self.closed(state, name)

    def _of_channel(
        self, state: ChannelMutingState, name: str, operation: op.OnChannel
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Throttle a channel also while no response is due. Rules: MUTING-THROTTLE."""
        anytime = ChannelMutingFeature.THROTTLE_ANYTIME in self.profile.features
        if not (anytime and isinstance(operation, op.Throttle)):
            return super()._of_channel(state, name, operation)
        throttled = replace(state.channels[name], is_throttled=True)
        return (self._way(state, state.with_channel(name, throttled)),)

    def _moves_of(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[Move]:
        """Yield the moves of a channel; throttled, it may ask for memory now or later.

        Rules: MUTING-THROTTLE.
        """
        first = channel.first if channel.receive is Receive.ASKS_LATER else None
        if first is not None and channel.is_throttled and not channel.is_ordered:
            yield replace(self._ask(state, name, channel, first), must=False)  # this reads nothing
        for move in super()._moves_of(state, name, channel):
            is_free = channel.is_throttled and channel.waits
            yield replace(move, must=False) if is_free else move

    def _respond(
        self, state: ChannelMutingState, name: str
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Let the last response to a client that sends no more end its connection at once.

        Rules: MUTING-HALF-CLOSE.
        """
        ways = super()._respond(state, name)
        channel = state.channels[name]
        if not channel.is_open or channel.peer is not Peer.HALF_CLOSED or channel.coming:
            return ways
        ended = self.closed(state.with_channel(name, replace(channel, is_ordered=False)), name)
        return (*ways, self._way(state, ended, frozenset({"MUTING-HALF-CLOSE"})))

    def closed(self, state: ChannelMutingState, name: str) -> ChannelMutingState:
        """Close a connection, which leaves the line. Rules: MUTING-CLOSE."""
        closed = super().closed(state, name)
        return replace(closed, line=tuple(each for each in closed.line if each != name))

    def _perhaps_served(
        self, before: ChannelMutingState, after: ChannelMutingState, why: Why
    ) -> tuple[Expectation[ChannelMutingState], ...]:
        """Serve the line with memory that has come back, or leave that to the next poll.

        Rules: MUTING-FIRST-COME.
        """
        ways = super()._perhaps_served(before, after, why)
        served = after
        while (grant := self._first_served(served)) is not None:
            served, why = grant.after, why | grant.why
        return ways if served is after else (*ways, self._way(before, served, why))

    def _moves_of_channels(self, state: ChannelMutingState) -> Iterator[Move]:
        """Move the head of the line, then any channel."""
        grant = self._first_served(state)
        if grant is not None:
            yield grant
        yield from super()._moves_of_channels(state)

    def _first_served(self, state: ChannelMutingState) -> Move | None:
        """Grant memory to the head of the line, if there is enough. Rules: MUTING-FIRST-COME."""
        if not state.line:
            return None
        name = state.line[0]
        channel = state.channels[name]
        first = channel.coming[0]
        if not self._is_granted(state, first.size_bytes):
            return None
        served = self._granted(state, name, channel, first, "MUTING-RECOVER")
        why = served.why | {"MUTING-FIRST-COME"} if len(state.line) > 1 else served.why
        after = replace(served.after, line=state.line[1:])
        return replace(served, after=after, why=why, must=not channel.is_throttled)

    def _recovers(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming
    ) -> Iterator[Move]:
        """Ask again with bytes, or as soon as there is enough; the line is served in its order.

        Rules: MUTING-RECOVER.
        """
        if self.asks_with_bytes:
            yield from super()._recovers(state, name, channel, first)
        elif not self.is_first_come and self._is_granted(state, first.size_bytes):
            yield self._granted(state, name, channel, first, "MUTING-RECOVER")

    @property
    def _must_notice_end(self) -> bool:
        at_once = self.profile.end_while_waiting is EndWhileWaiting.AT_ONCE
        return at_once and not self.configuration.tls

    def _ask(self, state: ChannelMutingState, name: str, channel: Channel, first: Coming) -> Move:
        """Ask for memory, behind those who stand in the line.

        Rules: MUTING-ASK, MUTING-BOUND, MUTING-FIRST-COME.
        """
        if not state.line:
            return super()._ask(state, name, channel, first)
        there_is = self._is_granted(state, first.size_bytes)
        rule = "MUTING-FIRST-COME" if there_is else "MUTING-BOUND"
        return self._refused(state, name, channel, first, rule)

    def _refused(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming, rule: str
    ) -> Move:
        """Mute a channel until there is memory, and append it to the line."""
        move = super()._refused(state, name, channel, first, rule)
        if not self.is_first_come:
            return move
        return replace(move, after=replace(move.after, line=(*state.line, name)))

    def _too_late(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[Move]:
        """Close a channel that receives for too long, or is idle. Rules: MUTING-SLOW-SENDER."""
        slow_ms = self.configuration.receive_limit_ms
        if slow_ms and channel.holds and state.now_ms - channel.held_ms >= slow_ms:
            is_over = state.now_ms - channel.held_ms > slow_ms
            must = is_over and not (channel.coming[0].is_whole or channel.is_throttled)
            yield self._close(state, name, "MUTING-SLOW-SENDER", must=must)
        yield from super()._too_late(state, name, channel)


def _ended(after: ChannelMutingState, _events: tuple[Event, ...]) -> ChannelMutingState:
    return after
