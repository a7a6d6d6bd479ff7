"""The counts of the memory pool, of its calls, and of channels that wait for memory."""

from collections.abc import Mapping

from purgatory_model.concurrent.channel_muting.model import Channel, Mute, Receive, Sent
from purgatory_model.concurrent.channel_muting.words import describe_channel
from purgatory_tla.views.parts import entries, members, number, numbers
from purgatory_tla.views.sayings import State


def memory_pool(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the available bytes, and the bytes in the hands of threads."""
    return {"available": number(state, "available"), "outstanding": sum(numbers(state["held"]))}


def memory_pool_calls(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the clock, the available and outstanding bytes, and the dry time."""
    since = number(state, "since")
    out = entries(state["held"])
    return {
        "clock": number(state, "now"),
        "available": number(state, "available"),
        "out": ", ".join(f"{buffer}: {size}" for buffer, size in sorted(out.items())) or "nothing",
        "dry": f"since {since}" if since >= 0 else "no",
        "dry before": f"{number(state, 'depleted')} in {number(state, 'spells')}",
    }


def channel_muting(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the bytes left, each thread's next action, and each channel's state."""
    phases = entries(state["phase"])
    phase = phases if len(phases) > 1 else next(iter(phases.values()))
    numbers = entries(state["sent"])
    channels = {f"channel {each}": describe_channel(_channel(state, each)) for each in numbers}
    return {"available": number(state, "available"), "next": phase, **channels}


def _channel(state: State, channel: object) -> Channel:
    return Channel(
        left=0,
        sent=Sent(entries(state["sent"])[channel]),
        receive=Receive(entries(state["receive"])[channel]),
        muted=frozenset(map(Mute, members(entries(state["muted"])[channel]))),
        is_buffered=channel in members(state["buffered"]),
        is_handled=channel in members(state["handled"]),
    )
