"""The components that the suite supports."""

from collections.abc import Mapping

from purgatory_conformance.plugged import attribute
from purgatory_conformance.support import Support
from purgatory_conformance.timer_support import TimerSupport
from purgatory_spec.profiles import Component


def _supports() -> Mapping[Component, Support]:
    found: dict[Component, Support] = {Component.TIMER: TimerSupport()}
    purgatory = attribute("purgatory_support", "PurgatorySupport")
    if purgatory is not None:
        found[Component.PURGATORY] = purgatory()
    memory_pool = attribute("memory_pool_support", "MemoryPoolSupport")
    if memory_pool is not None:
        found[Component.MEMORY_POOL] = memory_pool()
    return found


SUPPORTS: Mapping[Component, Support] = _supports()
"""What the suite knows of each component."""


def support_of(component: Component) -> Support:
    """What the suite knows of a component.

    Raises:
        LookupError: nothing is known of it yet.
    """
    if component not in SUPPORTS:
        raise LookupError(f"the suite cannot judge a {component.value.replace('_', ' ')} yet")
    return SUPPORTS[component]
