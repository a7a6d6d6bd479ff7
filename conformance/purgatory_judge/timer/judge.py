"""The judge of a timer with a manual clock: it follows a subject step by step with the model."""

from purgatory_judge.derived_steps import base_steps
from purgatory_judge.finished_names import without_finished_tasks
from purgatory_judge.judgement import Divergence, Judgement, TooManyStates
from purgatory_judge.reached import reached
from purgatory_judge.timer.blame import blame
from purgatory_judge.timer.history import History, State
from purgatory_model.step import Expectation
from purgatory_model.timer import declared_timer_model
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import Executor, TimerConfiguration, TimerProfile

STATES_CAP = 64
"""How many possible states the judge carries; beyond it a case is inconclusive."""


class TimerJudge:
    """Follows one case. After a divergence it must not be used further.

    A forgetful one keeps nothing of a task that is neither pending nor in the executor's queue;
    what it gives up in naming and counting rules, see ``history``.
    """

    def __init__(
        self,
        configuration: TimerConfiguration,
        profile: TimerProfile,
        *,
        forgetful: bool = False,
        state: State | None = None,
    ) -> None:
        """Start with a timer of the configuration in a state, or fresh, judged by the profile."""
        self.model = declared_timer_model(configuration, profile)
        first = self.model.initial() if state is None else state
        self.states: tuple[State, ...] = (first,)
        self._history = History(self.model, forgetful)
        self._history.begin_with(first)
        self._forgetful = forgetful
        self._derived = profile.executor is not Executor.STEPPED

    @property
    def state(self) -> State:
        """Return one of the states in which the subject may be."""
        if len(self.states) == 1:
            return self.states[0]
        return min(self.states, key=repr)  # always the same one, whatever strings hash to

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge one step.

        Raises:
            TooManyStates: more than ``STATES_CAP`` states are possible.
        """
        judgement = Judgement()
        steps = [(operation, outcome)]
        if self._derived:
            handed = [event.task for event in outcome.events if event.kind is EventKind.EXPIRED]
            if handed:
                many = self.model.profile.executor is Executor.THREADS
                judgement.divergence = Divergence(
                    rule="TIMER-EXACTLY-ONCE" if many else "TIMER-EXECUTOR-ORDER",
                    kind="undeclared executor",
                    expected="events that tasks ran, since the executor is not stepped",
                    seen=f"{', '.join(handed)} expired",
                    operation=operation,
                    outcome=outcome,
                    before=self.state,
                )
                return judgement
            steps = base_steps(self.model, self.state, operation, outcome)
        for base_operation, base_outcome in steps:
            divergence = self._base(base_operation, base_outcome, judgement.visited)
            if divergence is not None:
                judgement.divergence = divergence
                break
        if self._derived and judgement.divergence is None:  # what was handed over has run by now
            idle = tuple(state for state in self.states if not state.queue)
            if idle:
                self.states = idle
            else:
                unrun = Outcome(observed=outcome.observed)
                judgement.divergence = self._base(RunOne(), unrun, judgement.visited)
        return judgement

    def blamed(
        self, operation: Operation, outcome: Outcome, expected: tuple[Expectation[State], ...]
    ) -> Divergence:
        """Return the divergence of an outcome in the present state, were these expectations all."""
        return blame(self._history, self.state, operation, outcome, expected)

    def _base(self, operation: Operation, outcome: Outcome, visited: set[str]) -> Divergence | None:
        before = self.state
        found = reached(
            self.states, lambda state: self.model.expectations(state, operation), outcome
        )
        if not found:
            expectations = self.model.expectations(before, operation)
            return blame(self._history, before, operation, outcome, expectations)
        after = tuple(state for _, state in found)
        if len(after) > STATES_CAP:
            raise TooManyStates
        self.states = after
        visited |= self._history.note(before, operation, outcome, self.state)
        if self._forgetful:
            self.states = without_finished_tasks(after)
        return None
