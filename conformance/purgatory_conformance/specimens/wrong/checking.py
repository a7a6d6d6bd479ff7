"""Purgatories that go wrong when a key is checked or cancelled, or inside a callback."""

from collections.abc import Iterable
from contextlib import suppress

from purgatory_conformance.specimens.mutant import breaks, unseen
from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    SmallPurgatory,
)
from purgatory_conformance.specimens.small.specimen import ScriptFailure
from purgatory_conformance.specimens.small.two_threads import TwoThreadsPurgatory
from purgatory_spec import operations as op
from purgatory_spec.outcomes import tried
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile


@breaks("PURGATORY-CHECK-ORDER").by(SmallPurgatory.met_by_check)
def newest_first(self: SmallPurgatory, key: str) -> list[Entry]:
    """A check goes through the list from its newest entry."""
    return SmallPurgatory.met_by_check(self, key)[::-1]


@breaks("PURGATORY-CHECK-ORDER", "PURGATORY-DUPLICATE-KEYS", "PURGATORY-REWATCH").by(
    SmallPurgatory.met_by_check
)
def once_per_operation(self: SmallPurgatory, key: str) -> list[Entry]:
    """A check tries an operation with several entries once."""
    seen: set[DelayedOperation] = set()
    met: list[Entry] = []
    for entry in SmallPurgatory.met_by_check(self, key):
        if entry.operation.completed or entry.operation not in seen:
            met.append(entry)
        seen.add(entry.operation)
    return met


@breaks("PURGATORY-CHECK-ORDER", "PURGATORY-DUPLICATE-KEYS", "PURGATORY-REWATCH").by(
    SmallPurgatory.met_by_check
)
def first_entry_only(self: SmallPurgatory, key: str) -> list[Entry]:
    """A check ends at the first operation that has to wait."""
    met: list[Entry] = []
    for entry in SmallPurgatory.met_by_check(self, key):
        met.append(entry)
        if not entry.operation.completed and not entry.operation.satisfied:
            break
    return met


@breaks("PURGATORY-NOT-LOST")
class LostWakeUp(SmallPurgatory):
    """The first check after an operation became completable passes it over (KAFKA-6653)."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.passed_over: set[str] = set()

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        if operation.satisfied and operation.name not in self.passed_over:
            self.passed_over.add(operation.name)
            return False
        return super().attempt_in_check(operation)


@breaks("PURGATORY-MEANWHILE")
class PassedOverWhileTried(SmallPurgatory):
    """A thread passes over an operation that another one is trying (KAFKA-6653)."""

    def __init__(self, configuration: PurgatoryConfiguration, profile: PurgatoryProfile) -> None:
        super().__init__(configuration, profile)
        self.tried_by: list[tuple[DelayedOperation, bool]] = []
        self.is_other_thread = False

    def attempt(self, operation: DelayedOperation) -> bool:
        if self.is_held(operation):
            return False
        self.tried_by.append((operation, self.is_other_thread))
        try:
            return super().attempt(operation)
        finally:
            self.tried_by.pop()

    def is_held(self, operation: DelayedOperation) -> bool:
        """Decide whether the other thread holds the lock that a try needs."""
        return (operation, not self.is_other_thread) in self.tried_by

    def act_meanwhile(self, call: op.CallInside) -> None:
        self.is_other_thread = True
        try:
            super().act_meanwhile(call)
        finally:
            self.is_other_thread = False


@breaks("PURGATORY-MEANWHILE").by(PassedOverWhileTried.is_held)
def passed_over_with_shared_lock(self: PassedOverWhileTried, operation: DelayedOperation) -> bool:
    """A thread passes over an operation whose lock is held for another one (KAFKA-8334)."""
    holders = {tried for tried, other in self.tried_by if other is not self.is_other_thread}
    return bool(holders) and operation not in holders


@breaks("PURGATORY-NO-CIRCLE").by(TwoThreadsPurgatory.attempt)
def waits_inside_a_try(self: TwoThreadsPurgatory, operation: DelayedOperation) -> bool:
    """A try waits for the lock of its operation, also inside another try (Kafka since 2.7)."""
    with self.locks[operation]:
        return not operation.completed and TwoThreadsPurgatory.attempt(self, operation)


@breaks("PURGATORY-TRY-INSIDE").by(SmallPurgatory.act_all)
def forgets_what_tries_do(
    self: SmallPurgatory, operation: DelayedOperation, actions: Iterable[op.CallbackAction]
) -> None:
    """Calls that a try makes inside the purgatory have no effect."""
    if actions in operation.script.on_try:
        actions = [a for a in actions if isinstance(a, op.Throw | op.SatisfyInside | op.Meanwhile)]
    SmallPurgatory.act_all(self, operation, actions)


@breaks("PURGATORY-CHECK-COUNT")
class CountsStale(SmallPurgatory):
    """A check counts what was completed before."""

    count_of_stale = 1


@breaks("PURGATORY-CHECK-COUNT").by(SmallPurgatory.attempt_in_check)
def counts_tries(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """A check counts tries instead of completions."""
    SmallPurgatory.attempt_in_check(self, operation)
    return True


@breaks("PURGATORY-CHECK-DROPS", "PURGATORY-CHECK-INSIDE").by(SmallPurgatory.drop_completed)
def completed_stays(self: SmallPurgatory, key: str, entry: Entry) -> bool:
    """A check leaves completed operations in the list of the key."""
    if any(event.task == entry.operation.name for event in self.events):
        return entry.operation.completed
    return SmallPurgatory.drop_completed(self, key, entry)


@breaks("PURGATORY-CHECK-DROPS").by(SmallPurgatory.drop_completed)
def stale_stays(self: SmallPurgatory, key: str, entry: Entry) -> bool:
    """A check leaves in its list the operations that were completed before."""
    if any(event.task == entry.operation.name for event in self.events):
        return SmallPurgatory.drop_completed(self, key, entry)
    return entry.operation.completed


@breaks("PURGATORY-CHECK-DROPS").by(SmallPurgatory.drop_completed)
def drops_everywhere(self: SmallPurgatory, key: str, entry: Entry) -> bool:
    """A check takes the operations that it completes out of the lists of other keys as well."""
    if entry.operation.completed:
        self.unlist(entry.operation)
    return entry.operation.completed


@breaks("PURGATORY-CHECK-DROPS").by(SmallPurgatory.drop_completed)
def waiting_dropped(self: SmallPurgatory, key: str, entry: Entry) -> bool:
    """A check takes out what it has tried, completed or not."""
    if any(event.task == entry.operation.name for event in self.events):
        self.drop(key, entry)
    return SmallPurgatory.drop_completed(self, key, entry)


@breaks("PURGATORY-CHECK-DROPS").by(SmallPurgatory.check)
def sweeps_behind(self: SmallPurgatory, key: str) -> int:
    """A check drops, at its end, passed entries whose operations were completed later."""
    count = SmallPurgatory.check(self, key)
    for entry in self.met_by_check(key):
        self.drop_completed(key, entry)
    return count


@breaks("PURGATORY-COMPLETED-NOT-TRIED").by(SmallPurgatory.drop_completed)
def tries_completed(self: SmallPurgatory, key: str, entry: Entry) -> bool:
    """A check tries operations that are completed already (KAFKA-17848)."""
    name = entry.operation.name
    if entry.operation.completed and not any(event.task == name for event in self.events):
        self.events.append(tried(name))
    return SmallPurgatory.drop_completed(self, key, entry)


@breaks("PURGATORY-CHECK-UNKNOWN").by(SmallPurgatory.met_by_check)
def unknown_key_fails(self: SmallPurgatory, key: str) -> list[Entry]:
    """Checking a key without a list fails."""
    return list(self.lists[key])


@breaks("PURGATORY-EMPTY-LISTS").by(SmallPurgatory.forget_empty)
def empty_lists_stay(self: SmallPurgatory, key: str) -> None:
    """Lists that have become empty stay (KAFKA-2160)."""


@breaks("PURGATORY-EMPTY-LISTS")
class PurgeLeavesEmptyLists(SmallPurgatory):
    """Lists that a purge empties stay."""

    purging = False

    def purge(self) -> None:
        self.purging = True
        super().purge()
        self.purging = False

    def forget_empty(self, key: str) -> None:
        if not self.purging:
            super().forget_empty(key)


@breaks("PURGATORY-CHECK-THROWS").by(SmallPurgatory.after_throwing)
def throwing_dropped(self: SmallPurgatory, key: str, entry: Entry, failure: ScriptFailure) -> None:
    """A check takes out an operation whose try throws."""
    self.drop(key, entry)


@breaks("PURGATORY-CHECK-THROWS").by(SmallPurgatory.attempt_in_check)
def check_swallows(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """The exception of a try does not reach the caller of the check."""
    if operation.completed:
        return False
    try:
        return SmallPurgatory.attempt_in_check(self, operation)
    except ScriptFailure:
        if operation.completed:
            raise
        return False


@breaks("PURGATORY-CHECK-THROWS").by(SmallPurgatory.check)
def check_throws_backwards(self: SmallPurgatory, key: str) -> int:
    """A try that throws takes back what the check did before it."""
    before = self.lists.get(key)
    saved = list(before) if before is not None else []
    try:
        return SmallPurgatory.check(self, key)
    except ScriptFailure:
        if saved:
            self.lists[key] = saved
        raise


@breaks("PURGATORY-WATCH-INSIDE", "PURGATORY-TRY-INSIDE").by(SmallPurgatory.act)
def watch_inside_lost(self: SmallPurgatory, action: op.CallbackAction) -> None:
    """A watch by a callback has no effect."""
    if not isinstance(action, op.WatchInside):
        SmallPurgatory.act(self, action)


@breaks("PURGATORY-CHECK-INSIDE", "PURGATORY-TRY-INSIDE").by(SmallPurgatory.act)
def check_inside_lost(self: SmallPurgatory, action: op.CallbackAction) -> None:
    """A check by a callback has no effect."""
    if not isinstance(action, op.CheckInside):
        SmallPurgatory.act(self, action)


@unseen("PURGATORY-CANCEL-INSIDE", "PURGATORY-TRY-INSIDE")
@breaks("PURGATORY-CANCEL-INSIDE", "PURGATORY-TRY-INSIDE").by(SmallPurgatory.act)
def cancel_for_key_inside_lost(self: SmallPurgatory, action: op.CallbackAction) -> None:
    """A cancel by a callback has no effect."""
    if not isinstance(action, op.CancelForKeyInside):
        SmallPurgatory.act(self, action)


@breaks("PURGATORY-FORCE-INSIDE", "PURGATORY-MEANWHILE").by(SmallPurgatory.act)
def force_inside_lost(self: SmallPurgatory, action: op.CallbackAction) -> None:
    """A force by a callback has no effect."""
    if not isinstance(action, op.ForceInside):
        SmallPurgatory.act(self, action)


@breaks("PURGATORY-CANCEL-RESULT").by(SmallPurgatory.cancel_for_key)
def cancel_answers_live(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """Cancelling leaves completed operations out of its result."""
    return [each for each in SmallPurgatory.cancel_for_key(self, key) if not each.completed]


@breaks("PURGATORY-CANCEL-RESULT").by(SmallPurgatory.cancel_for_key)
def cancel_answers_backwards(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """Cancelling answers from the newest entry to the oldest."""
    return SmallPurgatory.cancel_for_key(self, key)[::-1]


@breaks("PURGATORY-CANCEL-RESULT").by(SmallPurgatory.cancel_for_key)
def cancel_answers_once(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """Cancelling names an operation with two entries once."""
    return list(dict.fromkeys(SmallPurgatory.cancel_for_key(self, key)))


@unseen("PURGATORY-CANCEL-LEAVES", "PURGATORY-CANCEL-LAST-KEY", "PURGATORY-CANCEL-RESULT")
@breaks("PURGATORY-CANCEL-LEAVES").by(SmallPurgatory.cancel_for_key)
def cancel_keeps_list(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """An operation that is cancelled for a key is still watched under it."""
    entries = self.lists.get(key)
    cancelled = SmallPurgatory.cancel_for_key(self, key)
    if entries:
        self.lists[key] = entries
    return cancelled


@breaks("PURGATORY-CANCEL-LEAVES").by(SmallPurgatory.cancel_for_key)
def cancel_completes(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """Cancelling completes the operations that have no key left."""
    cancelled = SmallPurgatory.cancel_for_key(self, key)
    for operation in cancelled:
        if not self.is_watched(operation):
            with suppress(ScriptFailure):
                self.force(operation)
    return cancelled


@breaks("PURGATORY-CANCEL-LEAVES").by(SmallPurgatory.cancel_for_key)
def cancel_everywhere(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """An operation that is cancelled for a key is no longer watched under any other, either."""
    cancelled = SmallPurgatory.cancel_for_key(self, key)
    for operation in cancelled:
        self.unlist(operation)
        self.disarm(operation)
    return cancelled


@unseen("PURGATORY-CANCEL-LAST-KEY")
@breaks("PURGATORY-CANCEL-LAST-KEY").by(SmallPurgatory.cancel_for_key)
def cancel_keeps_last_time_out(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """An operation that is watched under no key any longer still times out (KAFKA-2226)."""
    return [entry.operation for entry in self.lists.pop(key, [])]


@unseen("PURGATORY-CANCEL-LAST-KEY")
@breaks("PURGATORY-CANCEL-LAST-KEY").by(SmallPurgatory.cancel_for_key)
def cancel_takes_queued_expiry(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """Cancelling takes an expiry out of the executor's queue."""
    cancelled = SmallPurgatory.cancel_for_key(self, key)
    gone = {operation for operation in cancelled if not self.is_watched(operation)}
    self.queue = [operation for operation in self.queue if operation not in gone]
    return cancelled


@unseen("PURGATORY-CANCEL-KEEPS-TIME-OUT")
@breaks("PURGATORY-CANCEL-KEEPS-TIME-OUT").by(SmallPurgatory.cancel_for_key)
def cancel_takes_time_out(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """Cancelling takes the time-out of what is still watched under another key (Kafka)."""
    cancelled = SmallPurgatory.cancel_for_key(self, key)
    for operation in cancelled:
        self.disarm(operation)
    return cancelled


@breaks("PURGATORY-CANCEL-UNKNOWN").by(SmallPurgatory.cancel_for_key)
def cancel_unknown_key_fails(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """Cancelling for a key without a list fails."""
    _ = self.lists[key]
    return SmallPurgatory.cancel_for_key(self, key)
