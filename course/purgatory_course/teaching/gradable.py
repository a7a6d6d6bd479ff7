"""The kinds of exercises that can be graded, and the draw of a variant."""

import random
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from purgatory_spec import profiles
from purgatory_spec.operations import Operation

Value = TypeVar("Value")


class Draw:
    """The choices of one variant of an exercise; variant 0 is the one that the lesson has."""

    def __init__(self, number: str, variant: int) -> None:
        self._variant = variant
        self._random = random.Random(f"{number}-{variant}")

    def of(self, own: Value, *others: Value) -> Value:
        """Return the lesson's own value in variant 0, and one of the others else."""
        return self._random.choice(others) if self._variant else own


@dataclass(frozen=True)
class Built:
    """A Python file with a class, which the suite judges in the place of a naive one.

    ``replaces`` is the file of the adapter project that it stands for. ``names`` are those that the
    file defines, each with the name that the project calls. ``declares`` are choices of the
    project beyond those of its kit.
    """

    task: str
    component: profiles.Component
    replaces: str
    names: tuple[tuple[str, str], ...]
    declares: tuple[tuple[str, str | int], ...] = ()
    not_asked: tuple[str, str] = ("", "")
    """A feature that the class need not offer, and what stands in for it in ``replaces``."""
    constant_work: bool = False
    """True if the work of a call must not grow with the number of tasks."""


@dataclass(frozen=True)
class Compared:
    """A Python file with a class of the lesson's own shape, compared with the model."""

    task: str
    name: str
    wheel_size: int = 0
    """Places of the ring, which bounds what is asked; 0 where there is no wheel."""
    first_place: int = 0
    """The place of the tick 0 in the ring."""
    most_entries: int = 0
    """Entries that a collection may have after a cancel, whatever is armed; 0 where all may."""


@dataclass(frozen=True)
class Predicted:
    """A case file with the outcomes that the student predicts; the model says which are right.

    Where ``counts_only``, results and events are not graded: the lesson has not taught them yet.
    """

    task: str
    configuration: profiles.Configuration
    profile: profiles.Profile
    steps: tuple[Operation, ...]
    counts_only: bool = False


@dataclass(frozen=True)
class Run:
    """A case file whose steps, from a small instance of the model, make a claim false."""

    task: str
    component: profiles.Component
    claim: str
    configuration: profiles.Configuration


@dataclass(frozen=True)
class Judged:
    """A Python file with a subject for the suite; ``rule`` must be broken, or none if empty.

    ``profile`` is what the subject declares, its observables aside: a fault that is declared is not
    mended. The shortest case that breaks the rule has operations of these kinds in ``needs``.
    """

    task: str
    name: str
    profile: profiles.TimerProfile
    rule: str = ""
    needs: tuple[type[Operation], ...] = ()


Gradable: TypeAlias = Built | Compared | Predicted | Run | Judged
