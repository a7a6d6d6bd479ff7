"""The bundled implementation as subjects, in process, on a virtual clock.

The subjects are made here; ``timer``, ``purgatory``, ``memory_pool`` and ``channel_muting`` put
each component behind the operations of the suite, and ``real_clock`` a timer whose clock moves by
itself.
"""

import platform
from importlib import metadata

import msgspec

import purgatory_conformance.subjects.bundled.channel_muting as bundled_channel_muting
import purgatory_conformance.subjects.bundled.memory_pool as bundled_memory_pool
import purgatory_conformance.subjects.bundled.purgatory as bundled_purgatory
import purgatory_conformance.subjects.bundled.timer as bundled_timer
from purgatory_conformance.subjects.bundled.channel_muting import ChannelMutingInstance
from purgatory_conformance.subjects.bundled.memory_pool import MemoryPoolInstance
from purgatory_conformance.subjects.bundled.purgatory import PurgatoryInstance
from purgatory_conformance.subjects.bundled.timer import TimerInstance
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_judge.components import narrowed
from purgatory_spec.messages import Implementation
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Profile,
    TimerConfiguration,
    component_of,
)


def implementation() -> Implementation:
    """Return our own implementation, as reports name it."""
    return Implementation(
        name="purgatory_impl",
        version=metadata.version("purgatory-spec"),
        language="Python",
        runtime=f"{platform.python_implementation()} {platform.python_version()}",
    )


def bundled_subject() -> InProcessSubject:
    """Return the subject ``bundled``."""
    profiles: dict[Component, Profile] = {
        Component.TIMER: bundled_timer.PROFILE,
        Component.PURGATORY: bundled_purgatory.PROFILE,
        Component.MEMORY_POOL: bundled_memory_pool.PROFILE,
        Component.CHANNEL_MUTING: bundled_channel_muting.PROFILE,
    }
    return InProcessSubject(implementation(), profiles, _instance)


def bundled_proposal_subject() -> InProcessSubject:
    """Return the subject ``bundled-proposal``: a purgatory that counts as the proposal has it."""
    named = msgspec.structs.replace(
        implementation(), name="purgatory_impl, accounting as published"
    )
    profiles = {Component.PURGATORY: bundled_purgatory.PROPOSAL_PROFILE}
    return InProcessSubject(named, profiles, bundled_purgatory.proposal_instance)


def bundled_fixed_subject() -> InProcessSubject:
    """Return the subject ``bundled-fixed-interval``: its purgatory purges at the interval."""
    named = msgspec.structs.replace(implementation(), name="purgatory_impl, purges as published")
    profiles = {Component.PURGATORY: bundled_purgatory.FIXED_PROFILE}
    return InProcessSubject(named, profiles, bundled_purgatory.fixed_instance)


def bundled_inline_subject() -> InProcessSubject:
    """Return the subject ``bundled-inline``: expiries run in the advancing thread."""
    named = msgspec.structs.replace(implementation(), name="purgatory_impl, inline executor")
    profiles: dict[Component, Profile] = {
        Component.TIMER: bundled_timer.INLINE_PROFILE,
        Component.PURGATORY: bundled_purgatory.INLINE_PROFILE,
    }
    return InProcessSubject(named, profiles, _inline_instance)


def _inline_instance(configuration: Configuration) -> Instance:
    if component_of(configuration) is Component.TIMER:
        return TimerInstance(narrowed(configuration, TimerConfiguration), inline=True)
    return PurgatoryInstance(configuration, inline=True)


def _instance(configuration: Configuration) -> Instance:
    match component_of(configuration):
        case Component.TIMER:
            return TimerInstance(narrowed(configuration, TimerConfiguration))
        case Component.PURGATORY:
            return PurgatoryInstance(configuration)
        case Component.MEMORY_POOL:
            return MemoryPoolInstance(configuration)
        case Component.CHANNEL_MUTING:
            return ChannelMutingInstance(configuration)
