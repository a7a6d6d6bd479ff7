"""The wheel of ``purgatory_model.timing_wheel`` beside ``TimingWheel.tla``.

Both have an operation as one step; the model's step vocabulary has one operation, ``Add``, where
the module has two actions, and the outcome tells which of them it was.
"""

from collections.abc import Callable, Iterator

from purgatory_model.claims.timer import Instance, WheelState
from purgatory_model.overlapping.interleaving import Step
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import TimerConfiguration
from purgatory_tla.comparing.binding import Binding, Variable, label_of
from purgatory_tla.values.values import function, sequence, to_tla

Made = Callable[[], Binding[WheelState]]
"""A function that makes an instance."""

VARIABLES: dict[str, Variable[WheelState]] = {
    "now": Variable("the reading of the clock (ms)", lambda state: state.now_ms),
    "due": Variable(
        "the due tick of each pending task", lambda state: function(state.store.due_ticks)
    ),
    "queue": Variable("the executor's queue", lambda state: sequence(state.queue)),
    "closed": Variable("whether the timer was shut down", lambda state: state.closed),
    "ownClock": Variable("the wheel's own clock (ms)", lambda state: state.store.own_clock_ms),
    "levels": Variable("how many levels exist", lambda state: state.store.levels),
    "places": Variable(
        "the bucket of each pending task, its expiry (ms) and level",
        lambda state: function(state.store.places),
    ),
    "buckets": Variable(
        "the buckets in the delay queue, those without tasks as well",
        lambda state: frozenset(state.store.buckets),
    ),
}

ACTIONS = {
    "Insert": "`Add(task, delay_ms)` after which the task is pending",
    "InsertExpires": "`Add(task, delay_ms)` that expires the task at once",
    "Cancel": "`Cancel(task)` of a pending task",
    "Elapse": "`Elapse` by one millisecond",
    "Advance": "`Advance(to_ms)`, whole: every due bucket is popped and its tasks cascade; the "
    "label tells its result as well",
    "RunOne": "`RunOne` of a queue that is not empty",
    "Shutdown": "`Shutdown`, the first one",
}


def binding() -> Binding[WheelState]:
    """Return two tasks on three levels, with cascades and buckets whose tasks were cancelled."""
    return _bound(
        "timing-wheel",
        "The timing wheel: three levels, cascades, cancelled buckets, shutdown.",
        Instance(delays_ms=(0, 1, 3, 5), last_ms=5),
    )


def small_binding() -> Binding[WheelState]:
    """Return the same with a shorter life, for a comparison of a few seconds."""
    return _bound(
        "timing-wheel-small",
        "The timing wheel: three levels, for a short while.",
        Instance(delays_ms=(0, 1, 3), last_ms=2),
    )


def rounding_binding() -> Binding[WheelState]:
    """Return a tick of two milliseconds, so that two delays put a task into one bucket."""
    return _bound(
        "timing-wheel-rounding",
        "The timing wheel with a tick of two: different delays lead to equal states.",
        Instance(TimerConfiguration(tick_ms=2, wheel_size=2), delays_ms=(0, 1, 4), last_ms=4),
    )


def _bound(name: str, title: str, instance: Instance) -> Binding[WheelState]:
    model = instance.model()

    def steps(state: WheelState) -> Iterator[tuple[Step, WheelState]]:
        """Yield the operations that change the state by a rule; a rejected one is no action."""
        for operation in (*instance.operations(state), *_shutdown(state)):
            for outcome, after in model.successors(state, operation):
                if outcome.rejected is None:
                    yield _label(operation, outcome), after

    return Binding(
        name=name,
        title=title,
        module="TimingWheelHistory",
        constants=_constants(instance),
        initial=model.initial(),
        steps=steps,
        variables=VARIABLES,
        actions=ACTIONS,
    )


def _shutdown(state: WheelState) -> tuple[op.Operation, ...]:
    return () if state.closed else (op.Shutdown(),)


def _label(operation: op.Operation, outcome: Outcome) -> Step:
    if isinstance(operation, op.Add):
        action = "InsertExpires" if outcome.events else "Insert"
        return Step(action, (operation.task, operation.delay_ms))
    if isinstance(operation, op.Advance):
        return label_of(operation, bool(outcome.result))  # free, so None, once closed
    return label_of(operation)


def _constants(instance: Instance) -> dict[str, str]:
    values: dict[str, object] = {
        "Tasks": frozenset(instance.tasks),
        "Delays": frozenset(instance.delays_ms),
        "Tick": instance.configuration.tick_ms,
        "WheelSize": instance.configuration.wheel_size,
        "MostLevels": 5,
        "Start": instance.configuration.start_ms,
        "Last": instance.last_ms,
        "MostQueued": 1,
        "LargestDelay": 99,
        "Features": frozenset({"readd", "cancel", "shutdown"}),
        "Defects": frozenset[str](),
    }
    return {name: to_tla(value) for name, value in values.items()}
