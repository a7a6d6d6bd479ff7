"""The ends of runs by a concurrent model: every end that programs can reach in it.

An *end* is what can be told of a run when it is over: what each call returned, which callbacks ran,
and the counts. The ends of real runs must be among the ends of the model for the same programs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias

from immutables import Map

from purgatory_lab.scheduling.scenario import World
from purgatory_model.overlapping.histories import LIMIT, LimitReached, too_many
from purgatory_model.overlapping.interleaving import (
    Called,
    ConcurrentModel,
    Happened,
    History,
    HistoryEvent,
    Returned,
    State,
    Step,
)
from purgatory_model.overlapping.programs import Programmed, Progress
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Value
from purgatory_spec.reasons import Reason

Answer: TypeAlias = tuple[Value, Reason | None]

_WITH_RESULT = (op.Watch, op.Check, op.Force, op.CancelForKey, op.Allocate)
"""The operations whose results are told; what an executor or a clock does has none."""

_CALLBACKS = {EventKind.COMPLETED: "on_complete", EventKind.TIMED_OUT: "on_expiration"}


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run.

    Attributes:
        answers: What the calls of each thread returned, in their order.
        callbacks: How often each callback of each operation was called.
        counts: The counts when nothing was under way any more, by name.
    """

    answers: Map[str, tuple[Answer, ...]]
    callbacks: Map[tuple[str, str], int]
    counts: Map[str, int]

    def describe(self) -> str:
        """Return the end in words."""
        words = [
            f"{thread} returned " + ", ".join(map(_answer, answers))
            for thread, answers in sorted(self.answers.items())
        ]
        words += [
            f"{callback} of {name} was called {_times(count)}"
            for (name, callback), count in sorted(self.callbacks.items())
        ]
        words.append(" ".join(f"{name}={count}" for name, count in sorted(self.counts.items())))
        return "; ".join(words)


@dataclass(frozen=True, slots=True)
class Told:
    """The content of a history so far."""

    answers: Map[str, tuple[Answer, ...]] = Map()
    callbacks: Map[tuple[str, str], int] = Map()
    inside: Map[str, op.Operation] = Map()

    def after(self, events: Iterable[HistoryEvent]) -> "Told":
        """Return the history so far with some events more."""
        answers, callbacks, inside = self.answers, self.callbacks, self.inside
        for event in events:
            if isinstance(event, Called):
                inside = inside.set(event.thread, event.operation)
            elif isinstance(event, Happened) and event.event.kind in _CALLBACKS:
                about = event.event.task, _CALLBACKS[event.event.kind]
                callbacks = callbacks.set(about, callbacks.get(about, 0) + 1)
            elif isinstance(event, Returned):
                if isinstance(inside[event.thread], _WITH_RESULT):
                    answer = event.result, event.raised
                    earlier = answers.get(event.thread, ())
                    answers = answers.set(event.thread, (*earlier, answer))
                inside = inside.delete(event.thread)
        return Told(answers, callbacks, inside)

    def ended(self, counts: Mapping[str, int]) -> End:
        """Return the end of a run with the given results and counts."""
        return End(self.answers, self.callbacks, Map(counts))


@dataclass(frozen=True, slots=True)
class StartedFrom(Generic[State]):
    """A concurrent model that begins in a given state."""

    model: ConcurrentModel[State]
    state: State

    def initial(self) -> State:
        """Return the state that the model is to begin with."""
        return self.state

    def steps(self, state: State) -> Iterator[tuple[Step, State]]:
        """Return the steps of the model."""
        return self.model.steps(state)

    def history(self, before: State, step: Step, after: State) -> History:
        """Return the history of the model."""
        return self.model.history(before, step, after)


def after_setup(
    model: ConcurrentModel[State], calls: Iterable[tuple[str, op.Operation]]
) -> StartedFrom[State]:
    """Return a model after some calls, made one after the other by the threads named.

    What is satisfied among the calls is satisfied by an event with the check that follows.

    Raises:
        ValueError: what a call leads to is left to chance.
    """
    begun = StartedFrom(model, model.initial())
    satisfied: set[str] = set()
    for thread, operation in calls:
        if isinstance(operation, op.Satisfy):
            satisfied.add(operation.operation)
            continue
        states = _after_call(begun, thread, operation, frozenset(satisfied))
        if len(states) != 1:
            raise ValueError(f"{operation} leads to {len(states)} states; setup has to lead to one")
        begun = StartedFrom(model, states.pop())
        satisfied.clear()
    return begun


def _after_call(
    begun: StartedFrom[State], thread: str, operation: op.Operation, satisfied: frozenset[str]
) -> set[State]:
    """Return the states after a call in which exactly the given operations were satisfied."""
    programmed = Programmed(begun, {thread: (operation,)}, frozenset())
    fresh: list[tuple[Progress[State], frozenset[str]]] = [(programmed.initial(), frozenset())]
    found: set[State] = set()
    while fresh:
        progress, told = fresh.pop()
        if programmed.is_over(progress) and told == satisfied:
            found.add(progress.state)
        for step, after in programmed.steps(progress):
            events = programmed.history(progress, step, after)
            called = (event.operation for event in events if isinstance(event, Called))
            names = {each.operation for each in called if isinstance(each, op.Satisfy)}
            fresh.append((after, told | names))
    return found


def ends(
    programmed: Programmed[State],
    counts: Callable[[State], Mapping[str, int]],
    *,
    limit: int = LIMIT,
) -> frozenset[End]:
    """Return every end of the programs.

    Args:
        programmed: The programs, over their model.
        counts: The counts of a state, by name.
        limit: How many states, each with what was told on the way, are looked at.

    Raises:
        LimitReached: there are more.
    """
    first: tuple[Progress[State], Told] = programmed.initial(), Told()
    met = {first}
    fresh = [first]
    found: set[End] = set()
    while fresh:
        progress, told = fresh.pop()
        if programmed.is_over(progress):
            found.add(told.ended(counts(progress.state)))
        for step, after in programmed.steps(progress):
            further = after, told.after(programmed.history(progress, step, after))
            if further not in met:
                if len(met) >= limit:
                    raise LimitReached(too_many("states", limit))
                met.add(further)
                fresh.append(further)
    return frozenset(found)


class EndsOf:
    """Looks whether the ends of runs are ends of the model.

    Attributes:
        known: All ends of the model.
        seen: The ends that runs have come to.
    """

    def __init__(
        self, known: frozenset[End], end_of: Callable[[World], End], *, wider: bool = False
    ) -> None:
        """Make one for the runs of a search.

        Args:
            known: All ends of the model.
            end_of: The end that a run has come to.
            wider: Whether it is known that runs come to other ends as well.
        """
        self.known = known
        self.seen: set[End] = set()
        self._end_of = end_of
        self._wider = wider

    @property
    def outside(self) -> frozenset[End]:
        """Return the ends of runs that the model does not have."""
        return frozenset(self.seen) - self.known

    def __call__(self, world: World) -> list[str]:
        """Return a problem where the end of a run is not one of the model's."""
        end = self._end_of(world)
        self.seen.add(end)
        if end in self.known or self._wider:
            return []
        return [f"the model does not come to this end: {end.describe()}"]


def _answer(answer: Answer) -> str:
    result, raised = answer
    return str(result) if raised is None else f"{raised.value} (refused)"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
