"""What a profile must hold beyond its types so that the suite can judge by it."""

from collections.abc import Mapping
from enum import Enum

from purgatory_spec.profiles import (
    AlreadyDue,
    Component,
    Executor,
    MemoryPoolFeature,
    MemoryPoolProfile,
    Profile,
    PurgatoryProfile,
    Structure,
    TimerProfile,
)

NEVER_JUDGED: Mapping[Component, frozenset[Enum]] = {
    Component.PURGATORY: frozenset({Executor.THREAD}),
}
"""Values that the type of a component's profile has, but by which no component is judged."""

SORTS_OF_POOL = frozenset(
    {MemoryPoolFeature.STRICT, MemoryPoolFeature.NON_STRICT, MemoryPoolFeature.UNBOUNDED}
)
"""The features that say which pools can be made."""


def problem_of(profile: Profile) -> str:
    """What keeps the suite from judging by this profile, in a sentence; empty where nothing."""
    if isinstance(profile, PurgatoryProfile) and profile.executor is Executor.THREAD:
        return (
            "the purgatory's executor is declared to be 'thread'; "
            "a purgatory is judged with a stepped or an inline executor"
        )
    if (
        isinstance(profile, TimerProfile | PurgatoryProfile)
        and profile.structure is Structure.DELAY_QUEUE_WHEEL
        and profile.already_due is AlreadyDue.NEXT_TICK
    ):
        return (
            "'already_due' is declared to be 'next_tick' and 'structure' to be "
            "'delay_queue_wheel'; such a wheel has no ticker: declare one of the two"
        )
    if isinstance(profile, MemoryPoolProfile) and not SORTS_OF_POOL & profile.features:
        return (
            "the memory pool declares none of the features 'strict', 'non_strict' and "
            "'unbounded', so that no pool can be made; declare at least one of them"
        )
    return ""
