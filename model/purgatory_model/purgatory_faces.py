"""The two faces of a purgatory's model: what its calls and its timer do, as expectations.

The calls are those of ``kafka_purgatory``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import msgspec

from purgatory_model.call import Branch, Branches, begin, distinct
from purgatory_model.kafka_timer import KafkaTimer
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.step import Expectation, accepted, possible
from purgatory_spec.operations import Advance, Elapse, Operation, Shutdown
from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryObservable, PurgatoryProfile
from purgatory_spec.reasons import Reason

_MEANINGLESS_AFTER_SHUTDOWN = frozenset(
    {PurgatoryObservable.TIMER_SIZE, PurgatoryObservable.PENDING, PurgatoryObservable.ESTIMATE}
)


class End(msgspec.Struct, frozen=True):
    """The end of a call: the state after it, its events, its result or exception."""

    state: PurgatoryState
    events: tuple[Event, ...]
    result: Value
    raised: Reason | None
    callback_timer_size: int | None = None


@dataclass(frozen=True)
class PurgatoryFaces(ABC):
    """The transitions and observables of a purgatory, by configuration, profile and timer."""

    configuration: PurgatoryConfiguration
    profile: PurgatoryProfile
    timer: KafkaTimer[Store]

    def initial(self) -> PurgatoryState:
        """Return the state of a purgatory that was just made."""
        return PurgatoryState(self.timer.initial())

    def accept(
        self, state: PurgatoryState, operation: Operation, outcome: Outcome
    ) -> frozenset[PurgatoryState]:
        """Return the states in which an observed outcome leaves it; empty means divergence."""
        return accepted(self.expectations(state, operation, outcome.events), outcome)

    def successors(
        self, state: PurgatoryState, operation: Operation
    ) -> Iterator[tuple[Outcome, PurgatoryState]]:
        """Yield every outcome of an operation with the state after it; for small instances."""
        return possible(self.expectations(state, operation))

    def expectations(
        self,
        state: PurgatoryState,
        operation: Operation,
        seen: tuple[Event, ...] | None = None,
    ) -> tuple[Expectation[PurgatoryState], ...]:
        """Return the ways in which an operation may go.

        Args:
            state: The state before.
            operation: What is asked.
            seen: The events that were observed, if any were: only what agrees with them is looked
                for, and where nothing does a few ways that come near.

        Raises:
            ValueError: the clock would go back, or the operation is none of a purgatory's.
        """
        if isinstance(operation, Advance | Elapse | Shutdown):
            return tuple(self._timer_expectations(state, operation, seen))
        branches = self._branches(begin(state, seen), operation)
        ends = distinct(end for branch in branches for end in self._ends(branch))
        return tuple(self._expectation(end) for end in ends)

    def observe(self, state: PurgatoryState) -> Mapping[str, Value]:
        """Return the declared observables; those of timer and estimate are free after shutdown.

        Rules: PURGATORY-ENTRIES, PURGATORY-EMPTY-LISTS, PURGATORY-TIMER-SIZE, PURGATORY-PENDING,
        PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-ESTIMATE-EXACT, PURGATORY-SHUTDOWN-DROPS.
        """
        shown = self.profile.observables - {PurgatoryObservable.CALLBACK_TIMER_SIZE}
        if state.closed:
            shown -= _MEANINGLESS_AFTER_SHUTDOWN
        estimate = PurgatoryObservable.ESTIMATE
        return {
            each.value: self.estimate(state) if each is estimate else state.count(each)
            for each in PurgatoryObservable
            if each in shown
        }

    def _observe_step(self, size: int | None, state: PurgatoryState) -> Mapping[str, Value]:
        """Add the timer's size in the last ``on_complete`` of a step, None where none was.

        Rules: PURGATORY-CALLBACK-ORDER.
        """
        observed = self.observe(state)
        observable = PurgatoryObservable.CALLBACK_TIMER_SIZE
        if observable not in self.profile.observables or state.closed:
            return observed
        return {**observed, observable.value: size}

    @abstractmethod
    def estimate(self, state: PurgatoryState) -> int:
        """Return the estimated total of operations."""

    @abstractmethod
    def _branches(self, begun: Branch, operation: Operation) -> Branches:
        """Carry out a call, and return the branches that it may take."""

    @abstractmethod
    def _timer_expectations(
        self,
        state: PurgatoryState,
        operation: Advance | Elapse | Shutdown,
        seen: tuple[Event, ...] | None,
    ) -> Iterator[Expectation[PurgatoryState]]:
        """Yield the ways in which an operation of the timer may go."""

    def _ends(self, branch: Branch) -> Iterator[End]:
        """Yield the end of a call."""
        state, size = branch.state.between_calls(), branch.callback_timer_size
        yield End(state, branch.events, branch.result, branch.raised, size)

    def _expectation(self, end: End) -> Expectation[PurgatoryState]:
        """Expect the events of a call in their order, and its end."""
        groups = tuple(frozenset({event}) for event in end.events)
        observe = partial(self._observe_step, end.callback_timer_size)
        return Expectation(groups, lambda _: end.state, observe, end.result, end.raised)
