"""Purgatories that go wrong when a key is checked or cancelled, or inside a callback."""

from collections.abc import Iterable
from contextlib import suppress

from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    ScriptFailure,
    SmallPurgatory,
)
from purgatory_spec.operations import (
    CallbackAction,
    CallInside,
    CancelForKeyInside,
    CheckInside,
    ForceInside,
    Meanwhile,
    SatisfyInside,
    Throw,
    WatchInside,
)
from purgatory_spec.outcomes import tried
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile


class NewestFirst(SmallPurgatory):
    """A check goes through the list from its newest entry."""

    def met_by_check(self, key: str) -> list[Entry]:
        """Backwards."""
        return super().met_by_check(key)[::-1]


class OncePerOperation(SmallPurgatory):
    """A check tries an operation with several entries once."""

    def met_by_check(self, key: str) -> list[Entry]:
        """A waiting operation's first entry stands for all of them."""
        seen: set[DelayedOperation] = set()
        met: list[Entry] = []
        for entry in super().met_by_check(key):
            if entry.operation.completed or entry.operation not in seen:
                met.append(entry)
            seen.add(entry.operation)
        return met


class FirstEntryOnly(SmallPurgatory):
    """A check ends at the first operation that has to wait."""

    def met_by_check(self, key: str) -> list[Entry]:
        """Those behind it came later, and so will wait as well."""
        met: list[Entry] = []
        for entry in super().met_by_check(key):
            met.append(entry)
            if not entry.operation.completed and not entry.operation.satisfied:
                break
        return met


class LostWakeUp(SmallPurgatory):
    """The first check after an operation became completable passes it over (KAFKA-6653)."""

    def __init__(self, *arguments: object) -> None:
        """Nothing was passed over yet."""
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.passed_over: set[str] = set()

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        """Somebody else holds its lock."""
        if operation.satisfied and operation.name not in self.passed_over:
            self.passed_over.add(operation.name)
            return False
        return super().attempt_in_check(operation)


class PassedOverWhileTried(SmallPurgatory):
    """A thread passes over an operation that another one is trying (KAFKA-6653)."""

    def __init__(self, configuration: PurgatoryConfiguration, profile: PurgatoryProfile) -> None:
        """Nothing is being tried."""
        super().__init__(configuration, profile)
        self.tried_by: list[tuple[DelayedOperation, bool]] = []
        self.is_other_thread = False

    def attempt(self, operation: DelayedOperation) -> bool:
        """Try an operation, if the lock is free."""
        if self.is_held(operation):
            return False
        self.tried_by.append((operation, self.is_other_thread))
        try:
            return super().attempt(operation)
        finally:
            self.tried_by.pop()

    def is_held(self, operation: DelayedOperation) -> bool:
        """Whether the other thread holds the lock that a try needs."""
        return (operation, not self.is_other_thread) in self.tried_by

    def act_meanwhile(self, call: CallInside) -> None:
        """The other thread makes a call."""
        self.is_other_thread = True
        try:
            super().act_meanwhile(call)
        finally:
            self.is_other_thread = False


class PassedOverWithSharedLock(PassedOverWhileTried):
    """A thread passes over an operation whose lock is held for another one (KAFKA-8334)."""

    def is_held(self, operation: DelayedOperation) -> bool:
        """All operations share one lock; what its holder is trying itself is tried again."""
        holders = {tried for tried, other in self.tried_by if other is not self.is_other_thread}
        return bool(holders) and operation not in holders


class ForgetsWhatTriesDo(SmallPurgatory):
    """What a try does inside the purgatory has no effect."""

    def act_all(self, operation: DelayedOperation, actions: Iterable[CallbackAction]) -> None:
        """The actions of a callback, without the calls of a try."""
        if actions in operation.script.on_try:
            actions = [a for a in actions if isinstance(a, Throw | SatisfyInside | Meanwhile)]
        super().act_all(operation, actions)


class CountsStale(SmallPurgatory):
    """A check counts what was completed before."""

    count_of_stale = 1


class CountsTries(SmallPurgatory):
    """A check counts tries instead of completions."""

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        """Completed or not."""
        super().attempt_in_check(operation)
        return True


class CompletedStays(SmallPurgatory):
    """What a check completes stays in its list."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Only what was completed before goes."""
        if any(event.task == entry.operation.name for event in self.events):
            return entry.operation.completed
        return super().drop_completed(key, entry)


class StaleStays(SmallPurgatory):
    """What was completed before stays in the list that is checked."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Drops only entries of operations that this check has completed."""
        if any(event.task == entry.operation.name for event in self.events):
            return super().drop_completed(key, entry)
        return entry.operation.completed


class DropsEverywhere(SmallPurgatory):
    """What a check completes leaves the lists of other keys as well."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Every list is walked, at the caller's cost."""
        if entry.operation.completed:
            for other in tuple(self.lists):
                for each in self.met_by_check(other):
                    if each.operation is entry.operation:
                        self.drop(other, each)
        return entry.operation.completed


class WaitingDropped(SmallPurgatory):
    """A check takes out what it has tried, completed or not."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Drops operations tried in this check, completed or not."""
        if any(event.task == entry.operation.name for event in self.events):
            self.drop(key, entry)
        return super().drop_completed(key, entry)


class SweepsBehind(SmallPurgatory):
    """A check drops, at its end, passed entries whose operations were completed later."""

    def check(self, key: str) -> int:
        """As a purge of this list would."""
        count = super().check(key)
        for entry in self.met_by_check(key):
            self.drop_completed(key, entry)
        return count


class TriesCompleted(SmallPurgatory):
    """A check tries operations that are completed already (KAFKA-17848)."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """The completed flag is looked at behind the try."""
        name = entry.operation.name
        if entry.operation.completed and not any(event.task == name for event in self.events):
            self.events.append(tried(name))
        return super().drop_completed(key, entry)


class UnknownKeyFails(SmallPurgatory):
    """Checking a key that nobody waits under fails."""

    def met_by_check(self, key: str) -> list[Entry]:
        """The list is taken for granted."""
        return list(self.lists[key])


class EmptyListsStay(SmallPurgatory):
    """Lists that have become empty stay (KAFKA-2160)."""

    def forget_empty(self, key: str) -> None:
        """Nobody removes them."""


class PurgeLeavesEmptyLists(SmallPurgatory):
    """Lists that a purge empties stay."""

    purging = False

    def purge(self) -> None:
        """Only the entries go."""
        self.purging = True
        super().purge()
        self.purging = False

    def forget_empty(self, key: str) -> None:
        """A check removes a list that it empties."""
        if not self.purging:
            super().forget_empty(key)


class ThrowingDropped(SmallPurgatory):
    """A check takes out an operation whose try throws."""

    def after_throwing(self, key: str, entry: Entry) -> None:
        """It is broken."""
        self.drop(key, entry)


class CheckSwallows(SmallPurgatory):
    """The exception of a try does not reach the caller of the check."""

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        """It counts as an answer of false."""
        if operation.completed:
            return False
        try:
            return super().attempt_in_check(operation)
        except ScriptFailure:
            if operation.completed:
                raise
            return False


class CheckThrowsBackwards(SmallPurgatory):
    """A try that throws takes back what the check did before it."""

    def check(self, key: str) -> int:
        """The list is written when the walk is done."""
        before = self.lists.get(key)
        saved = list(before) if before is not None else []
        try:
            return super().check(key)
        except ScriptFailure:
            if saved:
                self.lists[key] = saved
            raise


class WatchInsideLost(SmallPurgatory):
    """What a callback watches is lost."""

    def act(self, action: CallbackAction) -> None:
        """Only for one caller at a time."""
        if not isinstance(action, WatchInside):
            super().act(action)


class CheckInsideLost(SmallPurgatory):
    """A check by a callback has no effect."""

    def act(self, action: CallbackAction) -> None:
        """A lock that cannot be taken twice is not waited for."""
        if not isinstance(action, CheckInside):
            super().act(action)


class CancelForKeyInsideLost(SmallPurgatory):
    """A cancel by a callback has no effect."""

    def act(self, action: CallbackAction) -> None:
        """A lock that cannot be taken twice is not waited for."""
        if not isinstance(action, CancelForKeyInside):
            super().act(action)


class ForceInsideLost(SmallPurgatory):
    """A force by a callback has no effect."""

    def act(self, action: CallbackAction) -> None:
        """A lock that cannot be taken twice is not waited for."""
        if not isinstance(action, ForceInside):
            super().act(action)


class CancelAnswersLive(SmallPurgatory):
    """Cancelling leaves completed operations out of its result."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """They are of no interest."""
        return [each for each in super().cancel_for_key(key) if not each.completed]


class CancelAnswersBackwards(SmallPurgatory):
    """Cancelling answers from the newest entry to the oldest."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """As they are taken out."""
        return super().cancel_for_key(key)[::-1]


class CancelAnswersOnce(SmallPurgatory):
    """Cancelling names an operation with two entries once."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """A set for a list."""
        return list(dict.fromkeys(super().cancel_for_key(key)))


class CancelKeepsList(SmallPurgatory):
    """What is cancelled for a key is still watched under it."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """Only the time-outs go."""
        entries = self.lists.get(key)
        cancelled = super().cancel_for_key(key)
        if entries:
            self.lists[key] = entries
        return cancelled


class CancelCompletes(SmallPurgatory):
    """Cancelling completes what has no key left."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """As if it were a time-out."""
        cancelled = super().cancel_for_key(key)
        for operation in cancelled:
            if not self.is_watched(operation):
                with suppress(ScriptFailure):
                    self.force(operation)
        return cancelled


class CancelEverywhere(SmallPurgatory):
    """What is cancelled for a key is not watched under any other, either."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """The operation goes, not the entry."""
        cancelled = super().cancel_for_key(key)
        for other in tuple(self.lists):
            for entry in self.met_by_check(other):
                if entry.operation in cancelled:
                    self.drop(other, entry)
        for operation in cancelled:
            self.disarm(operation)
        return cancelled


class CancelKeepsLastTimeOut(SmallPurgatory):
    """An operation that is watched under no key any longer still times out (KAFKA-2226)."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """Only the entries go."""
        return [entry.operation for entry in self.lists.pop(key, [])]


class CancelTakesQueuedExpiry(SmallPurgatory):
    """Cancelling takes an expiry out of the executor's queue."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """Wherever the time-out is."""
        cancelled = super().cancel_for_key(key)
        gone = {operation for operation in cancelled if not self.is_watched(operation)}
        self.queue = [operation for operation in self.queue if operation not in gone]
        return cancelled


class CancelTakesTimeOut(SmallPurgatory):
    """Cancelling takes the time-out of what is still watched under another key (Kafka)."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """With the first key that is cancelled."""
        cancelled = super().cancel_for_key(key)
        for operation in cancelled:
            self.disarm(operation)
        return cancelled


class CancelUnknownKeyFails(SmallPurgatory):
    """Cancelling for a key that nobody waits under fails."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """The list is taken for granted."""
        _ = self.lists[key]
        return super().cancel_for_key(key)
