"""The components that can be judged; each is imported when it is first asked for."""

from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name

from purgatory_judge.judged import Judged
from purgatory_spec.profiles import Component

_PLACES: Mapping[Component, str] = {
    Component.TIMER: "purgatory_judge.timer.judged:JUDGED_TIMER",
    Component.PURGATORY: "purgatory_judge.purgatory.judged:JUDGED_PURGATORY",
    Component.MEMORY_POOL: "purgatory_judge.memory_pool.judged:JUDGED_MEMORY_POOL",
    Component.CHANNEL_MUTING: "purgatory_judge.channel_muting.judged:JUDGED_CHANNEL_MUTING",
}


@cache
def judged(component: Component) -> Judged:
    """Return types, variants, rules and judges of a component.

    Whoever judges one component loads no other: a trace of a memory pool needs no wheel.
    """
    found: Judged = resolve_name(_PLACES[component])
    return found
