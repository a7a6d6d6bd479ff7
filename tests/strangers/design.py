"""A stranger: a legal design that is neither Kafka's nor ours, and two planted defects of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from purgatory_conformance.subjects.in_process import InProcessSubject, Instance, subject_of
from purgatory_judge.components import PROFILES
from purgatory_spec.profiles import Component

from .adapters import MemoryPoolInstance, PurgatoryInstance, TimerInstance

TIMER_FEATURES = [
    *("cancel", "readd", "change_delay", "elapse"),
    *("script_throw", "script_add", "script_cancel"),
]
"""The features that most timers offer."""

PURGATORY_FEATURES = [
    *("force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "script_throw"),
    *("script_watch", "script_check", "script_cancel_for_key", "script_force", "script_try"),
]
"""The features that most purgatories offer."""


MAKERS: Mapping[Component, Callable[[type[Any], Any], Instance]] = {
    Component.TIMER: lambda design, asked: TimerInstance(design(asked.tick_ms, asked.start_ms)),
    Component.PURGATORY: lambda design, asked: PurgatoryInstance(
        design(asked.purge_interval, asked.tick_ms, asked.start_ms)
    ),
    Component.MEMORY_POOL: lambda design, asked: MemoryPoolInstance(
        design(asked.size_bytes, asked.max_single_bytes)
    ),
}
"""Make a design that has no maker of its own."""


@dataclass(frozen=True)
class Stranger:
    """A design, the profile in the words that its author would write, how it is made."""

    # ``defects`` are broken subclasses of the design, each with the rules of which one is blamed.

    component: Component
    profile: Mapping[str, str | int | Sequence[str]]
    design: type[Any]
    defects: Mapping[type[Any], set[str]]
    maker: Callable[[type[Any], Any], Instance] | None = None

    def make(self, design: type[Any], asked: Any) -> Instance:
        """Make an instance of the design, or of a broken one in its place."""
        return (self.maker or MAKERS[self.component])(design, asked)

    def subject(self, design: type[Any] | None = None) -> InProcessSubject:
        """The design, or a broken one in its place, as the suite judges it."""
        made = design or self.design
        profile = msgspec.convert(self.profile, PROFILES[self.component])
        return subject_of(lambda configuration: self.make(made, configuration), profile)
