"""The rules of a timer on a manual clock, for a search.

Calls that overlap take effect as ``overlapping.timer_calls`` of the model says.

Where the executor is not stepped, the calls show that tasks ran, not that they were handed over. A
call then runs what it hands over. In the executor's own thread a task runs outside every call
(``shares``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.overlapping.timer_calls import timer_part
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, in_groups, in_order_of, orders
from purgatory_model.timer import TimerModel, TimerState, timer_model
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Event, EventKind
from purgatory_spec.profiles import Executor, Observable
from purgatory_traces.linearizability.calls import CallRules, RecordedCall
from purgatory_traces.snapshots.timer import timer_state
from purgatory_traces.traces.lines import Snapshot, TimerInstance

State: TypeAlias = TimerState[PendingTasks]


@dataclass(frozen=True, slots=True)
class TimerCalls(CallRules[State]):
    """The rules of one timer.

    Attributes:
        model: The timer, whatever keeps its tasks.
        first: Where it begins.
    """

    model: TimerModel[PendingTasks]
    first: State

    def initial(self) -> State:
        """Return the timer when the history begins."""
        return self.first

    def effects(self, state: State, call: RecordedCall, part: Part) -> Iterator[Effect[State]]:
        """Yield the ways in which a part of a call may take effect."""
        taken = timer_part(self.model, state, call.operation, part)
        if isinstance(taken, Effect):
            yield taken
        else:
            yield from self._done(state, call, taken)

    def _done(
        self, state: State, call: RecordedCall, operation: Operation
    ) -> Iterator[Effect[State]]:
        """Yield the model's effects, in the orders that agree with the call's events."""
        executor = self.model.profile.executor
        if executor.has_threads and isinstance(operation, RunOne):
            state = _with_first(state, call.events)
        for expectation in self.model.expectations(state, operation):
            if executor is Executor.STEPPED or isinstance(operation, RunOne):
                ways = _shown(expectation, call)
            elif executor is Executor.INLINE:
                ways = self._run_inside(expectation, call.events)
            else:
                ways = _handed_over(expectation)
            for after, events in ways:
                yield Effect(after, events, expectation.result, expectation.rejected)

    def _run_inside(
        self, expectation: Expectation[State], seen: tuple[Event, ...]
    ) -> Iterator[tuple[State, tuple[Event, ...]]]:
        """Yield the states after the call runs its hand-overs, in the order that was seen."""
        handed = in_order_of(seen, expectation.groups)
        state = expectation.complete(handed)
        shown: tuple[Event, ...] = ()
        while state.queue:
            run, *_ = self.model.expectations(state, RunOne())
            events = in_order_of(seen[len(shown) :], run.groups)
            state = run.complete(events)
            shown += tuple(event for event in events if event.kind is not EventKind.EXPIRED)
        yield state, shown


def _shown(
    expectation: Expectation[State], call: RecordedCall
) -> Iterator[tuple[State, tuple[Event, ...]]]:
    """Yield the states with the call's events, and with further ones in any order."""
    if in_groups(call.events, expectation.groups):
        yield expectation.complete(call.events), call.events
    elif call.returned is None:
        for events in _beginning_with(call.events, expectation.groups):
            yield expectation.complete(events), events


def _beginning_with(
    seen: tuple[Event, ...], groups: tuple[frozenset[Event], ...]
) -> Iterator[tuple[Event, ...]]:
    """Yield the orders of the groups' events that begin with what was seen."""
    left = list(groups)
    unseen = seen
    while unseen and left and len(left[0]) <= len(unseen):
        if frozenset(unseen[: len(left[0])]) != left[0]:
            return
        unseen = unseen[len(left[0]) :]
        del left[0]
    if unseen and (not left or not left[0] >= frozenset(unseen)):
        return
    if unseen:
        left[0] -= frozenset(unseen)
    for rest in orders(tuple(left)):
        yield seen + rest


def _handed_over(expectation: Expectation[State]) -> Iterator[tuple[State, tuple[Event, ...]]]:
    """Yield the hand-over without events; the executor's threads take it up in any order."""
    state = expectation.complete(in_order_of((), expectation.groups))
    yield replace(state, queue=tuple(sorted(state.queue))), ()


def _with_first(state: State, ran: tuple[Event, ...]) -> State:
    """Return the state with the task that was seen to run at the head of the queue."""
    if not ran or ran[0].task not in state.queue:
        return state
    queue = list(state.queue)
    queue.remove(ran[0].task)
    return replace(state, queue=(ran[0].task, *queue))


def timer_calls(instance: TimerInstance, snapshot: Snapshot | None) -> TimerCalls:
    """Return the rules of the timer of a run on a manual clock."""
    kept = instance.profile.observables & {Observable.ADVANCE_RESULT}
    profile = msgspec.structs.replace(instance.profile, observables=kept)
    model = timer_model(instance.configuration, profile)
    return TimerCalls(
        model, model.initial() if snapshot is None else timer_state(snapshot, instance)
    )
