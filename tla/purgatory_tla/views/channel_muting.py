"""The counts of channels that wait for memory."""

from collections.abc import Mapping

from purgatory_tla.views.parts import entries, number
from purgatory_tla.views.sayings import State


def channel_muting(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """The bytes left in the pool, the channels with memory and without, the reasons for mutes."""
    receive = entries(state["receive"])
    return {
        "phase": state["phase"],
        "available": number(state, "available"),
        "holding": _those(receive, "holds"),
        "waiting": _those(receive, "waits"),
        "handled": state["handled"],
        "muted": state["muted"],
        "buffered": state["buffered"],
    }


def _those(receive: Mapping[object, object], how: str) -> frozenset[object]:
    return frozenset(channel for channel, each in receive.items() if each == how)
