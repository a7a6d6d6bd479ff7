"""The mutants whose defect is planted in another statement of the rules as well.

A mutant is a wrong implementation; its counterpart is a run of another package that must fail,
since the same defect was planted there. That two defects are the same is a judgement, and stands
here by hand. What can be checked is checked: both ends exist, and the property that the run breaks
states a rule that the mutant is blamed on.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata

from purgatory_conformance.specimens.mutant import Mutant
from purgatory_spec.seeded_defects import ENTRY_POINT_GROUP, SeededDefect, SeededDefects

COUNTERPARTS: Mapping[str, tuple[str, ...]] = {
    "one-tick-late": ("timer-strictly-later-fails",),
    "ticks-backwards": ("timer-any-order-fails",),
    "bucket-keeps-tasks": ("timer-hands-over-twice-fails", "wheel-steps-flush-copies-fails"),
    "zero-dropped": ("timer-drops-already-due-fails",),
    "readd-takes-queued-run": ("timer-add-unqueues-fails",),
    "cancelled-still-fires": ("wheel-steps-cancel-leaves-it-fails",),
    "cancel-takes-queued-run": ("timer-cancel-from-queue-fails",),
    "cancel-forgets-count": ("wheel-steps-size-not-decremented-fails",),
    "last-in-first-out": ("timer-last-in-first-out-fails",),
    "throw-loses-batch": ("timer-throw-ends-queue-fails",),
    "shutdown-keeps-pending": ("timer-close-forgets-fails", "timer-close-forgets-expires-fails"),
    "shutdown-empties-queue": ("timer-close-empties-fails",),
    "follows-clock": ("wheel-own-clock-jumps-fails",),
    "due-by-the-clock": ("wheel-due-by-the-clock-fails",),
    "span-of-all-buckets": ("wheel-interval-inclusive-outside-window",),
    "eager-level": ("wheel-levels-ahead-fails", "wheel-levels-ahead-spare"),
    "lost-on-cascade": ("wheel-cascade-drops-fails", "wheel-steps-cascade-drops-fails"),
    "expires-with-its-bucket": ("wheel-upper-expires-whole-is-early",),
    "emptied-bucket-leaves": ("wheel-emptied-leaves-fails",),
    "offered-twice": ("wheel-steps-offers-always-fails",),
    "stays-in-timer": ("exact-winner-stays-in-timer",),
    "stays-in-timer-unseen": ("exact-winner-stays-in-timer",),
    "no-second-try": ("proposal-no-second-try", "exact-no-second-try"),
    "lost-wake-up": ("lock-try-lock-loses",),
    "empty-lists-stay": ("list-never-drops",),
    "throwing-dropped": ("exact-throwing-try-drops",),
    "cancel-takes-time-out": ("exact-cancel-takes-time-out",),
    "cancel-takes-time-out-unseen": ("exact-cancel-takes-time-out",),
    "pending-is-timer-size": ("exact-pending-is-timer-size",),
    "mass-expiry-uncounted": ("proposal-mass-expiry",),
    "pool-strict-ignores-size": ("pool-strict-ignores-size", "pool-strict-ignores-size-negative"),
    "pool-zero-granted": ("pool-unchecked-size",),
    "pool-negative-credits": ("pool-unchecked-size",),
    "pool-oversize-granted": ("pool-unchecked-size",),
    "pool-admits-at-zero": ("pool-admits-at-zero",),
    "pool-release-twice": ("pool-double-release-counted",),
    "channels-stays-muted-with-memory-everyone": ("channel-muting-muted-holder",),
    "channels-never-unmutes-everyone": ("channel-muting-never-unmutes",),
    "channels-forgets-buffered": ("channel-muting-forgets-buffered",),
    "channels-recovery-ends-order": ("channel-muting-forgets-order",),
    "channels-looks-once-per-poll": ("channel-muting-looks-then-takes",),
    "channels-release-twice": ("channel-muting-credits-twice",),
}
"""Names of mutants, each with the names of the runs that must fail for the same defect."""


@cache
def seeded_defects() -> tuple[SeededDefect, ...]:
    """Return the defects that packages name in the entry-point group."""
    found = sorted(metadata.entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name)
    tellers: list[SeededDefects] = [each.load() for each in found]
    return tuple(defect for told in tellers for defect in told())


def counterparts_of(mutant: Mutant) -> tuple[SeededDefect, ...]:
    """Return the runs in which the defect of a mutant is planted, too."""
    known = {defect.name: defect for defect in seeded_defects()}
    return tuple(known[name] for name in COUNTERPARTS.get(mutant.name, ()) if name in known)


def disagreements(
    table: Mapping[str, tuple[str, ...]],
    mutants: Iterable[Mutant],
    defects: Iterable[SeededDefect],
) -> Iterator[str]:
    """Yield a sentence for each error in a table of counterparts."""
    known_mutants = {mutant.name: mutant for mutant in mutants}
    known_defects = {defect.name: defect for defect in defects}
    for name, runs in table.items():
        mutant = known_mutants.get(name)
        if mutant is None:
            yield f"there is no mutant {name}"
            continue
        for run in runs:
            defect = known_defects.get(run)
            if defect is None:
                yield f"{name}: there is no run {run} that must fail"
            elif not {mutant.rule, *mutant.also} & set(defect.rules):
                stated = ", ".join(defect.rules) or "no rule"
                yield f"{name} breaks {mutant.rule}; {run} breaks {defect.fails}: {stated}"
