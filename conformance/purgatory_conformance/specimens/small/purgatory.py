"""A small purgatory behind the step vocabulary: the specimen that the suite is tried on.

It is written straight from the rules and shares nothing with the model or the implementation but
the types of the steps; its timer is a list that is looked through. Every decision is one short
method, so that a purgatory with a single fault is a subclass with a single override.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from purgatory_conformance.specimens.small.specimen import (
    Refusal,
    ScriptFailure,
    Specimen,
    failure_of,
    reason_of,
)
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_judge.components import narrowed
from purgatory_spec import operations as op
from purgatory_spec import outcomes, profiles
from purgatory_spec.messages import Implementation
from purgatory_spec.outcomes import completed
from purgatory_spec.reasons import Reason

PROFILE = profiles.PurgatoryProfile(
    accounting=profiles.Accounting.EXACT,
    check_drops=profiles.CheckDrops.AS_PASSED,
    throwing_try=profiles.ThrowingTry.GO_ON,
    severe_throw=profiles.SevereThrow.AS_ORDINARY,
    executor=profiles.Executor.STEPPED,
    features=frozenset(profiles.PurgatoryFeature),
    observables=frozenset(profiles.PurgatoryObservable),
)
"""The profile of the small purgatory: all that the suite can ask for."""

AMORTISED_PROFILE = msgspec.structs.replace(PROFILE, purge_due=profiles.PurgeDue.AMORTISED)
"""The choices of a purgatory whose purges cost what they remove."""

SILENT_PROFILE = msgspec.structs.replace(PROFILE, observables=frozenset())
"""The profile of a first adapter that has everything and shows nothing but events and results."""

PROPOSAL_PROFILE = msgspec.structs.replace(
    PROFILE,
    accounting=profiles.Accounting.PROPOSAL,
    throwing_try=profiles.ThrowingTry.STOP,
    observables=PROFILE.observables - {profiles.PurgatoryObservable.PENDING},
)
"""The choices of Kafka's purgatory, but for its timer's structure."""

ESTIMATE_PROFILE = msgspec.structs.replace(
    PROPOSAL_PROFILE,
    observables=PROPOSAL_PROFILE.observables - {profiles.PurgatoryObservable.STALE_OPERATIONS},
)
"""The same without the count that shows that the published accounting does not bound it."""


Keys = tuple[str, ...]

NO_SCRIPT = op.Script()
"""An operation that waits until somebody else completes it."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class DelayedOperation:
    """A delayed operation; ``due_tick`` (ms) and ``arming`` matter while it is in the timer."""

    name: str
    delay_ms: int = 0
    script: op.Script = NO_SCRIPT
    satisfied: bool = False
    completed: bool = False
    tries: int = 0
    due_tick: int = 0
    arming: int = 0


@dataclass(eq=False, slots=True)
class Entry:
    """An entry in a watcher list."""

    operation: DelayedOperation


class SmallPurgatory(Specimen):
    """A purgatory with timer, clock and executor queue."""

    def __init__(
        self, configuration: profiles.PurgatoryConfiguration, profile: profiles.PurgatoryProfile
    ) -> None:
        """Make a purgatory in which nothing waits."""
        super().__init__(profile)
        self.profile = profile
        self.purge_interval = configuration.purge_interval
        self.time_outs = configuration.time_outs
        self.tick_ms = configuration.tick_ms
        self.now_ms = configuration.start_ms
        self.operations: dict[str, DelayedOperation] = {}
        self.lists: dict[str, list[Entry]] = {}
        self.armed: list[DelayedOperation] = []
        self.queue: list[DelayedOperation] = []
        self.armings = 0
        self.estimated = 0
        self.closed = False
        self.refuses = False
        self.callback_timer_size: int | None = None

    # What a step asks for

    def do(self, operation: op.Operation) -> outcomes.Outcome:
        """Carry out one operation and return its outcome."""
        self.callback_timer_size = None
        return super().do(operation)

    def perform(self, operation: op.Operation) -> outcomes.Value:
        """Return the result of an operation; raises ``Refusal`` and ``ScriptFailure``."""
        result: outcomes.Value = None
        match operation:
            case op.Watch(name, keys, delay_ms, script):
                result = self.watch(self.introduced(name, delay_ms, script), keys)
            case op.Check(key):
                result = self.check(key)
            case op.CancelForKey(key):
                result = tuple(each.name for each in self.cancel_for_key(key))
            case op.Force(name):
                result = self.force(self.introduced(name))
            case op.Satisfy(name):
                self.introduced(name).satisfied = True
            case op.Elapse(to_ms):
                self.now_ms = to_ms
            case op.Advance(to_ms, refuse):
                self.now_ms = to_ms
                self.refuses = refuse and self.profile.executor is profiles.Executor.STEPPED
                try:
                    self.advance()
                finally:
                    self.refuses = False
            case op.RunOne():
                self.run_one()
            case op.Shutdown():
                self.shutdown()
            case op.Reachable(name):
                result = self.dropped.is_reachable(self.operations, name)
            case _:
                raise Refusal(Reason.UNSUPPORTED)
        return result

    def introduced(
        self, name: str, delay_ms: int = 0, script: op.Script | None = None
    ) -> DelayedOperation:
        """Return the operation of a name; delay and script count at its first mention."""
        if name not in self.operations:
            self.operations[name] = DelayedOperation(name, delay_ms, script or NO_SCRIPT)
        return self.operations[name]

    # Watching

    def watch(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Try an operation, else watch it; whether this call completed the operation."""
        self.refuse(keys)
        if self.is_completed(operation):
            return self.watch_completed(operation, keys)
        if self.first_try(operation, keys):
            return True
        if self.is_completed(operation):
            return self.watch_completed(operation, keys)
        self.refuse_delay(operation.delay_ms)
        self.enlist(operation, keys)
        self.arm(operation)
        self.count_watch(keys)
        return self.second_try(operation)

    def refuse(self, keys: Keys) -> None:
        """Raise ``Refusal`` where nothing can be watched."""
        if self.closed:
            raise Refusal(Reason.CLOSED)
        if not keys:
            raise Refusal(Reason.INVALID_ARGUMENT)

    def refuse_delay(self, delay_ms: int) -> None:
        """Raise ``Refusal`` where a delay cannot be armed."""
        if delay_ms < 0 and self.profile.negative_delay is profiles.NegativeDelay.REJECT:
            raise Refusal(Reason.INVALID_ARGUMENT)

    def is_completed(self, operation: DelayedOperation) -> bool:
        """Decide whether an operation is completed by now."""
        return operation.completed

    def watch_completed(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Watch an operation that was completed before."""
        self.count_watch(keys)
        return False

    def first_try(self, operation: DelayedOperation, keys: Keys) -> bool:
        """Try an operation before it is watched."""
        return self.attempt(operation)

    def second_try(self, operation: DelayedOperation) -> bool:
        """Try an operation after it was added to all lists."""
        return self.attempt(operation)

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """Add an operation to the list of each key."""
        for key in keys:
            self.lists.setdefault(key, []).append(Entry(operation))

    def count_watch(self, keys: Keys) -> None:
        """Count a watch in the proposal's estimate."""
        self.estimated += 1

    # Trying and completing

    def attempt(self, operation: DelayedOperation) -> bool:
        """Call ``try_complete``; the answer of the script."""
        self.events.append(outcomes.tried(operation.name))
        answers = operation.script.tries or (op.Answer.WAIT,)
        answer = answers[min(operation.tries, len(answers) - 1)]
        completes = operation.satisfied or answer is op.Answer.COMPLETE
        operation.tries += 1
        for acts in operation.script.on_try[operation.tries - 1 : operation.tries]:
            self.act_all(operation, acts)
        if completes:
            return self.force(operation)
        if answer.throws:
            raise failure_of(answer.sort)
        return False

    def force(self, operation: DelayedOperation) -> bool:
        """Complete an operation; whether this call did."""
        if operation.completed:
            return False
        self.complete(operation)
        return True

    def complete(self, operation: DelayedOperation) -> None:
        """Complete an operation that is not completed."""
        operation.completed = True
        self.disarm(operation)
        self.call_on_complete(operation)

    def call_on_complete(self, operation: DelayedOperation) -> None:
        """Call ``on_complete`` of the operation."""
        self.events.append(completed(operation.name))
        self.callback_timer_size = self.timer_size()
        self.act_all(operation, operation.script.on_complete)

    def call_on_expiration(self, operation: DelayedOperation) -> None:
        """Call ``on_expiration`` of the operation."""
        self.events.append(outcomes.timed_out(operation.name))
        self.act_all(operation, operation.script.on_expiration)

    def act_all(self, operation: DelayedOperation, actions: Iterable[op.CallbackAction]) -> None:
        """Do the actions of a callback; raises ``ScriptFailure`` where it throws."""
        for action in actions:
            if isinstance(action, op.Throw):
                raise failure_of(action.sort)
            self.act_caught(operation, action)

    def act_caught(self, operation: DelayedOperation, action: op.CallbackAction) -> None:
        """Do one action of a callback of an operation; what is refused is an event."""
        try:
            self.act(action)
        except (ScriptFailure, Exception) as error:
            event = outcomes.Event(
                outcomes.EventKind.REJECTED, operation.name, reason=reason_of(error)
            )
            self.events.append(event)

    def act(self, action: op.CallbackAction) -> None:
        """Do one action of a callback."""
        if isinstance(action, op.Throw):
            raise failure_of(action.sort)
        if isinstance(action, op.Meanwhile):
            self.act_meanwhile(action.call)
        elif call := op.from_outside(action):
            self.perform(call)

    def act_meanwhile(self, call: op.CallInside) -> None:
        """Make the call of another thread at once: no lock is held."""
        self.act(call)

    # Checking and cancelling

    def check(self, key: str) -> int:
        """Try what is watched under a key; how many operations that completed."""
        count = 0
        first_failure: ScriptFailure | None = None
        for entry in self.walk(key):
            if self.drop_completed(key, entry):
                count += self.count_of_stale
                continue
            try:
                if self.attempt_in_check(entry.operation):
                    count += 1
            except ScriptFailure as failure:
                if self.profile.throwing_try is profiles.ThrowingTry.STOP:
                    raise
                first_failure = first_failure or failure
                self.after_throwing(key, entry, failure)
            self.drop_completed(key, entry)
        if first_failure is not None:
            raise first_failure
        return count

    count_of_stale = 0
    """The number that an entry of a completed operation adds to the result of a check."""

    def walk(self, key: str) -> Iterable[Entry]:
        """Go through the entries of a check, of which some may be dropped meanwhile."""
        return self.met_by_check(key)

    def met_by_check(self, key: str) -> list[Entry]:
        """Return the entries that a check goes through, in its order."""
        return list(self.lists.get(key, ()))

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        """Try an operation that a check meets."""
        return self.attempt(operation)

    def after_throwing(self, key: str, entry: Entry, failure: ScriptFailure) -> None:
        """Leave the entry of an operation that threw in a check."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Drop the entry of a completed operation; whether it is one."""
        if entry.operation.completed:
            self.drop(key, entry)
        return entry.operation.completed

    def drop(self, key: str, entry: Entry) -> None:
        """Take an entry out of the list of a key, if present."""
        if entry in self.lists.get(key, ()):
            self.lists[key].remove(entry)
            self.forget_empty(key)

    def unlist(self, operation: DelayedOperation) -> None:
        """Take an operation out of all lists."""
        for key in tuple(self.lists):
            self.lists[key] = [each for each in self.lists[key] if each.operation is not operation]
            self.forget_empty(key)

    def forget_empty(self, key: str) -> None:
        """Remove a list that has become empty."""
        if not self.lists[key]:
            del self.lists[key]

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """Watch nothing under a key any longer; what was watched."""
        cancelled = [entry.operation for entry in self.lists.pop(key, [])]
        for operation in cancelled:
            if not self.is_watched(operation):
                self.disarm(operation)
        return cancelled

    def is_watched(self, operation: DelayedOperation) -> bool:
        """Decide whether an operation has an entry."""
        return any(entry.operation is operation for each in self.lists.values() for entry in each)

    # Time-outs

    def arm(self, operation: DelayedOperation) -> None:
        """Put an operation into the timer; an earlier time-out is moved."""
        if self.time_outs:
            self.disarm(operation)
            self.armings += 1
            operation.arming = self.armings
            operation.due_tick = self.due_tick(self.now_ms + self.delay_meant(operation.delay_ms))
            self.armed.append(operation)

    def delay_meant(self, delay_ms: int) -> int:
        """Return the delay that an accepted delay stands for, ms."""
        as_zero = self.profile.negative_delay is profiles.NegativeDelay.AS_ZERO
        return max(delay_ms, 0) if as_zero else delay_ms

    def due_tick(self, expiry_ms: int) -> int:
        """Return the expiry rounded to the tick, as declared."""
        if self.profile.rounding is profiles.Rounding.EXACT:
            return expiry_ms
        if self.profile.rounding is profiles.Rounding.UP:
            expiry_ms += self.tick_ms - 1
        return expiry_ms // self.tick_ms * self.tick_ms

    def disarm(self, operation: DelayedOperation) -> None:
        """Take an operation out of the timer, if it is there."""
        if operation in self.armed:
            self.armed.remove(operation)

    def advance(self) -> None:
        """Hand over what is due, then purge if a purge is due."""
        if self.closed:
            return
        due = self.pop_due()
        if due and self.refuses:
            self.refused(due)
        else:
            self.hand_over(due)
        self.settle()
        if self.is_purge_due():
            self.purge()

    def pop_due(self) -> list[DelayedOperation]:
        """Take what is due out of the timer, in order."""
        due = [operation for operation in self.armed if operation.due_tick <= self.now_ms]
        self.armed = [operation for operation in self.armed if operation not in due]
        return sorted(due, key=lambda operation: (operation.due_tick, operation.arming))

    def refused(self, due: list[DelayedOperation]) -> None:
        """Keep the refused operations, or run them; raises ``Refusal`` if they are kept."""
        if self.profile.refused_task is profiles.RefusedTask.CALLER_RUNS:
            for operation in due:
                with suppress(ScriptFailure):
                    self.expire(operation)
        else:
            self.keep(due)
            raise Refusal(Reason.REFUSED)

    def keep(self, due: list[DelayedOperation]) -> None:
        """Put refused operations back into the timer."""
        self.armed += due

    def hand_over(self, due: list[DelayedOperation]) -> None:
        """Give expired operations to the executor."""
        for operation in due:
            if self.profile.executor is profiles.Executor.STEPPED:
                self.events.append(outcomes.expired(operation.name))
            self.queue.append(operation)

    def settle(self) -> None:
        """Run the executor's queue unless running is a step."""
        while self.queue and self.profile.executor is not profiles.Executor.STEPPED:
            self.run_one()

    def run_one(self) -> None:
        """Run the operation that has waited longest."""
        if self.queue:
            operation = self.queue.pop(0)
            with suppress(ScriptFailure):
                self.expire(operation)

    def expire(self, operation: DelayedOperation) -> None:
        """Complete an operation by its time-out."""
        if self.force(operation):
            self.call_on_expiration(operation)

    def shutdown(self) -> None:
        """Close the purgatory and drop the time-outs."""
        self.closed = True
        self.armed = []

    # Counting and purging

    def is_purge_due(self) -> bool:
        """Decide whether a purge would remove more than the interval."""
        return self.to_purge() > self.interval()

    def interval(self) -> int:
        """Return the purge interval, or half of the live entries where declared and larger."""
        if self.profile.purge_due is profiles.PurgeDue.FIXED:
            return self.purge_interval
        return max(self.purge_interval, self.live() // 2)

    def live(self) -> int:
        """Return the live operations or entries, by the accounting."""
        if self.profile.accounting is profiles.Accounting.PROPOSAL:
            return len(self.armed)
        return self.entries() - self.stale_entries()

    def to_purge(self) -> int:
        """Return the number of entries that a purge would remove, by the accounting."""
        if self.profile.accounting is profiles.Accounting.PROPOSAL:
            return self.estimated - len(self.armed)
        return self.stale_entries()

    def purge(self) -> None:
        """Remove every entry of a completed operation."""
        self.estimated = len(self.armed)
        for key in list(self.lists):
            self.lists[key] = self.purged(self.lists[key])
            self.forget_empty(key)

    def purged(self, entries: list[Entry]) -> list[Entry]:
        """Return the entries that a purge leaves of a list."""
        return [entry for entry in entries if not entry.operation.completed]

    def entries(self) -> int:
        """Return the sum of the lists' lengths."""
        return sum(len(each) for each in self.lists.values())

    def stale_entries(self) -> int:
        """Return the entries of completed operations."""
        return sum(entry.operation.completed for each in self.lists.values() for entry in each)

    def stale_operations(self) -> int:
        """Return the completed operations in some list."""
        listed = {
            id(entry.operation)
            for each in self.lists.values()
            for entry in each
            if entry.operation.completed
        }
        return len(listed)

    def timer_size(self) -> int:
        """Return the operations in the timer."""
        return len(self.armed)

    def pending(self) -> int:
        """Return the number of time-outs that are owed."""
        return len(self.armed) + len(self.queue)

    def estimate(self) -> int:
        """Return the estimate, by the accounting."""
        if self.profile.accounting is profiles.Accounting.PROPOSAL:
            return self.estimated
        return len(self.armed) + len(self.queue) + self.stale_entries()

    def show(self) -> Mapping[StrEnum, outcomes.Value]:
        """Return the values of all observables."""
        return {
            profiles.PurgatoryObservable.ENTRIES: self.entries(),
            profiles.PurgatoryObservable.KEYS: len(self.lists),
            profiles.PurgatoryObservable.STALE_ENTRIES: self.stale_entries(),
            profiles.PurgatoryObservable.STALE_OPERATIONS: self.stale_operations(),
            profiles.PurgatoryObservable.TIMER_SIZE: self.timer_size(),
            profiles.PurgatoryObservable.QUEUED: len(self.queue),
            profiles.PurgatoryObservable.PENDING: self.pending(),
            profiles.PurgatoryObservable.ESTIMATE: self.estimate(),
            profiles.PurgatoryObservable.CALLBACK_TIMER_SIZE: self.callback_timer_size,
        }


MakePurgatory = Callable[
    [profiles.PurgatoryConfiguration, profiles.PurgatoryProfile], SmallPurgatory
]


def small_purgatory(
    make_purgatory: MakePurgatory = SmallPurgatory,
    profile: profiles.PurgatoryProfile = PROFILE,
    name: str = "small purgatory",
    *,
    behaves: profiles.PurgatoryProfile | None = None,
) -> InProcessSubject:
    """Return a small purgatory, right or wrong, as a subject in process.

    Args:
        make_purgatory: Makes a purgatory.
        profile: What the subject declares.
        name: The subject's name in reports.
        behaves: The profile that the purgatory follows; ``profile`` if None.
    """

    def make(configuration: profiles.Configuration) -> SmallPurgatory:
        return make_purgatory(
            narrowed(configuration, profiles.PurgatoryConfiguration), behaves or profile
        )

    implementation = Implementation(name=name, language="Python")
    return InProcessSubject(implementation, {profiles.Component.PURGATORY: profile}, make)
