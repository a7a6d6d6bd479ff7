"""Functions for all components, and the differences between components."""

from collections.abc import Mapping
from typing import TypeVar

from purgatory_spec import profiles

Kind = TypeVar("Kind")

PROFILES: Mapping[profiles.Component, type[profiles.Profile]] = {
    profiles.Component.TIMER: profiles.TimerProfile,
    profiles.Component.PURGATORY: profiles.PurgatoryProfile,
    profiles.Component.MEMORY_POOL: profiles.MemoryPoolProfile,
    profiles.Component.CHANNEL_MUTING: profiles.ChannelMutingProfile,
}
"""The kind of profile that each component declares."""


MODELLED = (profiles.Component.TIMER, profiles.Component.PURGATORY, profiles.Component.MEMORY_POOL)
"""The components that a user's file may be a model of; a server is too large for a lesson."""


def on_real_clock(profile: profiles.Profile) -> bool:
    """Decide whether real time passes, so that outcomes carry readings and none are equal."""
    return isinstance(profile, profiles.TimerProfile) and profile.clock is profiles.Clock.WALL


def not_compared(profile: profiles.Profile) -> tuple[str, ...]:
    """Return the declared observables that are not compared: on a real clock all but the size."""
    if not isinstance(profile, profiles.TimerProfile) or not on_real_clock(profile):
        return ()
    return tuple(sorted(each.value for each in profile.observables - {profiles.Observable.SIZE}))


def narrowed(value: object, kind: type[Kind]) -> Kind:
    """Return the value, narrowed to a kind: a component accepts only values of its own kinds.

    Raises:
        TypeError: the value is of another kind.
    """
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} was expected, not a {type(value).__name__}")
    return value
