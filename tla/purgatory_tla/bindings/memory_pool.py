"""The pool of ``purgatory_model.concurrent.memory_pool.model`` beside ``MemoryPool.tla``.

Both take one access to the shared count as one step. What the module calls defects of callers,
buffers given back twice or given back to the wrong pool, the model has as variants of the same
name; they show that a pool which checks releases finds them out. The defects of pools are not
compared: what the model has of them is there to be found by claims.
"""

from collections.abc import Callable

from purgatory_model.concurrent.memory_pool.model import (
    ConcurrentMemoryPool,
    ConcurrentPoolState,
    PoolThread,
)
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_tla.comparing.binding import Binding, Variable
from purgatory_tla.values.values import Value, function, to_tla

MISUSE = frozenset({"double-release", "foreign-release"})
"""The variants in which callers misuse the pool."""


def _of_threads(words: str, value: Callable[[PoolThread], Value]) -> Variable[ConcurrentPoolState]:
    """Return a variable that is a function from threads."""
    return Variable(
        words, lambda state: function({name: value(thread) for name, thread in state.threads})
    )


VARIABLES: dict[str, Variable[ConcurrentPoolState]] = {
    "available": Variable(
        "the shared count of available bytes", lambda state: state.available_bytes
    ),
    "pc": _of_threads("where each thread is", lambda thread: thread.at.value),
    "request": _of_threads("the bytes a thread asks for", lambda thread: thread.request_bytes),
    "seen": _of_threads("what a thread has read of the count", lambda thread: thread.seen_bytes),
    "held": _of_threads("the bytes of a thread's buffer", lambda thread: thread.held_bytes),
    "spent": _of_threads(
        "the bytes of a buffer that a thread will give back once more",
        lambda thread: thread.spent_bytes,
    ),
    "releases": _of_threads(
        "how often a thread's latest buffer was credited", lambda thread: thread.credited
    ),
    "enough": _of_threads(
        "whether there was enough while a thread's request was being decided",
        lambda thread: thread.enough,
    ),
}

ACTIONS = {
    "Ask": "a thread begins `Allocate(thread, size_bytes)`, of a legal size or not",
    "Reject": "it returns: rejected, the size is illegal",
    "Read": "it reads the count, and tests it",
    "Refuse": "it returns: false, there was not enough",
    "Swap": "its compare-and-swap succeeds, it returns: true",
    "FailToSwap": "its compare-and-swap fails, it will read again",
    "Release": "`Release(thread)`, whole",
}

MISUSE_ACTIONS = {
    "ReleaseAgain": "a second `Release(thread)` of the same buffer begins",
    "ReleaseForeign": "`ReleaseForeign(size_bytes)` begins",
    "Disown": "it returns: rejected, the buffer is not the pool's",
}


def binding() -> Binding[ConcurrentPoolState]:
    """Return a binding of three threads at a pool of two bytes that lends beyond them."""
    return _bound(
        "memory-pool-non-strict",
        "The non-strict memory pool: three threads, two bytes.",
        ConcurrentMemoryPool(MemoryPoolConfiguration(2, 2), ("t1", "t2", "t3")),
    )


def strict_binding() -> Binding[ConcurrentPoolState]:
    """Return a binding of three threads at a pool of two bytes that lends no more."""
    return _bound(
        "memory-pool-strict",
        "The strict memory pool: three threads, two bytes.",
        ConcurrentMemoryPool(MemoryPoolConfiguration(2, 2, strict=True), ("t1", "t2", "t3")),
    )


def identity_binding() -> Binding[ConcurrentPoolState]:
    """Return two threads that give back twice, and foreign buffers, to a pool that finds it out."""
    return _bound(
        "memory-pool-identity",
        "The memory pool that checks releases: two threads at fault, six bytes.",
        ConcurrentMemoryPool(
            MemoryPoolConfiguration(6, 6), ("t1", "t2"), identity=True, variants=MISUSE
        ),
    )


def small_binding() -> Binding[ConcurrentPoolState]:
    """Return a binding of two threads at a pool of two bytes that lends beyond them."""
    return _bound(
        "memory-pool-non-strict-small",
        "The non-strict memory pool: two threads, two bytes.",
        ConcurrentMemoryPool(MemoryPoolConfiguration(2, 2)),
    )


def small_strict_binding() -> Binding[ConcurrentPoolState]:
    """Return a binding of two threads at a pool of two bytes that lends no more."""
    return _bound(
        "memory-pool-strict-small",
        "The strict memory pool: two threads, two bytes.",
        ConcurrentMemoryPool(MemoryPoolConfiguration(2, 2, strict=True)),
    )


def small_identity_binding() -> Binding[ConcurrentPoolState]:
    """Return a binding of two threads at fault, and a pool of two bytes that finds it out."""
    return _bound(
        "memory-pool-identity-small",
        "The memory pool that checks releases: two threads at fault, two bytes.",
        ConcurrentMemoryPool(MemoryPoolConfiguration(2, 2), identity=True, variants=MISUSE),
    )


def _bound(name: str, title: str, model: ConcurrentMemoryPool) -> Binding[ConcurrentPoolState]:
    return Binding(
        name=name,
        title=title,
        module="MemoryPoolHistory",
        constants=_constants(model),
        initial=model.initial(),
        steps=model.steps,
        variables=VARIABLES,
        actions=ACTIONS | (MISUSE_ACTIONS if model.variants else {}),
    )


def _constants(model: ConcurrentMemoryPool) -> dict[str, str]:
    strict = {"strict"} if model.configuration.strict else set()
    identity = {"identity"} if model.identity else set()
    values: dict[str, object] = {
        "Threads": frozenset(model.threads),
        "PoolSize": model.configuration.size_bytes,
        "MaxSingle": model.configuration.max_single_bytes,
        "Features": frozenset(strict | identity),
        "Defects": model.variants,
    }
    return {constant: to_tla(value) for constant, value in values.items()}
