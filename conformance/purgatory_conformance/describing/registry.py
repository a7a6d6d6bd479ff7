"""The words of each component; a component is imported when its words are first asked for."""

from functools import cache
from pkgutil import resolve_name

from purgatory_conformance.describing.words import ComponentWords
from purgatory_spec.profiles import Component

_PLACES = {
    Component.TIMER: "purgatory_conformance.describing.timer_words:WORDS",
    Component.PURGATORY: "purgatory_conformance.describing.purgatory_words:WORDS",
    Component.MEMORY_POOL: "purgatory_conformance.describing.memory_pool_words:WORDS",
    Component.CHANNEL_MUTING: "purgatory_conformance.describing.channel_muting_words:WORDS",
}


@cache
def words_of(component: Component) -> ComponentWords:
    """Return the words of a component."""
    found: ComponentWords = resolve_name(_PLACES[component])
    return found
