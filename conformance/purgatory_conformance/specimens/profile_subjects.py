"""One subject for each value that a profile may declare, and the same subject declared otherwise.

The first conforms: the value is a legal choice. The second, its sibling, breaks the rule that the
choice belongs to; where the other value asks for less, the sibling conforms as well.
"""

from purgatory_conformance.specimens.channel_muting_profiles import channel_muting_profile_subjects
from purgatory_conformance.specimens.memory_pool_profiles import memory_pool_profile_subjects
from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.purgatory_profiles import purgatory_profile_subjects
from purgatory_conformance.specimens.timer_profiles import timer_profile_subjects


def profile_subjects() -> tuple[ProfileSubject, ...]:
    """One subject for each value of each choice, component after component."""
    return (
        timer_profile_subjects()
        + purgatory_profile_subjects()
        + memory_pool_profile_subjects()
        + channel_muting_profile_subjects()
    )
