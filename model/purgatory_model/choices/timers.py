"""Timers of other roundings, orders, delays and executors, and one that does each tick once."""

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
from purgatory_spec import profiles
from purgatory_spec.operations import Action, AddInside, CancelInside
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

    def _appended(self, state: TimerState[AnyStore], task: str) -> TimerState[AnyStore]:
        """Note the order of arming, where tasks of one tick expire in that order."""
        if self.profile.same_tick_order is profiles.SameTickOrder.NONE:
            return state
        return replace(state, order=(*state.order, task))

    def _same_tick(self, state: TimerState[AnyStore], tick: Tasks) -> list[Tasks]:
        """Group the tasks of one tick. Rules: TIMER-SAME-TICK-ORDER."""
        if self.profile.same_tick_order is profiles.SameTickOrder.NONE:
            return super()._same_tick(state, tick)
        return [frozenset({task}) for task in state.order if task in tick]

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
            left = self._disarm(state, task)
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
