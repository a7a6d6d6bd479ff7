"""Purgatories that go wrong only after a certain history, or where callbacks meet each other."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.purgatory import DelayedOperation, Keys, SmallPurgatory
from purgatory_conformance.specimens.small.specimen import ScriptFailure
from purgatory_spec.operations import CallbackAction, ForceInside, WatchInside
from purgatory_spec.outcomes import tried


@breaks("PURGATORY-CHECK-COUNT")
class CheckCountsOthers(SmallPurgatory):
    """A check counts operations that callbacks completed behind the operation just tried."""

    def check(self, key: str) -> int:
        live = {entry.operation for entry in self.met_by_check(key)} - self._finished()
        super().check(key)
        return len(live & self._finished())

    def _finished(self) -> set[DelayedOperation]:
        return {operation for operation in self.operations.values() if operation.completed}


@breaks("PURGATORY-CALLBACK-THROWS").by(SmallPurgatory.first_try)
def first_try_callback_unheard(
    self: SmallPurgatory, operation: DelayedOperation, keys: Keys
) -> bool:
    """The exception of a callback does not leave a watch whose first try completes."""
    try:
        return SmallPurgatory.first_try(self, operation, keys)
    except ScriptFailure:
        if not operation.completed:
            raise
        return True


@breaks("PURGATORY-WATCH-WAITS")
class CancelledNeverArmed(SmallPurgatory):
    """An operation cancelled under its last key gets no time-out when it is watched again."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        cancelled = super().cancel_for_key(key)
        for operation in cancelled:
            if not self.is_watched(operation):
                operation.arming = -1
        return cancelled

    def arm(self, operation: DelayedOperation) -> None:
        if operation.arming >= 0:
            super().arm(operation)


@breaks("PURGATORY-SECOND-TRY-THROWS").by(SmallPurgatory.watch)
def rewatch_throw_keeps_time_out(
    self: SmallPurgatory, operation: DelayedOperation, keys: Keys
) -> bool:
    """A repeated watch whose second try throws moves the time-out back."""
    armed, before = operation in self.armed, (operation.due_tick, operation.arming)
    try:
        return SmallPurgatory.watch(self, operation, keys)
    except ScriptFailure:
        if armed and operation in self.armed:
            operation.due_tick, operation.arming = before
        raise


@breaks("PURGATORY-WATCH-FIRST-TRY", "PURGATORY-FORCE-INSIDE").by(SmallPurgatory.first_try)
def rewatch_completes_unlisted(
    self: SmallPurgatory, operation: DelayedOperation, keys: Keys
) -> bool:
    """An operation that a repeated watch completes at once loses its earlier entries."""
    done = SmallPurgatory.first_try(self, operation, keys)
    if done:
        for key in tuple(self.lists):
            for entry in self.met_by_check(key):
                self.drop_completed(key, entry)
    return done


@breaks("PURGATORY-SHUTDOWN-CLOSED").by(SmallPurgatory.act)
def inside_watch_after_shutdown(self: SmallPurgatory, action: CallbackAction) -> None:
    """Callbacks may still watch after a shutdown."""
    closed = self.closed
    self.closed = closed and not isinstance(action, WatchInside)
    try:
        SmallPurgatory.act(self, action)
    finally:
        self.closed = closed


@breaks("PURGATORY-FORCE-INSIDE").by(SmallPurgatory.act)
def nested_throw_unheard(self: SmallPurgatory, action: CallbackAction) -> None:
    """A callback hears nothing of the exception of an operation that it forces."""
    try:
        SmallPurgatory.act(self, action)
    except ScriptFailure:
        if not isinstance(action, ForceInside):
            raise


@breaks("PURGATORY-WATCH-FIRST-TRY").by(SmallPurgatory.first_try)
def satisfied_until_checked(self: SmallPurgatory, operation: DelayedOperation, keys: Keys) -> bool:
    """An operation that became completable waits for a check, although it is watched once more."""
    if operation.satisfied:
        self.events.append(tried(operation.name))
        operation.tries += 1
        return False
    return SmallPurgatory.first_try(self, operation, keys)


@breaks("PURGATORY-TIME-OUT").by(SmallPurgatory.due_tick)
def far_time_outs_early(self: SmallPurgatory, expiry_ms: int) -> int:
    """A delay of more than a few hundred milliseconds is cut."""
    return SmallPurgatory.due_tick(self, min(expiry_ms, self.now_ms + 300))
