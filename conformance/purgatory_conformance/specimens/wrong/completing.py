"""Purgatories that go wrong when an operation is completed, or when it is not."""

from contextlib import suppress

from purgatory_conformance.specimens.mutant import breaks, unseen
from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    SmallPurgatory,
)
from purgatory_conformance.specimens.small.specimen import Refusal, ScriptFailure
from purgatory_spec.operations import Force, Operation
from purgatory_spec.outcomes import Value, tried
from purgatory_spec.reasons import Reason


@breaks("PURGATORY-EXACTLY-ONCE").by(SmallPurgatory.call_on_complete)
def completes_twice(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A completion calls on_complete twice."""
    SmallPurgatory.call_on_complete(self, operation)
    SmallPurgatory.call_on_complete(self, operation)


@breaks("PURGATORY-EXACTLY-ONCE")
class OtherKeyCompletesAgain(SmallPurgatory):
    """A check of another key completes an operation again."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        if entry.operation.completed and entry in self.met_by_check(key):
            self.call_on_complete(entry.operation)
        return super().drop_completed(key, entry)

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        done = super().attempt_in_check(operation)
        if done:
            for entries in self.lists.values():
                first = next((e for e in entries if e.operation is operation), None)
                if first is not None:
                    entries.remove(first)
                    break
        self.lists = {key: entries for key, entries in self.lists.items() if entries}
        return done


@breaks("PURGATORY-CALLBACK-ORDER").by(SmallPurgatory.expire)
def expiration_first(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A time-out calls on_expiration before on_complete."""
    if not operation.completed:
        self.call_on_expiration(operation)
        self.force(operation)


@breaks("PURGATORY-CALLBACK-ORDER")
class ExpirationWithoutTimeOut(SmallPurgatory):
    """An operation that is forced gets on_expiration as well."""

    def complete(self, operation: DelayedOperation) -> None:
        super().complete(operation)
        if operation not in self.queue:
            self.call_on_expiration(operation)

    def expire(self, operation: DelayedOperation) -> None:
        self.force(operation)


@breaks("PURGATORY-CALLBACK-ORDER")
class CompletedAfterCallback(SmallPurgatory):
    """An operation is completed only when on_complete has returned."""

    completing: DelayedOperation | None = None

    def complete(self, operation: DelayedOperation) -> None:
        if operation is not self.completing:
            self.completing = operation
            self.disarm(operation)
            try:
                self.call_on_complete(operation)
            finally:
                self.completing = None
                operation.completed = True


@breaks("PURGATORY-CALLBACK-ORDER", "PURGATORY-CALLBACK-THROWS").by(SmallPurgatory.complete)
def time_out_taken_last(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """The time-out is taken out of the timer when on_complete has returned."""
    operation.completed = True
    self.call_on_complete(operation)
    self.disarm(operation)


@breaks("PURGATORY-TIME-OUT").by(SmallPurgatory.due_tick)
def time_out_late(self: SmallPurgatory, expiry_ms: int) -> int:
    """An operation expires one millisecond late."""
    return SmallPurgatory.due_tick(self, expiry_ms) + 1


@breaks("PURGATORY-TIME-OUT").by(SmallPurgatory.due_tick)
def time_out_early(self: SmallPurgatory, expiry_ms: int) -> int:
    """An operation expires one tick early."""
    return SmallPurgatory.due_tick(self, expiry_ms) - self.tick_ms


@breaks("PURGATORY-TIME-OUT")
class DelayFromLastAdvance(SmallPurgatory):
    """The delay is counted from the last advance and not from the present reading."""

    advanced_ms = 0

    def advance(self) -> None:
        self.advanced_ms = self.now_ms
        super().advance()

    def arm(self, operation: DelayedOperation) -> None:
        present_ms, self.now_ms = self.now_ms, min(self.advanced_ms, self.now_ms)
        super().arm(operation)
        self.now_ms = present_ms


@unseen("PURGATORY-TIME-OUT").by(SmallPurgatory.arm)
def never_armed(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A watched operation never times out."""


@breaks("PURGATORY-LOST-EXPIRY").by(SmallPurgatory.expire)
def lost_expiry_expires(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """The expiry of an operation that was completed meanwhile calls on_expiration."""
    self.force(operation)
    self.call_on_expiration(operation)


@breaks("PURGATORY-LOST-EXPIRY").by(SmallPurgatory.expire)
def lost_expiry_completes(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """The expiry of an operation that was completed meanwhile calls both callbacks."""
    self.complete(operation)
    self.call_on_expiration(operation)


@unseen("PURGATORY-TIMER-LEFT", "PURGATORY-WATCH-SECOND-TRY")
@breaks("PURGATORY-TIMER-LEFT", "PURGATORY-WATCH-SECOND-TRY").by(SmallPurgatory.complete)
def stays_in_timer(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A completed operation stays in the timer until it is due (the purgatory before the wheel)."""
    operation.completed = True
    self.call_on_complete(operation)


@breaks("PURGATORY-FORCE").by(SmallPurgatory.perform)
def force_says_no(self: SmallPurgatory, operation: Operation) -> Value:
    """Force completes an operation and answers false."""
    result = SmallPurgatory.perform(self, operation)
    return False if isinstance(operation, Force) else result


@breaks("PURGATORY-FORCE").by(SmallPurgatory.perform)
def force_tries_first(self: SmallPurgatory, operation: Operation) -> Value:
    """Force tries the operation first."""
    if isinstance(operation, Force):
        known = self.introduced(operation.operation)
        if not known.completed:
            self.events.append(tried(known.name))
    return SmallPurgatory.perform(self, operation)


@breaks("PURGATORY-FORCE").by(SmallPurgatory.perform)
def force_only_watched(self: SmallPurgatory, operation: Operation) -> Value:
    """An operation that was never watched cannot be forced."""
    if isinstance(operation, Force) and operation.operation not in self.operations:
        return False
    return SmallPurgatory.perform(self, operation)


@breaks("PURGATORY-FORCE-AGAIN").by(SmallPurgatory.perform)
def force_again_says_yes(self: SmallPurgatory, operation: Operation) -> Value:
    """Forcing a completed operation answers true."""
    result = SmallPurgatory.perform(self, operation)
    return True if isinstance(operation, Force) else result


@breaks("PURGATORY-FORCE-AGAIN").by(SmallPurgatory.perform)
def force_again_calls(self: SmallPurgatory, operation: Operation) -> Value:
    """Forcing a completed operation calls on_complete again."""
    if isinstance(operation, Force):
        known = self.introduced(operation.operation)
        if known.completed:
            self.call_on_complete(known)
    return SmallPurgatory.perform(self, operation)


@breaks("PURGATORY-CALLBACK-THROWS").by(SmallPurgatory.call_on_complete)
def callback_throw_undoes(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """An operation whose on_complete throws is not completed."""
    try:
        SmallPurgatory.call_on_complete(self, operation)
    except ScriptFailure:
        operation.completed = False
        raise


@breaks("PURGATORY-CALLBACK-THROWS").by(SmallPurgatory.call_on_complete)
def callback_throw_swallowed(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """The exception of an on_complete is swallowed."""
    with suppress(ScriptFailure):
        SmallPurgatory.call_on_complete(self, operation)


@breaks("PURGATORY-CALLBACK-THROWS").by(SmallPurgatory.expire)
def expiration_despite_throw(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """An operation whose on_complete throws gets its on_expiration all the same."""
    if not operation.completed:
        with suppress(ScriptFailure):
            self.force(operation)
        self.call_on_expiration(operation)


@unseen("PURGATORY-EXPIRY-THROWS")
@breaks("PURGATORY-EXPIRY-THROWS").by(SmallPurgatory.expire)
def expiry_throw_loses_queue(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A throwing callback discards the expiries queued behind it."""
    try:
        SmallPurgatory.expire(self, operation)
    except ScriptFailure:
        self.queue.clear()
        raise


@breaks("PURGATORY-EXPIRY-THROWS").by(SmallPurgatory.expire)
def expiry_throw_escapes(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """The exception of a callback leaves the executor."""
    try:
        SmallPurgatory.expire(self, operation)
    except ScriptFailure as failure:
        raise RuntimeError("an expiry failed") from failure


@breaks("PURGATORY-EXPIRY-THROWS")
class ExpiryThrowStopsTimer(SmallPurgatory):
    """A throwing callback ends the timer's thread, so that nothing expires any more."""

    dead = False

    def expire(self, operation: DelayedOperation) -> None:
        try:
            super().expire(operation)
        except ScriptFailure:
            self.dead = True
            raise

    def pop_due(self) -> list[DelayedOperation]:
        return [] if self.dead else super().pop_due()


@breaks("PURGATORY-SHUTDOWN-DROPS")
class ShutdownKeepsTimeOuts(SmallPurgatory):
    """Time-outs that were in the timer at shutdown still expire."""

    def shutdown(self) -> None:
        self.closed = True

    def advance(self) -> None:
        closed, self.closed = self.closed, False
        super().advance()
        self.closed = closed


@breaks("PURGATORY-SHUTDOWN-DROPS").by(SmallPurgatory.shutdown)
def shutdown_drops_queue(self: SmallPurgatory) -> None:
    """Shutting down drops the operations that wait for the executor."""
    SmallPurgatory.shutdown(self)
    self.queue.clear()


@breaks("PURGATORY-SHUTDOWN-COMPLETES").by(SmallPurgatory.check)
def closed_for_checks(self: SmallPurgatory, key: str) -> int:
    """After shutdown a check is rejected."""
    if self.closed:
        raise Refusal(Reason.CLOSED)
    return SmallPurgatory.check(self, key)


@breaks("PURGATORY-SHUTDOWN-COMPLETES").by(SmallPurgatory.shutdown)
def shutdown_empties_lists(self: SmallPurgatory) -> None:
    """Shutting down empties the watcher lists."""
    SmallPurgatory.shutdown(self)
    self.lists = {}


@breaks("PURGATORY-SHUTDOWN-AGAIN").by(SmallPurgatory.shutdown)
def shutdown_again_fails(self: SmallPurgatory) -> None:
    """Shutting down a second time is an error."""
    if self.closed:
        raise Refusal(Reason.CLOSED)
    SmallPurgatory.shutdown(self)


@breaks("PURGATORY-EXECUTOR-REFUSES").by(SmallPurgatory.keep)
def refused_time_outs_are_dropped(self: SmallPurgatory, due: list[DelayedOperation]) -> None:
    """An operation whose time-out the executor refuses waits for ever."""


@breaks("PURGATORY-EXECUTOR-REFUSES").by(SmallPurgatory.keep)
def one_refused_time_out_is_kept(self: SmallPurgatory, due: list[DelayedOperation]) -> None:
    """Of the time-outs of an advance the first refused one is kept, and the rest is dropped."""
    SmallPurgatory.keep(self, due[:1])


@breaks("PURGATORY-EXECUTOR-REFUSES").by(SmallPurgatory.keep)
def refused_time_outs_run_twice(self: SmallPurgatory, due: list[DelayedOperation]) -> None:
    """The caller runs what the executor refuses, and the next advance hands it over again."""
    for operation in due:
        with suppress(ScriptFailure):
            self.expire(operation)
    SmallPurgatory.keep(self, due)


@breaks("PURGATORY-EXECUTOR-REFUSES")
class CompletedStaysRefused(SmallPurgatory):
    """A refused time-out stays in the timer though its operation is completed meanwhile."""

    kept: tuple[DelayedOperation, ...] = ()

    def keep(self, due: list[DelayedOperation]) -> None:
        super().keep(due)
        self.kept = tuple(due)

    def disarm(self, operation: DelayedOperation) -> None:
        if operation not in self.kept:
            super().disarm(operation)

    def pop_due(self) -> list[DelayedOperation]:
        self.kept = ()
        return super().pop_due()
