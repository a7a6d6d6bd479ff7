"""Purgatories that miscount, purge at the wrong time, or purge the wrong entries."""

from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    SmallPurgatory,
)


class EntriesOfLive(SmallPurgatory):
    """Entries of completed operations are not counted."""

    def entries(self) -> int:
        """Only what waits."""
        return super().entries() - self.stale_entries()


class EntriesOnce(SmallPurgatory):
    """An operation is one entry, under however many keys it is."""

    def entries(self) -> int:
        """A count of operations."""
        return len({entry.operation for each in self.lists.values() for entry in each})


class TimerSizeOfPending(SmallPurgatory):
    """The timer's size includes what the executor has not run."""

    def timer_size(self) -> int:
        """It falls when an expiry has run."""
        return self.pending()


class PendingIsTimerSize(SmallPurgatory):
    """What the executor has not run is not pending."""

    def pending(self) -> int:
        """The proposal's claim."""
        return self.timer_size()


class PendingUncompleted(SmallPurgatory):
    """What was completed while the executor had it is not pending."""

    def pending(self) -> int:
        """Only expiries that will do something."""
        return self.timer_size() + sum(not each.completed for each in self.queue)


class EstimateByKeys(SmallPurgatory):
    """The estimate grows by an operation's keys."""

    def count_watch(self, keys: tuple[str, ...]) -> None:
        """One for each list."""
        self.estimated += len(keys)


class EstimateFalls(SmallPurgatory):
    """The estimate falls when a check completes an operation."""

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        """It is gone, at least from here."""
        done = super().attempt_in_check(operation)
        self.estimated -= done
        return done


class EstimateNotReset(SmallPurgatory):
    """A purge leaves the estimate alone."""

    def purge(self) -> None:
        """So that there is always a reason to purge."""
        estimated = self.estimated
        super().purge()
        self.estimated = estimated


class EstimateIsPending(SmallPurgatory):
    """The exact estimate leaves out what is stale."""

    def estimate(self) -> int:
        """Only what is owed."""
        return self.pending()


class EstimateOfOperations(SmallPurgatory):
    """The exact estimate counts a stale operation once, under however many keys it is."""

    def estimate(self) -> int:
        """Operations for entries."""
        return self.pending() + self.stale_operations()


class PurgeAtInterval(SmallPurgatory):
    """A purge is made as soon as the interval is reached."""

    def is_purge_due(self) -> bool:
        """Not strictly more."""
        return self.to_purge() >= self.purge_interval and self.to_purge() > 0


class NeverPurges(SmallPurgatory):
    """No purge is ever made."""

    def is_purge_due(self) -> bool:
        """Checks will do it."""
        return False


class PurgesAtAllThatLives(SmallPurgatory):
    """A purge waits until as much is stale as lives."""

    def interval(self) -> int:
        """All of what lives instead of half."""
        return max(self.purge_interval, self.live())


class PurgesWhenExpired(SmallPurgatory):
    """A purge is made only by an advance that hands something over."""

    handed = False

    def hand_over(self, due: list[DelayedOperation]) -> None:
        """Remember whether there was anything."""
        super().hand_over(due)
        self.handed = bool(due)

    def is_purge_due(self) -> bool:
        """An idle advance has nothing to purge."""
        return self.handed and super().is_purge_due()


class ChecksForgotten(SmallPurgatory):
    """Operations that a check completed are taken for gone, also under other keys (KAFKA-19389)."""

    def __init__(self, *arguments: object) -> None:
        """Nothing was checked yet."""
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.taken_for_gone: set[DelayedOperation] = set()

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        """It has left the list that is checked."""
        done = super().attempt_in_check(operation)
        if done:
            self.taken_for_gone.add(operation)
        return done

    def to_purge(self) -> int:
        """Whatever nobody has taken for gone."""
        entries = [entry.operation for each in self.lists.values() for entry in each]
        return sum(each.completed and each not in self.taken_for_gone for each in entries)


class StaleOperationsCounted(SmallPurgatory):
    """A purge is made when there are too many stale operations, whatever entries they have."""

    def to_purge(self) -> int:
        """Operations for entries."""
        return self.stale_operations()


class PurgesOneList(SmallPurgatory):
    """A purge looks at one list."""

    def purge(self) -> None:
        """Purges the first list with a stale entry."""
        for key, entries in self.lists.items():
            left = self.purged(entries)
            if left != entries:
                self.lists[key] = left
                self.forget_empty(key)
                break


class PurgesLive(SmallPurgatory):
    """A purge empties the lists in which it finds anything."""

    def purged(self, entries: list[Entry]) -> list[Entry]:
        """Waiting operations as well."""
        left = super().purged(entries)
        return left if left == entries else []


class PurgeReverses(SmallPurgatory):
    """A purge turns the order of the entries that it leaves."""

    def purged(self, entries: list[Entry]) -> list[Entry]:
        """As they are put back."""
        return super().purged(entries)[::-1]
