"""The judge of a timer with a manual clock: it follows a subject step by step with the model.

Where a severe exception has reached the caller of a derived step, what was due may not have run.
From then on the judge follows each way in which it may be left, until an advance has run it all.
"""

from msgspec import structs

from purgatory_judge.derived_steps import Way, base_steps, ways
from purgatory_judge.finished_names import without_finished_tasks
from purgatory_judge.judgement import Divergence, Judgement, TooManyStates
from purgatory_judge.reached import reached
from purgatory_judge.timer.blame import blame
from purgatory_judge.timer.history import History, State
from purgatory_model.pending_tasks import Store
from purgatory_model.step import Expectation, TooManyBranches, observables_match
from purgatory_model.timer import declared_timer_model
from purgatory_spec.operations import Add, Advance, Operation, RunOne
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import Executor, TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason

STATES_CAP = 64
"""The most possible states that the judge carries; beyond it a case is inconclusive."""


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
        self._is_left = False
        """True if a severe exception may have left tasks that are due and have not run."""

    @property
    def state(self) -> State:
        """Return one of the states in which the subject may be."""
        if len(self.states) == 1:
            return self.states[0]
        return min(self.states, key=repr)  # always the same one, whatever strings hash to

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome.

        Raises:
            TooManyStates: more than ``STATES_CAP`` states are possible, or too many ways.
        """
        try:
            return self._step(operation, outcome)
        except TooManyBranches:
            raise TooManyStates from None

    def _step(self, operation: Operation, outcome: Outcome) -> Judgement:
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
            passed_on = self._is_passed_on(operation, outcome)
            if (passed_on or self._is_left) and self._followed(
                operation, outcome, passed_on, judgement.visited
            ):
                return judgement
            if passed_on:
                (result, *_) = (
                    each.result for each in self.model.expectations(self.state, operation)
                )
                outcome = structs.replace(outcome, rejected=None, result=result)
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

    def _is_passed_on(self, operation: Operation, outcome: Outcome) -> bool:
        """Decide whether the rejection of a step may be a severe exception of a task."""
        if outcome.rejected is not Reason.THROWN:
            return False
        scripts = dict(self.state.scripts)
        if isinstance(operation, Add):
            scripts[operation.task] = operation.script
        tasks = (event.task for event in outcome.events if event.kind is EventKind.RAN)
        return any(self.model.passes_on(scripts.get(task, ())) for task in tasks)

    def _followed(
        self, operation: Operation, outcome: Outcome, passed_on: bool, visited: set[str]
    ) -> bool:
        """Follow a step that may leave tasks which are due; false where no way explains it.

        An advance to whose caller no exception comes leaves none.

        Rules: TIMER-THROWING-TASK.
        """
        told = structs.replace(outcome, rejected=None) if passed_on else outcome
        may_leave = passed_on or not isinstance(operation, Advance)
        found: dict[State, tuple[State, Way[Store]]] = {}
        expired = self._history.expired
        for before in self.states:
            queued = {task: expired[task] for task in before.queue if task in expired}
            for way in ways(self.model, before, operation, told, queued):
                if way.state.queue and not (may_leave or way.state.closed):
                    continue
                due_ticks = {**expired, **before.store.due_ticks}
                ends = self.model.left_behind(way.state, due_ticks) if passed_on else (way.state,)
                for end in ends:
                    if observables_match(self.model.observe(end), outcome.observed):
                        found.setdefault(end, (before, way))
        if not found:
            return False
        if len(found) > STATES_CAP:
            raise TooManyStates
        before, way = next(iter(found.values()))
        for base_operation, base_outcome, after in way.steps:
            visited |= self._history.note(before, base_operation, base_outcome, after)
            before = after
        self.states = tuple(found)
        self._is_left = may_leave and (self._is_left or passed_on)
        return True

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
