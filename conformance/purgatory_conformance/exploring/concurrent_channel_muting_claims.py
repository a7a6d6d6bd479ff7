"""The claims about channels that wait for memory."""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_conformance.describing.words import counted
from purgatory_conformance.exploring.claims import (
    KnownClaim,
    Looked,
    Sizes,
    UnusableSizes,
    looked,
)
from purgatory_conformance.exploring.presets import check_number, known_claims, preset_of
from purgatory_conformance.reporting.concurrent.channel_muting_story import narrate_channel_muting
from purgatory_model.concurrent.channel_muting.instances import (
    CLAIMS,
    FALSE_CLAIMS,
    FAULTS,
    TRUE_CLAIMS,
    breaks,
)
from purgatory_model.concurrent.channel_muting.model import ChannelMuting
from purgatory_spec.profiles import Component

_HELD = dict(TRUE_CLAIMS.values())


class ConcurrentChannelMutingClaims:
    """The claims about channels that wait for memory; see ``Shelf``."""

    component = Component.CHANNEL_MUTING
    concurrent = True
    options = frozenset({"channels", "threads", "size"})

    def known(self) -> Iterator[KnownClaim]:
        """Yield the known claims: the true ones for one and two threads, plain and under TLS."""
        yield from known_claims(CLAIMS, _HELD, FALSE_CLAIMS, FAULTS)

    def look(self, name: str, sizes: Sizes, limit: int) -> Looked:
        """Explore a few channels and the threads that read them."""
        preset, claim = preset_of(name, CLAIMS, _HELD, {**FALSE_CLAIMS, **FAULTS})
        muting = _muting(preset, sizes)
        words = _in_words(muting)
        return looked(
            CLAIMS[claim][0],
            words,
            initial=muting.initial(),
            steps=muting.steps,
            broken=breaks(muting, claim),
            narrate=lambda counterexample: narrate_channel_muting(words, muting, counterexample),
            limit=limit,
        )


def _muting(preset: ChannelMuting, sizes: Sizes) -> ChannelMuting:
    """Return the instance with the given numbers of channels and threads, and the given pool."""
    check_number("channels", sizes.channels, 1)
    check_number("threads", sizes.threads, 1)
    try:
        return replace(
            preset,
            channels=preset.channels if sizes.channels is None else sizes.channels,
            threads=preset.threads if sizes.threads is None else sizes.threads,
            pool_bytes=preset.pool_bytes if sizes.size is None else sizes.size,
        )
    except ValueError as error:
        raise UnusableSizes(str(error)) from error


def _in_words(muting: ChannelMuting) -> str:
    parts = [
        f"{counted(muting.channels, 'channel')} on {counted(muting.threads, 'thread')}",
        f"a pool of {counted(muting.pool_bytes, 'byte')}, requests of {muting.request_bytes}",
        f"{counted(muting.requests, 'request')} of each client",
        "TLS" if muting.tls else "plain",
        "first come first served" if muting.first_come else "all ask again",
    ]
    parts += ["threads sleep"] if muting.sleeps else []
    return ", ".join([*parts, *sorted(muting.variants)])
