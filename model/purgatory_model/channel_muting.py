"""Channels that wait for memory, of any profile; they may follow some variants.

``kafka_channels`` has what Kafka's channels do, ``choices.channels`` what else the rules allow.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from purgatory_model.channel_state import (
    SIZE_BYTES,
    Channel,
    ChannelMutingState,
    Coming,
    Peer,
    Receive,
    channel_of,
    request_name,
)
from purgatory_model.choices.channels import AnyChannels
from purgatory_model.kafka_channels import Move, Place
from purgatory_model.replacing import replace

__all__ = [
    "SIZE_BYTES",
    "VARIANTS",
    "Channel",
    "ChannelMutingModel",
    "ChannelMutingState",
    "Coming",
    "Peer",
    "Receive",
    "channel_of",
    "request_name",
]

VARIANTS: Mapping[str, str] = {
    "tls_stuck": "memory that is granted to a channel out of its TLS buffers, as it waits, leaves "
    "it muted",
    "tls_forgets": "bytes that TLS has taken behind an empty request are not read before the "
    "client sends more",
    "waiting_is_idle": "a channel that waits for memory is closed as idle",
}
"""The variants by name, each with a sentence: what servers do that are known to break a rule."""


@dataclass(frozen=True)
class ChannelMutingModel(AnyChannels):
    """A server's channels under a configuration and a profile; it may follow some variants."""

    variants: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Reject the name of an unknown variant."""
        unknown = self.variants - VARIANTS.keys()
        if unknown:
            raise ValueError(f"there is no variant {min(unknown)!r}")

    def _moves(self, place: Place) -> Iterator[tuple[Move, Place]]:
        """Make any move; behind a release perhaps one of the variant ``tls_stuck``."""
        yield from super()._moves(place)
        if place.was_released and "tls_stuck" in self.variants:
            for stuck in self._stuck(place.state):
                yield stuck, replace(place, state=stuck.after)

    def _stuck(self, state: ChannelMutingState) -> Iterator[Move]:
        """Grant memory to channels that wait, out of their TLS buffers, and leave them muted.

        What TLS has taken is in the memory then, and the rest stays in the socket.
        """
        if not self.configuration.tls:
            return
        for name in state.waiting:
            channel = state.channels[name]
            first = channel.coming[0]
            can_stick = first.body_bytes and self._is_granted(state, first.size_bytes)
            if channel.is_stuck or not can_stick:
                continue
            granted = self._granted(state, name, channel, first, "MUTING-RECOVER").after
            stuck = replace(granted.channels[name], is_stuck=True)
            yield Move(granted.with_channel(name, stuck), frozenset(), must=False)

    def _finds_room(self, state: ChannelMutingState, name: str, channel: Channel) -> bool:
        """Decide as without variants; by ``tls_stuck`` a channel that waits may also be stuck."""
        may_stick = "tls_stuck" in self.variants and self.configuration.tls and state.waiting
        return not may_stick and super()._finds_room(state, name, channel)

    def _unmuted(self, state: ChannelMutingState, name: str, channel: Channel) -> Move:
        """Let a channel stop waiting; by ``waiting_is_idle`` it was idle all the time."""
        move = super()._unmuted(state, name, channel)
        if "waiting_is_idle" not in self.variants:
            return move
        later = replace(move.after.channels[name], used_ms=channel.used_ms)
        return replace(move, after=move.after.with_channel(name, later))

    def _whole(
        self, state: ChannelMutingState, name: str, channel: Channel, first: Coming, rule: str
    ) -> Move:
        """Receive a request; by ``tls_forgets`` an empty one lets what TLS has taken be forgotten.

        Rules: MUTING-EMPTY.
        """
        move = super()._whole(state, name, channel, first, rule)
        after = move.after.channels[name]
        if "tls_forgets" not in self.variants or first.size_bytes or not after.is_buffered:
            return move
        forgotten = replace(after, is_forgotten=True)
        return replace(move, after=move.after.with_channel(name, forgotten))

    def _too_late(self, state: ChannelMutingState, name: str, channel: Channel) -> Iterator[Move]:
        """Close a channel that is too late; by ``waiting_is_idle`` also one that waits."""
        yield from super()._too_late(state, name, channel)
        idle_ms = self.configuration.idle_limit_ms
        if (
            "waiting_is_idle" in self.variants
            and channel.receive is Receive.WAITS
            and idle_ms
            and state.now_ms - channel.used_ms >= idle_ms
        ):
            yield self._close(state, name, "MUTING-NOT-IDLE", must=False)
