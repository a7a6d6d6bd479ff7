"""Claims that come with instances: the true ones by instance, the others each with its own."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TypeVar

from purgatory_conformance.exploring.claims import (
    ClaimStatus,
    KnownClaim,
    UnknownClaim,
    UnusableSizes,
)

Instance = TypeVar("Instance", bound=Hashable)
Presets = Mapping[str, tuple[Instance, str]]
Claims = Mapping[str, tuple[str, Callable[..., bool]]]

MOST = 4
"""The most threads, keys or operations of an instance that is asked for by its sizes."""


def known_claims(
    claims: Claims,
    true: Mapping[Instance, tuple[str, ...]],
    false: Presets[Instance],
    faults: Presets[Instance],
    options: str = "",
) -> Iterator[KnownClaim]:
    """Yield the known claims: true, false, and false by a planted fault."""
    for name in dict.fromkeys(name for held in true.values() for name in held):
        yield KnownClaim(name, claims[name][0], ClaimStatus.HOLDS, options)
    for name, (_, claim) in false.items():
        yield KnownClaim(name, claims[claim][0], ClaimStatus.FALSE, options)
    for name, (_, claim) in faults.items():
        yield KnownClaim(name, claims[claim][0], ClaimStatus.PLANTED, options)


def preset_of(
    name: str,
    claims: Claims,
    true: Mapping[Instance, tuple[str, ...]],
    presets: Presets[Instance],
) -> tuple[Instance, str]:
    """Return the instance and the claim that a name stands for."""
    if name in presets:
        return presets[name]
    if name not in claims:
        raise UnknownClaim(name)
    held = (instance for instance, names in true.items() if name in names)
    return next(held, next(iter(true))), name


def numbered(word: str, count: int) -> tuple[str, ...]:
    """Return ``count`` numbered names, for example ``t1`` and ``t2``."""
    return tuple(f"{word}{number}" for number in range(1, count + 1))


def check_number(option: str, value: int | None, least: int) -> None:
    """Reject a number of threads or names of which no instance is made.

    Raises:
        UnusableSizes: it is too small or too large.
    """
    if value is not None and not least <= value <= MOST:
        raise UnusableSizes(
            f"--{option} is {value}; it must be between {least} and {MOST}, since the number of "
            "states grows many times over with each"
        )
