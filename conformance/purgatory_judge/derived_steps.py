"""Subjects without a stepped executor: one observed step told as the base steps that explain it.

Such a subject shows that tasks ran, not when they expired nor when the executor took them. The
derived step is *advance, then run all*; what is due may also be handed over one task at a time, so
that a running task can still cancel or move another. Here the observed events are dealt out to the
base steps in the only order that can be right; where none can be right, the base step that is to
blame gets the events that contradict it. Observables were read once, after all of them: the base
steps before the last are given those that the model expects. The judge then sees base steps alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeAlias

from msgspec import structs

from purgatory_model.pending_tasks import AnyStore
from purgatory_model.replacing import replace
from purgatory_model.step import (
    Expectation,
    in_groups,
    in_order_of,
    observables_match,
    result_matches,
)
from purgatory_model.timer import TimerModel, TimerState
from purgatory_spec.operations import Add, AddInside, CancelInside, Operation, RunOne
from purgatory_spec.outcomes import Event, EventKind, Outcome, expired, ran
from purgatory_spec.profiles import Executor, SameTickOrder

BaseStep: TypeAlias = tuple[Operation, Outcome]

_MOST_RUNS = 10_000
_MOST_WAYS = 2_000
_MOST_SEARCHED = 200


def base_steps(
    model: TimerModel[AnyStore], state: TimerState[AnyStore], operation: Operation, outcome: Outcome
) -> list[BaseStep]:
    """Return the base steps of a derived step; the observables belong to the last one."""
    if not outcome.events and not state.queue:
        return [(operation, outcome)]
    if model.profile.executor is Executor.THREADS:
        outcome = _in_order_of_ticks(state, outcome)
    steps = _observed_last(_dealt_out(model, state, operation, outcome), outcome)
    runs = [event.task for event in outcome.events if event.kind is EventKind.RAN]
    is_open = len(runs) <= _MOST_SEARCHED and bool(_touched(state, operation, runs))
    if is_open and not _is_accepted(model, state, steps):
        # What scripts do can go several ways, of which the runs alone do not tell the right one.
        found = _Search(model, outcome).explain(state, operation)
        return steps if found is None else _observed_last(found, outcome)
    return steps


def _in_order_of_ticks(state: TimerState[AnyStore], outcome: Outcome) -> Outcome:
    """Return the outcome with its runs in order of expiry; several threads show another order."""
    due_ticks = state.store.due_ticks
    latest = max(due_ticks.values(), default=0)
    events = sorted(outcome.events, key=lambda event: due_ticks.get(event.task, latest))
    return structs.replace(outcome, events=tuple(events))


def _observed_last(steps: Iterable[BaseStep], outcome: Outcome) -> list[BaseStep]:
    """Return the base steps; the last one shows the observables of the outcome."""
    *before, (operation, last) = steps
    return [*before, (operation, structs.replace(last, observed=outcome.observed))]


def _is_accepted(
    model: TimerModel[AnyStore], state: TimerState[AnyStore], steps: Iterable[BaseStep]
) -> bool:
    states = frozenset({state})
    for operation, outcome in steps:
        states = frozenset(
            after for each in states for after in model.accept(each, operation, outcome)
        )
    return any(not each.queue for each in states)


class _Search(Generic[AnyStore]):
    """Looks through the ways in which the runs of one step can go, up to a number of them."""

    def __init__(self, model: TimerModel[AnyStore], outcome: Outcome) -> None:
        """Prepare to explain the outcome of a derived step."""
        self._model = model
        self._outcome = outcome
        self._left = _MOST_WAYS
        self._vain: set[tuple[TimerState[AnyStore], int]] = set()

    def explain(self, state: TimerState[AnyStore], operation: Operation) -> list[BaseStep] | None:
        """Return base steps that lead to the seen observables; None where none are found."""
        outcome = self._outcome
        runs = [event.task for event in outcome.events if event.kind is EventKind.RAN]
        first = tuple(expired(task) for task in dict.fromkeys(runs))
        for expectation in self._model.expectations(state, operation):
            events = in_order_of(first, expectation.groups)
            seen = Outcome(outcome.result, outcome.rejected, events)
            reached = _matching([expectation], seen)
            rest = None if reached is None else self._rest(reached, 0)
            if reached is not None and rest is not None:
                observed = self._model.observe(reached)
                return [(operation, structs.replace(seen, observed=observed)), *rest]
        return None

    def _rest(self, state: TimerState[AnyStore], begin: int) -> list[BaseStep] | None:
        """Return the runs that are left, from an event on."""
        events = self._outcome.events
        if not state.queue:
            wanted = self._model.observe(state)
            is_right = observables_match(wanted, self._outcome.observed)
            return [] if begin == len(events) and is_right else None
        if begin == len(events) or events[begin] != ran(state.queue[0]):
            return None
        self._left -= 1
        if self._left < 0 or (state, begin) in self._vain:
            return None
        inside = _until_next_run(list(events[begin:]))
        end = begin + 1 + len(inside)
        later = [event.task for event in events[end:] if event.kind is EventKind.RAN]
        for expectation in self._model.expectations(state, RunOne()):
            shown = Outcome(events=tuple(_inferred(expectation, inside, later)))
            reached = _matching([expectation], shown)
            rest = None if reached is None else self._rest(reached, end)
            if reached is not None and rest is not None:
                observed = self._model.observe(reached)
                return [(RunOne(), structs.replace(shown, observed=observed)), *rest]
        self._vain.add((state, begin))
        return None


class Way(NamedTuple, Generic[AnyStore]):
    """A way of a derived step: its base steps, each with the state after it."""

    steps: tuple[tuple[Operation, Outcome, TimerState[AnyStore]], ...]

    @property
    def state(self) -> TimerState[AnyStore]:
        """Return the state after the last base step; tasks may be left in the queue."""
        return self.steps[-1][2]


def ways(
    model: TimerModel[AnyStore],
    state: TimerState[AnyStore],
    operation: Operation,
    outcome: Outcome,
    due_ticks: Mapping[str, int],
) -> Iterator[Way[AnyStore]]:
    """Yield the ways of a derived step whose runs are those of the outcome, and no more.

    Results are not compared, nor observables; one way stands for all that end in one state.
    ``due_ticks`` are those of the tasks in the executor's queue, ms.
    """
    runs = [event.task for event in outcome.events if event.kind is EventKind.RAN]
    leading = _until_next_run([ran(""), *outcome.events])
    # What was in the queue runs before what expires now, perhaps the same task once more.
    first = tuple(expired(task) for task in dict.fromkeys(runs[len(state.queue) :]))
    present: list[Way[AnyStore]] = []
    for expectation in model.expectations(state, operation):
        events = in_order_of(first, expectation.groups)
        if not leading and expectation.rejected is outcome.rejected:
            shown = Outcome(rejected=outcome.rejected, events=events)
            present.append(Way(((operation, shown, expectation.complete(events)),)))
    position = 0
    for number, task in enumerate(runs, start=1):
        inside = _until_next_run(list(outcome.events[position:]))
        position += 1 + len(inside)
        after: dict[TimerState[AnyStore], Way[AnyStore]] = {}
        for way in present:
            first_in_queue = _brought_forward(model, way.state, task, due_ticks)
            if first_in_queue is None:
                continue
            for expectation in model.expectations(first_in_queue, RunOne()):
                shown = Outcome(events=tuple(_inferred(expectation, inside, runs[number:])))
                reached = _matching([expectation], shown)
                if reached is not None:
                    after.setdefault(reached, Way((*way.steps, (RunOne(), shown, reached))))
        present = list(after.values())
    yield from present


def _brought_forward(
    model: TimerModel[AnyStore],
    state: TimerState[AnyStore],
    task: str,
    due_ticks: Mapping[str, int],
) -> TimerState[AnyStore] | None:
    """Return the state with a task at the head of the queue; None where another comes before it.

    The order of the tasks of one tick that were left behind may not have been seen yet.
    """
    if task not in state.queue:
        return None
    place = state.queue.index(task)
    ahead = state.queue[:place]
    is_free = model.profile.same_tick_order is SameTickOrder.NONE and task in due_ticks
    if ahead and not (is_free and all(due_ticks.get(t) == due_ticks[task] for t in ahead)):
        return None
    return replace(state, queue=(task, *ahead, *state.queue[place + 1 :]))


def derived_outcomes(
    model: TimerModel[AnyStore], state: TimerState[AnyStore], operation: Operation
) -> Iterator[Outcome]:
    """Yield every outcome of a derived step; with a stepped executor, of the step itself."""
    stepped = model.profile.executor is Executor.STEPPED
    for outcome, after in model.successors(state, operation):
        if stepped:
            yield outcome
            continue
        for events, idle in _all_run(model, after):
            shown = _without_hand_overs(outcome.events) + events
            yield structs.replace(outcome, events=shown, observed=model.observe(idle))


def _all_run(
    model: TimerModel[AnyStore], state: TimerState[AnyStore]
) -> Iterator[tuple[tuple[Event, ...], TimerState[AnyStore]]]:
    """Yield the events that are shown until the executor's queue is empty, and the state then."""
    if not state.queue:
        yield (), state
        return
    for outcome, after in model.successors(state, RunOne()):
        for events, idle in _all_run(model, after):
            yield _without_hand_overs(outcome.events) + events, idle


def _without_hand_overs(events: tuple[Event, ...]) -> tuple[Event, ...]:
    return tuple(event for event in events if event.kind is not EventKind.EXPIRED)


def _dealt_out(
    model: TimerModel[AnyStore], state: TimerState[AnyStore], operation: Operation, outcome: Outcome
) -> Iterator[tuple[Operation, Outcome]]:
    runs = [event.task for event in outcome.events if event.kind is EventKind.RAN]
    expectations = model.expectations(state, operation)
    may_expire = {e.task for expectation in expectations for g in expectation.groups for e in g}
    first = tuple(expired(task) for task in dict.fromkeys(runs) if task in may_expire)
    if outcome.events and outcome.events[0].kind is not EventKind.RAN:
        yield operation, Outcome(outcome.result, outcome.rejected, outcome.events, {})
        return

    reached = _matching(expectations, Outcome(outcome.result, outcome.rejected, first))
    touched: set[str] = set()
    if reached is None:
        touched = _touched(state, operation, runs)
        for expectation in expectations:
            handed = in_order_of(first, expectation.groups)
            unseen = {event.task for event in handed} - {event.task for event in first}
            if unseen and unseen <= touched:
                first = handed
        reached = _matching(expectations, Outcome(outcome.result, outcome.rejected, first))
    observed = {} if reached is None else model.observe(reached)

    def base(extra: tuple[Event, ...] = ()) -> tuple[Operation, Outcome]:
        return operation, Outcome(outcome.result, outcome.rejected, first + extra, observed)

    if reached is None:
        known = may_expire | touched | set(state.queue)
        yield base(tuple(expired(task) for task in dict.fromkeys(runs) if task not in known))
        return
    derived: list[tuple[Operation, Outcome]] = []
    present = reached
    events = list(outcome.events)
    while events or present.queue:
        if len(derived) >= _MOST_RUNS:
            break
        task = events[0].task if events else None
        if task is not None and task not in present.queue:
            yield base((expired(task),))
            return
        if task is None or task != present.queue[0]:
            derived.append((RunOne(), Outcome(events=tuple(events[:1]))))
            break
        inside = _until_next_run(events)
        run, after = _run(model, present, inside, runs[len(derived) + 1 :])
        derived.append((RunOne(), run))
        if after is None:
            break
        present = after
        del events[: 1 + len(inside)]
    yield base()
    yield from derived


def _touched(state: TimerState[AnyStore], operation: Operation, runs: list[str]) -> set[str]:
    """Return the tasks that scripts of the run tasks cancel or move, perhaps before their turn."""
    scripts = [state.scripts.get(task, ()) for task in runs]
    if isinstance(operation, Add):
        scripts.append(operation.script)
    return {
        action.task
        for script in scripts
        for action in script
        if isinstance(action, AddInside | CancelInside)
    }


def _until_next_run(events: list[Event]) -> list[Event]:
    inside: list[Event] = []
    for event in events[1:]:
        if event.kind is EventKind.RAN:
            break
        inside.append(event)
    return inside


def _run(
    model: TimerModel[AnyStore],
    state: TimerState[AnyStore],
    inside: list[Event],
    later_runs: list[str],
) -> tuple[Outcome, TimerState[AnyStore] | None]:
    """Return the outcome of running the head, with what expired inside inferred from later runs."""
    best: tuple[int, Outcome, TimerState[AnyStore] | None] | None = None
    for expectation in model.expectations(state, RunOne()):
        events = tuple(_inferred(expectation, inside, later_runs))
        reached = _matching([expectation], Outcome(events=events))
        observed = {} if reached is None else model.observe(reached)
        # The expectation that explains most of what ran later is the one to believe.
        explained = -_MOST_RUNS
        if reached is not None:
            explained = len(events) + _agreement(reached.queue, later_runs)
        if best is None or explained > best[0]:
            best = explained, Outcome(events=events, observed=observed), reached
    assert best is not None
    return best[1], best[2]


def _agreement(queue: tuple[str, ...], later_runs: list[str]) -> int:
    """Return the number of runs in the queue's order, less those of its tasks that never run."""
    pairs = enumerate(zip(queue, later_runs, strict=False))
    shorter = min(len(queue), len(later_runs))
    next_ones = next((place for place, (queued, ran) in pairs if queued != ran), shorter)
    ran = frozenset(later_runs)
    return next_ones - sum(task not in ran for task in queue)


def _inferred(
    expectation: Expectation[TimerState[AnyStore]], inside: list[Event], later_runs: list[str]
) -> Iterator[Event]:
    seen = list(inside)
    for group in expectation.groups:
        for event in sorted(group, key=lambda e: _position(later_runs, e.task)):
            if event.kind is EventKind.RAN or (
                event.kind is EventKind.EXPIRED and event.task in later_runs
            ):
                yield event
            elif event in seen:
                seen.remove(event)
                yield event
    yield from seen


def _position(runs: list[str], task: str) -> int:
    return runs.index(task) if task in runs else len(runs)


def _matching(
    expectations: Iterable[Expectation[TimerState[AnyStore]]],
    outcome: Outcome,
) -> TimerState[AnyStore] | None:
    """Return the state after the first expectation that allows the outcome, observables aside."""
    for expectation in expectations:
        if (
            expectation.rejected is outcome.rejected
            and result_matches(expectation.result, outcome.result)
            and in_groups(outcome.events, expectation.groups)
        ):
            return expectation.complete(outcome.events)
    return None
