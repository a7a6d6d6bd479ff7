"""Purgatories that go wrong only after a certain history, or where callbacks meet each other."""

from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    ScriptFailure,
    SmallPurgatory,
)
from purgatory_spec.operations import CallbackAction, ForceInside, WatchInside
from purgatory_spec.outcomes import tried

Keys = tuple[str, ...]


class CheckCountsOthers(SmallPurgatory):
    """A check counts as its own what a callback completed behind the operation that it tried."""

    def check(self, key: str) -> int:
        """The live operations of the list are compared before and after."""
        live = {entry.operation for entry in self.met_by_check(key)} - self._finished()
        super().check(key)
        return len(live & self._finished())

    def _finished(self) -> set[DelayedOperation]:
        return {operation for operation in self.operations.values() if operation.completed}


class FirstTryCallbackUnheard(SmallPurgatory):
    """The exception of a callback does not leave a watch whose first try completes."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Swallows the exception of a completed operation."""
        try:
            return super().first_try(operation, keys)
        except ScriptFailure:
            if not operation.completed:
                raise
            return True


class CancelledNeverArmed(SmallPurgatory):
    """What a cancel took out of its last list gets no time-out when it is watched again."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """An arming below zero says that it is done with."""
        cancelled = super().cancel_for_key(key)
        for operation in cancelled:
            if not self.is_watched(operation):
                operation.arming = -1
        return cancelled

    def arm(self, operation: DelayedOperation) -> None:
        """Only what was not done with."""
        if operation.arming >= 0:
            super().arm(operation)


class RewatchThrowKeepsTimeOut(SmallPurgatory):
    """Where the second try of a repeated watch throws, the time-out is moved back."""

    def watch(self, operation: DelayedOperation, keys: Keys) -> bool:
        """As though the watch had not been."""
        armed, before = operation in self.armed, (operation.due_tick, operation.arming)
        try:
            return super().watch(operation, keys)
        except ScriptFailure:
            if armed and operation in self.armed:
                operation.due_tick, operation.arming = before
            raise


class RewatchCompletesUnlisted(SmallPurgatory):
    """What a repeated watch completes at once is taken out of the lists of the earlier one."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Every list is walked."""
        done = super().first_try(operation, keys)
        if done:
            for key in tuple(self.lists):
                for entry in self.met_by_check(key):
                    self.drop_completed(key, entry)
        return done


class InsideWatchAfterShutdown(SmallPurgatory):
    """Callbacks may still watch after a shutdown."""

    def act(self, action: CallbackAction) -> None:
        """It is open for as long as a callback watches."""
        closed = self.closed
        self.closed = closed and not isinstance(action, WatchInside)
        try:
            super().act(action)
        finally:
            self.closed = closed


class NestedThrowUnheard(SmallPurgatory):
    """A callback hears nothing of the exception of an operation that it forces."""

    def act(self, action: CallbackAction) -> None:
        """Whose exception it is does not matter."""
        try:
            super().act(action)
        except ScriptFailure:
            if not isinstance(action, ForceInside):
                raise


class SatisfiedUntilChecked(SmallPurgatory):
    """An operation that became completable waits for a check, although it is watched once more."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """The try answers no."""
        if operation.satisfied:
            self.events.append(tried(operation.name))
            operation.tries += 1
            return False
        return super().first_try(operation, keys)


class FarTimeOutsEarly(SmallPurgatory):
    """A delay of more than a few hundred milliseconds is cut."""

    def due_tick(self, expiry_ms: int) -> int:
        """Farther than this the timer does not see."""
        return super().due_tick(min(expiry_ms, self.now_ms + 300))
