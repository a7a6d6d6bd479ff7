"""The golden vectors and replay files made by TLC: the model and the behaviour of each file.

They lie with those that were written by hand, ``tlc-`` in front of their names, and are made again
from TLC's answer alone: nobody has chosen an operation or an outcome in them. What a golden vector
shows every implementation must do; a replay file shows what one implementation does wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from purgatory_spec.cases import Case
from purgatory_tla.cases.sources import Found, counterexample
from purgatory_tla.errors import InvalidSpecification
from purgatory_tla.manifest.manifest import Model
from purgatory_tla.manifest.models import Settings

DEVIATIONS = "kafka-deviations"
"""The folder of replay files, which are no vectors."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file, the model whose behaviour it holds, and the rules that it shows.

    Attributes:
        folder: That of the component among the vectors, or ``DEVIATIONS``.
        name: Of the case, and of the file but for its suffix.
        model: Of the manifest.
        rules: What the case is for.
        sequential: Whether the behaviour is one with a call at a time.
        subject: Whom a replay file is about.
        breaks: The rule that the subject breaks.
        variant: The model variant that the subject follows.
    """

    folder: str
    name: str
    model: str
    rules: tuple[str, ...]
    sequential: bool = False
    subject: str = ""
    breaks: str = ""
    variant: str = ""

    @property
    def path(self) -> str:
        """Return the path of the file from the folder of all vectors."""
        return f"{self.folder}/{self.name}.jsonl"


STORED = (
    Stored(
        "timer",
        "tlc-cascade",
        "wheel-witness-cascade",
        ("TIMER-WAKE-UP", "TIMER-NOT-EARLY"),
    ),
    Stored(
        "timer",
        "tlc-two-levels-down",
        "wheel-witness-two-levels-down",
        ("TIMER-WAKE-UP", "TIMER-NOT-EARLY"),
    ),
    Stored(
        "timer",
        "tlc-shared-cascade",
        "wheel-witness-shared-cascade",
        ("TIMER-WAKE-UP", "TIMER-DELAY-QUEUE-BOUND"),
    ),
    Stored(
        "timer",
        "tlc-one-advance-for-all",
        "wheel-witness-one-advance-for-all",
        ("TIMER-CASCADE", "TIMER-NOT-LATE"),
    ),
    Stored(
        "timer",
        "tlc-popped-empty",
        "wheel-witness-popped-empty",
        ("TIMER-EMPTIED-BUCKET", "TIMER-ADVANCE-RESULT"),
    ),
    Stored(
        "timer",
        "tlc-cancel-leaves-a-trace",
        "wheel-cancel-leaves-a-trace",
        ("TIMER-EMPTIED-BUCKET", "TIMER-OWN-CLOCK", "TIMER-READD-PENDING"),
    ),
    Stored(
        "timer",
        "tlc-own-clock-lags",
        "wheel-witness-high-by-lag",
        ("TIMER-OVERFLOW-ON-DEMAND",),
    ),
    Stored(
        "timer",
        "tlc-zero-delay-waits",
        "wheel-zero-delay-waits",
        ("TIMER-OWN-CLOCK",),
    ),
    Stored(
        "timer",
        "tlc-delay-queue-full",
        "wheel-delay-queue-bound-is-tight",
        ("TIMER-DELAY-QUEUE-BOUND",),
    ),
    Stored(
        "timer",
        "tlc-same-expiry",
        "wheel-expiries-do-not-differ",
        ("TIMER-DELAY-QUEUE-BOUND", "TIMER-EMPTIED-BUCKET"),
    ),
    Stored(
        "memory-pool",
        "tlc-bound-is-tight",
        "pool-bound-minus-one",
        ("POOL-BOUND", "POOL-NON-STRICT"),
    ),
    Stored(
        "memory-pool",
        "tlc-strict-with-some-left",
        "pool-witness-refused-with-some-left",
        ("POOL-STRICT", "POOL-REFUSAL"),
    ),
    Stored(
        "memory-pool",
        "tlc-released-twice",
        "pool-witness-disowned",
        ("POOL-RELEASE-AGAIN",),
    ),
    Stored(
        "purgatory",
        "tlc-mass-expiry",
        "exact-mass-expiry",
        ("PURGATORY-STALE-OPERATIONS", "PURGATORY-STALE-ENTRIES", "PURGATORY-PURGE-REMOVES"),
        sequential=True,
    ),
    Stored(
        "purgatory",
        "tlc-full-interval",
        "exact-seen-full-interval",
        ("PURGATORY-PURGE-START", "PURGATORY-PENDING"),
        sequential=True,
    ),
    Stored(
        "purgatory",
        "tlc-live-and-stale",
        "exact-seen-live-and-stale",
        ("PURGATORY-ESTIMATE-EXACT",),
        sequential=True,
    ),
    Stored(
        "purgatory",
        "tlc-one-key-cancelled",
        "exact-seen-one-key-cancelled",
        ("PURGATORY-CANCEL-LEAVES", "PURGATORY-CANCEL-KEEPS-TIME-OUT"),
        sequential=True,
    ),
    Stored(
        DEVIATIONS,
        "tlc-mass-expiry-passed-over",
        "proposal-mass-expiry-passed-over",
        ("PURGATORY-STALE-OPERATIONS",),
        subject="kafka@4.4.0",
        breaks="PURGATORY-STALE-OPERATIONS",
        variant="stale_uncounted",
    ),
)
"""All of them."""


def made_again(stored: Stored, models: dict[str, Model], settings: Settings) -> Case:
    """Return the case, from TLC's answer.

    Raises:
        InvalidSpecification: there is no such model, or not all of its behaviour can be driven.
        CheckerError: TLC has no result.
    """
    if stored.model not in models:
        raise InvalidSpecification(f"{stored.name}: there is no model {stored.model}")
    found = counterexample(models[stored.model], settings, sequential=stored.sequential)
    _refuse_parts(stored, found)
    case = found.driven.case(stored.name, found.title, found.origin, stored.rules)
    header = msgspec.structs.replace(
        case.header, subject=stored.subject, breaks=stored.breaks, variant=stored.variant
    )
    return Case(header, case.steps)


def all_made_again(models: dict[str, Model], settings: Settings) -> Iterator[tuple[Stored, Case]]:
    """Yield all files with their cases, one TLC run each."""
    for stored in STORED:
        yield stored, made_again(stored, models, settings)


def _refuse_parts(stored: Stored, found: Found) -> None:
    driven = found.driven
    if driven.stopped is not None:
        raise InvalidSpecification(
            f"{stored.name}: not drivable at step {driven.stopped.step}: {driven.stopped.reason}"
        )
    if driven.driven < driven.length:
        raise InvalidSpecification(
            f"{stored.name}: {driven.length - driven.driven} steps belong to calls without an end"
        )
