"""The judge of a purgatory: it follows a subject step by step with the model.

What the rules predict is the model's business. Two rules say what must hold *whatever* the
accounting predicts, that stale operations and stale entries are bounded; these are judged on what
was observed, after a step that the model allows.
"""

import dataclasses
from collections.abc import Callable, Iterator

import msgspec

from purgatory_judge.finished_names import (
    with_finished_operation,
    without_finished_operations,
)
from purgatory_judge.judgement import Divergence, Judgement, TooManyStates
from purgatory_judge.purgatory.blame import blame
from purgatory_judge.purgatory.history import PurgatoryHistory, State
from purgatory_judge.purgatory.step import Model
from purgatory_judge.reached import reached
from purgatory_model.claims.purgatory_variants import purgatory_variant_model
from purgatory_model.purgatory import PurgatoryModel, purgatory_model
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, TooManyBranches, in_order_of
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec import profiles
from purgatory_spec.operations import Advance, Force, Operation, RunOne
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.requirements import requirements

_MOST_RUNS = 1000

STATES_CAP = 256
"""The most possible states that the judge carries; beyond it a case is inconclusive.

What is most often left open is whether a bucket of the timer was used for an operation that the
second try completed; each such bucket doubles the states until the clock has passed it.
"""


class PurgatoryJudge:
    """Follows one case. After a divergence it must not be used further.

    The lenient judge of a subject with declared deviations is this one, too: over the variants of
    the model that it follows, and with the rules *excused* that it is declared to break.

    A forgetful one keeps nothing of an operation that is finished (``finished_names``). Forcing a
    name that it does not know may be right in two ways: the operation is new, or was completed
    before. What it gives up besides in naming and counting rules, see ``purgatory_history``.
    """

    def __init__(
        self,
        configuration: profiles.PurgatoryConfiguration,
        profile: profiles.PurgatoryProfile,
        excused: frozenset[str] = frozenset(),
        variants: frozenset[str] = frozenset(),
        *,
        forgetful: bool = False,
        state: State | None = None,
    ) -> None:
        """Start with a purgatory of the configuration in a state, or fresh, judged by the profile.

        Raises:
            ValueError: there is no such variant.
        """
        self.model = _model(configuration, profile, variants)
        self.states: tuple[State, ...] = (self.model.initial() if state is None else state,)
        self._history = PurgatoryHistory(self.model, forgetful)
        self._forgetful = forgetful
        self._excused = excused
        rules = requirements(profiles.Component.PURGATORY)
        self._judged = {rule.id for rule in rules if rule.applies_to(profile)} - excused

    @property
    def state(self) -> State:
        """Return one of the states in which the subject may be."""
        if len(self.states) == 1:
            return self.states[0]
        return min(self.states, key=_rank)  # always the same one, whatever strings hash to

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome.

        Raises:
            TooManyStates: more than ``STATES_CAP`` states are possible, or too many courses.
        """
        try:
            return self._step(operation, outcome)
        except TooManyBranches:
            raise TooManyStates from None

    def _step(self, operation: Operation, outcome: Outcome) -> Judgement:
        if self._forgetful and isinstance(operation, Force):
            self._recall(operation.operation, outcome)
        before = self.state
        found = reached(
            self.states,
            lambda state: self.model.expectations(state, operation, outcome.events),
            outcome,
        )
        if not found:
            expectations = self.model.expectations(before, operation, outcome.events) or tuple(
                _composed_expectations(self.model, before, operation, outcome.events)
            )
            divergence = blame(self._history, before, operation, outcome, expectations)
            return Judgement(divergence=divergence)
        after = tuple(state for _, state in found)
        if len(after) > STATES_CAP:
            raise TooManyStates
        self.states = after
        visited = self._history.note(before, operation, outcome, self.state)
        broken = self._broken_bounds(before, operation, outcome)
        judgement = Judgement(visited & self._judged, next(broken, None))
        if self._forgetful:
            self.states = without_finished_operations(after, before)
            self._history.forget(self.state)
        return judgement

    def _recall(self, name: str, outcome: Outcome) -> None:
        """Note that an unknown operation that could not be forced was completed before."""
        unknown = all(name not in state.operations for state in self.states)
        if unknown and outcome.result is False and outcome.rejected is None:
            self.states = with_finished_operation(self.states, name)

    def blamed(
        self, operation: Operation, outcome: Outcome, expected: tuple[Expectation[State], ...]
    ) -> Divergence:
        """Return the divergence of an outcome in the present state, were these expectations all."""
        return blame(self._history, self.state, operation, outcome, expected)

    @property
    def _interval_words(self) -> str:
        if self.model.profile.purge_due is profiles.PurgeDue.FIXED:
            return "the purge interval"
        return "the larger of the purge interval and half of the live entries"

    def _broken_bounds(
        self, before: State, operation: Operation, outcome: Outcome
    ) -> Iterator[Divergence]:
        """Yield the bounds that an advance breaks by leaving too much behind, if it ended.

        Rules: PURGATORY-STALE-OPERATIONS, PURGATORY-STALE-ENTRIES.
        """
        if not isinstance(operation, Advance) or before.closed or outcome.rejected is not None:
            return
        bounds: dict[profiles.PurgatoryObservable, str] = {}
        if not any(state.timer.queue for state in (before, self.state)):
            bounds[profiles.PurgatoryObservable.STALE_OPERATIONS] = "PURGATORY-STALE-OPERATIONS"
        if self.model.profile.accounting is profiles.Accounting.EXACT:
            bounds[profiles.PurgatoryObservable.STALE_ENTRIES] = "PURGATORY-STALE-ENTRIES"
        interval = self.model.interval(self.state.live_entries)
        for observable, rule in bounds.items():
            seen = outcome.observed.get(observable.value)
            declared = observable in self.model.profile.observables
            if rule in self._excused or not declared or not isinstance(seen, int):
                continue
            if seen > interval:
                yield Divergence(
                    rule=rule,
                    kind=observable.value,
                    expected=f"{observable.value} at most {interval}, {self._interval_words}",
                    seen=f"{observable.value} = {seen}",
                    operation=operation,
                    outcome=outcome,
                    before=before,
                    after=self.state,
                )


def _model(
    configuration: profiles.PurgatoryConfiguration,
    profile: profiles.PurgatoryProfile,
    variants: frozenset[str],
) -> PurgatoryModel:
    if variants:
        return purgatory_variant_model(configuration, profile, variants)
    return purgatory_model(configuration, profile)


def _rank(state: State) -> tuple[object, ...]:
    """Return a key by which states are in one order in every process."""
    store = state.timer.store
    buckets = sorted(store.buckets) if isinstance(store, TimingWheel) else []
    operations = sorted(
        (name, each.tries, each.satisfied, each.completed)
        for name, each in state.operations.items()
    )
    lists = sorted(state.lists.items())
    return (
        len(buckets),
        buckets,
        sorted(store.due_ticks.items()),
        state.timer.queue,
        lists,
        operations,
        state.estimate,
    )


def _composed_expectations(
    model: Model, before: State, operation: Operation, seen: tuple[Event, ...]
) -> Iterator[Expectation[State]]:
    """Yield the ways of an inline step, each with one order of its runs.

    The model follows only the orders that begin as the observed events do. Where there is none, a
    rule is broken, and to say which one some order is needed: here the step is told as a stepped
    executor would go through it, running what was seen to run first.
    """
    profile = msgspec.structs.replace(model.profile, executor=profiles.Executor.STEPPED)
    stepped = dataclasses.replace(model, profile=profile)
    for expectation in stepped.expectations(before, operation):
        events = in_order_of(seen, expectation.groups)
        state = expectation.complete(events)
        runs = 0
        while state.timer.queue and runs < _MOST_RUNS:
            first, *_ = stepped.expectations(state, RunOne())
            ran = in_order_of(seen, first.groups)
            state = first.complete(ran)
            events += ran
            runs += 1
        shown = tuple(frozenset({e}) for e in events if e.kind is not EventKind.EXPIRED)
        yield replace(expectation, groups=shown, complete=_always(state), observe=model.observe)


def _always(state: State) -> Callable[[tuple[Event, ...]], State]:
    return lambda _: state
