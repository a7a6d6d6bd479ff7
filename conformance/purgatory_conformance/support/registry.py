"""The components that the suite supports."""

from collections.abc import Mapping

from purgatory_conformance.support.channel_muting import ChannelMutingSupport
from purgatory_conformance.support.memory_pool import MemoryPoolSupport
from purgatory_conformance.support.purgatory import PurgatorySupport
from purgatory_conformance.support.support import Support
from purgatory_conformance.support.timer import TimerSupport
from purgatory_spec.profiles import Component

SUPPORTS: Mapping[Component, Support] = {
    Component.TIMER: TimerSupport(),
    Component.PURGATORY: PurgatorySupport(),
    Component.MEMORY_POOL: MemoryPoolSupport(),
    Component.CHANNEL_MUTING: ChannelMutingSupport(),
}
"""What the suite knows of each component."""


def support_of(component: Component) -> Support:
    """What the suite knows of a component."""
    return SUPPORTS[component]
