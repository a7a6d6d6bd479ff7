"""The claims about channels that wait for memory."""

from collections.abc import Iterator, Mapping
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
from purgatory_conformance.reporting.counterexample import narrate
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative
from purgatory_model.concurrent.channel_muting.instances import (
    CLAIMS,
    FALSE_CLAIMS,
    FAULTS,
    TRUE_CLAIMS,
    breaks,
)
from purgatory_model.concurrent.channel_muting.model import ChannelMuting, MutingState
from purgatory_model.concurrent.channel_muting.words import describe_channel
from purgatory_model.overlapping.interleaving import Step
from purgatory_spec.profiles import Component

_HELD = dict(TRUE_CLAIMS.values())

_SAYINGS: Mapping[str, str] = {
    "Announce": "client: {0} announces a request",
    "SendRest": "client: {0} sends the rest of its request",
    "Poll": "thread {thread}: looks at the pool: {available} bytes",
    "Select": "thread {thread}: selects",
    "Read": "thread {thread}: reads channel {0}",
    "Look": "thread {thread}: reads channel {0}, sees {available} bytes",
    "Take": "thread {thread}: takes for channel {0}",
    "Done": "thread {thread}: has read everything",
    "Release": "handler: gives the memory of request {0} back",
    "Respond": "client: {0} gets its response",
}
"""The actions, who takes them and in words: ``{0}`` is the channel, ``available`` the bytes before.

The thread is the one that acts, or whose channel it is.
"""

_OF_THREADS = frozenset({"Poll", "Select", "Done"})
"""The actions whose argument is a thread."""


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
            narrate=lambda counterexample: _narrate(words, muting, counterexample),
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


def _narrate(
    instance: str, muting: ChannelMuting, counterexample: Counterexample[MutingState, Step]
) -> Narrative:
    """Return the way to a step that breaks the claim; ``instance`` says what was explored."""

    def says(before: MutingState, step: Step) -> tuple[str, str]:
        (argument,) = step.arguments
        number = int(argument)
        thread = number if step.action in _OF_THREADS else muting.thread_of(number)
        actor, _, words = _SAYINGS[step.action].partition(": ")
        available = before.available_bytes
        return actor.format(thread=thread), words.format(number, available=available)

    return narrate(instance, counterexample, says, _counts)


def _counts(state: MutingState) -> dict[str, str]:
    phases = ", ".join(phase.value for phase in state.phases)
    channels = {f"channel {number}": describe_channel(each) for number, each in state.numbered}
    return {"available": str(state.available_bytes), "next": phases, **channels}
