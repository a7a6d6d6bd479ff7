"""Instances of the concurrent purgatory with the exact accounting, for the claims about it.

What is true is explored to the end, what is false as far as its shortest counterexample. Where
``tla/manifest.json`` has a model of the same name (and ``exact-`` before it), it is the same
instance and the counterexample has as many steps.
"""

from dataclasses import replace

from purgatory_model.concurrent.exact.claims import CLAIMS
from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.concurrent.examining import Examiner

PROVED = (
    "callback-at-most-once",
    "completed-iff-called-back",
    "no-lost-completion",
    "watched-has-time-out",
    "live-is-pending",
    "live-is-estimated",
    "timer-is-live",
    "law",
    "word-is-exact",
    "stale-is-exact",
    "distinct-is-estimated",
    "stale-is-bounded",
    "nothing-stale-is-left",
)
"""The claims that hold of every instance without a fault."""

_STOPS = frozenset({"time-outs", "stops-inserting"})

ONE_OPERATION = ExactInstance(operations=1, features=_STOPS)
TWO_OPERATIONS = ExactInstance(keys=("k1",), demanding=frozenset({2}), features=_STOPS)
CANCELLED = ExactInstance(
    operations=1, completers=(), cancellers=("canceller",), forcers=("forcer",), features=_STOPS
)
CALLED_INSIDE = ExactInstance(
    keys=("k1",),
    purgers=(),
    features=frozenset({"time-outs", "re-entrant-check", "re-entrant-cancel"}),
)

TRUE_CLAIMS: dict[ExactInstance, tuple[str, ...]] = {
    ONE_OPERATION: PROVED,
    TWO_OPERATIONS: PROVED,
    CANCELLED: PROVED,
    CALLED_INSIDE: PROVED,
}
"""Instances and the claims that hold of all their states."""

_ALONE = ExactInstance(operations=1, keys=("k1",), purgers=())
_TWO_KEYS = replace(_ALONE, keys=("k1", "k2"), cancellers=("canceller",))

FALSE_CLAIMS: dict[str, tuple[ExactInstance, str]] = {
    "stale-never-negative": (
        replace(_ALONE, keys=("k1", "k2"), completers=("completer 1", "completer 2")),
        "stale-is-never-negative",
    ),
    "timer-always-live": (_ALONE, "timer-is-always-live"),
    "distinct-always-estimated": (_ALONE, "distinct-is-always-estimated"),
    "pending-is-live": (_ALONE, "pending-is-live"),
    "uncompleted-has-time-out": (
        replace(_ALONE, cancellers=("canceller",)),
        "uncompleted-has-time-out",
    ),
}
"""Each an instance with a plausible claim that some state of the instance breaks."""


def _faulty(instance: ExactInstance, variant: str) -> ExactInstance:
    return replace(instance, variants=frozenset({variant}))


_FORGETS = _faulty(replace(_ALONE, keys=("k1", "k2"), features=_STOPS), "forgets-to-give-back")

FAULTS: dict[str, tuple[ExactInstance, str]] = {
    "no-second-try": (
        _faulty(replace(_ALONE, keys=("k1", "k2")), "no-second-try"),
        "no-lost-completion",
    ),
    "test-then-set": (_faulty(_ALONE, "test-then-set"), "callback-at-most-once"),
    "promise-one-too-few": (_faulty(_ALONE, "promise-one-too-few"), "word-is-exact"),
    "promise-one-too-few-counted": (_faulty(_ALONE, "promise-one-too-few"), "law"),
    "cancel-takes-time-out": (_faulty(_TWO_KEYS, "cancel-takes-time-out"), "watched-has-time-out"),
    "cancel-takes-time-out-estimate": (
        _faulty(_TWO_KEYS, "cancel-takes-time-out"),
        "live-is-estimated",
    ),
    "forgets-to-give-back": (_FORGETS, "law"),
    "forgets-to-give-back-quiet": (_FORGETS, "stale-is-exact"),
    "winner-stays-in-timer": (_faulty(_ALONE, "winner-stays-in-timer"), "timer-is-live"),
    "purge-subtracts-nothing": (
        _faulty(replace(_ALONE, purgers=("purger",)), "purge-subtracts-nothing"),
        "stale-is-exact",
    ),
}
"""An instance with a fault, and a true claim that it breaks."""

_EXAMINER = Examiner(CLAIMS, ConcurrentExact)
breaks = _EXAMINER.breaks
examine = _EXAMINER.examine
