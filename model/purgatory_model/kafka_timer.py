"""Kafka's timer: what expires when.

Theory of operation. A timer holds *pending* tasks, each with its due tick. An add makes a task
pending, or expires it at once; a cancel ends that; an advance at a reading of the clock expires
every pending task whose due tick is not larger than the reading, in the order of ticks. To expire
is to be appended to the executor's queue; running the head of that queue is a step of its own, in
which the task's script may act on the timer again.

How pending tasks are kept is the business of a *store*: ``timing_wheel`` says how Kafka's
hierarchical wheel does it, ``pending_tasks`` what every timer does. What else the rules allow is in
``choices.timers``; ``timer`` is all of it together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

import msgspec
from immutables import Map

from purgatory_model.arithmetic import floor_to
from purgatory_model.pending_tasks import AnyStore, Tasks
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, accepted, possible
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value, expired, ran
from purgatory_spec.profiles import (
    Observable,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason


class TimerState(msgspec.Struct, Generic[AnyStore], frozen=True):
    """Everything that the future of a timer depends on.

    ``queue`` is the executor's. ``order`` lists the pending tasks as they were armed, only under
    the same-tick order ``fifo``; otherwise it is empty. ``kept`` are tasks that a lazy timer may
    hold until an advance at this reading (ms), if somebody asks; see ``choices.releases``.
    """

    now_ms: int
    store: AnyStore
    queue: tuple[str, ...] = ()
    scripts: Map[str, tuple[op.Action, ...]] = Map()
    order: tuple[str, ...] = ()
    closed: bool = False
    kept: Map[str, int] = Map()


class TimerBranch(msgspec.Struct, Generic[AnyStore], frozen=True):
    """A step under way: the state so far and the groups of events so far."""

    state: TimerState[AnyStore]
    groups: tuple[frozenset[Event], ...] = ()
    rejected: Reason | None = None
    result: Value = None


@dataclass(frozen=True)
class KafkaTimer(Generic[AnyStore]):
    """A timer of a configuration and a profile, over a store that is empty at first.

    It rounds down, leaves the order inside a tick open, and hands expired tasks to an executor.
    """

    configuration: TimerConfiguration
    profile: TimerProfile
    empty: AnyStore

    def initial(self) -> TimerState[AnyStore]:
        """Return the state of a timer that was just made."""
        return TimerState(self.configuration.start_ms, self.empty)

    def accept(
        self, state: TimerState[AnyStore], operation: op.Operation, outcome: Outcome
    ) -> frozenset[TimerState[AnyStore]]:
        """Return the states after an observed outcome of the timer; empty means divergence."""
        return accepted(self.expectations(state, operation), outcome)

    def successors(
        self, state: TimerState[AnyStore], operation: op.Operation
    ) -> Iterator[tuple[Outcome, TimerState[AnyStore]]]:
        """Yield every outcome of an operation with the state after it; for small instances."""
        return possible(self.expectations(state, operation))

    def expectations(
        self, state: TimerState[AnyStore], operation: op.Operation
    ) -> tuple[Expectation[TimerState[AnyStore]], ...]:
        """Return the ways in which an operation may go.

        Raises:
            ValueError: the clock would go back, or the operation needs a real clock.
        """
        match operation:
            case op.Add(task, delay_ms, script):
                branches = [
                    branch
                    if branch.rejected
                    else replace(branch, state=_with_script(branch.state, task, script))
                    for branch in self._arm(state, task, delay_ms)
                ]
            case op.Cancel(task):
                branches = [TimerBranch(self._disarm(state, task))]
            case op.Elapse(to_ms):
                branches = [TimerBranch(_at(state, to_ms))]
            case op.Advance(to_ms):
                branches = self._advance(_at(state, to_ms))
            case op.RunOne():
                branches = self._run_one(state)
            case op.Shutdown():
                branches = [TimerBranch(self._shut_down(state))]
            case _:
                raise ValueError(f"{op.operation_name(operation)} needs a real clock")
        return tuple(self._expectation(branch) for branch in branches)

    def due_tick(self, expiry_ms: int) -> int:
        """Return the due tick of an expiry (ms). Rules: TIMER-ROUNDING."""
        return floor_to(expiry_ms, self.configuration.tick_ms)

    def delay_meant(self, delay_ms: int) -> int:
        """Return the delay (ms) that an accepted delay stands for."""
        return delay_ms

    def due_tick_of(self, state: TimerState[AnyStore], delay_ms: int) -> int:
        """Return the due tick of a task that is added now and accepted (ms)."""
        return self.due_tick(state.now_ms + self.delay_meant(delay_ms))

    def refusal(self, state: TimerState[AnyStore], delay_ms: int) -> Reason | None:
        """Refuse an add, or None. Rules: TIMER-SHUTDOWN-CLOSED, TIMER-LARGEST-DELAY."""
        if state.closed:
            return Reason.CLOSED
        return Reason.TOO_LARGE if delay_ms > self.profile.largest_delay_ms else None

    def observe(self, state: TimerState[AnyStore]) -> Mapping[str, Value]:
        """Return the declared observables by name; those of the store are free after shutdown."""
        observed: dict[str, Value] = {}
        declared = self.profile.observables
        if Observable.QUEUED in declared:
            observed[Observable.QUEUED.value] = len(state.queue)
        if not state.closed:
            for observable, value in state.store.observe().items():
                if observable in declared:
                    observed[observable.value] = value
        return observed

    def _arm(
        self, state: TimerState[AnyStore], task: str, delay_ms: int
    ) -> list[TimerBranch[AnyStore]]:
        """Add a task; an earlier arming ends, whatever became of it.

        Rules: TIMER-READD-PENDING, TIMER-READD-CANCELLED, TIMER-READD-FIRED, TIMER-ZERO-DELAY,
        TIMER-ALREADY-DUE, TIMER-OWN-CLOCK.
        """
        reason = self.refusal(state, delay_ms)
        if reason is not None:
            return [TimerBranch(state, rejected=reason)]
        expiry_ms = state.now_ms + self.delay_meant(delay_ms)
        before = self._disarm(state, task)
        inserted = before.store.insert(task, expiry_ms, self.due_tick(expiry_ms), state.now_ms)
        branches: list[TimerBranch[AnyStore]] = []
        if inserted.pending is not None:
            armed = self._appended(before, task)
            branches.append(TimerBranch(replace(armed, store=inserted.pending)))
        if inserted.expired is not None:
            after = replace(before, store=inserted.expired)
            branches.append(TimerBranch(after, (frozenset({expired(task)}),)))
        if inserted.failed is not None:
            after = replace(before, store=inserted.failed)
            branches.append(TimerBranch(after, rejected=Reason.INTERNAL))
        return branches

    def _appended(self, state: TimerState[AnyStore], task: str) -> TimerState[AnyStore]:
        """Note the order of arming, where tasks of one tick expire in that order."""
        return state

    def _disarm(self, state: TimerState[AnyStore], task: str) -> TimerState[AnyStore]:
        """End a task's arming, if there is one; the executor's queue is left alone.

        Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED, TIMER-CANCEL-TOO-LATE,
        TIMER-CANCEL-UNKNOWN.
        """
        store = state.store.remove(task)
        if store is state.store:
            return state
        order = tuple(other for other in state.order if other != task)
        return replace(state, store=store, order=order)

    def _advance(self, state: TimerState[AnyStore]) -> list[TimerBranch[AnyStore]]:
        """Expire the due tasks.

        Rules: TIMER-NOT-LATE, TIMER-EXACTLY-ONCE, TIMER-TICK-ORDER, TIMER-IDLE-ADVANCE,
        TIMER-SHUTDOWN-DROPS.
        """
        if state.closed:
            return [TimerBranch(state, rejected=Reason.CLOSED), TimerBranch(state)]
        popped = state.store.pop_due(state.now_ms)
        gone = frozenset[str]().union(*popped.ticks)
        order = tuple(task for task in state.order if task not in gone)
        groups = tuple(
            frozenset(expired(task) for task in group)
            for tick in popped.ticks
            for group in self._same_tick(state, tick)
        )
        after = replace(state, store=popped.store, order=order)
        declared = Observable.ADVANCE_RESULT in self.profile.observables
        return [TimerBranch(after, groups, result=popped.popped if declared else None)]

    def _shut_down(self, state: TimerState[AnyStore]) -> TimerState[AnyStore]:
        """Drop what is pending. Rules: TIMER-SHUTDOWN-DROPS, TIMER-SHUTDOWN-AGAIN."""
        return replace(state, closed=True, store=state.store.emptied(), order=())

    def _same_tick(self, state: TimerState[AnyStore], tick: Tasks) -> list[Tasks]:
        """Return the tasks of one tick as groups. Rules: TIMER-SAME-TICK-ORDER."""
        return [tick]

    def _run_one(self, state: TimerState[AnyStore]) -> list[TimerBranch[AnyStore]]:
        """Run the head of the queue, also after shutdown.

        Rules: TIMER-EXECUTOR-ORDER, TIMER-THROWING-TASK, TIMER-SHUTDOWN-QUEUE.
        """
        if not state.queue:
            return [TimerBranch(state)]
        task = state.queue[0]
        begun = TimerBranch(replace(state, queue=state.queue[1:]), (frozenset({ran(task)}),))
        branches = [begun]
        for action in state.scripts.get(task, ()):
            if isinstance(action, op.Throw):
                break
            branches = [
                TimerBranch(then.state, branch.groups + _seen_inside(task, then))
                for branch in branches
                for then in self._act(branch.state, action)
            ]
        return branches

    def _act(self, state: TimerState[AnyStore], action: op.Action) -> list[TimerBranch[AnyStore]]:
        """Carry out an action of a running task.

        Rules: TIMER-ADD-INSIDE, TIMER-CANCEL-INSIDE, TIMER-ADVANCE-INSIDE, TIMER-CANCEL-TOO-LATE.
        """
        match action:
            case op.AddInside(task, delay_ms):
                return unchanged_by_refusals(self._arm(state, task, delay_ms), state)
            case op.CancelInside(task):
                return [TimerBranch(self._disarm(state, task))]
            case op.AdvanceInside():
                return self._advance(state)
            case op.Throw():
                return [TimerBranch(state)]

    def _expectation(self, branch: TimerBranch[AnyStore]) -> Expectation[TimerState[AnyStore]]:
        def complete(events: tuple[Event, ...]) -> TimerState[AnyStore]:
            handed = tuple(e.task for e in events if e.kind is EventKind.EXPIRED)
            state = branch.state
            return replace(state, queue=state.queue + handed) if handed else state

        return Expectation(branch.groups, complete, self.observe, branch.result, branch.rejected)


def unchanged_by_refusals(
    branches: list[TimerBranch[AnyStore]], state: TimerState[AnyStore]
) -> list[TimerBranch[AnyStore]]:
    """Give the branches in which an add was refused the state before it."""
    return [each if each.rejected is None else replace(each, state=state) for each in branches]


def _at(state: TimerState[AnyStore], to_ms: int) -> TimerState[AnyStore]:
    if to_ms < state.now_ms:
        raise ValueError(f"the clock reads {state.now_ms} and cannot go back to {to_ms}")
    return replace(state, now_ms=to_ms)


def _with_script(
    state: TimerState[AnyStore], task: str, script: tuple[op.Action, ...]
) -> TimerState[AnyStore]:
    if script:
        return replace(state, scripts=state.scripts.set(task, script))
    if task in state.scripts:
        return replace(state, scripts=state.scripts.delete(task))
    return state


def _seen_inside(task: str, then: TimerBranch[AnyStore]) -> tuple[frozenset[Event], ...]:
    if then.rejected is None:
        return then.groups
    return (*then.groups, frozenset({Event(EventKind.REJECTED, task, reason=then.rejected)}))
