"""The timer of ``purgatory_model.timer`` beside ``Timer.tla``: pending tasks and no wheel.

The model judges every timer: a task that is due when it is added expires at once or waits, and the
tasks of one tick expire in any order. The operation ``Add`` is three actions of the module, by its
outcome.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.overlapping.interleaving import Step
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerModel, TimerState, timer_model
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Executor, Rounding, TimerConfiguration, TimerProfile
from purgatory_tla.comparing.binding import Binding, Variable, label_of
from purgatory_tla.values.values import function, sequence, to_tla

State = TimerState[PendingTasks]

VARIABLES: dict[str, Variable[State]] = {
    "now": Variable("the reading of the clock (ms)", lambda state: state.now_ms),
    "due": Variable(
        "the due tick of each pending task", lambda state: function(state.store.due_ticks)
    ),
    "queue": Variable("the executor's queue", lambda state: sequence(state.queue)),
    "closed": Variable("whether the timer was shut down", lambda state: state.closed),
}

ACTIONS = {
    "AddPending": "`Add(task, delay_ms)` after which the task is pending",
    "AddExpires": "`Add(task, delay_ms)` that expires the task at once",
    "Refuse": "`Add(task, delay_ms)` that is rejected",
    "Cancel": "`Cancel(task)`",
    "Elapse": "`Elapse` by one millisecond",
    "Advance": "`Advance(to_ms)`",
    "RunOne": "`RunOne` of a queue that is not empty",
    "Shutdown": "`Shutdown`",
}


@dataclass(frozen=True, slots=True)
class _Instance:
    """These tasks with these delays on this tick (ms), until the clock reads ``last_ms``."""

    rounding: Rounding
    tick_ms: int = 2
    tasks: tuple[str, ...] = ("a", "b", "c")
    delays_ms: tuple[int, ...] = (0, 1, 4, 7)
    last_ms: int = 11

    @property
    def configuration(self) -> TimerConfiguration:
        """Return the configuration of the timer."""
        return TimerConfiguration(tick_ms=self.tick_ms)

    def model(self) -> TimerModel[PendingTasks]:
        """Return the timer of this instance."""
        profile = TimerProfile(executor=Executor.STEPPED, rounding=self.rounding)
        return timer_model(self.configuration, profile)

    def operations(self, state: State) -> Iterator[op.Operation]:
        """Yield the operations that callers may ask for in a state."""
        for task in self.tasks:
            if task not in state.queue:
                yield from (op.Add(task, delay_ms) for delay_ms in self.delays_ms)
            yield op.Cancel(task)
        yield from (op.Advance(to_ms) for to_ms in range(state.now_ms, self.last_ms + 1))
        if state.now_ms < self.last_ms:
            yield op.Elapse(state.now_ms + 1)
        if state.queue:
            yield op.RunOne()
        yield op.Shutdown()


def binding() -> Binding[State]:
    """Return three tasks on a tick of two, whose expiries are rounded down as Kafka does."""
    title = "The timer: any order in a tick, rounded down."
    return _bound("timer", title, _Instance(Rounding.DOWN))


def rounding_up_binding() -> Binding[State]:
    """Return the same, rounded up as Netty does."""
    title = "The timer: any order in a tick, rounded up."
    return _bound("timer-rounding-up", title, _Instance(Rounding.UP))


def small_binding() -> Binding[State]:
    """Return the same as ``binding`` with two tasks and a shorter life, for controls."""
    return _bound("timer-small", "The timer, for a short while.", _small(Rounding.DOWN))


def small_rounding_up_binding() -> Binding[State]:
    """Return the same as ``rounding_up_binding`` with two tasks and a shorter life."""
    title = "The timer, rounded up, for a short while."
    return _bound("timer-rounding-up-small", title, _small(Rounding.UP))


def _small(rounding: Rounding) -> _Instance:
    return _Instance(rounding, tasks=("a", "b"), delays_ms=(0, 1, 3), last_ms=4)


def _bound(name: str, title: str, instance: _Instance) -> Binding[State]:
    model = instance.model()

    def steps(state: State) -> Iterator[tuple[Step, State]]:
        """Yield every operation; a rejection is a step only for an add."""
        for operation in instance.operations(state):
            for outcome, after in model.successors(state, operation):
                if outcome.rejected is None or isinstance(operation, op.Add):
                    yield _label(operation, outcome), after

    return Binding(
        name=name,
        title=title,
        module="TimerHistory",
        constants=_constants(instance),
        initial=model.initial(),
        steps=steps,
        variables=VARIABLES,
        actions=ACTIONS,
    )


def _label(operation: op.Operation, outcome: Outcome) -> Step:
    if not isinstance(operation, op.Add):
        return label_of(operation)
    action = "AddExpires" if outcome.events else "AddPending"
    action = action if outcome.rejected is None else "Refuse"
    return Step(action, (operation.task, operation.delay_ms))


def _constants(instance: _Instance) -> dict[str, str]:
    rounds_up = {"rounds-up"} if instance.rounding is Rounding.UP else set()
    values: dict[str, object] = {
        "Tasks": frozenset(instance.tasks),
        "Delays": frozenset(instance.delays_ms),
        "Tick": instance.tick_ms,
        "Start": 0,
        "Last": instance.last_ms,
        "MostQueued": 1,
        "LargestDelay": 99,
        "Features": frozenset({"readd", "cancel", "shutdown"} | rounds_up),
        "Defects": frozenset[str](),
    }
    return {name: to_tla(value) for name, value in values.items()}
