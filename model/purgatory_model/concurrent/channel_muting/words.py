"""A channel that may wait for memory, in words."""

from collections.abc import Iterator

from purgatory_model.concurrent.channel_muting.model import Channel, Mute, Receive, Sent


def describe_channel(channel: Channel) -> str:
    """Return a channel's requests and bytes in words: ``handled, body sent``."""
    return ", ".join(_parts(channel)) or "-"


def _parts(channel: Channel) -> Iterator[str]:
    is_muted = Mute.MEMORY in channel.muted
    if channel.is_handled:
        yield "handled"
    elif channel.is_answering:
        yield "answered"
    if channel.receive is Receive.WAITS:
        yield "waits" if is_muted else "may ask again"
    elif channel.receive is Receive.HOLDS:
        yield "holds, muted" if is_muted else "holds"
    if channel.is_buffered:
        yield "body in TLS"
    elif channel.sent is Sent.WHOLE:
        yield "body sent"
    elif channel.sent is Sent.HEADER and channel.receive is Receive.NONE:
        yield "header sent"
