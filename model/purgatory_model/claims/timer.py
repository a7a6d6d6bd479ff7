"""Small instances of the timing wheel, and claims about it, true and false, to explore.

An instance has a few tasks and delays and a last reading of the clock, so that its states are
finitely many. A claim is a sentence about single steps. The true ones are the invariants and the
refinement; the false ones are what one would believe of a timer, and the explorer finds why not.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from purgatory_model.arithmetic import floor_to
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerModel, TimerState, timer_model, timing_wheel_model
from purgatory_model.timing_wheel import TimingWheel, as_timer, broken_invariants
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, Operation, RunOne
from purgatory_spec.outcomes import Outcome

SMALLEST_WHEEL = profiles.TimerConfiguration(tick_ms=1, wheel_size=2)
"""Two buckets for each level: every third delay overflows."""

WheelState = TimerState[TimingWheel]
WheelStep = tuple[Operation, Outcome]


@dataclass(frozen=True, slots=True)
class Instance:
    """A small timer: these tasks with these delays, until the clock reads ``last_ms``."""

    configuration: profiles.TimerConfiguration = SMALLEST_WHEEL
    tasks: tuple[str, ...] = ("a", "b")
    delays_ms: tuple[int, ...] = (0, 1, 2, 3, 5)
    last_ms: int = 6

    @property
    def profile(self) -> profiles.TimerProfile:
        """Return a timing wheel with a stepped executor that shows everything."""
        return profiles.TimerProfile(
            executor=profiles.Executor.STEPPED,
            structure=profiles.Structure.DELAY_QUEUE_WHEEL,
            observables=frozenset(profiles.Observable),
        )

    def model(self) -> TimerModel[TimingWheel]:
        """Return the timing wheel of this instance."""
        return timing_wheel_model(self.configuration, self.profile)

    def abstract_model(self) -> TimerModel[PendingTasks]:
        """Return the timer that the wheel refines."""
        return timer_model(self.configuration, self.profile)

    def operations(self, state: WheelState) -> Iterator[Operation]:
        """Yield the operations that are possible in a state."""
        for task in self.tasks:
            if task not in state.queue:
                for delay_ms in self.delays_ms:
                    yield Add(task, delay_ms)
            if task in state.store.due_ticks:
                yield Cancel(task)
        for to_ms in range(state.now_ms, self.last_ms + 1):
            yield Advance(to_ms)
        if state.now_ms < self.last_ms:
            yield Elapse(state.now_ms + 1)
        if state.queue:
            yield RunOne()

    def steps(self, state: WheelState) -> Iterator[tuple[WheelStep, WheelState]]:
        """Yield the labelled steps that leave a state."""
        model = self.model()
        for operation in self.operations(state):
            for outcome, after in model.successors(state, operation):
                yield (operation, outcome), after


Claim = Callable[[Instance, WheelState, WheelStep, WheelState], bool]


def _invariants(instance: Instance, before: WheelState, step: WheelStep, after: WheelState) -> bool:
    return not any(broken_invariants(after))


def _refines(instance: Instance, before: WheelState, step: WheelStep, after: WheelState) -> bool:
    operation, outcome = step
    allowed = instance.abstract_model().accept(as_timer(before), operation, outcome)
    return as_timer(after) in allowed


def _clock_follows(
    instance: Instance, before: WheelState, step: WheelStep, after: WheelState
) -> bool:
    now = floor_to(after.now_ms, instance.configuration.tick_ms)
    return not isinstance(step[0], Advance) or after.store.own_clock_ms == now


def _true_means_expired(
    instance: Instance, before: WheelState, step: WheelStep, after: WheelState
) -> bool:
    return step[1].result is not True or bool(step[1].events)


def _due_runs_at_once(
    instance: Instance, before: WheelState, step: WheelStep, after: WheelState
) -> bool:
    operation, outcome = step
    return not isinstance(operation, Add) or operation.delay_ms > 0 or bool(outcome.events)


def _size_is_unfinished(
    instance: Instance, before: WheelState, step: WheelStep, after: WheelState
) -> bool:
    return step[1].observed["size"] == len(after.store.due_ticks) + len(after.queue)


def _level_covers_interval(
    instance: Instance, before: WheelState, step: WheelStep, after: WheelState
) -> bool:
    operation = step[0]
    interval = instance.configuration.tick_ms * instance.configuration.wheel_size
    if not isinstance(operation, Add) or operation.delay_ms > interval:
        return True
    return after.store.places.get(operation.task, (0, 1))[1] == 1


def _expiries_differ(
    instance: Instance, before: WheelState, step: WheelStep, after: WheelState
) -> bool:
    expiries = [expiry for expiry, _ in after.store.buckets]
    return len(set(expiries)) == len(expiries)


TRUE_CLAIMS: dict[str, tuple[str, Claim]] = {
    "invariants": ("every named invariant of the wheel holds", _invariants),
    "refinement": ("every step of the wheel is a step of the timer", _refines),
}
"""Claims that hold of every instance: their sentence and their check."""

FALSE_CLAIMS: dict[str, tuple[str, Claim]] = {
    "own-clock-follows": (
        "after an advance the wheel's own clock is the clock, rounded to the tick",
        _clock_follows,
    ),
    "true-means-expired": ("an advance that returns true expired a task", _true_means_expired),
    "due-runs-at-once": (
        "a task added with a delay of zero expires at once",
        _due_runs_at_once,
    ),
    "size-is-unfinished": (
        "the size counts every task that has not run yet",
        _size_is_unfinished,
    ),
    "level-covers-interval": (
        "a task whose delay is at most one interval stays in the lowest level",
        _level_covers_interval,
    ),
    "expiries-differ": ("no two buckets in the delay queue have one expiry", _expiries_differ),
}
"""Plausible claims, each with the check that fails."""


def breaks(
    instance: Instance, claim: str
) -> Callable[[WheelState, WheelStep, WheelState], str | None]:
    """Return a check of steps for the explorer.

    Raises:
        KeyError: there is no such claim.
    """
    sentence, holds = {**TRUE_CLAIMS, **FALSE_CLAIMS}[claim]

    def broken(before: WheelState, step: WheelStep, after: WheelState) -> str | None:
        return None if holds(instance, before, step, after) else sentence

    return broken
