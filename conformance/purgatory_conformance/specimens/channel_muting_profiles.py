"""One tiny server for each value that a profile may declare, and the same server otherwise.

The first conforms: the value is a legal choice. The second, its sibling, breaks the rule that the
choice belongs to; where the other value asks for less, the sibling conforms as well.
"""

import msgspec

from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.small.channel_muting import (
    PROFILE,
    Habits,
    small_server_subject,
)
from purgatory_spec.profiles import (
    AskAgain,
    ChannelMutingProfile,
    Component,
    EndWhileWaiting,
    Recovery,
)

_EVERYONE = msgspec.structs.replace(PROFILE, recovery=Recovery.EVERYONE)
_WITH_BYTES = msgspec.structs.replace(_EVERYONE, ask_again=AskAgain.WITH_BYTES)
_AFTER_RECOVERY = msgspec.structs.replace(PROFILE, end_while_waiting=EndWhileWaiting.AFTER_RECOVERY)


def _profile_subject(
    name: str,
    value: str,
    behaves: ChannelMutingProfile,
    declares: ChannelMutingProfile,
    sibling_rule: str = "",
    habits: Habits | None = None,
) -> ProfileSubject:
    return ProfileSubject(
        name=f"channel-muting-{name}",
        value=value,
        make=lambda: small_server_subject(profile=behaves, habits=habits),
        sibling=lambda: small_server_subject(profile=declares, behaves=behaves, habits=habits),
        sibling_rule=sibling_rule,
        component=Component.CHANNEL_MUTING,
    )


_PROFILE_SUBJECTS = (
    _profile_subject(
        "recovery-everyone", "recovery everyone", _EVERYONE, PROFILE, "MUTING-FIRST-COME"
    ),
    _profile_subject(
        "recovery-everyone-descending",
        "recovery everyone",
        _EVERYONE,
        PROFILE,
        "MUTING-FIRST-COME",
        Habits(descending=True),
    ),
    _profile_subject(
        "recovery-first-come", "recovery first_come", PROFILE, _EVERYONE, "MUTING-RECOVER"
    ),
    _profile_subject(
        "recovery-first-come-in-polls",
        "recovery first_come",
        PROFILE,
        _EVERYONE,
        "MUTING-OTHERS-GO-ON",
        Habits(descending=True, grants_in_polls=True),
    ),
    _profile_subject(
        "ask-again-at-recovery",
        "ask_again at_recovery",
        _EVERYONE,
        _WITH_BYTES,
        "MUTING-RECOVER",
    ),
    _profile_subject(
        "ask-again-with-bytes",
        "ask_again with_bytes",
        _WITH_BYTES,
        _EVERYONE,
        "MUTING-RECOVER",
    ),
    _profile_subject(
        "end-while-waiting-after-recovery",
        "end_while_waiting after_recovery",
        _AFTER_RECOVERY,
        PROFILE,
        "MUTING-END-WHILE-WAITING",
    ),
    _profile_subject(
        "end-while-waiting-at-once",
        "end_while_waiting at_once",
        PROFILE,
        _AFTER_RECOVERY,
    ),
)


def channel_muting_profile_subjects() -> tuple[ProfileSubject, ...]:
    """Subjects for each value of each choice that a server may declare."""
    return _PROFILE_SUBJECTS
