"""Purgatories that go wrong when an operation is watched."""

from collections.abc import Iterable

from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    Refusal,
    ScriptFailure,
    SmallPurgatory,
)
from purgatory_spec.reasons import Reason

Keys = tuple[str, ...]


class FirstTryWatches(SmallPurgatory):
    """An operation that the first try completes is watched all the same."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Adds the operation to the lists before the try."""
        done = super().first_try(operation, keys)
        if done:
            self.enlist(operation, keys)
        return done


class FirstTryCounts(SmallPurgatory):
    """The estimate grows although the first try completes the operation."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Counts the operation before the try."""
        done = super().first_try(operation, keys)
        if done:
            self.count_watch(keys)
        return done


class FirstTrySaysNo(SmallPurgatory):
    """The result is false where the first try completes the operation."""

    def watch(self, operation: DelayedOperation, keys: Keys) -> bool:
        """True is for operations that were watched."""
        return super().watch(operation, keys) and self.is_watched(operation)


class NoSecondTry(SmallPurgatory):
    """The second try is lost, because somebody else holds the operation's lock (KAFKA-6653)."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """It is not made up for."""
        return False


class SecondTrySaysNo(SmallPurgatory):
    """The result is false although the second try completed the operation."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """Answers false for every watched operation."""
        super().second_try(operation)
        return False


class SecondTryTakesBack(SmallPurgatory):
    """Where the second try completes the operation, it is taken out of the lists again."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """Every list is walked."""
        done = super().second_try(operation)
        if done:
            kept = {
                key: [entry for entry in entries if entry.operation is not operation]
                for key, entries in self.lists.items()
            }
            self.lists = {key: entries for key, entries in kept.items() if entries}
        return done


class SecondTryStaysArmed(SmallPurgatory):
    """An operation that the second try completes keeps its time-out."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """It is armed at the very end, completed or not."""
        done = super().second_try(operation)
        if done:
            self.arm(operation)
        return done


class OnlyFirstKey(SmallPurgatory):
    """An operation is watched under its first key alone."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """The others are forgotten."""
        super().enlist(operation, keys[:1])


class NewestAtTheHead(SmallPurgatory):
    """An operation is put at the head of the list."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """A stack for a list."""
        for key in keys:
            self.lists.setdefault(key, []).insert(0, Entry(operation))


class WatchSaysYes(SmallPurgatory):
    """The result is true for an operation that waits."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """It is watched now."""
        super().second_try(operation)
        return True


class WatchedWithoutTimeOut(SmallPurgatory):
    """A watched operation has no time-out."""

    def arm(self, operation: DelayedOperation) -> None:
        """It is forgotten."""


class NoKeysTaken(SmallPurgatory):
    """An operation may be watched under no key, where nobody will find it."""

    def refuse(self, keys: Keys) -> None:
        """No keys are like any other."""
        super().refuse(keys or ("any",))


class NoKeysTried(SmallPurgatory):
    """An operation under no key is tried before it is refused."""

    def refuse(self, keys: Keys) -> None:
        """Looked at later."""
        super().refuse(keys or ("any",))

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """Here."""
        super().refuse(keys)
        super().enlist(operation, keys)


class KeysMadeDistinct(SmallPurgatory):
    """A key that is given twice counts once."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """A set for a list."""
        super().enlist(operation, tuple(dict.fromkeys(keys)))


class RewatchKeepsTimeOut(SmallPurgatory):
    """Watching again leaves the time-out where it was."""

    def arm(self, operation: DelayedOperation) -> None:
        """Keeps the time-out that is armed already."""
        if operation not in self.armed:
            super().arm(operation)


class RewatchIgnored(SmallPurgatory):
    """Watching again adds no entries."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """Adds no entries for a watched operation."""
        if not self.is_watched(operation):
            super().enlist(operation, keys)


class RewatchKnowsKeys(SmallPurgatory):
    """Watching again adds an entry under new keys alone."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """A list has each operation that was watched before once."""
        watched = self.is_watched(operation)
        fresh = [key for key in keys if not (watched and self.has(key, operation))]
        super().enlist(operation, tuple(fresh))

    def has(self, key: str, operation: DelayedOperation) -> bool:
        """Whether the operation is watched under the key."""
        return any(entry.operation is operation for entry in self.lists.get(key, ()))


class CompletedIsWatched(SmallPurgatory):
    """A completed operation gets entries (KAFKA-18027)."""

    def watch_completed(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Nobody looks whether it is completed."""
        self.enlist(operation, keys)
        return super().watch_completed(operation, keys)


class CompletedIsArmed(SmallPurgatory):
    """A completed operation gets a time-out when it is watched."""

    def watch_completed(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Nobody looks whether it is completed."""
        self.arm(operation)
        return super().watch_completed(operation, keys)


class CompletedSaysYes(SmallPurgatory):
    """Watching a completed operation answers true."""

    def watch_completed(self, operation: DelayedOperation, keys: Keys) -> bool:
        """It is completed, after all."""
        super().watch_completed(operation, keys)
        return True


class TimesOutAnyway(SmallPurgatory):
    """A purgatory without time-outs has time-outs."""

    def arm(self, operation: DelayedOperation) -> None:
        """The argument is not looked at."""
        self.time_outs = True
        super().arm(operation)


class FirstTryThrowsWatched(SmallPurgatory):
    """An operation whose first try throws is watched."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """It is added in any case."""
        try:
            return super().first_try(operation, keys)
        except ScriptFailure:
            self.enlist(operation, keys)
            raise


class FirstTryThrowsArmed(SmallPurgatory):
    """An operation whose first try throws gets its time-out."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """It is armed in any case."""
        try:
            return super().first_try(operation, keys)
        except ScriptFailure:
            self.arm(operation)
            raise


class FirstTryThrowSwallowed(SmallPurgatory):
    """A throwing first try counts as the answer false."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """The second one may do better."""
        try:
            return super().first_try(operation, keys)
        except ScriptFailure:
            return False


class SecondTryThrowsUnarmed(SmallPurgatory):
    """An operation whose second try throws has entries and no time-out (Kafka)."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """The time-out comes last."""
        try:
            return super().second_try(operation)
        except ScriptFailure:
            self.disarm(operation)
            raise


class SecondTryThrowsUnlisted(SmallPurgatory):
    """An operation whose second try throws loses its entries."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """Everything is as before."""
        try:
            return super().second_try(operation)
        except ScriptFailure:
            if not operation.completed:
                self.take_out(operation, tuple(self.lists))
            raise

    def take_out(self, operation: DelayedOperation, keys: Iterable[str]) -> None:
        """Remove the operation from these lists."""
        for key in keys:
            for entry in self.met_by_check(key):
                if entry.operation is operation:
                    self.drop(key, entry)


class WatchedAfterShutdown(SmallPurgatory):
    """After shutdown operations are still watched."""

    def refuse(self, keys: Keys) -> None:
        """Only keys are looked at."""
        if not keys:
            raise Refusal(Reason.INVALID_ARGUMENT)


class TriedAfterShutdown(SmallPurgatory):
    """After shutdown an operation is tried, and refused only where it has to wait."""

    def watch(self, operation: DelayedOperation, keys: Keys) -> bool:
        """The timer says no."""
        if self.closed and keys and not operation.completed:
            self.attempt(operation)
        return super().watch(operation, keys)
