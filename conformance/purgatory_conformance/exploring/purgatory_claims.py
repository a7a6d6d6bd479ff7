"""The claims about the purgatory, one call after another."""

from collections.abc import Iterator
from dataclasses import replace

from immutables import Map

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
from purgatory_conformance.reporting.counterexample import narrate_purgatory
from purgatory_conformance.viewing.runs import run_of_way
from purgatory_model.claims.purgatory import (
    CLAIMS,
    EXACT,
    FALSE_CLAIMS,
    INLINE,
    STEPPED,
    TRUE_CLAIMS,
    PurgatoryInstance,
    breaks,
)
from purgatory_spec.profiles import Accounting, Component, Executor

_WATCHED: Map[str, tuple[str, ...]] = Map({"a": ("k",), "b": ("k", "j"), "c": ("j",)})
_OPTIONS = {STEPPED: "", INLINE: "--executor inline", EXACT: "--accounting exact"}


class PurgatoryClaims:
    """The claims about the purgatory; see ``Shelf``."""

    component = Component.PURGATORY
    concurrent = False
    options = frozenset(
        {"operations", "accounting", "executor", "purge_interval", "delays", "last"}
    )

    def known(self) -> Iterator[KnownClaim]:
        """Yield the true claims by instance, then the false ones, each with its own instance."""
        for instance, claims in TRUE_CLAIMS.items():
            for name in claims:
                yield KnownClaim(name, CLAIMS[name][0], ClaimStatus.HOLDS, _OPTIONS[instance])
        for name, (_, claim) in FALSE_CLAIMS.items():
            yield KnownClaim(name, CLAIMS[claim][0], ClaimStatus.FALSE)

    def look(self, name: str, sizes: Sizes, limit: int) -> Looked:
        """Explore a small purgatory for one claim."""
        if name in FALSE_CLAIMS:
            preset, claim = FALSE_CLAIMS[name]
        elif name in CLAIMS:
            preset, claim = STEPPED, name
        else:
            raise UnknownClaim(name)
        instance = _instance(preset, sizes)
        model = instance.model()
        return looked(
            CLAIMS[claim][0],
            _words(instance),
            initial=model.initial(),
            steps=instance.steps,
            broken=breaks(instance, claim),
            narrate=lambda counterexample: narrate_purgatory(_words(instance), counterexample),
            limit=limit,
            view=lambda way: run_of_way(model.configuration, model.profile, way),
        )


def _instance(preset: PurgatoryInstance, sizes: Sizes) -> PurgatoryInstance:
    instance = preset
    if sizes.operations is not None:
        wanted = names(sizes.operations, tuple(sorted(_WATCHED)), "operations")
        instance = replace(instance, watched=Map({name: _WATCHED[name] for name in wanted}))
    if sizes.accounting is not None:
        instance = replace(instance, accounting=Accounting(sizes.accounting))
    if sizes.executor is not None:
        instance = replace(instance, executor=Executor(sizes.executor))
    if sizes.purge_interval is not None:
        instance = replace(instance, purge_interval=sizes.purge_interval)
    if sizes.last is not None:
        if sizes.last < 0:
            raise UnusableSizes(f"--last is {sizes.last}; it must be at least 0")
        instance = replace(instance, last_ms=sizes.last)
    return replace(instance, delays_ms=sizes.delays or instance.delays_ms)


def _words(instance: PurgatoryInstance) -> str:
    watched = ", ".join(
        f"{name} under {' and '.join(keys)}" for name, keys in sorted(instance.watched.items())
    )
    choices = f"accounting {instance.accounting.value}, executor {instance.executor.value}"
    further = "" if instance.time_outs else ", no time-outs"
    further += "".join(f", variant {name}" for name in sorted(instance.variants))
    return (
        f"a purgatory, purge interval {instance.purge_interval}, {choices}{further}, with "
        f"{watched}, until {instance.last_ms}"
    )
