"""All claims there are, and the one that a word and some sizes stand for."""

from collections.abc import Iterable

from purgatory_conformance.exploring.claims import Shelf, Sizes, UnusableSizes
from purgatory_conformance.exploring.concurrent_channel_muting_claims import (
    ConcurrentChannelMutingClaims,
)
from purgatory_conformance.exploring.concurrent_memory_pool_claims import (
    ConcurrentMemoryPoolClaims,
)
from purgatory_conformance.exploring.concurrent_purgatory_claims import ConcurrentPurgatoryClaims
from purgatory_conformance.exploring.memory_pool_claims import MemoryPoolClaims
from purgatory_conformance.exploring.purgatory_claims import PurgatoryClaims
from purgatory_conformance.exploring.timer_claims import TimerClaims
from purgatory_spec.nearest import did_you_mean

SHELVES: tuple[Shelf, ...] = (
    TimerClaims(),
    PurgatoryClaims(),
    ConcurrentPurgatoryClaims(),
    MemoryPoolClaims(),
    ConcurrentMemoryPoolClaims(),
    ConcurrentChannelMutingClaims(),
)
"""The claims about every model."""


class NoSuchClaim(ValueError):
    """A word for which no claim is found, or several: the message lists the known claims."""


def shelf_of(name: str, component: str | None, concurrent: bool) -> Shelf:
    """Return the shelf that a claim is on; without a component the timer's comes first.

    Raises:
        NoSuchClaim: no shelf that is searched has the claim.
    """
    wanted = [
        shelf
        for shelf in SHELVES
        if component in (None, shelf.component) and shelf.concurrent == concurrent
    ]
    if not wanted:
        known = ", ".join(
            model_noun(shelf.component) for shelf in SHELVES if shelf.concurrent == concurrent
        )
        about = "this" if component is None else f"the {model_noun(component)}"
        threads = "with" if concurrent else "without"
        raise NoSuchClaim(
            f"there are no claims {threads} threads about {about}; there are of: {known}"
        )
    for shelf in wanted:
        if name in names_on(shelf):
            return shelf
    elsewhere = [shelf for shelf in SHELVES if name in names_on(shelf)]
    if elsewhere:
        options = " or ".join(map(options_of, elsewhere))
        if concurrent and not any(shelf.concurrent for shelf in elsewhere):
            raise NoSuchClaim(
                f"there is no claim {name!r} with threads; it is one without them, with {options}; "
                "name one by --claim: purgatory model explore --list --concurrent"
            )
        raise NoSuchClaim(f"there is no claim {name!r} here; it is one with {options}")
    everything = list(dict.fromkeys(each for shelf in wanted for each in names_on(shelf)))
    hint = did_you_mean(name, everything, "see: purgatory model explore --list")
    raise NoSuchClaim(f"there is no claim {name!r}; {hint}")


def model_noun(component: str) -> str:
    """Return the component of a shelf's models as a word, for example ``memory pool``."""
    return component.replace("_", " ")


def names_on(shelf: Shelf) -> Iterable[str]:
    """Return the names of the known claims of a shelf, each once."""
    return dict.fromkeys(each.name for each in shelf.known())


def options_of(shelf: Shelf) -> str:
    """Return the words on the command line that choose a shelf."""
    component = f"--component {shelf.component.replace('_', '-')}"
    return f"{component} --concurrent" if shelf.concurrent else component


def check_sizes(shelf: Shelf, sizes: Sizes) -> None:
    """Reject sizes that the shelf's instances do not have.

    Raises:
        UnusableSizes: a size is given that the shelf does not use.
    """
    strange = sorted(sizes.given - shelf.options)
    if strange:
        threads = ", with threads" if shelf.concurrent else ""
        known = ", ".join(_option(each) for each in sorted(shelf.options))
        raise UnusableSizes(
            f"{_option(strange[0])} is no size of the {model_noun(shelf.component)}{threads}; "
            f"there are {known}"
        )


def _option(size: str) -> str:
    """Return the option by which a size is given."""
    return "--delay" if size == "delays" else f"--{size.replace('_', '-')}"
