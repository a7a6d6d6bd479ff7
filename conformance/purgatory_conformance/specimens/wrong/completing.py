"""Purgatories that go wrong when an operation is completed, or when it is not."""

from contextlib import suppress

from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    Refusal,
    ScriptFailure,
    SmallPurgatory,
)
from purgatory_spec.operations import Force, Operation
from purgatory_spec.outcomes import Value, tried
from purgatory_spec.reasons import Reason


class CompletesTwice(SmallPurgatory):
    """Whoever completes an operation calls on_complete twice."""

    def call_on_complete(self, operation: DelayedOperation) -> None:
        """Once by the operation, once by the purgatory."""
        super().call_on_complete(operation)
        super().call_on_complete(operation)


class OtherKeyCompletesAgain(SmallPurgatory):
    """A check of another key completes an operation again."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Whether the operation was completed is only known to the key that did it."""
        if entry.operation.completed and entry in self.met_by_check(key):
            self.call_on_complete(entry.operation)
        return super().drop_completed(key, entry)

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        """Whoever completes an operation here takes it out of this list first."""
        done = super().attempt_in_check(operation)
        if done:
            for entries in self.lists.values():
                first = next((e for e in entries if e.operation is operation), None)
                if first is not None:
                    entries.remove(first)
                    break
        self.lists = {key: entries for key, entries in self.lists.items() if entries}
        return done


class ExpirationFirst(SmallPurgatory):
    """A time-out calls on_expiration before on_complete."""

    def expire(self, operation: DelayedOperation) -> None:
        """The wrong way round."""
        if not operation.completed:
            self.call_on_expiration(operation)
            self.force(operation)


class ExpirationWithoutTimeOut(SmallPurgatory):
    """An operation that is forced gets on_expiration as well."""

    def complete(self, operation: DelayedOperation) -> None:
        """Whoever completes it."""
        super().complete(operation)
        if operation not in self.queue:
            self.call_on_expiration(operation)

    def expire(self, operation: DelayedOperation) -> None:
        """The time-out leaves it to the completion."""
        self.force(operation)


class CompletedAfterCallback(SmallPurgatory):
    """An operation is completed only when on_complete has returned."""

    completing: DelayedOperation | None = None

    def complete(self, operation: DelayedOperation) -> None:
        """The flag comes last; nobody else completes it meanwhile."""
        if operation is not self.completing:
            self.completing = operation
            self.disarm(operation)
            try:
                self.call_on_complete(operation)
            finally:
                self.completing = None
                operation.completed = True


class TimeOutTakenLast(SmallPurgatory):
    """The time-out is taken out of the timer when on_complete has returned."""

    def complete(self, operation: DelayedOperation) -> None:
        """The time-out stays if ``on_complete`` throws."""
        operation.completed = True
        self.call_on_complete(operation)
        self.disarm(operation)


class TimeOutLate(SmallPurgatory):
    """An operation expires one millisecond late."""

    def due_tick(self, expiry_ms: int) -> int:
        """Strictly after its delay."""
        return super().due_tick(expiry_ms) + 1


class TimeOutEarly(SmallPurgatory):
    """An operation expires one tick early."""

    def due_tick(self, expiry_ms: int) -> int:
        """A tick too soon."""
        return super().due_tick(expiry_ms) - self.tick_ms


class DelayFromLastAdvance(SmallPurgatory):
    """The delay is counted from the last advance and not from the present reading."""

    advanced_ms = 0

    def advance(self) -> None:
        """Remember the reading."""
        self.advanced_ms = self.now_ms
        super().advance()

    def arm(self, operation: DelayedOperation) -> None:
        """The clock is read by advances alone."""
        present_ms, self.now_ms = self.now_ms, min(self.advanced_ms, self.now_ms)
        super().arm(operation)
        self.now_ms = present_ms


class NeverArmed(SmallPurgatory):
    """Nothing ever times out."""

    def arm(self, operation: DelayedOperation) -> None:
        """It is forgotten."""


class LostExpiryExpires(SmallPurgatory):
    """The expiry of an operation that was completed meanwhile calls on_expiration."""

    def expire(self, operation: DelayedOperation) -> None:
        """Whoever completed it."""
        self.force(operation)
        self.call_on_expiration(operation)


class LostExpiryCompletes(SmallPurgatory):
    """The expiry of an operation that was completed meanwhile calls both callbacks."""

    def expire(self, operation: DelayedOperation) -> None:
        """Nobody asks whether it is completed."""
        self.complete(operation)
        self.call_on_expiration(operation)


class StaysInTimer(SmallPurgatory):
    """A completed operation stays in the timer until it is due (the purgatory before the wheel)."""

    def complete(self, operation: DelayedOperation) -> None:
        """Nobody takes it out."""
        operation.completed = True
        self.call_on_complete(operation)


class ForceSaysNo(SmallPurgatory):
    """Force completes an operation and answers false."""

    def perform(self, operation: Operation) -> Value:
        """The answer is lost."""
        result = super().perform(operation)
        return False if isinstance(operation, Force) else result


class ForceTriesFirst(SmallPurgatory):
    """Force tries the operation first."""

    def perform(self, operation: Operation) -> Value:
        """To see whether it is needed."""
        if isinstance(operation, Force):
            known = self.introduced(operation.operation)
            if not known.completed:
                self.events.append(tried(known.name))
        return super().perform(operation)


class ForceOnlyWatched(SmallPurgatory):
    """An operation that was never watched cannot be forced."""

    def perform(self, operation: Operation) -> Value:
        """It is not known here."""
        if isinstance(operation, Force) and operation.operation not in self.operations:
            return False
        return super().perform(operation)


class ForceAgainSaysYes(SmallPurgatory):
    """Forcing a completed operation answers true."""

    def perform(self, operation: Operation) -> Value:
        """It is completed, after all."""
        result = super().perform(operation)
        return True if isinstance(operation, Force) else result


class ForceAgainCalls(SmallPurgatory):
    """Forcing a completed operation calls on_complete again."""

    def perform(self, operation: Operation) -> Value:
        """Once for each force."""
        if isinstance(operation, Force):
            known = self.introduced(operation.operation)
            if known.completed:
                self.call_on_complete(known)
        return super().perform(operation)


class CallbackThrowUndoes(SmallPurgatory):
    """An operation whose on_complete throws is not completed."""

    def call_on_complete(self, operation: DelayedOperation) -> None:
        """Everything is as before."""
        try:
            super().call_on_complete(operation)
        except ScriptFailure:
            operation.completed = False
            raise


class CallbackThrowSwallowed(SmallPurgatory):
    """The exception of an on_complete reaches nobody."""

    def call_on_complete(self, operation: DelayedOperation) -> None:
        """It is logged somewhere."""
        with suppress(ScriptFailure):
            super().call_on_complete(operation)


class ExpirationDespiteThrow(SmallPurgatory):
    """An operation whose on_complete throws gets its on_expiration all the same."""

    def expire(self, operation: DelayedOperation) -> None:
        """Whatever on_complete did."""
        if not operation.completed:
            with suppress(ScriptFailure):
                self.force(operation)
            self.call_on_expiration(operation)


class ExpiryThrowLosesQueue(SmallPurgatory):
    """A throwing callback discards the expiries queued behind it."""

    def expire(self, operation: DelayedOperation) -> None:
        """The loop over the batch is left."""
        try:
            super().expire(operation)
        except ScriptFailure:
            self.queue.clear()
            raise


class ExpiryThrowEscapes(SmallPurgatory):
    """The exception of a callback leaves the executor."""

    def expire(self, operation: DelayedOperation) -> None:
        """Nobody catches it."""
        try:
            super().expire(operation)
        except ScriptFailure as failure:
            raise RuntimeError("an expiry failed") from failure


class ExpiryThrowStopsTimer(SmallPurgatory):
    """After a callback has thrown nothing expires any more."""

    dead = False

    def expire(self, operation: DelayedOperation) -> None:
        """The thread that advances is gone."""
        try:
            super().expire(operation)
        except ScriptFailure:
            self.dead = True
            raise

    def pop_due(self) -> list[DelayedOperation]:
        """The timer's thread is dead."""
        return [] if self.dead else super().pop_due()


class ShutdownKeepsTimeOuts(SmallPurgatory):
    """Time-outs that were in the timer at shutdown still expire."""

    def shutdown(self) -> None:
        """Only watching is closed."""
        self.closed = True

    def advance(self) -> None:
        """Goes on as ever."""
        closed, self.closed = self.closed, False
        super().advance()
        self.closed = closed


class ShutdownDropsQueue(SmallPurgatory):
    """Shutting down drops what was handed to the executor."""

    def shutdown(self) -> None:
        """Everything goes."""
        super().shutdown()
        self.queue.clear()


class ClosedForChecks(SmallPurgatory):
    """After shutdown a check is rejected."""

    def check(self, key: str) -> int:
        """Closed is closed."""
        if self.closed:
            raise Refusal(Reason.CLOSED)
        return super().check(key)


class ShutdownEmptiesLists(SmallPurgatory):
    """Shutting down forgets what waits."""

    def shutdown(self) -> None:
        """The lists go, too."""
        super().shutdown()
        self.lists = {}


class ShutdownAgainFails(SmallPurgatory):
    """Shutting down a second time is an error."""

    def shutdown(self) -> None:
        """There is nothing left to shut down."""
        if self.closed:
            raise Refusal(Reason.CLOSED)
        super().shutdown()
