"""The claims about the memory pool with threads."""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_conformance.describing.steps import describe_configuration
from purgatory_conformance.exploring.claims import (
    KnownClaim,
    Looked,
    Sizes,
    UnusableSizes,
    looked,
)
from purgatory_conformance.exploring.presets import (
    check_number,
    known_claims,
    numbered,
    preset_of,
)
from purgatory_conformance.reporting.concurrent.story import narrate_concurrent_pool
from purgatory_model.concurrent.memory_pool.instances import (
    CLAIMS,
    FALSE_CLAIMS,
    FAULTS,
    TRUE_CLAIMS,
    breaks,
)
from purgatory_model.concurrent.memory_pool.model import ConcurrentMemoryPool
from purgatory_spec.profiles import Component, MemoryPoolConfiguration


class ConcurrentMemoryPoolClaims:
    """The claims about the memory pool with threads; see ``Shelf``."""

    component = Component.MEMORY_POOL
    concurrent = True
    options = frozenset({"size", "max_single", "strict", "threads"})

    def known(self) -> Iterator[KnownClaim]:
        """Yield the known claims: the true ones hold of a strict pool, too."""
        yield from known_claims(CLAIMS, TRUE_CLAIMS, FALSE_CLAIMS, FAULTS)

    def look(self, name: str, sizes: Sizes, limit: int) -> Looked:
        """Explore a small pool with threads."""
        preset, claim = preset_of(name, CLAIMS, TRUE_CLAIMS, {**FALSE_CLAIMS, **FAULTS})
        pool = _pool(preset, sizes)
        words = (
            f"a memory pool, {describe_configuration(pool.configuration)}, with "
            f"threads {', '.join(pool.threads)}"
        )
        words += f"; {', '.join(sorted(pool.variants))}" if pool.variants else ""
        return looked(
            CLAIMS[claim][0],
            words,
            initial=pool.initial(),
            steps=pool.steps,
            broken=breaks(pool, claim),
            narrate=lambda counterexample: narrate_concurrent_pool(words, counterexample),
            limit=limit,
        )


def _pool(preset: ConcurrentMemoryPool, sizes: Sizes) -> ConcurrentMemoryPool:
    """Return the pool with the sizes and threads that are given."""
    check_number("threads", sizes.threads, 1)
    given = preset.configuration
    try:
        configuration = MemoryPoolConfiguration(
            given.size_bytes if sizes.size is None else sizes.size,
            given.max_single_bytes if sizes.max_single is None else sizes.max_single,
            strict=given.strict if sizes.strict is None else sizes.strict,
        )
    except ValueError as error:
        raise UnusableSizes(str(error)) from error
    threads = preset.threads if sizes.threads is None else numbered("t", sizes.threads)
    return replace(preset, configuration=configuration, threads=threads)
