"""The cases of each component."""

from collections.abc import Mapping

from purgatory_conformance.support.channel_muting import CHANNEL_MUTING_SUPPORT
from purgatory_conformance.support.memory_pool import MEMORY_POOL_SUPPORT
from purgatory_conformance.support.purgatory import PURGATORY_SUPPORT
from purgatory_conformance.support.support import Support
from purgatory_conformance.support.timer import TIMER_SUPPORT
from purgatory_spec.profiles import Component

SUPPORTS: Mapping[Component, Support] = {
    Component.TIMER: TIMER_SUPPORT,
    Component.PURGATORY: PURGATORY_SUPPORT,
    Component.MEMORY_POOL: MEMORY_POOL_SUPPORT,
    Component.CHANNEL_MUTING: CHANNEL_MUTING_SUPPORT,
}
"""The cases of each component: drawn, made simpler, pictured."""


def support_of(component: Component) -> Support:
    """Return how the cases of a component are drawn, made simpler and pictured."""
    return SUPPORTS[component]
