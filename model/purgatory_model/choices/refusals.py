"""Timers whose executor refuses what it is handed.

A refused task stays pending, or the caller runs it. Where tasks stay, a wheel's own clock says how
far the advance went on: to the first tick whose tasks were refused, or to the last one. They stay
in buckets of that own clock or before, which the next advance pops first.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import cast

from purgatory_model.arithmetic import floor_to
from purgatory_model.choices.timers import AnyTimer, TickedTasks
from purgatory_model.kafka_timer import TimerBranch, TimerState
from purgatory_model.pending_tasks import AnyStore
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, TooManyBranches
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, Value, ran
from purgatory_spec.profiles import Executor, Observable, RefusedTask
from purgatory_spec.reasons import Reason

_OF_BUCKETS = frozenset({Observable.QUEUED_BUCKETS.value, Observable.NEXT_EXPIRY.value})
"""The observables that depend on the buckets in which refused tasks wait."""


class AnyExecutor(AnyTimer[AnyStore]):
    """A timer by the choices of its profile, whose executor may refuse tasks."""

    def expectations(
        self, state: TimerState[AnyStore], operation: op.Operation
    ) -> tuple[Expectation[TimerState[AnyStore]], ...]:
        """Return the ways in which an operation may go; an inline executor refuses nothing.

        Raises:
            TooManyBranches: a refused task that the caller runs acts on others.

        Rules: TIMER-EXECUTOR-REFUSES.
        """
        expected = super().expectations(state, operation)
        if not isinstance(operation, op.Advance) or not operation.refuse:
            return expected
        return tuple(way for each in expected for way in self._refused(state, operation, each))

    def _refused(
        self,
        state: TimerState[AnyStore],
        operation: op.Advance,
        handing: Expectation[TimerState[AnyStore]],
    ) -> Iterator[Expectation[TimerState[AnyStore]]]:
        """Yield what an advance may do whose tasks are refused; one without tasks is as any."""
        caller_runs = self.profile.refused_task is RefusedTask.CALLER_RUNS
        executor = self.profile.executor
        if not handing.groups or executor is Executor.INLINE:
            yield handing
        elif not caller_runs:
            for store in _kept(state.store, operation.to_ms):
                after = replace(state, now_ms=operation.to_ms, store=store)
                for reason in (Reason.REFUSED, None):
                    yield Expectation((), partial(_unchanged, after), self.observe, None, reason)
        elif executor is not Executor.STEPPED:
            yield handing
        else:
            yield self._run_by_caller(state, handing)

    def _run_by_caller(
        self, state: TimerState[AnyStore], handing: Expectation[TimerState[AnyStore]]
    ) -> Expectation[TimerState[AnyStore]]:
        """Expect the run of every task that would have been handed over."""
        tasks = [[event.task for event in group] for group in handing.groups]
        scripts = [state.scripts.get(task, ()) for group in tasks for task in group]
        if any(not isinstance(action, op.Throw) for script in scripts for action in script[:1]):
            raise TooManyBranches
        groups = tuple(frozenset(map(ran, group)) for group in tasks)
        after = handing.complete(())
        return Expectation(groups, partial(_unchanged, after), self.observe)

    def _advance(self, state: TimerState[AnyStore]) -> list[TimerBranch[AnyStore]]:
        """Expire the due tasks; the result is free where no more is due than cancelled ones.

        Rules: TIMER-EXECUTOR-REFUSES.
        """
        branches = super()._advance(state)
        wheel: object = state.store
        if not isinstance(wheel, TimingWheel) or not _keeps(wheel):
            return branches
        others = any(wheel.own_clock_ms < bucket[0] <= state.now_ms for bucket in wheel.buckets)
        return [each if each.groups or others else replace(each, result=None) for each in branches]

    def observe(self, state: TimerState[AnyStore]) -> Mapping[str, Value]:
        """Return the declared observables; while a task is kept, without those of buckets.

        Rules: TIMER-EXECUTOR-REFUSES.
        """
        observed = super().observe(state)
        wheel: object = state.store
        if not isinstance(wheel, TimingWheel) or not _keeps(wheel):
            return observed
        return {name: value for name, value in observed.items() if name not in _OF_BUCKETS}


def _unchanged(after: TimerState[AnyStore], _events: tuple[Event, ...]) -> TimerState[AnyStore]:
    return after


def _keeps(wheel: TimingWheel) -> bool:
    """Decide whether a wheel keeps refused tasks: in buckets that its own clock has reached."""
    return bool(wheel.buckets) and min(wheel.buckets)[0] <= wheel.own_clock_ms


def _kept(store: AnyStore, now_ms: int) -> Iterator[AnyStore]:
    """Yield the stores that an advance may leave whose tasks stay pending."""
    kept: Iterator[object]
    if isinstance(store, TimingWheel):
        kept = _kept_in_wheel(store, now_ms)
    elif isinstance(store, TickedTasks):
        kept = _kept_by_ticker(store, now_ms)
    else:
        kept = iter((store,))
    yield from cast("Iterator[AnyStore]", kept)


def _kept_by_ticker(store: TickedTasks, now_ms: int) -> Iterator[TickedTasks]:
    """Yield the store with the refused tasks in their ticks, and in the next one to come."""
    stays = replace(store, ticked_ms=floor_to(now_ms, store.tick_ms))
    moved = stays
    for task, due_tick in store.due_ticks.items():
        if due_tick <= now_ms:
            inserted = moved.remove(task).insert(task, due_tick, due_tick, now_ms).pending
            assert inserted is not None
            moved = inserted
    yield from (stays, moved)


def _kept_in_wheel(wheel: TimingWheel, now_ms: int) -> Iterator[TimingWheel]:
    """Yield the wheel that goes on to the last refused bucket, and those that stop at the first.

    Buckets of one expiry are popped in any order: those of the first refused one may be left.
    """
    kept: dict[str, int] = {}
    stopped: list[TimingWheel] = []
    before, expiry_ms = wheel, wheel.own_clock_ms
    while wheel.buckets and (bucket := min(wheel.buckets))[0] <= now_ms:
        if bucket[0] > expiry_ms:
            before, expiry_ms = wheel, bucket[0]
        wheel, due = wheel.pop(bucket)
        kept |= dict.fromkeys(due, bucket[0])
        if kept and not stopped:
            alone = before.pop(bucket)[0] if bucket in before.buckets else wheel
            stopped = [_with_kept(each, kept) for each in (wheel, alone)]
    through = _with_kept(wheel, kept)
    yield through
    yield from dict.fromkeys(each for each in stopped if each != through)


def _with_kept(wheel: TimingWheel, kept: Mapping[str, int]) -> TimingWheel:
    """Return the wheel with refused tasks in the buckets of their due ticks."""
    for task, due_tick in kept.items():
        bucket = (due_tick, 1)
        held = wheel.buckets.get(bucket, frozenset())
        wheel = replace(
            wheel,
            due_ticks=wheel.due_ticks.set(task, due_tick),
            places=wheel.places.set(task, bucket),
            buckets=wheel.buckets.set(bucket, held | {task}),
        )
    return wheel
