"""Changes of the channels that wait for memory, each of which must be reported."""

from .seeded_changes import SeededChange

_FIRST_COME = "channel_muting.small_binding"
_ALL_AT_ONCE = "channel_muting.small_all_at_once_binding"
_RELEASED = "channel_muting.small_released_binding"
_TWO_THREADS = "channel_muting.small_two_threads_binding"
_TWO_ASKING = "channel_muting.small_two_threads_all_at_once_binding"
_LOOKS_THEN_TAKES = "channel_muting.small_looks_then_takes_binding"
_MODEL = "purgatory_model/concurrent/channel_muting/model.py"

CHANGES = (
    SeededChange(
        name="the body of a refused channel stays in the socket",
        binding=_FIRST_COME,
        file="ChannelMuting.tla",
        line='/\\ buffered\' = IF Tls /\\ sent[c] = "whole" THEN buffered \\cup {c} ELSE buffered',
        instead="/\\ buffered' = buffered",
        action="Read",
    ),
    SeededChange(
        name="whoever waits is un-muted though nothing is available",
        binding=_ALL_AT_ONCE,
        file="ChannelMuting.tla",
        line="IF available < 1 \\/ c \\notin Own(t) THEN muted[c]",
        instead="IF available < 0 \\/ c \\notin Own(t) THEN muted[c]",
        action="Poll",
    ),
    SeededChange(
        name="what is granted to a muted channel is complete at once",
        binding=_RELEASED,
        file="ChannelMuting.tla",
        line='/\\ IF sent[c] = "whole" /\\ "memory" \\notin muted[c] THEN Complete(c)',
        instead='/\\ IF sent[c] = "whole" THEN Complete(c)',
        action="Read",
    ),
    SeededChange(
        name="a response goes out in the middle of a round",
        binding=_FIRST_COME,
        file="ChannelMuting.tla",
        line='/\\ phase[ThreadOf(c)] = "poll"',
        instead='/\\ phase[ThreadOf(c)] # "select"',
        action="Respond",
    ),
    SeededChange(
        name="the model lets a newcomer pass those who wait",
        binding=_TWO_THREADS,
        file=_MODEL,
        line="if channel.receive is Receive.HOLDS or (self.first_come and state.line):",
        instead="if channel.receive is Receive.HOLDS:",
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
        name="the model serves the last of the line",
        binding="channel_muting.small_three_channels_binding",
        file=_MODEL,
        line="first, *others = state.line",
        instead="*others, first = state.line",
        action="Poll",
    ),
    SeededChange(
        name="a thread gives memory to the channel of another one",
        binding=_TWO_THREADS,
        file="ChannelMuting.tla",
        line="ELSE IF ThreadOf(Head(waiting)) # t THEN 0",
        instead="ELSE IF t = 0 THEN 0",
        action="Poll",
    ),
    SeededChange(
        name="a thread un-mutes the channels of another one",
        binding=_TWO_ASKING,
        file="ChannelMuting.tla",
        line="IF available < 1 \\/ c \\notin Own(t) THEN muted[c]",
        instead="IF available < 1 THEN muted[c]",
        action="Poll",
    ),
    SeededChange(
        name="what a thread takes is looked for once more",
        binding=_LOOKS_THEN_TAKES,
        file="ChannelMuting.tla",
        line="/\\ c \\in looked[ThreadOf(c)]",
        instead="/\\ c \\in looked[ThreadOf(c)] /\\ available >= 1",
        action="Take",
    ),
    SeededChange(
        name="the model forgets a wake-up at the poll",
        binding=_TWO_THREADS,
        file=_MODEL,
        line="polled = state.with_phase(thread, Phase.SELECT)",
        instead="polled = replace("
        "state.with_phase(thread, Phase.SELECT), woken=state.woken - {thread})",
        action="Poll",
    ),
    SeededChange(
        name="the model leaves a thread asleep that has a response to send",
        binding=_TWO_THREADS,
        file=_MODEL,
        line="self._is_found(channel) or channel.is_answering",
        instead="self._is_found(channel)",
        action="Select",
    ),
    SeededChange(
        name="the model wakes the threads whose channels are muted for order",
        binding=_TWO_ASKING,
        file=_MODEL,
        line="if Mute.MEMORY in channel.muted",
        instead="if Mute.ORDER in channel.muted",
        action="Release",
    ),
    SeededChange(
        name="the model looks again before it takes",
        binding=_LOOKS_THEN_TAKES,
        file=_MODEL,
        line='yield Step("Take", (number,)), self._taken(state, number)',
        instead='yield Step("Take", (number,)), self._read(state, number)',
        action="Take",
    ),
)
