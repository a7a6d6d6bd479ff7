"""Purgatories that miscount, purge at the wrong time, or purge the wrong entries."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.purgatory import (
    AMORTISED_PROFILE,
    ESTIMATE_PROFILE,
    PROPOSAL_PROFILE,
    DelayedOperation,
    Entry,
    Keys,
    SmallPurgatory,
)


@breaks("PURGATORY-ENTRIES").by(SmallPurgatory.entries)
def entries_of_live(self: SmallPurgatory) -> int:
    """Entries of completed operations are not counted."""
    return SmallPurgatory.entries(self) - self.stale_entries()


@breaks("PURGATORY-ENTRIES", "PURGATORY-DUPLICATE-KEYS").by(SmallPurgatory.entries)
def entries_once(self: SmallPurgatory) -> int:
    """An operation is one entry, under however many keys it is."""
    return len({entry.operation for each in self.lists.values() for entry in each})


@breaks("PURGATORY-TIMER-SIZE").by(SmallPurgatory.timer_size)
def timer_size_of_pending(self: SmallPurgatory) -> int:
    """The timer's size includes the operations that wait for the executor."""
    return self.pending()


@breaks("PURGATORY-PENDING").by(SmallPurgatory.pending)
def pending_is_timer_size(self: SmallPurgatory) -> int:
    """The pending operations leave out those that wait for the executor."""
    return self.timer_size()


@breaks("PURGATORY-PENDING").by(SmallPurgatory.pending)
def pending_uncompleted(self: SmallPurgatory) -> int:
    """The pending operations leave out those completed while they wait for the executor."""
    return self.timer_size() + sum(not each.completed for each in self.queue)


@breaks("PURGATORY-ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE).by(SmallPurgatory.count_watch)
def estimate_by_keys(self: SmallPurgatory, keys: Keys) -> None:
    """The estimate grows by an operation's keys."""
    self.estimated += len(keys)


@breaks("PURGATORY-ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE).by(SmallPurgatory.attempt_in_check)
def estimate_falls(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """The estimate falls when a check completes an operation."""
    done = SmallPurgatory.attempt_in_check(self, operation)
    self.estimated -= done
    return done


@breaks("PURGATORY-ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE).by(SmallPurgatory.purge)
def estimate_not_reset(self: SmallPurgatory) -> None:
    """A purge leaves the estimate alone."""
    estimated = self.estimated
    SmallPurgatory.purge(self)
    self.estimated = estimated


@breaks("PURGATORY-ESTIMATE-EXACT").by(SmallPurgatory.estimate)
def estimate_is_pending(self: SmallPurgatory) -> int:
    """The exact estimate leaves out stale entries."""
    return self.pending()


@breaks("PURGATORY-ESTIMATE-EXACT").by(SmallPurgatory.estimate)
def estimate_of_operations(self: SmallPurgatory) -> int:
    """The exact estimate counts a stale operation once, under however many keys it is."""
    return self.pending() + self.stale_operations()


@breaks("PURGATORY-PURGE-START").by(SmallPurgatory.is_purge_due)
def purge_at_interval(self: SmallPurgatory) -> bool:
    """A purge is made as soon as the interval is reached."""
    return self.to_purge() >= self.purge_interval and self.to_purge() > 0


@breaks("PURGATORY-PURGE-START").by(SmallPurgatory.is_purge_due)
def never_purges(self: SmallPurgatory) -> bool:
    """The purgatory never purges."""
    return False


@breaks("PURGATORY-PURGE-START", profile=AMORTISED_PROFILE).by(SmallPurgatory.interval)
def purges_at_all_that_lives(self: SmallPurgatory) -> int:
    """A purge waits until as much is stale as lives."""
    return max(self.purge_interval, self.live())


@breaks("PURGATORY-PURGE-START")
class PurgesWhenExpired(SmallPurgatory):
    """A purge is made only by an advance that hands something over."""

    handed = False

    def hand_over(self, due: list[DelayedOperation]) -> None:
        super().hand_over(due)
        self.handed = bool(due)

    def is_purge_due(self) -> bool:
        return self.handed and super().is_purge_due()


@breaks("PURGATORY-PURGE-START", "PURGATORY-RELEASES")
class ChecksForgotten(SmallPurgatory):
    """Operations that a check completed are taken for gone, also under other keys (KAFKA-19389)."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.taken_for_gone: set[DelayedOperation] = set()

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        done = super().attempt_in_check(operation)
        if done:
            self.taken_for_gone.add(operation)
        return done

    def to_purge(self) -> int:
        entries = [entry.operation for each in self.lists.values() for entry in each]
        return sum(each.completed and each not in self.taken_for_gone for each in entries)


@breaks("PURGATORY-STALE-ENTRIES").by(SmallPurgatory.to_purge)
def stale_operations_counted(self: SmallPurgatory) -> int:
    """A purge is made when there are too many stale operations, whatever entries they have."""
    return self.stale_operations()


@breaks("PURGATORY-PURGE-REMOVES").by(SmallPurgatory.purge)
def purges_one_list(self: SmallPurgatory) -> None:
    """A purge looks at one list."""
    for key, entries in self.lists.items():
        left = self.purged(entries)
        if left != entries:
            self.lists[key] = left
            self.forget_empty(key)
            break


@breaks("PURGATORY-PURGE-REMOVES").by(SmallPurgatory.purged)
def purges_live(self: SmallPurgatory, entries: list[Entry]) -> list[Entry]:
    """A purge empties the lists in which it finds anything."""
    left = SmallPurgatory.purged(self, entries)
    return left if left == entries else []


@breaks("PURGATORY-PURGE-REMOVES").by(SmallPurgatory.purged)
def purge_reverses(self: SmallPurgatory, entries: list[Entry]) -> list[Entry]:
    """A purge turns the order of the entries that it leaves."""
    return SmallPurgatory.purged(self, entries)[::-1]


@breaks("PURGATORY-STALE-OPERATIONS", profile=PROPOSAL_PROFILE)
class MassExpiryUncounted(SmallPurgatory):
    """The published accounting: a mass expiry is purged too early, and then forgotten."""
