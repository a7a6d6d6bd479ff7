"""The lenient judge of a timer: what the declared variants of the model allow."""

from purgatory_judge.derived_steps import base_steps
from purgatory_judge.finished_names import without_finished_tasks
from purgatory_judge.judgement import Divergence, Judgement
from purgatory_judge.timer.history import State
from purgatory_model.claims.timer_variants import variant_model
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Executor, TimerConfiguration, TimerProfile


class VariantJudge:
    """Follows a timer in the states in which it may be if it follows the named variants.

    It visits no rules, and its divergences name none: a variant says what may be seen, no more.
    A forgetful one keeps nothing of a task that is neither pending nor in the executor's queue.
    """

    def __init__(
        self,
        configuration: TimerConfiguration,
        profile: TimerProfile,
        names: frozenset[str],
        *,
        forgetful: bool = False,
    ) -> None:
        """Start with a fresh timer."""
        self._model = variant_model(configuration, profile, names)
        self._states = frozenset({self._model.initial()})
        self._derived = profile.executor is not Executor.STEPPED
        self._forgetful = forgetful
        self.state: State = self._model.initial()
        """One of the states in which the subject may be."""

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge one step."""
        before = self.state
        steps = [(operation, outcome)]
        if self._derived:
            steps = base_steps(self._model.model, before, operation, outcome)
        for base_operation, base_outcome in steps:
            after: set[State] = set()
            for state in self._states:
                after |= self._model.accept(state, base_operation, base_outcome)
            self._states = frozenset(after)
        if not self._states:
            unnamed = Divergence("", "", "", "", operation, outcome, before)
            return Judgement(divergence=unnamed)
        if self._forgetful:
            self._states = frozenset(without_finished_tasks(tuple(self._states)))
        self.state = next(iter(self._states))
        return Judgement()
