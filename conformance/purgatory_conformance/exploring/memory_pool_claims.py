"""The claims about the memory pool, one call after another."""

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
from purgatory_conformance.reporting.counterexample import narrate_memory_pool
from purgatory_conformance.viewing.runs import run_of_way
from purgatory_model.claims.memory_pool import (
    FALSE_CLAIMS,
    SMALLEST_POOL,
    TRUE_CLAIMS,
    PoolInstance,
    breaks,
)
from purgatory_spec.profiles import Component, MemoryPoolConfiguration

_TRUE_OF_STRICT = frozenset({"within-size", "release-restores"})
_TRUE_OF_NON_STRICT = frozenset({"refuses-only-depleted"})


class MemoryPoolClaims:
    """The claims about the memory pool; see ``Shelf``."""

    component = Component.MEMORY_POOL
    concurrent = False
    options = frozenset({"size", "max_single", "strict", "buffers"})

    def known(self) -> Iterator[KnownClaim]:
        """Yield the known claims, of a non-strict pool and of a strict one."""
        for options, true in (("", _TRUE_OF_NON_STRICT), ("--strict", _TRUE_OF_STRICT)):
            for name, (sentence, _) in {**TRUE_CLAIMS, **FALSE_CLAIMS}.items():
                holds = name in TRUE_CLAIMS or name in true
                standing = ClaimStatus.HOLDS if holds else ClaimStatus.FALSE
                yield KnownClaim(name, sentence, standing, options)

    def look(self, name: str, sizes: Sizes, limit: int) -> Looked:
        """Explore a small pool for one claim."""
        claims = {**TRUE_CLAIMS, **FALSE_CLAIMS}
        if name not in claims:
            raise UnknownClaim(name)
        instance = _instance(sizes)
        words = (
            f"a memory pool, {describe_configuration(instance.configuration)}, with "
            f"buffers {', '.join(instance.buffers)}"
        )
        model = instance.model()
        return looked(
            claims[name][0],
            words,
            initial=model.initial(),
            steps=instance.steps,
            broken=breaks(instance, name),
            narrate=lambda counterexample: narrate_memory_pool(words, counterexample),
            limit=limit,
            view=lambda way: run_of_way(model.configuration, model.profile, way),
        )


def _instance(sizes: Sizes) -> PoolInstance:
    standard = PoolInstance()
    size = SMALLEST_POOL.size_bytes if sizes.size is None else sizes.size
    largest = SMALLEST_POOL.max_single_bytes if sizes.max_single is None else sizes.max_single
    try:
        configuration = MemoryPoolConfiguration(size, largest, strict=bool(sizes.strict))
    except ValueError as error:
        raise UnusableSizes(str(error)) from error
    return PoolInstance(configuration, names(sizes.buffers, standard.buffers, "buffers"))
