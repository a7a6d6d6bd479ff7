"""Changes of the channels that wait for memory, each of which must be reported."""

from .seeded_changes import SeededChange

_FIRST_COME = "channel_muting.small_binding"
_ALL_AT_ONCE = "channel_muting.small_all_at_once_binding"
_RELEASED = "channel_muting.small_released_binding"
_MODEL = "purgatory_model/concurrent/channel_muting/model.py"

CHANGES = (
    SeededChange(
        name="a refused channel is muted for order",
        binding=_FIRST_COME,
        file="ChannelMuting.tla",
        line='THEN muted[d] \\cup {"memory"} ELSE muted[d]]',
        instead='THEN muted[d] \\cup {"order"} ELSE muted[d]]',
        action="Read",
    ),
    SeededChange(
        name="whoever waits is un-muted though nothing is available",
        binding=_ALL_AT_ONCE,
        file="ChannelMuting.tla",
        line="IF available < 1 THEN muted[c]",
        instead="IF available < 0 THEN muted[c]",
        action="Poll",
    ),
    SeededChange(
        name="what is granted to a muted channel is complete at once",
        binding=_RELEASED,
        file="ChannelMuting.tla",
        line='IF sent[c] = "whole" /\\ "memory" \\notin muted[c] THEN Complete(c)',
        instead='IF sent[c] = "whole" THEN Complete(c)',
        action="Read",
    ),
    SeededChange(
        name="a response goes out in the middle of a round",
        binding=_FIRST_COME,
        file="ChannelMuting.tla",
        line='/\\ phase = "poll"\n  /\\ "order" \\in muted[c] /\\ c \\notin handled',
        instead='/\\ "order" \\in muted[c] /\\ c \\notin handled',
        action="Respond",
    ),
    SeededChange(
        name="the model lets a newcomer pass those who wait",
        binding=_FIRST_COME,
        file=_MODEL,
        line="if state.available_bytes < 1 or (self.first_come and state.line):",
        instead="if state.available_bytes < 1:",
        action="Read",
    ),
    SeededChange(
        name="the model forgets that TLS has taken the body",
        binding=_RELEASED,
        file=_MODEL,
        line="is_buffered=channel.is_buffered or (self.tls and channel.sent is Sent.WHOLE),",
        instead="is_buffered=channel.is_buffered,",
        action="Read",
    ),
    SeededChange(
        name="the model ends the ordered mute with the release",
        binding=_ALL_AT_ONCE,
        file=_MODEL,
        line="after = state.with_channel(number, replace(channel, is_handled=False))",
        instead="after = state.with_channel("
        "number, replace(channel, is_handled=False).without_mute(Mute.ORDER))",
        action="Release",
    ),
    SeededChange(
        name="the model serves one of the line in a poll",
        binding="channel_muting.small_two_places_binding",
        file=_MODEL,
        line="while state.line and state.available_bytes >= 1:",
        instead="if state.line and state.available_bytes >= 1:",
        action="Poll",
    ),
)
