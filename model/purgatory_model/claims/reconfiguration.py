"""Changing tick and wheel size of a timing wheel that holds tasks.

Theory of operation. A wheel tells apart ticks, and by a due tick alone nobody knows the expiry that
was rounded to it. So a wheel that is to be reconfigured remembers the *expiry* of each pending
task, to the millisecond (``RememberingWheel``). To reconfigure is to lay out the same tasks anew:

    the own clock becomes the last tick of the new wheel that is not after the old own clock;
    the due tick of each task becomes its expiry, rounded to the new tick;
    a task that is then due by the own clock expires at once, as an add of it would;
    any other goes into its bucket, on as many levels as are needed.

The reading of the clock, the executor's queue, scripts and the order of arming stay.

The law. Afterwards the timer is one that was made with the new tick and size, and to which the
same tasks were added with the same expiries. Hence, with the old tick ``u``, the new tick ``v``,
a task's expiry ``x`` and its due ticks ``d`` before and ``e`` after:

    no task is lost, none expires twice, none that expired before is held again;
    rounding down: ``x - v < e <= x``, and so ``-v < e - d < u``;
    rounding up: ``x <= e < x + v``, and so ``-u < e - d < v``;
    where ``v`` divides ``u``, due ticks come no farther from expiries, and nothing expires at once;
    with ``v = u``, that is for another size alone, no due tick changes.

The expiry is preserved; the due tick cannot be, unless it is a multiple of the new tick. A coarser
tick rounding down so brings due ticks forward, and those in its present tick are due by it. To
keep them back until their old due tick is not possible: the new wheel has no bucket for a part of
a tick.
"""

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from immutables import Map

from purgatory_model.arithmetic import floor_to
from purgatory_model.pending_tasks import Inserted, Popped
from purgatory_model.replacing import replace
from purgatory_model.timer import TimerModel, TimerState
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.outcomes import Event, Value, expired
from purgatory_spec.profiles import Observable, SameTickOrder, TimerConfiguration, TimerProfile


class RememberingWheel(msgspec.Struct, frozen=True):
    """A timing wheel that remembers the expiry of each pending task, ms."""

    wheel: TimingWheel
    expiries: Map[str, int] = Map()

    @property
    def due_ticks(self) -> Mapping[str, int]:
        """Return the pending tasks, each with its due tick (ms)."""
        return self.wheel.due_ticks

    def insert(
        self, task: str, expiry_ms: int, due_tick: int, now_ms: int
    ) -> Inserted["RememberingWheel"]:
        """Return the store after adding a task that is not pending."""
        inserted = self.wheel.insert(task, expiry_ms, due_tick, now_ms)
        if inserted.pending is None:
            return Inserted(expired=self)
        return Inserted(RememberingWheel(inserted.pending, self.expiries.set(task, expiry_ms)))

    def remove(self, task: str) -> "RememberingWheel":
        """Return the wheel without a task, which need not be pending."""
        return self._with(self.wheel.remove(task))

    def pop_due(self, now_ms: int) -> Popped["RememberingWheel"]:
        """Return the tasks that an advance at this reading takes out, and the wheel left."""
        popped = self.wheel.pop_due(now_ms)
        return Popped(self._with(popped.store), popped.ticks, popped.popped)

    def emptied(self) -> "RememberingWheel":
        """Return the wheel without its pending tasks."""
        return self._with(self.wheel.emptied())

    def observe(self) -> Mapping[Observable, Value]:
        """Return the observables of the wheel."""
        return self.wheel.observe()

    def _with(self, wheel: TimingWheel) -> "RememberingWheel":
        """Return the memory after a change of the wheel by which no task came in."""
        gone = [task for task in self.expiries if task not in wheel.due_ticks]
        expiries = self.expiries
        for task in gone:
            expiries = expiries.delete(task)
        return RememberingWheel(wheel, expiries)


Remembering: TypeAlias = TimerModel[RememberingWheel]
State: TypeAlias = TimerState[RememberingWheel]


def remembering_model(configuration: TimerConfiguration, profile: TimerProfile) -> Remembering:
    """Return the model of a timing wheel that can be reconfigured."""
    start = floor_to(configuration.start_ms, configuration.tick_ms)
    wheel = TimingWheel(configuration.tick_ms, configuration.wheel_size, start)
    return TimerModel(configuration, profile, RememberingWheel(wheel))


class Reconfigured(msgspec.Struct, frozen=True):
    """The timer of the new tick and size.

    Attributes:
        model: The timer with the new configuration.
        state: The timer's state after the change.
        events: The expiries of tasks in between, now in the executor's queue.
    """

    model: Remembering
    state: State
    events: tuple[Event, ...] = ()


def reconfigured(model: Remembering, state: State, tick_ms: int, wheel_size: int) -> Reconfigured:
    """Return the timer with another tick and wheel size, which holds the same tasks.

    Args:
        model: The timer with the old configuration.
        state: The timer's state before the change.
        tick_ms: The new tick, ms, at least 1.
        wheel_size: The new number of buckets on each level, at least 2.

    Raises:
        ValueError: no wheel can be built of these sizes.
    """
    start_ms = model.configuration.start_ms
    configuration = TimerConfiguration(tick_ms, wheel_size, start_ms)
    after = dataclasses.replace(model, configuration=configuration)
    wheel = state.store.wheel
    empty = TimingWheel(tick_ms, wheel_size, floor_to(wheel.own_clock_ms, tick_ms))
    store = RememberingWheel(empty)
    due: list[str] = []
    for task in _in_order(model.profile, state):
        expiry_ms = state.store.expiries[task]
        inserted = store.insert(task, expiry_ms, after.due_tick(expiry_ms), state.now_ms)
        if inserted.pending is None:
            due.append(task)
        else:
            store = inserted.pending
    left = replace(
        state,
        store=store,
        queue=(*state.queue, *due),
        order=tuple(task for task in state.order if task not in due),
    )
    return Reconfigured(after, left, tuple(expired(task) for task in due))


def _in_order(profile: TimerProfile, state: State) -> tuple[str, ...]:
    """Return the pending tasks; tasks with the same new due tick in the order of the profile.

    Tasks due at once share a tick, since all other tasks are later than the own clock.
    """
    if profile.same_tick_order is SameTickOrder.FIFO:
        return state.order
    return tuple(sorted(state.store.expiries))
