"""Instances of the concurrent purgatory in the proposal's order, for the claims about it.

What is true is explored to the end, what is false as far as its shortest counterexample. The
names of the false ones are those of the models in ``tla/manifest.json`` that must fail.
"""

from purgatory_model.concurrent.examining import Examiner
from purgatory_model.concurrent.proposal.claims import CLAIMS
from purgatory_model.concurrent.proposal.model import ConcurrentProposal
from purgatory_model.concurrent.proposal.state import (
    Defect,
    Feature,
    ProposalInstance,
)

PROVED = (
    "called-at-most-once",
    "completed-means-called-once",
    "expired-after-completed",
    "no-lost-completion",
    "live-is-watched",
    "timer-holds-live-when-quiet",
    "time-out-is-owed",
    "estimate-bound",
    "live-bound",
)
"""The claims that hold of every instance without ``cancel-for-key`` and without a fault."""

ONE_THREAD_AT_A_TIME = ("difference-covers-stale", "stale-is-bounded")
"""The claims that hold if no calls overlap and expiries run before the test for a purge."""

ONE_OPERATION = ProposalInstance(callers=("c1", "c2"), thresholds=(1,), most_events=1)
SEQUENTIAL = ProposalInstance(features=frozenset({Feature.SEQUENTIAL, Feature.DRAINED}))

TRUE_CLAIMS: dict[ProposalInstance, tuple[str, ...]] = {
    ONE_OPERATION: PROVED,
    SEQUENTIAL: (*PROVED, *ONE_THREAD_AT_A_TIME),
}
"""Instances and the claims that hold of all their states."""


def _alone(
    operations: int,
    *features: Feature,
    defects: frozenset[Defect] = frozenset(),
    callers: tuple[str, ...] = ("c1",),
    completers: tuple[str, ...] = (),
    keys: tuple[str, ...] = ("k1",),
    purge_interval: int = 0,
    reachable: bool = True,
) -> ProposalInstance:
    """Return an instance with few threads; every second operation needs two events, or all."""
    thresholds = tuple(2 - number % 2 if reachable else 3 for number in range(1, operations + 1))
    return ProposalInstance(
        callers=callers,
        completers=completers,
        keys=keys,
        thresholds=thresholds,
        purge_interval=purge_interval,
        features=frozenset(features),
        defects=defects,
    )


def _faulty(defect: Defect, completers: tuple[str, ...] = ("x1",)) -> ProposalInstance:
    return _alone(1, completers=completers, defects=frozenset({defect}))


FALSE_CLAIMS: dict[str, tuple[ProposalInstance, str]] = {
    "mass-expiry": (_alone(2, Feature.SEQUENTIAL, purge_interval=1), "stale-is-bounded"),
    "mass-expiry-smallest": (_alone(1, Feature.SEQUENTIAL), "difference-covers-stale"),
    "under-estimate-race": (
        _alone(1, Feature.NO_TIME_OUTS, reachable=False),
        "distinct-is-counted-when-quiet",
    ),
    "live-not-counted": (_alone(1), "live-is-counted"),
    "pending-not-counted": (_alone(1), "pending-is-counted"),
    "timer-size-not-pending": (_alone(1), "timer-size-is-pending"),
    "completed-in-timer": (_alone(1, completers=("x1",)), "timer-holds-live"),
    "lost-count": (_alone(2), "no-count-is-lost"),
    "drained-race": (_alone(1, Feature.DRAINED), "difference-covers-stale"),
    "bound-minus-one": (_alone(2), "estimate-bound-minus-one"),
    "bound-minus-one-two-callers": (
        _alone(4, Feature.NO_TIME_OUTS, callers=("c1", "c2"), reachable=False),
        "estimate-bound-minus-one",
    ),
    "bound-without-lost": (_alone(3), "estimate-bound-without-lost"),
    "bound-without-executor": (_alone(3), "estimate-bound-without-executor"),
    "live-bound-minus-one": (_alone(2), "live-bound-minus-one"),
    "bound-during-sweep": (_alone(3), "estimate-bound-always"),
    "cancel-for-key-no-time-out": (
        _alone(1, Feature.CANCEL_FOR_KEY, completers=("x1",), keys=("k1", "k2")),
        "time-out-is-owed",
    ),
    "cancel-for-key-uncounted": (
        _alone(
            1,
            Feature.CANCEL_FOR_KEY,
            Feature.SEQUENTIAL,
            Feature.DRAINED,
            completers=("x1",),
            keys=("k1", "k2", "k3"),
        ),
        "stale-is-bounded",
    ),
}
"""Each an instance with a plausible claim that some state of the instance breaks."""

FAULTS: dict[str, tuple[ProposalInstance, str]] = {
    "no-second-try": (_faulty(Defect.NO_SECOND_TRY), "no-lost-completion"),
    "test-then-set": (_faulty(Defect.TEST_THEN_SET), "called-at-most-once"),
    "test-then-set-when-quiet": (_faulty(Defect.TEST_THEN_SET), "completed-means-called-once"),
    "no-second-look": (_faulty(Defect.NO_SECOND_LOOK), "timer-holds-live-when-quiet"),
    "sweep-takes-all": (_faulty(Defect.SWEEP_TAKES_ALL, ()), "live-is-watched"),
    "expires-anyway": (_faulty(Defect.EXPIRES_ANYWAY), "expired-after-completed"),
}
"""An instance with a fault, and a true claim that it breaks."""

_EXAMINER = Examiner(CLAIMS, ConcurrentProposal)
breaks = _EXAMINER.breaks
examine = _EXAMINER.examine
