"""The claims about the timing wheel."""

from collections.abc import Iterator

from purgatory_conformance.describing.steps import describe_configuration
from purgatory_conformance.exploring.claims import (
    ClaimStatus,
    KnownClaim,
    Looked,
    Sizes,
    UnknownClaim,
    UnusableSizes,
    looked,
    names,
)
from purgatory_conformance.reporting.counterexample import narrate_wheel
from purgatory_conformance.viewing.runs import run_of_way
from purgatory_model.claims.timer import FALSE_CLAIMS, TRUE_CLAIMS, Instance, breaks
from purgatory_spec.profiles import Component, TimerConfiguration

_TASKS = ("a", "b", "c", "d")


class TimerClaims:
    """The claims about the timing wheel; see ``Shelf``."""

    component = Component.TIMER
    concurrent = False
    options = frozenset({"tasks", "wheel_size", "tick", "delays", "last"})

    def known(self) -> Iterator[KnownClaim]:
        """Yield the known claims, of the instance without options."""
        for name, (sentence, _) in TRUE_CLAIMS.items():
            yield KnownClaim(name, sentence, ClaimStatus.HOLDS)
        for name, (sentence, _) in FALSE_CLAIMS.items():
            yield KnownClaim(name, sentence, ClaimStatus.FALSE)

    def look(self, name: str, sizes: Sizes, limit: int) -> Looked:
        """Explore a small timing wheel."""
        claims = {**TRUE_CLAIMS, **FALSE_CLAIMS}
        if name not in claims:
            raise UnknownClaim(name)
        instance = _instance(sizes)
        made_with = describe_configuration(instance.configuration)
        return looked(
            claims[name][0],
            f"a timing wheel with {made_with}, tasks {', '.join(instance.tasks)}, delays of "
            f"{', '.join(map(str, instance.delays_ms))} ms, until {instance.last_ms}",
            initial=instance.model().initial(),
            steps=instance.steps,
            broken=breaks(instance, name),
            narrate=lambda counterexample: narrate_wheel(instance, counterexample),
            limit=limit,
            view=lambda way: run_of_way(instance.configuration, instance.profile, way),
        )


def _instance(sizes: Sizes) -> Instance:
    standard = Instance()
    tick = standard.configuration.tick_ms if sizes.tick is None else sizes.tick
    buckets = standard.configuration.wheel_size if sizes.wheel_size is None else sizes.wheel_size
    try:
        configuration = TimerConfiguration(tick, buckets)
    except ValueError as error:
        raise UnusableSizes(str(error)) from error
    last_ms = standard.last_ms if sizes.last is None else sizes.last
    if last_ms < configuration.start_ms:
        raise UnusableSizes(f"--last is {last_ms}; it must be at least {configuration.start_ms}")
    tasks = standard.tasks if sizes.tasks is None else names(sizes.tasks, _TASKS, "tasks")
    return Instance(configuration, tasks, sizes.delays or standard.delays_ms, last_ms)
