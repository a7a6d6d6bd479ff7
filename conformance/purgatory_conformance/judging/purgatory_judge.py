"""The judge of a purgatory: it follows a subject step by step with the model.

What the rules predict is the model's business. Two rules say what must hold *whatever* the
accounting predicts, that stale operations and stale entries are bounded; these are judged on what
was observed, after a step that the model allows.
"""

from collections.abc import Iterator

from purgatory_conformance.judging.composed_expectations import composed_expectations
from purgatory_conformance.judging.judgement import Divergence, Judgement, TooManyStates
from purgatory_conformance.judging.purgatory_blame import blame
from purgatory_conformance.judging.purgatory_history import PurgatoryHistory, State
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory import PurgatoryModel, purgatory_model
from purgatory_model.purgatory_variants import purgatory_variant_model
from purgatory_model.timing_wheel import TimingWheel
from purgatory_model.transition import Expectation
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Accounting,
    Component,
    PurgatoryConfiguration,
    PurgatoryObservable,
    PurgatoryProfile,
)
from purgatory_spec.requirements import requirements

STATES_CAP = 256
"""How many possible states the judge carries; beyond it a case is inconclusive.

What is most often left open is whether a bucket of the timer was used for an operation that the
second try completed; each such bucket doubles the states until the clock has passed it.
"""


class PurgatoryJudge:
    """Follows one case. After a divergence it must not be used further.

    The lenient judge of a subject with declared deviations is this one, too: over the variants of
    the model that it follows, and with the rules *excused* that it is declared to break.
    """

    def __init__(
        self,
        configuration: PurgatoryConfiguration,
        profile: PurgatoryProfile,
        excused: frozenset[str] = frozenset(),
        variants: frozenset[str] = frozenset(),
    ) -> None:
        """Start with a fresh purgatory of the configuration, judged under the profile.

        Raises:
            ValueError: there is no such variant.
        """
        self.model = _model(configuration, profile, variants)
        self.states: frozenset[State] = frozenset({self.model.initial()})
        self._history = PurgatoryHistory(self.model)
        self._excused = excused
        rules = requirements(Component.PURGATORY)
        self._judged = {rule.id for rule in rules if rule.applies_to(profile)} - excused

    @property
    def state(self) -> State:
        """One of the states in which the subject may be."""
        if len(self.states) == 1:
            return next(iter(self.states))
        return min(self.states, key=_rank)  # always the same one, whatever strings hash to

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge one step.

        Raises:
            TooManyStates: more than ``STATES_CAP`` states are possible.
        """
        before = self.state
        after: set[State] = set()
        for state in self.states:
            after |= self.model.accept(state, operation, outcome)
        if not after:
            expectations = self.model.expectations(before, operation, outcome.events) or tuple(
                composed_expectations(self.model, before, operation, outcome.events)
            )
            divergence = blame(self._history, before, operation, outcome, expectations)
            return Judgement(divergence=divergence)
        if len(after) > STATES_CAP:
            raise TooManyStates
        self.states = frozenset(after)
        visited = self._history.note(before, operation, outcome, self.state)
        broken = self._broken_bounds(before, operation, outcome)
        return Judgement(visited & self._judged, next(broken, None))

    def blamed(
        self, operation: Operation, outcome: Outcome, expected: tuple[Expectation[State], ...]
    ) -> Divergence:
        """The divergence of an outcome in the present state, were these expectations all."""
        return blame(self._history, self.state, operation, outcome, expected)

    def _broken_bounds(
        self, before: State, operation: Operation, outcome: Outcome
    ) -> Iterator[Divergence]:
        """How an advance leaves too much behind, if it does.

        Rules: PURGATORY-STALE-OPERATIONS, PURGATORY-STALE-ENTRIES.
        """
        if not isinstance(operation, Advance) or before.closed:
            return
        bounds: dict[PurgatoryObservable, str] = {}
        if not any(state.timer.queue for state in (before, self.state)):
            bounds[PurgatoryObservable.STALE_OPERATIONS] = "PURGATORY-STALE-OPERATIONS"
        if self.model.profile.accounting is Accounting.EXACT:
            bounds[PurgatoryObservable.STALE_ENTRIES] = "PURGATORY-STALE-ENTRIES"
        interval = self.model.configuration.purge_interval
        for observable, rule in bounds.items():
            seen = outcome.observed.get(observable.value)
            declared = observable in self.model.profile.observables
            if rule in self._excused or not declared or not isinstance(seen, int):
                continue
            if seen > interval:
                yield Divergence(
                    rule=rule,
                    kind=observable.value,
                    expected=f"{observable.value} at most {interval}, the purge interval",
                    seen=f"{observable.value} = {seen}",
                    operation=operation,
                    outcome=outcome,
                    before=before,
                    after=self.state,
                )


def _model(
    configuration: PurgatoryConfiguration, profile: PurgatoryProfile, variants: frozenset[str]
) -> PurgatoryModel[Store]:
    if variants:
        return purgatory_variant_model(configuration, profile, variants)
    return purgatory_model(configuration, profile)


def _rank(state: State) -> tuple[object, ...]:
    """A key by which states are in one order in every process."""
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
