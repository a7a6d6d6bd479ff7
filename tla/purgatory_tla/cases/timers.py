"""The common part of the abstract timer and the timing wheel: each step is one operation.

==============================  ===========================================================
TLA+ step                       operation
==============================  ===========================================================
``AddPending``, ``Insert``      ``add``: the task is pending after it
``AddExpires``,                 ``add``: the task is handed to the executor at once
``InsertExpires``
``Refuse``                      ``add``, refused: the timer is closed, or the delay too large
``Cancel``                      ``cancel``
``Elapse``                      ``elapse`` to the reading after the step
``Advance``                     ``advance`` to its argument
``RunOne``                      ``run_one``: the head of the queue
``Shutdown``                    ``shutdown``
==============================  ===========================================================

What is appended to ``queue`` is what expired, in the order of the ticks; inside a tick both modules
leave the order open. Once the timer is closed only the queue can be seen, and what an advance
answers is free.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, Outcome, Value, expired, ran
from purgatory_spec.reasons import Reason
from purgatory_tla.cases.behaviours import Behaviour, Constants, Move, TlaState
from purgatory_tla.cases.comparison import STEPPED
from purgatory_tla.cases.predictions import CannotDrive, Driven, NotDrivable, Prediction

Observe = Callable[[TlaState], Mapping[str, Value]]
_ADDS = frozenset({"AddPending", "AddExpires", "Insert", "InsertExpires", "Refuse"})


def drive_timer(
    behaviour: Behaviour,
    configuration: profiles.TimerConfiguration,
    profile: profiles.TimerProfile,
    observe: Observe,
    popped: Callable[[Move], bool] | None = None,
    either: Callable[[Move], str] = lambda _: "",
) -> Driven:
    """Return the behaviour as far as it can be driven.

    Args:
        behaviour: Of ``Timer`` or ``TimingWheel``.
        configuration: What the timer is made with.
        profile: The choices that the behaviour makes.
        observe: The observables of a state of an open timer, ``queued`` apart.
        popped: Whether an advance pops a bucket, where the module knows of buckets.
        either: Why a step might go otherwise; see ``Prediction``.
    """
    predictions: list[Prediction] = []
    delays: dict[str, int] = {}
    stopped = None
    for move in behaviour.moves:
        try:
            operation = _operation(move)
        except CannotDrive as problem:
            stopped = NotDrivable(problem.step, problem.reason)
            break
        predictions.append(
            Prediction(
                operation,
                _outcome(move, operation, observe, popped),
                (move.number,),
                tuple(_sizes_of_ticks(move)),
                _free(move),
                _needs(operation, delays, configuration),
                either(move),
            )
        )
    return Driven(configuration, profile, tuple(predictions), len(behaviour.moves), stopped)


def chosen_profile(
    features: frozenset[str],
    structure: profiles.Structure,
    observables: frozenset[profiles.Observable],
) -> profiles.TimerProfile:
    """Return the legal choices that a module's features are."""
    negative = "rejects-negative" in features
    return profiles.TimerProfile(
        rounding=profiles.Rounding.UP if "rounds-up" in features else profiles.Rounding.DOWN,
        executor=STEPPED,
        structure=structure,
        negative_delay=profiles.NegativeDelay.REJECT
        if negative
        else profiles.NegativeDelay.ALREADY_DUE,
        observables=observables,
    )


def configuration_of(
    behaviour: Behaviour, constants: Constants, wheel_size: int | None = None
) -> profiles.TimerConfiguration:
    """Return the configuration of a behaviour's timer."""
    start_ms = behaviour.first.read("now", int)
    tick_ms = constants.read("Tick", int)
    if wheel_size is None:
        return profiles.TimerConfiguration(tick_ms, start_ms=start_ms)
    return profiles.TimerConfiguration(tick_ms, wheel_size, start_ms)


def _operation(move: Move) -> op.TimerOperation:
    action = move.step.action
    if action in _ADDS:
        _refuse_small_bound(move)
        return op.Add(move.text(0), move.integer(1))
    match action:
        case "Cancel":
            return op.Cancel(move.text(0))
        case "Elapse":
            return op.Elapse(move.after.read("now", int))
        case "Advance":
            return op.Advance(move.integer(0))
        case "RunOne":
            return op.RunOne()
        case "Shutdown":
            return op.Shutdown()
    raise CannotDrive(move.number, f"{action} is no step of a timer")


def _refuse_small_bound(move: Move) -> None:
    """Refuse a delay that only the module's small bound refuses."""
    negative = move.integer(1) < 0
    if move.step.action == "Refuse" and not _closed(move.before) and not negative:
        reason = f"a delay of {move.integer(1)} is too large in the module alone"
        raise CannotDrive(move.number, reason)


def _needs(
    operation: op.TimerOperation, delays: dict[str, int], configuration: profiles.TimerConfiguration
) -> frozenset[str]:
    """Return the features of an operation; ``delays`` holds the added tasks' delays."""
    needs = {profiles.Feature.NEGATIVE_CLOCK} if configuration.start_ms < 0 else set()
    needs |= {each for each in profiles.Feature if each == op.operation_name(operation)}
    if isinstance(operation, op.Add):
        task, delay_ms = operation.task, operation.delay_ms
        if task in delays:
            needs.add(profiles.Feature.READD)
            needs |= {profiles.Feature.CHANGE_DELAY} if delays[task] != delay_ms else set()
        delays[task] = delay_ms
    return frozenset(needs)


def _free(move: Move) -> frozenset[str]:
    advances = move.step.action == "Advance"
    return frozenset({"answer"} if advances and _closed(move.after) else ())


def _outcome(
    move: Move,
    operation: op.TimerOperation,
    observe: Observe,
    popped: Callable[[Move], bool] | None,
) -> Outcome:
    queued: dict[str, Value] = {"queued": len(_queue(move.after))}
    if _closed(move.after):
        return Outcome(
            rejected=Reason.CLOSED if isinstance(operation, op.Add) else None,
            events=tuple(_events(move, operation)),
            observed=queued,
        )
    rejected = Reason.INVALID_ARGUMENT if move.step.action == "Refuse" else None
    result: Value = None
    if popped is not None and isinstance(operation, op.Advance):
        result = popped(move)
    observed = dict(sorted({**observe(move.after), **queued}.items()))
    return Outcome(result, rejected, tuple(_events(move, operation)), observed)


def _events(move: Move, operation: op.TimerOperation) -> Iterator[Event]:
    if isinstance(operation, op.RunOne):
        yield ran(_queue(move.before)[0])
    else:
        yield from (expired(task) for task in _handed(move))


def _sizes_of_ticks(move: Move) -> Iterator[int]:
    """Yield the number of tasks of each tick that an advance hands over, tick by tick."""
    if move.step.action == "Advance":
        due = move.before.read("due", dict[str, int])
        for _, tasks in groupby(_handed(move), key=lambda task: due[task]):
            yield len(list(tasks))


def _handed(move: Move) -> list[str]:
    before, after = _queue(move.before), _queue(move.after)
    return after[len(before) :]


def _queue(state: TlaState) -> list[str]:
    return state.read("queue", list[str])


def _closed(state: TlaState) -> bool:
    return state.read("closed", bool)
