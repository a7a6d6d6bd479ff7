"""A generator's knowledge of a timer: the model's state, if all goes by the rules."""

from dataclasses import dataclass, field

from purgatory_judge.timer.history import State
from purgatory_model.pending_tasks import Store
from purgatory_model.timer import TimerModel, declared_timer_model
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.operations import Add, Operation, Reachable, RunOne, Throw
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import (
    LARGEST_SAFE_INTEGER,
    Executor,
    Feature,
    RefusedTask,
    Rounding,
    TimerConfiguration,
    TimerProfile,
    goes_far,
)

WITHIN_REACH_MS = 2**21
"""The distance that the clock may always be moved in one step, ms."""

_LATEST_LONG_MS = 2**55
"""The latest reading for timers of 64 bits; the span of a wheel about it fits 63 bits, ms."""

_TICKS_WITHIN_REACH = 10**5
"""The ticks that the clock may always be moved in one step: a timer may do them one by one."""


@dataclass(slots=True)
class World:
    """The predicted state of a subject and the names that are in play."""

    configuration: TimerConfiguration
    profile: TimerProfile
    model: TimerModel[Store] = field(init=False)
    state: State = field(init=False)
    delays: dict[str, int] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    expired: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    """The tasks that nothing but a look may name any longer."""
    names: int = 0
    most_tasks: int = 12
    """The number of different tasks that the case uses, about."""

    def __post_init__(self) -> None:
        """Begin with a fresh timer."""
        self.model = declared_timer_model(self.configuration, self.profile)
        self.state = self.model.initial()

    def apply(self, operation: Operation) -> None:
        """Follow an operation, taking the first of the ways in which it may go."""
        self._follow(operation)
        if self.profile.executor is not Executor.STEPPED:
            runs = 0
            while self.state.queue and runs < 100:
                self._follow(RunOne())
                runs += 1

    def _follow(self, operation: Operation) -> None:
        pending = set(self.state.store.due_ticks)
        outcome, self.state = next(iter(self.model.successors(self.state, operation)))
        for event in outcome.events:
            if event.kind is EventKind.EXPIRED:
                self.expired.add(event.task)
                pending.discard(event.task)
        present = self.state.store.due_ticks
        self.cancelled |= {task for task in pending if task not in present}
        self.cancelled -= set(present)
        if isinstance(operation, Add):
            self.delays[operation.task] = operation.delay_ms
        if isinstance(operation, Reachable):
            self.dropped.add(operation.task)
            self.delays.pop(operation.task, None)

    def has(self, *features: Feature) -> bool:
        """Decide whether the subject offers all of these."""
        return self.profile.features.issuperset(features)

    def may_refuse(self, to_ms: int) -> bool:
        """Decide whether an executor may refuse what is due at a reading.

        What a refused task does that the caller runs is free where it acts on others.
        """
        if self.profile.refused_task is RefusedTask.KEPT:
            return True
        due = (task for task, due in self.state.store.due_ticks.items() if due <= to_ms)
        scripts = (self.state.scripts.get(task, ()) for task in due)
        return all(isinstance(script[0], Throw) for script in scripts if script)

    def fresh_name(self) -> str:
        """Return the name of a task that was never used."""
        self.names += 1
        return f"t{self.names}"

    @property
    def now(self) -> int:
        """Return the clock's reading, ms."""
        return self.state.now_ms

    @property
    def own_clock(self) -> int:
        """Return the wheel's own clock, ms; the reading where the subject is no wheel."""
        store = self.state.store
        return store.own_clock_ms if isinstance(store, TimingWheel) else self.now

    @property
    def pending(self) -> list[str]:
        """Return the names of the pending tasks, sorted."""
        return sorted(set(self.state.store.due_ticks) - self.dropped)

    @property
    def cancelled_tasks(self) -> list[str]:
        """Return the tasks whose last arming was cancelled."""
        return sorted(self.cancelled - self.dropped)

    @property
    def idle_tasks(self) -> list[str]:
        """Return the tasks that expired and are neither pending nor in the executor's queue."""
        busy = {*self.state.store.due_ticks, *self.state.queue, *self.cancelled, *self.dropped}
        return sorted(self.expired - busy)

    @property
    def next_due(self) -> int | None:
        """Return the first moment at which an advance does anything, ms."""
        store = self.state.store
        if isinstance(store, TimingWheel):
            return min(store.buckets)[0] if store.buckets else None
        return min(store.due_ticks.values(), default=None)

    @property
    def due_ticks_within_reach(self) -> list[int]:
        """Return the due ticks of pending tasks to which the clock may be moved, in order."""
        reach = self.now + self.reach_ms
        return sorted({due for due in self.state.store.due_ticks.values() if due < reach})

    @property
    def reach_ms(self) -> int:
        """Return how far the clock may be moved in one step, ms.

        A wheel with a delay queue goes from bucket to bucket, so that the way costs it nothing. Any
        other timer may go from tick to tick; where due times are exact, by ticks of its own.
        """
        if goes_far(self.profile):
            return _LATEST_LONG_MS if self.has(Feature.INT64) else LARGEST_SAFE_INTEGER
        if self.profile.rounding is Rounding.EXACT:
            return WITHIN_REACH_MS
        return max(WITHIN_REACH_MS, self.configuration.tick_ms * _TICKS_WITHIN_REACH)

    @property
    def last_due(self) -> int:
        """Return the last due tick of a pending task within reach, not before the reading, ms."""
        return max([self.now, *self.due_ticks_within_reach[-1:]])
