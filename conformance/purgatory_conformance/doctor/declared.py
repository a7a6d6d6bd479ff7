"""A declared profile in sentences, a finding for each choice."""

from collections.abc import Iterator, Mapping

from purgatory_conformance.describing.words import noun
from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_spec.choices import Choice
from purgatory_spec.profiles import Clock, Component, Profile, TimerProfile, component_of, offers_of

_WITHOUT_FEATURES: Mapping[Component, str] = {
    Component.TIMER: "tasks are added and run",
    Component.PURGATORY: "operations are watched, checked and time out",
    Component.MEMORY_POOL: "there is no instance that the suite may ask for",
    Component.CHANNEL_MUTING: "there is no instance that the suite may ask for",
}


def declaration(profile: Profile) -> Iterator[Finding]:
    """Yield each declared choice in a sentence."""
    name = noun(component_of(profile))
    for sentence in _sentences(profile):
        yield Finding(Severity.DECLARED, f"{name}, {sentence}")


def _sentences(profile: Profile) -> Iterator[str]:
    component = component_of(profile)
    for field in profile.__struct_fields__:
        choice = getattr(profile, field)
        if isinstance(choice, Choice):
            yield f"{field} is {choice.value}: {choice.says}"
    if isinstance(profile, TimerProfile):
        for field, sentence in profile.says.items():
            if field != "lateness_ms" or profile.clock is Clock.WALL:
                yield f"{field} is {getattr(profile, field)}: {sentence}"
    if not profile.features:
        yield f"no feature: {_WITHOUT_FEATURES[component]}, no more"
    yield from _offered(profile, "features", "feature")
    if not profile.observables:
        yield "no observable: only events and results are compared"
    yield from _offered(profile, "observables", "observable")


def _offered(profile: Profile, field: str, word: str) -> Iterator[str]:
    """Yield the declared features or observables in the order of their type."""
    declared = getattr(profile, field)
    yield from (
        f"{word} {each.value}: {each.says}"
        for each in offers_of(type(profile), field)
        if each in declared
    )
