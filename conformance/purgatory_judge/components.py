"""What all components share, and the differences between components."""

from collections.abc import Mapping
from typing import TypeVar

from purgatory_spec.profiles import (
    ChannelMutingProfile,
    Clock,
    Component,
    MemoryPoolProfile,
    Observable,
    Profile,
    PurgatoryProfile,
    TimerProfile,
)

Kind = TypeVar("Kind")

PROFILES: Mapping[Component, type[Profile]] = {
    Component.TIMER: TimerProfile,
    Component.PURGATORY: PurgatoryProfile,
    Component.MEMORY_POOL: MemoryPoolProfile,
    Component.CHANNEL_MUTING: ChannelMutingProfile,
}
"""The kind of profile that each component declares."""


MODELLED = (Component.TIMER, Component.PURGATORY, Component.MEMORY_POOL)
"""The components that a user's file may be a model of; a server is too large for a lesson."""


def on_real_clock(profile: Profile) -> bool:
    """Whether time really passes, so that outcomes carry readings and no two of them are equal."""
    return isinstance(profile, TimerProfile) and profile.clock is Clock.WALL


def not_compared(profile: Profile) -> tuple[str, ...]:
    """The declared observables that nobody looks at: all but the size, where time really passes."""
    if not isinstance(profile, TimerProfile) or not on_real_clock(profile):
        return ()
    return tuple(sorted(each.value for each in profile.observables - {Observable.SIZE}))


def narrowed(value: object, kind: type[Kind]) -> Kind:
    """The value, narrowed to a kind: a component accepts only values of its own kinds.

    Raises:
        TypeError: the value is of another kind.
    """
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} was expected, not a {type(value).__name__}")
    return value
