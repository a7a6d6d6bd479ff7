"""The model of the rules as the other side of a comparison: what it is, what it may be asked.

A world is one small instance: a configuration, the model of it, and the operations that are worth
asking in a state. Few names and short times are enough, since every sequence of them is tried.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from purgatory_conformance.generation.asks import (
    Introduced,
    memory_pool_asks,
    purgatory_asks,
    timer_asks,
)
from purgatory_judge.memory_pool.judge import broken_where_shown
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState, purgatory_model
from purgatory_model.timer import TimerModel, TimerState, declared_timer_model
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome

State = TypeVar("State", bound=Hashable)


class RulesModel(Protocol[State]):
    """The executable model of a component, as far as a comparison needs it."""

    def initial(self) -> State:
        """Return the state of a fresh instance."""

    def accept(self, state: State, operation: op.Operation, outcome: Outcome) -> frozenset[State]:
        """Return the states possible after an outcome; empty where the rules forbid the outcome."""

    def successors(self, state: State, operation: op.Operation) -> Iterator[tuple[Outcome, State]]:
        """Yield every outcome that the rules allow, with the state after it."""


MOST_DUE = 6
"""The most tasks that may expire in a compared step: 720 orders, if they are due together."""


def _nothing_due(_: object, __: int | None) -> int:
    """Return 0: in this component no task expires."""
    return 0


def _due_in(timer: TimerState[Store], now_ms: int | None) -> int:
    """Return the number of a timer's tasks that are due."""
    reading_ms = timer.now_ms if now_ms is None else now_ms
    return sum(due_tick <= reading_ms for due_tick in timer.store.due_ticks.values())


@dataclass(frozen=True)
class World(Generic[State]):
    """An instance of the model of the rules, and the operations worth asking in its states."""

    model: RulesModel[State]
    operations: Callable[[State, Introduced], Iterator[op.Operation]]
    due: Callable[[State, int | None], int] = _nothing_due
    """Returns the number of tasks due at a reading; None stands for the state's own clock."""

    def is_crowded(self, state: State, operation: op.Operation) -> bool:
        """Decide whether an operation may expire more tasks than orders can be compared for."""
        if not isinstance(operation, op.Advance | op.RunOne):
            return False
        # A running task may advance the timer, to the reading of the state's own clock.
        to_ms = operation.to_ms if isinstance(operation, op.Advance) else None
        return self.due(state, to_ms) > MOST_DUE


def timer_world(
    configuration: profiles.TimerConfiguration, profile: profiles.TimerProfile
) -> World[TimerState[Store]]:
    """Return a world of two tasks with delays up to three ticks, until the clock is at three."""
    model: TimerModel[Store] = declared_timer_model(configuration, profile)
    tick_ms = configuration.tick_ms

    def operations(state: TimerState[Store], introduced: Introduced) -> Iterator[op.Operation]:
        return timer_asks(state, profile, introduced, tick_ms=tick_ms, last_ms=3 * tick_ms)

    return World(model, operations, _due_in)


def purgatory_world(
    configuration: profiles.PurgatoryConfiguration, profile: profiles.PurgatoryProfile
) -> World[PurgatoryState]:
    """Return a world of two operations, one under two keys, due after one tick and two."""
    model: PurgatoryModel = purgatory_model(configuration, profile)
    tick_ms = configuration.tick_ms

    def operations(state: PurgatoryState, introduced: Introduced) -> Iterator[op.Operation]:
        return purgatory_asks(state, profile, introduced, tick_ms=tick_ms, last_ms=2 * tick_ms)

    return World(model, operations, lambda state, now_ms: _due_in(state.timer, now_ms))


@dataclass(frozen=True)
class _SoundPool:
    """The model of a pool without the states that break an invariant, as its judge has it."""

    model: MemoryPoolModel

    def initial(self) -> MemoryPoolState:
        return self.model.initial()

    def accept(
        self, state: MemoryPoolState, operation: op.Operation, outcome: Outcome
    ) -> frozenset[MemoryPoolState]:
        after = self.model.accept(state, operation, outcome)
        return frozenset(state for state in after if not broken_where_shown(self.model, state))

    def successors(
        self, state: MemoryPoolState, operation: op.Operation
    ) -> Iterator[tuple[Outcome, MemoryPoolState]]:
        for outcome, after in self.model.successors(state, operation):
            if not broken_where_shown(self.model, after):
                yield outcome, after


def memory_pool_world(
    configuration: profiles.MemoryPoolConfiguration, profile: profiles.MemoryPoolProfile
) -> World[MemoryPoolState]:
    """Return a world of up to three buffers of every legal size, and of a byte beyond."""
    sizes_bytes = range(configuration.max_single_bytes + 2)

    def operations(state: MemoryPoolState, _: Introduced) -> Iterator[op.Operation]:
        known = {*state.held, *state.returned}
        fresh = next((name for name in ("a", "b", "c") if name not in known), None)
        return memory_pool_asks(state, profile, fresh=fresh, sizes_bytes=sizes_bytes)

    return World(_SoundPool(MemoryPoolModel(configuration, profile)), operations)
