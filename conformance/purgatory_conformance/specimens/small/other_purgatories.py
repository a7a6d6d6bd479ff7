"""Purgatories that are right as well, and make other choices than the small one."""

from contextlib import suppress

from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    Keys,
    SmallPurgatory,
)
from purgatory_conformance.specimens.small.specimen import OrdinaryScriptFailure, ScriptFailure
from purgatory_conformance.specimens.small.timer import Fate, SmallTimer
from purgatory_spec import profiles


class WheelPurgatory(SmallPurgatory):
    """A purgatory whose timer is the small timing wheel."""

    def __init__(
        self, configuration: profiles.PurgatoryConfiguration, profile: profiles.PurgatoryProfile
    ) -> None:
        """Begin with an empty wheel."""
        super().__init__(configuration, profile)
        self.wheel = SmallTimer(
            configuration.timer,
            profiles.TimerProfile(
                rounding=profile.rounding,
                executor=profiles.Executor.STEPPED,
                structure=profiles.Structure.DELAY_QUEUE_WHEEL,
                largest_delay_ms=profiles.LARGEST_LONG,
            ),
        )

    def arm(self, operation: DelayedOperation) -> None:
        """Arm in the wheel, which decides whether the operation is due at once."""
        if self.time_outs:
            super().arm(operation)
            self.wheel.now_ms = self.now_ms
            self.wheel.add(self.wheel.task(operation.name), operation.delay_ms)
            self.hand_over(self.popped())

    def disarm(self, operation: DelayedOperation) -> None:
        """Disarm the operation and leave the wheel's bucket."""
        super().disarm(operation)
        self.wheel.cancel(self.wheel.task(operation.name))

    def pop_due(self) -> list[DelayedOperation]:
        """Return the operations that the wheel expires."""
        self.wheel.now_ms = self.now_ms
        self.wheel.advance()
        return self.popped()

    def keep(self, due: list[DelayedOperation]) -> None:
        """Let the wheel keep the time-outs as well."""
        super().keep(due)
        tasks = [self.wheel.task(operation.name) for operation in due]
        for task in tasks:
            task.fate = Fate.PENDING
        self.wheel.pending += len(tasks)
        self.wheel.keep(tasks)

    def popped(self) -> list[DelayedOperation]:
        """Take the operations that the wheel has handed over out of the timer."""
        armed = {operation.name: operation for operation in self.armed}
        due = [armed[task.name] for task in self.wheel.queue]
        self.wheel.queue.clear()
        self.armed = [operation for operation in self.armed if operation not in due]
        return due


class BackwardsPurgatory(SmallPurgatory):
    """A purgatory in which what expires in one tick is handed over from last to first."""

    def pop_due(self) -> list[DelayedOperation]:
        """Return the due operations, within a tick the last one first."""
        due = super().pop_due()
        return sorted(due, key=lambda operation: (operation.due_tick, -operation.arming))


class AtEndPurgatory(SmallPurgatory):
    """A purgatory whose check drops what is completed when it is through."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Drop no entry yet, and return whether its operation is completed."""
        return entry.operation.completed

    def check(self, key: str) -> int:
        """Check, then drop, also where a try threw."""
        try:
            return super().check(key)
        finally:
            self.lists[key] = self.purged(self.lists.get(key, []))
            self.forget_empty(key)


class OneTryPurgatory(SmallPurgatory):
    """A purgatory whose watch enters the lists and then tries once."""

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Return false: there is no first try."""
        return False


class EagerPurgatory(SmallPurgatory):
    """A purgatory in which an operation leaves all lists as it completes."""

    def complete(self, operation: DelayedOperation) -> None:
        """Leave the lists before anybody is told."""
        self.unlist(operation)
        super().complete(operation)


class LazyPurgatory(SmallPurgatory):
    """A purgatory whose timer keeps the entry of a cancelled time-out until it is due."""

    def __init__(
        self, configuration: profiles.PurgatoryConfiguration, profile: profiles.PurgatoryProfile
    ) -> None:
        """Begin with no such entry."""
        super().__init__(configuration, profile)
        self.cancelled: list[tuple[int, DelayedOperation]] = []

    def disarm(self, operation: DelayedOperation) -> None:
        """Leave an entry behind."""
        if operation in self.armed:
            self.cancelled.append((operation.due_tick, operation))
        super().disarm(operation)

    def pop_due(self) -> list[DelayedOperation]:
        """Drop the entries that are due, too."""
        self.cancelled = [each for each in self.cancelled if each[0] > self.now_ms]
        return super().pop_due()


class TickerPurgatory(SmallPurgatory):
    """A purgatory whose timer does each tick once."""

    def __init__(
        self, configuration: profiles.PurgatoryConfiguration, profile: profiles.PurgatoryProfile
    ) -> None:
        """Make a purgatory in which the present tick is done."""
        super().__init__(configuration, profile)
        self.ticked_ms = self.now_ms - self.now_ms % self.tick_ms

    def due_tick(self, expiry_ms: int) -> int:
        """Return a due tick no sooner than the next tick."""
        return max(super().due_tick(expiry_ms), self.ticked_ms + self.tick_ms)

    def pop_due(self) -> list[DelayedOperation]:
        """Do the ticks that have come."""
        self.ticked_ms = self.now_ms - self.now_ms % self.tick_ms
        return super().pop_due()


class PassingPurgatory(SmallPurgatory):
    """A purgatory whose checks and executor let a severe exception through at once."""

    def after_throwing(self, key: str, entry: Entry, failure: ScriptFailure) -> None:
        """End the check at a severe exception."""
        if not isinstance(failure, Exception):
            raise failure

    def run_one(self) -> None:
        """Run the operation that has waited longest; an ordinary exception ends here."""
        if self.queue:
            operation = self.queue.pop(0)
            with suppress(OrdinaryScriptFailure):
                self.expire(operation)
