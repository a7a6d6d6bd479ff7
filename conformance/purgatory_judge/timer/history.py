"""The history of each task: facts that tell which rules a step puts to the test.

The model's state is all that decides whether a step is right. Which rule it is right or wrong by
depends on how the state came about: a task that is missing was late, or was lost on its way down,
or because its bucket had been used before. These facts are kept here, beside the state.

A *forgetful* history keeps facts only about tasks that are pending or in the executor's queue, so
that it does not grow with the number of steps. A forgotten name that comes again counts as a new
task. So the rules about a task that was cancelled or has fired (TIMER-CANCEL-AGAIN,
TIMER-CANCEL-FIRED, TIMER-READD-CANCELLED, TIMER-READD-FIRED but for a task that still has to run)
are not visited: such a cancel counts for TIMER-CANCEL-UNKNOWN, and such an add for none. What ends
an arming (TIMER-CANCEL, TIMER-READD-PENDING, TIMER-SHUTDOWN-DROPS) is visited then, and not when
the time comes at which the task would have fired; a task that fires all the same does so without
being pending, which is put down to TIMER-EXACTLY-ONCE whatever had ended its arming.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from purgatory_judge.timer.wheel_places import is_boundary, place_of
from purgatory_model.arithmetic import level_end
from purgatory_model.pending_tasks import Store
from purgatory_model.timer import TimerModel, TimerState
from purgatory_model.timing_wheel import Bucket, TimingWheel
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import LARGEST_INT, Executor, Observable, SameTickOrder

State = TimerState[Store]


@dataclass(slots=True)
class Arming:
    """A pending task: when it is due and which rules its expiry depends on."""

    expiry_ms: int
    due_tick: int
    delay_ms: int
    rules: set[str]


@dataclass(slots=True)
class Ended:
    """An arming that ended without expiring; its due tick has not passed yet."""

    task: str
    due_tick: int
    rules: frozenset[str]


@dataclass(slots=True)
class History:
    """The facts about one case so far."""

    model: TimerModel[Store]
    forgetful: bool = False
    armings: dict[str, Arming] = field(default_factory=dict)
    ended: list[Ended] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)
    expired: dict[str, int] = field(default_factory=dict)
    """The tasks that have expired, each with the due tick of its last arming, ms."""
    runs_owed: dict[str, set[str]] = field(default_factory=dict)
    used_places: set[tuple[int, int]] = field(default_factory=set)
    thrown: bool = False
    refused: bool = False
    """True once the executor has refused a task."""
    popped_empty: bool = False
    """True if the bucket that was popped last had no task left."""

    def begin_with(self, state: State) -> None:
        """Begin with pending tasks of which only the due ticks are known."""
        for task, due_tick in state.store.due_ticks.items():
            self.armings[task] = Arming(due_tick, due_tick, due_tick - state.now_ms, set())

    def note(
        self, before: State, operation: op.Operation, outcome: Outcome, after: State
    ) -> set[str]:
        """Take in a step that was right; returns the rules that it put to the test."""
        visited: set[str] = set()
        match operation:
            case op.Add(task, delay_ms):
                self._add(before, task, delay_ms, outcome, visited, frozenset())
            case op.Cancel(task):
                self._cancel(before, task, visited, frozenset())
            case op.Advance():
                if self.is_refused(operation):
                    self._refused(operation.to_ms)
                else:
                    self._advance(before, after, self._handed_over(outcome), visited)
            case op.RunOne():
                self._run_one(before, after, visited)
            case op.Shutdown():
                self._shutdown(before, visited)
            case op.Reachable(task):
                if not self.model.may_hold(before, task):
                    visited.add("TIMER-RELEASES")
            case _:
                pass
        for event in outcome.events:
            if event.kind is EventKind.EXPIRED or isinstance(operation, op.Advance):
                self._expire(event.task, visited)
        self._places(before, operation, after)
        self._observables(before, operation, outcome, visited)
        return visited

    def is_refused(self, operation: op.Operation) -> bool:
        """Decide whether an executor refuses tasks that are due in a step."""
        if not isinstance(operation, op.Advance) or not operation.refuse:
            return False
        return self.model.profile.executor is not Executor.INLINE and any(
            arming.due_tick <= operation.to_ms for arming in self.armings.values()
        )

    def is_reused(self, wheel: TimingWheel, bucket: Bucket, now_ms: int) -> bool:
        """Decide whether a bucket's place was used before, or by a bucket popped before it."""
        coming_down = {(due, 1) for due in wheel.due_ticks.values() if due % wheel.tick_of(2)}
        others = {*wheel.buckets, *coming_down}
        popped = {place_of(wheel, b) for b in others if b < bucket and b[0] <= now_ms}
        return place_of(wheel, bucket) in self.used_places | popped

    def _add(
        self,
        before: State,
        task: str,
        delay_ms: int,
        outcome: Outcome,
        visited: set[str],
        inside: frozenset[str],
    ) -> None:
        refusal = self.model.refusal(before, delay_ms)
        if before.closed:
            visited.add("TIMER-SHUTDOWN-CLOSED")
        elif delay_ms > self.model.profile.largest_delay_ms:
            visited.add("TIMER-LARGEST-DELAY")
        elif refusal is not None:
            visited.add("TIMER-NEGATIVE-DELAY")
        if refusal is not None or outcome.rejected is not None:
            visited.update(inside)
            return
        rules = set(inside)
        earlier = self.armings.pop(task, None)
        if earlier is not None:
            rules.add("TIMER-READD-PENDING")
            self._end(task, earlier, frozenset({"TIMER-READD-PENDING"}), visited)
        elif task in self.cancelled:
            rules.add("TIMER-READD-CANCELLED")
        elif task in self.expired:
            rules.add("TIMER-READD-FIRED")
            if task in before.queue:
                self.runs_owed.setdefault(task, set()).add("TIMER-READD-FIRED")
        self.cancelled.discard(task)
        expiry_ms = before.now_ms + self.model.delay_meant(delay_ms)
        due_tick = self.model.due_tick_of(before, delay_ms)
        rules.update(self._delay_rules(before, delay_ms, due_tick))
        if "TIMER-LARGEST-DELAY" in rules:
            visited.add("TIMER-LARGEST-DELAY")  # the acceptance is all that will be seen
        self.armings[task] = Arming(expiry_ms, due_tick, delay_ms, rules)
        if isinstance(before.store, TimingWheel) and due_tick <= before.now_ms:
            visited.add("TIMER-OWN-CLOCK")

    def _delay_rules(self, before: State, delay_ms: int, due_tick: int) -> set[str]:
        rules: set[str] = set()
        if delay_ms == 0:
            rules.add("TIMER-ZERO-DELAY")
        if delay_ms < 0:
            rules.add("TIMER-NEGATIVE-DELAY")
        if delay_ms > LARGEST_INT or delay_ms == self.model.profile.largest_delay_ms:
            rules.add("TIMER-LARGEST-DELAY")
        if before.now_ms < 0:
            rules.add("TIMER-NEGATIVE-CLOCK")
        if self.model.due_tick(before.now_ms + delay_ms) <= before.now_ms:
            rules.add("TIMER-ALREADY-DUE")
        if (before.now_ms + delay_ms) % self.model.configuration.tick_ms:
            rules.add("TIMER-ROUNDING")
        if isinstance(before.store, TimingWheel) and is_boundary(before.store, due_tick):
            rules.add("TIMER-SPAN")
        return rules

    def _cancel(self, before: State, task: str, visited: set[str], inside: frozenset[str]) -> None:
        arming = self.armings.pop(task, None)
        if arming is not None:
            self._end(task, arming, inside or frozenset({"TIMER-CANCEL"}), visited)
            if not self.forgetful:
                self.cancelled.add(task)
        elif task in before.queue:
            self.runs_owed.setdefault(task, set()).add("TIMER-CANCEL-TOO-LATE")
        elif task in self.cancelled:
            visited.add("TIMER-CANCEL-AGAIN")
        elif task in self.expired:
            visited.add("TIMER-CANCEL-FIRED")
        else:
            visited.add("TIMER-CANCEL-UNKNOWN")
        visited.update(inside)

    def _end(self, task: str, arming: Arming, rules: frozenset[str], visited: set[str]) -> None:
        if self.forgetful:
            visited.update(rules)
        else:
            self.ended.append(Ended(task, arming.due_tick, rules))

    def _handed_over(self, outcome: Outcome) -> list[int]:
        """Return the due ticks of the tasks that an advance hands over."""
        expired = (event.task for event in outcome.events if event.kind is EventKind.EXPIRED)
        return [self.armings[task].due_tick for task in expired if task in self.armings]

    def _due(self, now_ms: int) -> list[int]:
        """Return the due ticks that have come by now."""
        return [a.due_tick for a in self.armings.values() if a.due_tick <= now_ms]

    def _advance(self, before: State, after: State, due: list[int], visited: set[str]) -> None:
        now = after.now_ms
        if self.ended:
            passed = [ended for ended in self.ended if ended.due_tick <= now]
            for ended in passed:
                visited.update(ended.rules)
            self.ended = [ended for ended in self.ended if ended.due_tick > now]
        if before.closed:
            return
        if len(due) < len(self.armings):
            visited.add("TIMER-NOT-EARLY")
        many_threads = self.model.profile.executor is Executor.THREADS
        if len(set(due)) > 1 and not many_threads:
            visited.add("TIMER-TICK-ORDER")
        fifo = self.model.profile.same_tick_order is SameTickOrder.FIFO
        if fifo and len(set(due)) < len(due):
            visited.add("TIMER-SAME-TICK-ORDER")
        if Observable.ADVANCE_RESULT in self.model.profile.observables:
            visited.add("TIMER-ADVANCE-RESULT")
        if not due and before.store == after.store:
            visited.add("TIMER-IDLE-ADVANCE")
        if isinstance(before.store, TimingWheel):
            self._pop(before.store, now, visited)

    def _refused(self, now_ms: int) -> None:
        """Note that the executor has refused what is due."""
        self.refused = True
        for arming in self.armings.values():
            if arming.due_tick <= now_ms:
                arming.rules.add("TIMER-EXECUTOR-REFUSES")

    def _pop(self, wheel: TimingWheel, now_ms: int, visited: set[str]) -> None:
        shown = self.model.profile.observables
        last = max((bucket for bucket in wheel.buckets if bucket[0] <= now_ms), default=None)
        if last is not None:
            self.popped_empty = not wheel.buckets[last]
        for bucket, tasks in wheel.buckets.items():
            if bucket[0] > now_ms:
                continue
            if not tasks and shown & {Observable.ADVANCE_RESULT, Observable.WHEEL_CLOCK}:
                visited.add("TIMER-EMPTIED-BUCKET")
            if bucket[1] > 1:
                # An earlier action of a script may have cancelled some of these tasks.
                for arming in filter(None, map(self.armings.get, tasks)):
                    arming.rules.add("TIMER-CASCADE")

    def _run_one(self, before: State, after: State, visited: set[str]) -> None:
        if not before.queue:
            return
        task = before.queue[0]
        many_threads = self.model.profile.executor is Executor.THREADS
        if len(before.queue) > 1 and not many_threads:
            visited.add("TIMER-EXECUTOR-ORDER")
        if task not in before.queue[1:]:
            visited.update(self.runs_owed.pop(task, ()))
            if self.forgetful:
                self.expired.pop(task, None)
        if before.closed:
            visited.add("TIMER-SHUTDOWN-QUEUE")
        if self.thrown:
            visited.add("TIMER-THROWING-TASK")
        for action in before.scripts.get(task, ()):
            if isinstance(action, op.Throw):
                self.thrown = True
                break
            self._act(before, after, action, visited)

    def _act(self, before: State, after: State, action: op.Action, visited: set[str]) -> None:
        match action:
            case op.AddInside(task, delay_ms):
                inside = frozenset({"TIMER-ADD-INSIDE"})
                self._add(before, task, delay_ms, Outcome(), visited, inside)
            case op.CancelInside(task):
                self._cancel(before, task, visited, frozenset({"TIMER-CANCEL-INSIDE"}))
            case op.AdvanceInside():
                visited.add("TIMER-ADVANCE-INSIDE")
                self._advance(before, after, self._due(after.now_ms), visited)
            case op.Throw():
                pass

    def _shutdown(self, before: State, visited: set[str]) -> None:
        if before.closed:
            visited.add("TIMER-SHUTDOWN-AGAIN")
        for task, arming in self.armings.items():
            self._end(task, arming, frozenset({"TIMER-SHUTDOWN-DROPS"}), visited)
        self.armings.clear()

    def _expire(self, task: str, visited: set[str]) -> None:
        arming = self.armings.pop(task, None)
        self.expired[task] = 0 if arming is None else arming.due_tick
        visited.update(("TIMER-NOT-LATE", "TIMER-EXACTLY-ONCE"))
        if arming is not None:
            visited.update(arming.rules)
        if self.thrown:
            visited.add("TIMER-THROWING-TASK")

    def _places(self, before: State, operation: op.Operation, after: State) -> None:
        """Record the places of the rings in use, and the armings that use a place again."""
        if not isinstance(before.store, TimingWheel) or not isinstance(after.store, TimingWheel):
            return
        gone: list[Bucket] = []
        if after.closed or after.store.own_clock_ms != before.store.own_clock_ms:
            gone = [bucket for bucket in before.store.buckets if bucket not in after.store.buckets]
            self.used_places.update(place_of(after.store, bucket) for bucket in gone)
        if not self.used_places:
            return
        for task in _perhaps_moved(before, operation, gone, after.store):
            bucket = after.store.places.get(task)
            if bucket is None or before.store.places.get(task) == bucket:
                continue
            if task in self.armings and place_of(after.store, bucket) in self.used_places:
                self.armings[task].rules.add("TIMER-BUCKET-REUSE")

    def _observables(
        self, before: State, operation: op.Operation, outcome: Outcome, visited: set[str]
    ) -> None:
        observed = outcome.observed
        if not observed:
            return
        if "size" in observed and isinstance(operation, op.Add | op.Cancel | op.Advance):
            visited.add("TIMER-SIZE")
        if observed.get("next_expiry_ms") is not None:
            visited.add("TIMER-WAKE-UP")
        if observed.get("queued_buckets"):
            visited.add("TIMER-DELAY-QUEUE-BOUND")
        if isinstance(operation, op.Add) and isinstance(before.store, TimingWheel):
            wheel = before.store
            due_tick = self.model.due_tick(before.now_ms + operation.delay_ms)
            end = level_end(wheel.own_clock_ms, wheel.tick_ms, wheel.wheel_size)
            if "levels" in observed and due_tick >= end:
                visited.add("TIMER-OVERFLOW-ON-DEMAND")


def _perhaps_moved(
    before: State, operation: op.Operation, gone: list[Bucket], wheel: TimingWheel
) -> Iterable[str]:
    """Return the tasks that a step may have put into another bucket."""
    if isinstance(operation, op.Add):
        return (operation.task,)
    if isinstance(operation, op.Advance) and isinstance(before.store, TimingWheel):
        buckets = before.store.buckets
        return [task for bucket in gone if bucket[1] > 1 for task in buckets[bucket]]
    is_scripted = bool(before.queue) and before.queue[0] in before.scripts
    return wheel.places if isinstance(operation, op.RunOne) and is_scripted else ()
