"""One tiny memory pool for each value that a profile may declare, and the same pool otherwise.

The first conforms: the value is a legal choice. The second, its sibling, breaks the rule that the
choice belongs to; where the other value asks for less, the sibling conforms as well.
"""

import msgspec

from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.small_memory_pool import PROFILE, small_pool_subject
from purgatory_spec.profiles import (
    Component,
    MemoryPoolFeature,
    MemoryPoolProfile,
    ReleaseValidation,
)

_OTHER_RELEASES = frozenset(
    {
        MemoryPoolFeature.RELEASE_AGAIN,
        MemoryPoolFeature.RELEASE_SLICE,
        MemoryPoolFeature.RELEASE_COPY,
        MemoryPoolFeature.RELEASE_FOREIGN,
    }
)

NAIVE_PROFILE = msgspec.structs.replace(PROFILE, release_validation=ReleaseValidation.NONE)
"""The profile of a pool that credits every buffer given back, and may be given any buffer.

It breaks POOL-CONSERVATION, as Kafka's does.
"""

CAREFUL_PROFILE = msgspec.structs.replace(
    NAIVE_PROFILE, features=NAIVE_PROFILE.features - _OTHER_RELEASES
)
"""The profile of the same pool for callers that release only the pool's own buffers, once each."""


def _careful_but(feature: MemoryPoolFeature) -> MemoryPoolProfile:
    """The profile of a pool that claims to know its own, with one kind of wrong release."""
    return msgspec.structs.replace(
        CAREFUL_PROFILE,
        release_validation=ReleaseValidation.IDENTITY,
        features=CAREFUL_PROFILE.features | {feature},
    )


def _profile_subject(
    name: str, behaves: MemoryPoolProfile, declares: MemoryPoolProfile, sibling_rule: str = ""
) -> ProfileSubject:
    return ProfileSubject(
        name=f"memory-pool-{name}",
        value=f"release_validation {behaves.release_validation.value}",
        make=lambda: small_pool_subject(profile=behaves),
        sibling=lambda: small_pool_subject(profile=declares, behaves=behaves),
        sibling_rule=sibling_rule,
        component=Component.MEMORY_POOL,
    )


_PROFILE_SUBJECTS = (
    _profile_subject(
        "release-validation-none",
        CAREFUL_PROFILE,
        _careful_but(MemoryPoolFeature.RELEASE_FOREIGN),
        "POOL-RELEASE-FOREIGN",
    ),
    _profile_subject(
        "release-validation-none-again",
        CAREFUL_PROFILE,
        _careful_but(MemoryPoolFeature.RELEASE_AGAIN),
        "POOL-RELEASE-AGAIN",
    ),
    _profile_subject("release-validation-identity", PROFILE, NAIVE_PROFILE),
)


def memory_pool_profile_subjects() -> tuple[ProfileSubject, ...]:
    """One subject for each value of each choice that a memory pool may declare."""
    return _PROFILE_SUBJECTS
