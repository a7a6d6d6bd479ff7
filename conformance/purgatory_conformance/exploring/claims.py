"""Standing, sizes and exploration of claims: the common part of all shelves.

A *shelf* holds the claims about one model. A claim is looked at on a small instance, whose sizes
may be given; what is not given is the instance's own choice.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Protocol, TypeVar

from purgatory_conformance.viewing.runs import Run
from purgatory_model.claims.explorer import Counterexample, explore
from purgatory_model.claims.narrative import Narrative

State = TypeVar("State", bound=Hashable)
Label = TypeVar("Label")


class ClaimStatus(Enum):
    """The standing of a claim: true, false, or false by a planted defect."""

    HOLDS = "true"
    FALSE = "false"
    PLANTED = "false, a defect is planted"


@dataclass(frozen=True)
class Sizes:
    """The sizes of an instance that are given, each by the name of its option; None is not given.

    Times are milliseconds, sizes of pools bytes; the others are numbers of names or of threads.
    """

    tasks: int | None = None
    wheel_size: int | None = None
    tick: int | None = None
    delays: tuple[int, ...] | None = None
    last: int | None = None
    operations: int | None = None
    keys: int | None = None
    accounting: str | None = None
    executor: str | None = None
    purge_interval: int | None = None
    callers: int | None = None
    completers: int | None = None
    size: int | None = None
    max_single: int | None = None
    strict: bool | None = None
    buffers: int | None = None
    threads: int | None = None
    channels: int | None = None

    @property
    def given(self) -> frozenset[str]:
        """Return the names of the sizes that are given."""
        return frozenset(each.name for each in fields(self) if getattr(self, each.name) is not None)


class UnknownClaim(ValueError):
    """A name that is no claim's on a shelf."""


class UnusableSizes(ValueError):
    """An instance of these sizes cannot be made: says which, and why."""


@dataclass(frozen=True)
class KnownClaim:
    """A claim with its sentence and its standing, for the instance that ``options`` choose.

    ``options`` are the words on the command line that choose the instance; empty for the default
    instance.
    """

    name: str
    sentence: str
    standing: ClaimStatus
    options: str = ""


@dataclass(frozen=True)
class Looked:
    """The result of a look: the instance in words, the visited states, the counterexample."""

    sentence: str
    instance: str
    states: int
    edges: int
    depth: int
    complete: bool
    narrative: Narrative | None
    run: Run | None = None
    """The states of the counterexample as frames; None with threads."""


class Shelf(Protocol):
    """The claims about one model."""

    @property
    def component(self) -> str:
        """Return the component that the shelf's models describe, as on the command line."""

    @property
    def concurrent(self) -> bool:
        """Decide whether the shelf's models interleave threads."""

    @property
    def options(self) -> frozenset[str]:
        """Return the sizes that can be given."""

    def known(self) -> Iterable[KnownClaim]:
        """Return the claims whose truth is known."""

    def look(self, name: str, sizes: Sizes, limit: int) -> Looked:
        """Explore an instance until a step breaks the claim, or to the end, or up to a limit.

        Raises:
            UnknownClaim: there is no such claim.
            UnusableSizes: no instance has these sizes.
        """


Told = Callable[[Counterexample[State, Label]], Narrative]
Viewed = Callable[[Counterexample[State, Label]], Run]


def looked(
    sentence: str,
    instance: str,
    *,
    initial: State,
    steps: Callable[[State], Iterable[tuple[Label, State]]],
    broken: Callable[[State, Label, State], str | None],
    narrate: Told[State, Label],
    limit: int,
    view: Viewed[State, Label] | None = None,
) -> Looked:
    """Explore, and tell the counterexample, if any; ``view`` makes its states visible."""
    found = explore(initial, steps, broken, limit=limit)
    narrative = narrate(found.counterexample) if found.counterexample is not None else None
    run = view(found.counterexample) if view is not None and found.counterexample else None
    return Looked(
        sentence, instance, found.states, found.edges, found.depth, found.complete, narrative, run
    )


def names(wanted: int | None, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Return as many of the known names as are wanted; all of them by default.

    Raises:
        UnusableSizes: there are not so many.
    """
    if wanted is None:
        return known
    if not 1 <= wanted <= len(known):
        raise UnusableSizes(f"--{option} is {wanted}; it must be between 1 and {len(known)}")
    return known[:wanted]
