"""One tiny memory pool for each value that a profile may declare, and the same pool otherwise.

The first conforms: the value is a legal choice. The second, its sibling, breaks the rule that the
choice belongs to; where the other value asks for less, the sibling conforms as well.
"""

import msgspec

from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.small.memory_pool import PROFILE, small_pool_subject
from purgatory_spec.profiles import (
    Component,
    MemoryPoolFeature,
    MemoryPoolProfile,
    ReleaseValidation,
    ZeroRequest,
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


def _asked_for_nothing(means: ZeroRequest) -> MemoryPoolProfile:
    return msgspec.structs.replace(PROFILE, zero_request=means)


def _profile_subject(
    value: str,
    behaves: MemoryPoolProfile,
    declares: MemoryPoolProfile,
    sibling_rule: str = "",
    more: str = "",
) -> ProfileSubject:
    return ProfileSubject(
        name=f"memory-pool-{value}{more}".replace(" ", "-").replace("_", "-"),
        value=value,
        make=lambda: small_pool_subject(profile=behaves),
        sibling=lambda: small_pool_subject(profile=declares, behaves=behaves),
        sibling_rule=sibling_rule,
        component=Component.MEMORY_POOL,
    )


_PROFILE_SUBJECTS = (
    _profile_subject(
        "release_validation none",
        CAREFUL_PROFILE,
        _careful_but(MemoryPoolFeature.RELEASE_FOREIGN),
        "POOL-RELEASE-FOREIGN",
    ),
    _profile_subject(
        "release_validation none",
        CAREFUL_PROFILE,
        _careful_but(MemoryPoolFeature.RELEASE_AGAIN),
        "POOL-RELEASE-AGAIN",
        more="-again",
    ),
    _profile_subject("release_validation identity", PROFILE, NAIVE_PROFILE),
    *(
        _profile_subject(
            f"zero_request {means.value}",
            _asked_for_nothing(means),
            _asked_for_nothing(declared),
            "POOL-ZERO-REQUEST",
        )
        for means, declared in (
            (ZeroRequest.REJECT, ZeroRequest.REFUSE),
            (ZeroRequest.REFUSE, ZeroRequest.GRANT),
            (ZeroRequest.GRANT, ZeroRequest.REJECT),
            (ZeroRequest.NOT_OFFERED, ZeroRequest.GRANT),
        )
    ),
)


def memory_pool_profile_subjects() -> tuple[ProfileSubject, ...]:
    """One subject for each value of each choice that a memory pool may declare."""
    return _PROFILE_SUBJECTS
