"""A counterexample told as a story: each step with its actor, its action and the shared counts.

It is plain data, so that whoever finds a counterexample (the explorer here, a checker of TLA+) can
tell it, and whoever shows it (on a terminal, as a page) need not know where it comes from.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NarrativeStep:
    """A step: ``actor`` did ``text``, and then every count had the value in ``counts``.

    The initial state is a step with number 0 and no actor. A ``remark`` is empty but where there
    is something to point at, at the latest in the last step.
    """

    number: int
    actor: str
    text: str
    counts: Mapping[str, str]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Narrative:
    """A way that leads somewhere worth seeing.

    ``title`` says what was looked at and ``verdict`` what has come of it, one sentence each;
    ``explanation`` says why, in as many as are needed, and may be empty. ``actors`` and ``counts``
    are the columns in their order. ``loop`` is the number of the step whose outcome the last step
    leads back to, so that what follows it repeats for ever; the last step's own number where
    nothing happens any more; None where the way simply ends. ``is_witness`` says that the end is a
    situation that is meant to be reached, so that the way shows no fault.
    """

    title: str
    actors: tuple[str, ...]
    counts: tuple[str, ...]
    steps: tuple[NarrativeStep, ...]
    verdict: str
    explanation: str = ""
    loop: int | None = None
    is_witness: bool = False
