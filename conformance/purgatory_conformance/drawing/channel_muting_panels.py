"""The panels of a server: the memory of requests, who holds it, who waits, and every channel."""

from collections.abc import Iterator

from purgatory_conformance.describing.states import describe_channel
from purgatory_conformance.drawing.lanes import differing_names
from purgatory_conformance.drawing.panels import (
    Box,
    Boxes,
    Budget,
    Holder,
    PanelScene,
    Row,
    Words,
    panel_scene,
)
from purgatory_judge.components import narrowed
from purgatory_judge.retraced_case import RetracedCase
from purgatory_model.channel_muting import ChannelMutingState, channel_of
from purgatory_spec.profiles import ChannelMutingConfiguration


def channel_muting_scene(case: RetracedCase) -> PanelScene:
    """Return the scene of a failing case of a server that was judged anew."""
    configuration = narrowed(case.configuration, ChannelMutingConfiguration)
    focus = frozenset(channel_of(name) for name in differing_names(case.divergence))

    def rows(state: object) -> tuple[Row, ...]:
        if not isinstance(state, ChannelMutingState):
            return ()
        return tuple(channel_muting_rows(configuration, state, focus))

    return panel_scene(case, rows)


def channel_muting_rows(
    configuration: ChannelMutingConfiguration,
    state: ChannelMutingState,
    focus: frozenset[str] = frozenset(),
) -> Iterator[Row]:
    """Yield the rows of a server's state; the channels of ``focus`` are to be seen first."""
    channels = sorted(state.channels.items())
    receiving = [
        Holder(name, channel.coming[0].size_bytes, name in focus)
        for name, channel in channels
        if channel.holds
    ]
    handled = [
        Holder(request, size_bytes, channel_of(request) in focus)
        for request, size_bytes in sorted(state.handled.items())
    ]
    yield Budget("bytes", (*receiving, *handled), state.available_bytes, configuration.limit_bytes)
    waiting = state.line or state.waiting
    yield Boxes("waiting", tuple(Box(name, focus=name in focus) for name in waiting))
    yield Boxes("handled", tuple(Box(f"{h.name} {h.size_bytes}", focus=h.focus) for h in handled))
    for name, channel in channels:
        yield Words(name, describe_channel(channel) if channel.is_open else "closed")
    yield Words("clock", str(state.now_ms))
