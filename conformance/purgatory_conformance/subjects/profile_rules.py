"""Rules for a profile beyond its types, so that the suite can judge by it."""

from collections.abc import Mapping
from enum import Enum

from msgspec import structs

from purgatory_spec import profiles

_THREADS = frozenset(each for each in profiles.Executor if each.has_threads)

_ACTIONS = frozenset(
    {profiles.Feature.SCRIPT_ADD, profiles.Feature.SCRIPT_CANCEL, profiles.Feature.SCRIPT_ADVANCE}
)

NEVER_JUDGED: Mapping[profiles.Component, frozenset[Enum]] = {
    profiles.Component.PURGATORY: _THREADS,
}
"""Values that the type of a component's profile has, but by which no component is judged."""

SORTS_OF_POOL = frozenset(
    {
        profiles.MemoryPoolFeature.STRICT,
        profiles.MemoryPoolFeature.NON_STRICT,
        profiles.MemoryPoolFeature.UNBOUNDED,
    }
)
"""The features that say which pools can be made."""


_SORTS_OF_SERVER = (
    frozenset({profiles.ChannelMutingFeature.PLAIN, profiles.ChannelMutingFeature.TLS}),
    frozenset({profiles.ChannelMutingFeature.STRICT, profiles.ChannelMutingFeature.NON_STRICT}),
)
"""The features that say which servers can be made: one of each set is needed."""

_GOES_WITH = {
    profiles.ChannelMutingFeature.HALF_CLOSE: profiles.ChannelMutingFeature.HANG_UP,
    profiles.ChannelMutingFeature.RESET: profiles.ChannelMutingFeature.HANG_UP,
    profiles.ChannelMutingFeature.IDLE_LIMIT: profiles.ChannelMutingFeature.ELAPSE,
    profiles.ChannelMutingFeature.RECEIVE_LIMIT: profiles.ChannelMutingFeature.ELAPSE,
}
"""Features of a server, each with another one without which it cannot be asked for."""


_LEFT_TO_CHANCE = (
    frozenset({"script_throw_severe"}),
    frozenset({"script_throw", "script_throw_severe"}),
    frozenset(action.value for action in _ACTIONS),
)
"""Sets of features that some choices leave to chance."""


def judgeable(profile: profiles.Profile) -> profiles.Profile:
    """Return the profile less the features that its choices leave to chance, if there are any.

    Choices that exclude each other stay as they are, and the profile keeps its problem.
    """
    if problem_of(profile):
        for features in _LEFT_TO_CHANCE:
            kept = frozenset(each for each in profile.features if each.value not in features)
            less = structs.replace(profile, features=kept)
            if not problem_of(less):
                return less
    return profile


def problem_of(profile: profiles.Profile) -> str:
    """Return the problem that keeps the suite from judging by a profile; empty without one."""
    if isinstance(profile, profiles.PurgatoryProfile) and profile.executor in _THREADS:
        return (
            f"the purgatory's executor is declared to be '{profile.executor.value}'; "
            "a purgatory is judged with a stepped or an inline executor"
        )
    if isinstance(profile, profiles.TimerProfile | profiles.PurgatoryProfile) and (
        problem := _of_ticks(profile)
    ):
        return problem
    if isinstance(profile, profiles.PurgatoryProfile) and _is_cut_short_anywhere(profile):
        return (
            "'check_order' is declared to be 'free' and 'throwing_try' to be 'stop', with "
            "script_throw; what a check has met that an exception ends is left to chance: declare "
            "'throwing_try' 'go_on', or leave out script_throw"
        )
    if isinstance(profile, profiles.TimerProfile | profiles.PurgatoryProfile) and (
        problem := _of_severe_throws(profile)
    ):
        return problem
    if isinstance(profile, profiles.TimerProfile) and profile.executor is profiles.Executor.THREADS:
        return _of_threads(profile)
    if isinstance(profile, profiles.MemoryPoolProfile) and not SORTS_OF_POOL & profile.features:
        return (
            "the memory pool declares none of the features 'strict', 'non_strict' and "
            "'unbounded', so that no pool can be made; declare at least one of them"
        )
    return _problem_of_server(profile) if isinstance(profile, profiles.ChannelMutingProfile) else ""


def _problem_of_server(profile: profiles.ChannelMutingProfile) -> str:
    for sorts in _SORTS_OF_SERVER:
        if not sorts & profile.features:
            one, other = sorted(each.value for each in sorts)
            return (
                f"the server declares neither of the features '{one}' and '{other}', "
                "so that none can be made; declare at least one of them"
            )
    for feature, needed in _GOES_WITH.items():
        if feature in profile.features and needed not in profile.features:
            return (
                f"the server declares the feature '{feature.value}' without '{needed.value}', "
                "without which it cannot be asked for; declare both"
            )
    return ""


def _of_threads(profile: profiles.TimerProfile) -> str:
    """Return the rules that several threads leave to chance, in a sentence; else empty."""
    if profile.same_tick_order is profiles.SameTickOrder.FIFO:
        return (
            "'executor' is declared to be 'threads' and 'same_tick_order' to be 'fifo'; several "
            "threads keep no order: declare one of the two"
        )
    scripts = sorted(_ACTIONS & profile.features)
    if scripts:
        return (
            f"'executor' is declared to be 'threads', with {', '.join(scripts)}; what tasks do to "
            "each other in several threads is left to chance: declare one of the two"
        )
    return ""


def _of_severe_throws(profile: profiles.TimerProfile | profiles.PurgatoryProfile) -> str:
    """Return the features about severe exceptions that need another one; else empty."""
    offered = {feature.value for feature in profile.features}
    if "script_throw_severe" not in offered:
        return ""
    if "script_throw" not in offered:
        return (
            "the feature 'script_throw_severe' is declared without 'script_throw', with which it "
            "goes; declare both"
        )
    inline = isinstance(profile, profiles.PurgatoryProfile) and (
        profile.executor is profiles.Executor.INLINE
    )
    if inline and profile.severe_throw is profiles.SevereThrow.PASSED_ON:
        return (
            "the purgatory's 'executor' is declared to be 'inline' and 'severe_throw' to be "
            "'passed_on', with script_throw_severe; what an advance has run that an exception ends "
            "is left to chance: declare 'severe_throw' 'as_ordinary', or leave out "
            "script_throw_severe"
        )
    return ""


def _is_cut_short_anywhere(profile: profiles.PurgatoryProfile) -> bool:
    """Decide whether an exception ends checks whose met operations are unknown by then."""
    free = profile.check_order is profiles.CheckOrder.FREE
    throws = profiles.PurgatoryFeature.SCRIPT_THROW in profile.features
    severe = profiles.PurgatoryFeature.SCRIPT_THROW_SEVERE in profile.features
    passed_on = severe and profile.severe_throw is profiles.SevereThrow.PASSED_ON
    stops = profile.throwing_try is profiles.ThrowingTry.STOP or passed_on
    return free and throws and stops


def _of_ticks(profile: profiles.TimerProfile | profiles.PurgatoryProfile) -> str:
    """Return the choices about ticks that exclude each other, in a sentence; else empty."""
    wheel = profile.structure is profiles.Structure.DELAY_QUEUE_WHEEL
    ticker = profile.already_due is profiles.AlreadyDue.NEXT_TICK
    if wheel and ticker:
        return (
            "'already_due' is declared to be 'next_tick' and 'structure' to be "
            "'delay_queue_wheel'; such a wheel has no ticker: declare one of the two"
        )
    if profile.rounding is profiles.Rounding.EXACT and wheel:
        return (
            "'rounding' is declared to be 'exact' and 'structure' to be 'delay_queue_wheel'; "
            "such a wheel has a tick: declare one of the two"
        )
    return ""
