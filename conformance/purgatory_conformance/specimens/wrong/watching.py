"""Purgatories that go wrong when an operation is watched."""

from purgatory_conformance.specimens.mutant import breaks, unseen
from purgatory_conformance.specimens.small.purgatory import (
    ESTIMATE_PROFILE,
    DelayedOperation,
    Entry,
    Keys,
    SmallPurgatory,
)
from purgatory_conformance.specimens.small.specimen import Refusal, ScriptFailure
from purgatory_spec.reasons import Reason


@breaks("PURGATORY-WATCH-FIRST-TRY").by(SmallPurgatory.first_try)
def first_try_watches(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """An operation that the first try completes is watched all the same."""
    done = SmallPurgatory.first_try(self, operation, keys)
    if done:
        self.enlist(operation, keys)
    return done


@breaks("PURGATORY-WATCH-FIRST-TRY", profile=ESTIMATE_PROFILE).by(SmallPurgatory.first_try)
def first_try_counts(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """The estimate grows although the first try completes the operation."""
    done = SmallPurgatory.first_try(self, operation, keys)
    if done:
        self.count_watch(keys)
    return done


@breaks("PURGATORY-WATCH-FIRST-TRY").by(SmallPurgatory.watch)
def first_try_says_no(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """The result is false where the first try completes the operation."""
    return SmallPurgatory.watch(self, operation, keys) and self.is_watched(operation)


@breaks("PURGATORY-WATCH-SECOND-TRY").by(SmallPurgatory.second_try)
def no_second_try(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """The second try is lost, because somebody else holds the operation's lock (KAFKA-6653)."""
    return False


@breaks("PURGATORY-WATCH-SECOND-TRY").by(SmallPurgatory.second_try)
def second_try_says_no(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """The result is false although the second try completed the operation."""
    SmallPurgatory.second_try(self, operation)
    return False


@breaks("PURGATORY-WATCH-SECOND-TRY").by(SmallPurgatory.second_try)
def second_try_takes_back(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """An operation that the second try completes is taken out of the lists again."""
    done = SmallPurgatory.second_try(self, operation)
    if done:
        self.unlist(operation)
    return done


@unseen("PURGATORY-WATCH-SECOND-TRY")
@breaks("PURGATORY-WATCH-SECOND-TRY").by(SmallPurgatory.second_try)
def second_try_stays_armed(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """An operation that the second try completes keeps its time-out."""
    done = SmallPurgatory.second_try(self, operation)
    if done:
        self.arm(operation)
    return done


@breaks("PURGATORY-WATCH-WAITS", "PURGATORY-DUPLICATE-KEYS").by(SmallPurgatory.enlist)
def only_first_key(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> None:
    """An operation is watched under its first key alone."""
    SmallPurgatory.enlist(self, operation, keys[:1])


@breaks("PURGATORY-WATCH-WAITS", "PURGATORY-CHECK-ORDER", "PURGATORY-CANCEL-RESULT").by(
    SmallPurgatory.enlist
)
def newest_at_the_head(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> None:
    """An operation is put at the head of the list."""
    for key in keys:
        self.lists.setdefault(key, []).insert(0, Entry(operation))


@breaks("PURGATORY-WATCH-WAITS").by(SmallPurgatory.second_try)
def watch_says_yes(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """The result is true for an operation that waits."""
    SmallPurgatory.second_try(self, operation)
    return True


@breaks("PURGATORY-WATCH-WAITS").by(SmallPurgatory.arm)
def watched_without_time_out(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A watched operation has no time-out."""


@breaks("PURGATORY-NO-KEYS").by(SmallPurgatory.refuse)
def no_keys_taken(self: SmallPurgatory, keys: Keys) -> None:
    """An operation may be watched under no key."""
    SmallPurgatory.refuse(self, keys or ("any",))


@breaks("PURGATORY-NO-KEYS")
class NoKeysTried(SmallPurgatory):
    """An operation under no key is tried before it is refused."""

    def refuse(self, keys: Keys) -> None:
        super().refuse(keys or ("any",))

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        super().refuse(keys)
        super().enlist(operation, keys)


@unseen("PURGATORY-DUPLICATE-KEYS")
@breaks("PURGATORY-DUPLICATE-KEYS").by(SmallPurgatory.enlist)
def keys_made_distinct(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> None:
    """A key that is given twice counts once."""
    SmallPurgatory.enlist(self, operation, tuple(dict.fromkeys(keys)))


@breaks("PURGATORY-REWATCH", "PURGATORY-EXECUTOR-REFUSES").by(SmallPurgatory.arm)
def rewatch_keeps_time_out(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """Watching again leaves the time-out where it was."""
    if operation not in self.armed:
        SmallPurgatory.arm(self, operation)


@breaks("PURGATORY-REWATCH").by(SmallPurgatory.enlist)
def rewatch_ignored(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> None:
    """Watching again adds no entries."""
    if not self.is_watched(operation):
        SmallPurgatory.enlist(self, operation, keys)


@breaks("PURGATORY-REWATCH")
class RewatchKnowsKeys(SmallPurgatory):
    """Watching again adds an entry under new keys alone."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        watched = self.is_watched(operation)
        fresh = [key for key in keys if not (watched and self.has(key, operation))]
        super().enlist(operation, tuple(fresh))

    def has(self, key: str, operation: DelayedOperation) -> bool:
        """Decide whether the operation is watched under the key."""
        return any(entry.operation is operation for entry in self.lists.get(key, ()))


@breaks("PURGATORY-WATCH-COMPLETED").by(SmallPurgatory.watch_completed)
def completed_is_watched(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """A completed operation gets entries (KAFKA-18027)."""
    self.enlist(operation, keys)
    return SmallPurgatory.watch_completed(self, operation, keys)


@unseen("PURGATORY-WATCH-COMPLETED")
@breaks("PURGATORY-WATCH-COMPLETED").by(SmallPurgatory.watch_completed)
def completed_is_armed(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """A completed operation gets a time-out when it is watched."""
    self.arm(operation)
    return SmallPurgatory.watch_completed(self, operation, keys)


@breaks("PURGATORY-WATCH-COMPLETED").by(SmallPurgatory.watch_completed)
def completed_says_yes(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """Watching a completed operation answers true."""
    SmallPurgatory.watch_completed(self, operation, keys)
    return True


@unseen("PURGATORY-NO-TIME-OUTS")
@breaks("PURGATORY-NO-TIME-OUTS").by(SmallPurgatory.arm)
def times_out_anyway(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A purgatory without time-outs has time-outs."""
    self.time_outs = True
    SmallPurgatory.arm(self, operation)


@breaks("PURGATORY-FIRST-TRY-THROWS").by(SmallPurgatory.first_try)
def first_try_throws_watched(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """An operation whose first try throws is watched."""
    try:
        return SmallPurgatory.first_try(self, operation, keys)
    except ScriptFailure:
        self.enlist(operation, keys)
        raise


@unseen("PURGATORY-FIRST-TRY-THROWS", "PURGATORY-CALLBACK-THROWS")
@breaks("PURGATORY-FIRST-TRY-THROWS").by(SmallPurgatory.first_try)
def first_try_throws_armed(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """An operation whose first try throws gets its time-out."""
    try:
        return SmallPurgatory.first_try(self, operation, keys)
    except ScriptFailure:
        self.arm(operation)
        raise


@breaks("PURGATORY-FIRST-TRY-THROWS").by(SmallPurgatory.first_try)
def first_try_throw_swallowed(
    self: SmallPurgatory, operation: DelayedOperation, keys: Keys
) -> bool:
    """A throwing first try counts as the answer false."""
    try:
        return SmallPurgatory.first_try(self, operation, keys)
    except ScriptFailure:
        return False


@unseen("PURGATORY-SECOND-TRY-THROWS")
@breaks("PURGATORY-SECOND-TRY-THROWS").by(SmallPurgatory.second_try)
def second_try_throws_unarmed(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """An operation whose second try throws has entries and no time-out (Kafka)."""
    try:
        return SmallPurgatory.second_try(self, operation)
    except ScriptFailure:
        self.disarm(operation)
        raise


@breaks("PURGATORY-SECOND-TRY-THROWS").by(SmallPurgatory.second_try)
def second_try_throws_unlisted(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """An operation whose second try throws loses its entries."""
    try:
        return SmallPurgatory.second_try(self, operation)
    except ScriptFailure:
        if not operation.completed:
            self.unlist(operation)
        raise


@breaks("PURGATORY-SHUTDOWN-CLOSED").by(SmallPurgatory.refuse)
def watched_after_shutdown(self: SmallPurgatory, keys: Keys) -> None:
    """After shutdown operations are still watched."""
    if not keys:
        raise Refusal(Reason.INVALID_ARGUMENT)


@breaks("PURGATORY-SHUTDOWN-CLOSED").by(SmallPurgatory.watch)
def tried_after_shutdown(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """After shutdown an operation is tried, and refused only where it has to wait."""
    if self.closed and keys and not operation.completed:
        self.attempt(operation)
    return SmallPurgatory.watch(self, operation, keys)
