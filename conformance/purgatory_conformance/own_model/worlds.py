"""The model of the rules as the other side of a comparison: what it is, what it may be asked.

A world is one small instance: a configuration, the model of it, and the operations that are worth
asking in a state. Few names and short times are enough, since every sequence of them is tried.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from purgatory_judge.memory_pool.judge import broken_where_shown
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState, purgatory_model
from purgatory_model.timer import TimerModel, TimerState, declared_timer_model
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome

State = TypeVar("State", bound=Hashable)

Introduced = Mapping[str, int]
"""The names that steps have introduced so far, each with its delay."""


class RulesModel(Protocol[State]):
    """The executable model of a component, as far as a comparison needs it."""

    def initial(self) -> State:
        """Return the initial state."""

    def accept(self, state: State, operation: op.Operation, outcome: Outcome) -> frozenset[State]:
        """Return the states possible after an outcome; empty where the rules forbid the outcome."""

    def successors(self, state: State, operation: op.Operation) -> Iterator[tuple[Outcome, State]]:
        """Yield every outcome that the rules allow, with the state after it."""


MOST_DUE = 6
"""How many tasks may expire in a step that is compared: 720 orders, if they are due together."""


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
    """How many tasks are due at a reading, None standing for that of the state's own clock."""

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
    tick = configuration.tick_ms
    features = profile.features

    def operations(state: TimerState[Store], introduced: Introduced) -> Iterator[op.Operation]:
        for task in ("a", "b"):
            # A delay of zero comes last: it is a rule of its own, and says less about others.
            delays = [*sorted({tick, 2 * tick - 1, 3 * tick}), 0]
            if task in introduced and profiles.Feature.CHANGE_DELAY not in features:
                delays = [introduced[task]]
            known = task in introduced
            if not known or (profiles.Feature.READD in features and task not in state.queue):
                yield from (op.Add(task, delay_ms) for delay_ms in delays)
            if task in introduced and profiles.Feature.CANCEL in features:
                yield op.Cancel(task)
        yield from _moves(state.now_ms, 3 * tick, profiles.Feature.ELAPSE in features)
        yield op.RunOne()
        if profiles.Feature.SHUTDOWN in features:
            yield op.Shutdown()

    return World(model, operations, _due_in)


def purgatory_world(
    configuration: profiles.PurgatoryConfiguration, profile: profiles.PurgatoryProfile
) -> World[PurgatoryState]:
    """Return a world of two operations, one under two keys, due after one tick and two."""
    model: PurgatoryModel = purgatory_model(configuration, profile)
    tick = configuration.tick_ms
    features = profile.features
    waiting = {"a": (("k",), tick), "b": (("k", "j"), 2 * tick)}

    def operations(state: PurgatoryState, introduced: Introduced) -> Iterator[op.Operation]:
        for name, (keys, delay_ms) in waiting.items():
            if name not in introduced or profiles.PurgatoryFeature.REWATCH in features:
                yield op.Watch(name, keys, delay_ms)
            if name not in introduced:
                continue
            yield op.Satisfy(name)
            if profiles.PurgatoryFeature.FORCE in features:
                yield op.Force(name)
        for key in ("k", "j"):
            yield op.Check(key)
            if profiles.PurgatoryFeature.CANCEL_FOR_KEY in features:
                yield op.CancelForKey(key)
        yield from _moves(
            state.timer.now_ms, 2 * tick, profiles.PurgatoryFeature.ELAPSE in features
        )
        if profile.executor is profiles.Executor.STEPPED:
            yield op.RunOne()
        if profiles.PurgatoryFeature.SHUTDOWN in features:
            yield op.Shutdown()

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
    features = profile.features
    forms = [op.ReleaseForm.ITSELF]
    forms += [op.ReleaseForm.SLICE] if profiles.MemoryPoolFeature.RELEASE_SLICE in features else []
    forms += [op.ReleaseForm.COPY] if profiles.MemoryPoolFeature.RELEASE_COPY in features else []

    def operations(state: MemoryPoolState, _: Introduced) -> Iterator[op.Operation]:
        free = [name for name in ("a", "b", "c") if name not in {*state.held, *state.returned}]
        for size_bytes in range(configuration.max_single_bytes + 2) if free else ():
            yield op.Allocate(free[0], size_bytes)
        for name in sorted(state.held):
            yield from (op.Release(name, form) for form in forms)
            if profiles.MemoryPoolFeature.LEAK_DETECTION in features:
                yield op.Lose(name)
        if profiles.MemoryPoolFeature.RELEASE_AGAIN in features:
            yield from (op.Release(name) for name in sorted(state.returned))
        if profiles.MemoryPoolFeature.RELEASE_FOREIGN in features:
            yield op.ReleaseForeign(1)
        if profiles.MemoryPoolFeature.RELEASE_NOTHING in features:
            yield op.ReleaseNothing()
        if profiles.MemoryPoolFeature.ELAPSE in features and state.now_ms < 1:
            yield op.Elapse(state.now_ms + 1)

    return World(_SoundPool(MemoryPoolModel(configuration, profile)), operations)


def _moves(now_ms: int, last_ms: int, elapses: bool) -> Iterator[op.Operation]:
    """Yield advances of the clock: none, by a millisecond, or to the last reading of interest."""
    for to_ms in sorted({now_ms, min(now_ms + 1, last_ms), last_ms}):
        yield op.Advance(to_ms)
    if elapses and now_ms < last_ms:
        yield op.Elapse(now_ms + 1)


def introduced_by(introduced: Introduced, operation: op.Operation) -> Introduced:
    """Return the names that are known after an operation."""
    if not isinstance(operation, op.Add | op.Watch):
        return introduced
    name = operation.task if isinstance(operation, op.Add) else operation.operation
    return introduced if name in introduced else {**introduced, name: operation.delay_ms}


SMALL_TIMERS = (profiles.TimerConfiguration(1, 2), profiles.TimerConfiguration(2, 2))
"""A tick of one millisecond, and one of two."""


def small_purgatories(
    profile: profiles.PurgatoryProfile,
) -> tuple[profiles.PurgatoryConfiguration, ...]:
    """Return small purgatories: purging at once, leaving one, and perhaps without time-outs."""
    without = profiles.PurgatoryFeature.NO_TIME_OUTS in profile.features
    some = (profiles.PurgatoryConfiguration(0), profiles.PurgatoryConfiguration(1))
    return (*some, profiles.PurgatoryConfiguration(0, time_outs=False)) if without else some


def small_pools(
    profile: profiles.MemoryPoolProfile,
) -> tuple[profiles.MemoryPoolConfiguration, ...]:
    """Return pools of three bytes and buffers of two, of each sort that is known."""
    sorts = {
        profiles.MemoryPoolFeature.NON_STRICT: profiles.MemoryPoolConfiguration(3, 2),
        profiles.MemoryPoolFeature.STRICT: profiles.MemoryPoolConfiguration(3, 2, strict=True),
        profiles.MemoryPoolFeature.UNBOUNDED: profiles.MemoryPoolConfiguration(
            3, 2, unbounded=True
        ),
    }
    return tuple(each for sort, each in sorts.items() if sort in profile.features)
