"""Timers of other roundings, orders, delays and executors, and one that does each tick once.

Kafka's timer holds a task while it is pending, and the executor until it has run. A heap that
deletes lazily keeps the entry of a task that was cancelled or moved until an advance comes to its
due tick.
"""

from collections.abc import Iterator, Mapping

import msgspec
from immutables import Map

from purgatory_model.arithmetic import ceiling_to, floor_to
from purgatory_model.kafka_timer import (
    KafkaTimer,
    TimerBranch,
    TimerState,
    unchanged_by_refusals,
)
from purgatory_model.pending_tasks import AnyStore, Inserted, PendingTasks, Popped, Tasks
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Action,
    AddInside,
    CancelInside,
    Operation,
    Reachable,
    Throw,
    ThrowSort,
)
from purgatory_spec.outcomes import Value
from purgatory_spec.reasons import Reason

NO_TASKS = PendingTasks()


class TickedTasks(msgspec.Struct, frozen=True):
    """The pending tasks of a timer that a ticker drives; ``ticked_ms`` is the last tick done."""

    tick_ms: int
    ticked_ms: int
    tasks: PendingTasks = NO_TASKS

    @property
    def due_ticks(self) -> Map[str, int]:
        """Return the pending tasks, each with its due tick (ms)."""
        return self.tasks.due_ticks

    def place(self, due_tick: int) -> int:
        """Return the next open tick; a done one takes no task. Rules: TIMER-ALREADY-DUE."""
        return max(due_tick, self.ticked_ms + self.tick_ms)

    def insert(
        self, task: str, expiry_ms: int, due_tick: int, now_ms: int
    ) -> Inserted["TickedTasks"]:
        """Return the store after an add; the task waits, not due before the next tick."""
        pending = self.tasks.insert(task, expiry_ms, self.place(due_tick), now_ms).pending
        assert pending is not None
        return Inserted(pending=TickedTasks(self.tick_ms, self.ticked_ms, pending))

    def remove(self, task: str) -> "TickedTasks":
        """Return the store without the task."""
        tasks = self.tasks.remove(task)
        if tasks is self.tasks:
            return self
        return TickedTasks(self.tick_ms, self.ticked_ms, tasks)

    def pop_due(self, now_ms: int) -> Popped["TickedTasks"]:
        """Take out everything due, tick by tick."""
        popped = self.tasks.pop_due(now_ms)
        left = TickedTasks(self.tick_ms, floor_to(now_ms, self.tick_ms), popped.store)
        return Popped(left, popped.ticks, popped.popped)

    def emptied(self) -> "TickedTasks":
        """Return the store without tasks."""
        return TickedTasks(self.tick_ms, self.ticked_ms)

    def observe(self) -> Mapping[profiles.Observable, Value]:
        """Return the number of pending tasks. Rules: TIMER-SIZE."""
        return self.tasks.observe()


class AnyTimer(KafkaTimer[AnyStore]):
    """A timer by the choices of its profile."""

    def due_tick(self, expiry_ms: int) -> int:
        """Round an expiry to its due tick (ms). Rules: TIMER-ROUNDING."""
        return rounded(expiry_ms, self.configuration.tick_ms, self.profile.rounding)

    def delay_meant(self, delay_ms: int) -> int:
        """Return the delay (ms) that an accepted delay stands for.

        Rules: TIMER-NEGATIVE-DELAY, TIMER-LARGEST-DELAY.
        """
        if self.profile.negative_delay is profiles.NegativeDelay.AS_ZERO:
            delay_ms = max(delay_ms, 0)
        if self.profile.larger_delay is profiles.LargerDelay.SATURATE:
            delay_ms = min(delay_ms, self.profile.largest_delay_ms)
        return delay_ms

    def due_tick_of(self, state: TimerState[AnyStore], delay_ms: int) -> int:
        """Return the due tick of a task that is added now and accepted (ms)."""
        due_tick = super().due_tick_of(state, delay_ms)
        return state.store.place(due_tick) if isinstance(state.store, TickedTasks) else due_tick

    def refusal(self, state: TimerState[AnyStore], delay_ms: int) -> Reason | None:
        """Refuse an add, or None. Rules: TIMER-LARGEST-DELAY, TIMER-NEGATIVE-DELAY."""
        reason = super().refusal(state, delay_ms)
        if (
            reason is Reason.TOO_LARGE
            and self.profile.larger_delay is profiles.LargerDelay.SATURATE
        ):
            reason = None
        if (
            reason is None
            and delay_ms < 0
            and self.profile.negative_delay is profiles.NegativeDelay.REJECT
        ):
            return Reason.INVALID_ARGUMENT
        return reason

    @property
    def _keeps(self) -> bool:
        """Decide whether entries may be kept, and somebody asks."""
        asks = profiles.Feature.REACHABLE in self.profile.features
        return asks and self.profile.release_cancelled is profiles.ReleaseCancelled.WHEN_DUE

    def may_hold(self, state: TimerState[AnyStore], task: str) -> bool:
        """Decide whether a task may be held. Rules: TIMER-RELEASES."""
        is_waiting = task in state.store.due_ticks or task in state.queue
        return is_waiting or task in state.kept or state.closed

    def kept(self, state: TimerState[AnyStore], task: str, due_tick: int) -> TimerState[AnyStore]:
        """Keep an entry until its due tick (ms), if entries are kept."""
        if not self._keeps:
            return state
        return replace(
            state, kept=state.kept.set(task, max(due_tick, state.kept.get(task, due_tick)))
        )

    def expectations(
        self, state: TimerState[AnyStore], operation: Operation
    ) -> tuple[Expectation[TimerState[AnyStore]], ...]:
        """Return the ways in which an operation may go, a look among them.

        Raises:
            ValueError: the clock would go back, or the operation needs a real clock.
        """
        if not isinstance(operation, Reachable):
            return super().expectations(state, operation)
        result = None if self.may_hold(state, operation.task) else False
        return (self._expectation(TimerBranch(state, result=result)),)

    def _disarm(self, state: TimerState[AnyStore], task: str) -> TimerState[AnyStore]:
        """End a task's arming, the entry of which may be kept. Rules: TIMER-RELEASES."""
        due_tick = state.store.due_ticks.get(task)
        disarmed = super()._disarm(state, task)
        return disarmed if due_tick is None else self.kept(disarmed, task, due_tick)

    def _advance(self, state: TimerState[AnyStore]) -> list[TimerBranch[AnyStore]]:
        """Drop the entries that are due, and expire the due tasks. Rules: TIMER-RELEASES."""
        kept = state.kept
        for task, due_tick in state.kept.items():
            if due_tick <= state.now_ms:
                kept = kept.delete(task)
        return super()._advance(state if kept is state.kept else replace(state, kept=kept))

    def _appended(self, state: TimerState[AnyStore], task: str) -> TimerState[AnyStore]:
        """Note the order of arming, where tasks of one tick expire in that order."""
        if not self._keeps_order:
            return state
        return replace(state, order=(*state.order, task))

    def _same_tick(self, state: TimerState[AnyStore], tick: Tasks) -> list[Tasks]:
        """Group the tasks of one tick. Rules: TIMER-SAME-TICK-ORDER."""
        if not self._keeps_order:
            return super()._same_tick(state, tick)
        return [frozenset({task}) for task in state.order if task in tick]

    def passes_on(self, script: tuple[Action, ...]) -> bool:
        """Decide whether the exception of a task may reach the caller of the step.

        Rules: TIMER-THROWING-TASK.
        """
        sort = next((each.sort for each in script if isinstance(each, Throw)), None)
        has_caller = not self.profile.executor.has_threads
        as_ordinary = self.profile.severe_throw is profiles.SevereThrow.AS_ORDINARY
        return has_caller and not as_ordinary and sort is ThrowSort.SEVERE

    def left_behind(
        self, state: TimerState[AnyStore], due_ticks: Mapping[str, int]
    ) -> Iterator[TimerState[AnyStore]]:
        """Yield the states behind an exception that has reached the caller of a step.

        What was due and has not run was handed over, and waits in the queue, or is pending: the
        last task, the last two, and so on. Kafka's wheel hands over a bucket as a whole.
        ``due_ticks`` are those of the tasks in the queue, ms.

        Rules: TIMER-THROWING-TASK.
        """
        yield state
        if self.profile.structure is profiles.Structure.DELAY_QUEUE_WHEEL:
            return
        for task in reversed(state.queue):
            if task not in due_ticks or task in state.store.due_ticks:
                return
            due_tick = due_ticks[task]
            store = state.store.insert(task, due_tick, due_tick, state.now_ms).pending
            assert store is not None
            order = (task, *state.order) if self._keeps_order else ()
            state = replace(state, store=store, queue=state.queue[:-1], order=order)
            yield state

    @property
    def _keeps_order(self) -> bool:
        return self.profile.same_tick_order is not profiles.SameTickOrder.NONE

    def _run_one(self, state: TimerState[AnyStore]) -> list[TimerBranch[AnyStore]]:
        """Run the head of the queue; what it throws may reach the caller of a stepped executor.

        Rules: TIMER-THROWING-TASK.
        """
        ran = super()._run_one(state)
        stepped = self.profile.executor is profiles.Executor.STEPPED
        if stepped and state.queue and self.passes_on(state.scripts.get(state.queue[0], ())):
            ran += [replace(branch, rejected=Reason.THROWN) for branch in ran]
        return ran

    def _act(self, state: TimerState[AnyStore], action: Action) -> list[TimerBranch[AnyStore]]:
        """Carry out an action of a running task.

        Without a stepped executor, what is due with the running task may have been handed over
        with it, or may be handed over one task at a time: then an add or a cancel still moves or
        cancels it.

        Rules: TIMER-ADD-INSIDE, TIMER-CANCEL-INSIDE, TIMER-CANCEL-TOO-LATE.
        """
        acted = super()._act(state, action)
        stepped = self.profile.executor is profiles.Executor.STEPPED
        if stepped or not isinstance(action, AddInside | CancelInside):
            return acted
        if action.task in state.queue:
            queue = tuple(task for task in state.queue if task != action.task)
            withdrawn = super()._act(replace(state, queue=queue), action)
            acted += unchanged_by_refusals(withdrawn, state)
        if isinstance(action, AddInside):
            acted += list(self._interposed(acted, action.task, action.delay_ms))
        return acted

    def _interposed(
        self, armed: list[TimerBranch[AnyStore]], task: str, delay_ms: int
    ) -> Iterator[TimerBranch[AnyStore]]:
        """Run what a task adds that is due already before tasks that are due with its own.

        An advance may hand over due tasks one by one. Rules: TIMER-ALREADY-DUE.
        """
        for branch in armed:
            state = branch.state
            is_due = self.due_tick(state.now_ms + self.delay_meant(delay_ms)) <= state.now_ms
            if not is_due or branch.groups or branch.rejected is not None:
                continue
            left = super()._disarm(state, task)
            for place in range(len(state.queue) + 1):
                queue = (*state.queue[:place], task, *state.queue[place:])
                yield TimerBranch(replace(left, queue=queue))


def rounded(expiry_ms: int, tick_ms: int, rounding: profiles.Rounding) -> int:
    """Round an expiry to its due tick (ms). Rules: TIMER-ROUNDING."""
    match rounding:
        case profiles.Rounding.DOWN:
            return floor_to(expiry_ms, tick_ms)
        case profiles.Rounding.UP:
            return ceiling_to(expiry_ms, tick_ms)
        case profiles.Rounding.EXACT:
            return expiry_ms
