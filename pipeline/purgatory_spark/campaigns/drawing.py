"""From a number to a case: the seed, the rules steered towards, the steps and the id."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec import profiles
from purgatory_spec.operations import Operation

_CONFIGURATIONS: Mapping[profiles.Component, type[profiles.Configuration]] = {
    profiles.Component.TIMER: profiles.TimerConfiguration,
    profiles.Component.PURGATORY: profiles.PurgatoryConfiguration,
    profiles.Component.MEMORY_POOL: profiles.MemoryPoolConfiguration,
    profiles.Component.CHANNEL_MUTING: profiles.ChannelMutingConfiguration,
}
_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODERS = {
    component: msgspec.json.Decoder(tuple[kind, tuple[Operation, ...]])  # type: ignore[valid-type]
    for component, kind in _CONFIGURATIONS.items()
}


def seed_of(seed: int, number: int) -> str:
    """Return the seed of one number of a campaign, as the tables name it."""
    return f"{seed}-{number}"


@dataclass(frozen=True)
class Drawing:
    """The way in which the cases of one component are drawn.

    Attributes:
        component: Of which component.
        profile: The profile that the subject declares for the component.
        seed: The campaign's seed.
        steps: About how many operations a case has at the most.
    """

    component: profiles.Component
    profile: profiles.Profile
    seed: int
    steps: int

    def draw(self, number: int) -> Candidate:
        """Return the case of this number.

        Every second number is steered towards one rule, in turn, so that rules that few steps put
        to the test are put to it all the same. Nothing that has run has a say in it: the case of a
        number is the same whatever was drawn before it, and wherever.
        """
        support = support_of(self.component)
        wanted: frozenset[str] = frozenset()
        if number % 2:
            rules = [rule.id for rule in support.judged.judged_rules(self.profile)]
            wanted = frozenset({rules[number // 2 % len(rules)]})
        source = SeededSource(seed_of(self.seed, number))
        configuration = support.draw_configuration(self.profile, source, wanted)
        operations = support.draw_operations(
            configuration, self.profile, source, most=self.steps, wanted=wanted
        )
        return Candidate(configuration, operations)

    def run_id(self, case: Candidate) -> str:
        """Return 128 bits in hexadecimal, equal for equal questions under this profile."""
        content = (self.component, self.profile, case.configuration, case.operations)
        return hashlib.sha256(_ENCODER.encode(content)).hexdigest()[:32]


def encode_drawn(case: Candidate) -> bytes:
    """Return the case as bytes, for the way from the drawing task to the running task."""
    return _ENCODER.encode((case.configuration, case.operations))


def decode_drawn(component: profiles.Component, encoded: bytes) -> Candidate:
    """Return the case that was encoded."""
    configuration, operations = _DECODERS[component].decode(encoded)
    return Candidate(configuration, operations)
