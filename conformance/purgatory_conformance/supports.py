"""The components that the suite supports."""

from collections.abc import Mapping

from purgatory_conformance.memory_pool_support import MemoryPoolSupport
from purgatory_conformance.purgatory_support import PurgatorySupport
from purgatory_conformance.support import Support
from purgatory_conformance.timer_support import TimerSupport
from purgatory_spec.profiles import Component

SUPPORTS: Mapping[Component, Support] = {
    Component.TIMER: TimerSupport(),
    Component.PURGATORY: PurgatorySupport(),
    Component.MEMORY_POOL: MemoryPoolSupport(),
}
"""What the suite knows of each component."""


def support_of(component: Component) -> Support:
    """What the suite knows of a component."""
    return SUPPORTS[component]
