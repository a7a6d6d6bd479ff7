"""What happens to a server's channels, in readable words."""

from purgatory_conformance.describing.words import ComponentWords, describe_choices, describe_events
from purgatory_model.channel_muting import SIZE_BYTES, Channel, ChannelMutingState, Receive
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
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import ChannelMutingConfiguration, ChannelMutingProfile

_ENDINGS = {
    Ending.CLOSE: "hangs up",
    Ending.HALF_CLOSE: "says that it sends no more",
    Ending.RESET: "breaks its connection",
}


def describe_channel_muting_operation(operation: Operation) -> str:
    """An operation as a person would say it, for example ``c1 sends a request of 10 bytes``."""
    match operation:
        case Connect(channel):
            return f"{channel} connects"
        case Announce(channel, size_bytes, sent_bytes):
            return f"{channel} {_announced(size_bytes, sent_bytes)}"
        case Send(channel, sent_bytes):
            return f"{channel} sends {_bytes(sent_bytes)} more"
        case Poll():
            return "poll"
        case PollWhile(request):
            return f"poll, and {request} is released while it waits"
        case PollBeside(channel):
            return f"poll, and {channel} sends records without data and without end"
        case Release(request):
            return f"release {request}"
        case Respond(channel):
            return f"answer {channel}"
        case Throttle(channel):
            return f"throttle {channel}"
        case Unthrottle(channel):
            return f"end the throttling of {channel}"
        case Close(channel):
            return f"close {channel}"
        case HangUp(channel, ending):
            return f"{channel}'s client {_ENDINGS[ending]}"
        case Construct(limit_bytes, max_request_bytes):
            return f"make a server of {_bytes(limit_bytes)}, largest request {max_request_bytes}"
        case Elapse(to_ms):
            return f"let the clock reach {to_ms}"
        case _:
            return operation_name(operation)


def _announced(size_bytes: int, sent_bytes: int) -> str:
    if sent_bytes == SIZE_BYTES + size_bytes:
        return f"sends a request of {_bytes(size_bytes)}"
    if sent_bytes < SIZE_BYTES:
        return f"sends {sent_bytes} of the 4 bytes of a size"
    if sent_bytes == SIZE_BYTES:
        return f"announces {_bytes(size_bytes)}"
    return f"announces {_bytes(size_bytes)} and sends {sent_bytes - SIZE_BYTES} of them"


def describe_channel_muting_outcome(operation: Operation, outcome: Outcome) -> str:
    """What came of an operation, its observables aside, for example ``c1#1 received``."""
    polled = isinstance(operation, Poll | PollWhile | PollBeside)
    return describe_events(outcome, silence="nothing received" if polled else "done")


def describe_channel_muting_configuration(configuration: ChannelMutingConfiguration) -> str:
    """What the server of a case was made with."""
    words = [
        _bytes(configuration.limit_bytes),
        f"largest request {configuration.max_request_bytes}",
        "strict" if configuration.strict else "non-strict",
        "TLS" if configuration.tls else "plain",
    ]
    if configuration.idle_limit_ms:
        words.append(f"idle limit {configuration.idle_limit_ms} ms")
    if configuration.receive_limit_ms:
        words.append(f"receive limit {configuration.receive_limit_ms} ms")
    return ", ".join(words)


def describe_channel_muting_profile(profile: ChannelMutingProfile) -> str:
    """The declared choices that a reader needs in order to follow a case."""
    return describe_choices(profile, ("recovery", "ask_again", "end_while_waiting"))


def describe_channel_muting_state(state: object) -> str:
    """The available bytes and the open channels on a line; empty for another component's state."""
    if not isinstance(state, ChannelMutingState):
        return ""
    channels = "; ".join(
        f"{name}: {describe_channel(channel)}"
        for name, channel in sorted(state.channels.items())
        if channel.is_open
    )
    handled = ", ".join(f"{request} {size}" for request, size in sorted(state.handled.items()))
    words = f"clock {state.now_ms}; {state.available_bytes} available; handled: "
    words += handled or "nothing"
    if state.line:
        words += f"; in line: {', '.join(state.line)}"
    return f"{words}; {channels or 'no channels'}"


def describe_channel(channel: Channel) -> str:
    """What an open channel is about, for example ``waits, request 1 of 10 sent to 4``."""
    words = []
    if channel.receive is Receive.HOLDS:
        words.append("holds")
    if channel.waits:
        words.append("waits")
    if channel.receive is Receive.ASKS_LATER:
        words.append("asks with the next bytes")
    if channel.is_ordered:
        words.append("ordered")
    if channel.is_throttled:
        words.append("throttled")
    words += [
        f"request {each.number} of {each.size_bytes} sent to {each.sent_bytes}"
        for each in channel.coming
    ]
    return ", ".join(words) or "idle"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


WORDS = ComponentWords(
    describe_channel_muting_operation,
    describe_channel_muting_outcome,
    describe_channel_muting_configuration,
    describe_channel_muting_profile,
    describe_channel_muting_state,
)
"""The words of this component."""
