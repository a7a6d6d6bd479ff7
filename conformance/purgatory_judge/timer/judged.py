"""Judges of a timer: their variants, and the rules that a profile can be seen to break."""

from collections.abc import Iterator

from purgatory_judge.case_judge import AskedStep, CaseJudge, Judge, Trigger
from purgatory_judge.components import narrowed
from purgatory_judge.derived_steps import base_steps
from purgatory_judge.finished_names import without_finished_tasks
from purgatory_judge.judged import Asked, JudgedComponent
from purgatory_judge.judgement import Divergence, Judgement
from purgatory_judge.timer.history import State
from purgatory_judge.timer.judge import TimerJudge
from purgatory_judge.timer.real_clock_judge import RealClockJudge
from purgatory_model.claims.timer_variants import VARIANTS, variant_model
from purgatory_model.timer import TimerState
from purgatory_spec import profiles
from purgatory_spec.operations import Add, AddInside, Advance, Elapse, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.requirements import Requirement, requirements

_ON_A_REAL_CLOCK = frozenset(
    {
        "TIMER-LATENESS",
        "TIMER-NOT-EARLY",
        "TIMER-NOT-LATE",
        "TIMER-EXACTLY-ONCE",
        "TIMER-ROUNDING",
        "TIMER-ALREADY-DUE",
        "TIMER-ZERO-DELAY",
        "TIMER-NEGATIVE-DELAY",
        "TIMER-READD-PENDING",
        "TIMER-READD-CANCELLED",
        "TIMER-READD-FIRED",
        "TIMER-CANCEL",
        "TIMER-CANCEL-AGAIN",
        "TIMER-CANCEL-FIRED",
        "TIMER-CANCEL-UNKNOWN",
        "TIMER-SIZE",
    }
)
"""The rules that can be judged where time really passes; the others need a manual clock."""

_LARGE = 2**31
"""The bound below which all sums and intervals of a wheel stay within 64 bits."""


def _is_extreme(step: AskedStep) -> bool:
    """Decide whether a number of a step is large, or the clock is below zero."""
    numbers = [step.configuration.tick_ms, step.configuration.wheel_size, step.state.now_ms]
    if isinstance(step.operation, Add):
        inside = [each.delay_ms for each in step.operation.script if isinstance(each, AddInside)]
        numbers += [step.operation.delay_ms, *inside]
    if isinstance(step.operation, Advance | Elapse):
        numbers.append(step.operation.to_ms)
    return step.state.now_ms < 0 or any(abs(number) >= _LARGE for number in numbers)


_TRIGGERS = {
    "long_arithmetic": Trigger("a number is 2^31 or more, or the clock below zero", _is_extreme),
    "taken_after_shutdown": Trigger("the timer is shut down", lambda step: step.state.closed),
}
"""The triggers of the variants."""


class VariantJudge:
    """Follows a timer in the states in which it may be if it follows the named variants.

    It visits no rules, and its divergences name none: a variant says what may be seen, no more.
    A forgetful one keeps nothing of a task that is neither pending nor in the executor's queue.
    """

    def __init__(
        self,
        configuration: profiles.TimerConfiguration,
        profile: profiles.TimerProfile,
        names: frozenset[str],
        *,
        forgetful: bool = False,
    ) -> None:
        """Start with a fresh timer."""
        self._model = variant_model(configuration, profile, names)
        self._states = frozenset({self._model.initial()})
        self._derived = profile.executor is not profiles.Executor.STEPPED
        self._forgetful = forgetful
        self.state: State = self._model.initial()
        """One of the states in which the subject may be."""

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome."""
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


def _judge(asked: Asked[profiles.TimerConfiguration, profiles.TimerProfile]) -> Judge:
    """Return the judge of one case: by intervals on a real clock, by the model on a manual one."""
    configuration, profile, forgetful = asked.configuration, asked.profile, asked.forgetful
    if profile.clock is profiles.Clock.WALL:
        return RealClockJudge(configuration, profile)
    begun = None if asked.state is None else narrowed(asked.state, TimerState)
    strict = TimerJudge(configuration, profile, forgetful=forgetful, state=begun)
    if not asked.deviations:
        return CaseJudge(strict, forgetful=forgetful)
    if begun is not None:
        raise ValueError("the variants of a timer begin with a fresh one")
    names = frozenset(deviation.variant for deviation in asked.deviations)
    lenient = VariantJudge(configuration, profile, names, forgetful=forgetful)
    declared = frozenset(deviation.rule for deviation in asked.deviations)
    return CaseJudge(strict, lenient, declared, forgetful=forgetful)


def _rules(profile: profiles.TimerProfile) -> Iterator[Requirement]:
    """Yield the rules; for a real clock only those that can be judged by intervals."""
    for rule in requirements(profiles.Component.TIMER):
        if profile.clock is profiles.Clock.MANUAL or rule.id in _ON_A_REAL_CLOCK:
            yield rule


JUDGED_TIMER = JudgedComponent(
    component=profiles.Component.TIMER,
    configuration_type=profiles.TimerConfiguration,
    profile_type=profiles.TimerProfile,
    variants=VARIANTS,
    triggers=_TRIGGERS,
    judge_of=_judge,
    rules_of=_rules,
)
"""Types, variants, rules and judges of a timer."""
