"""What the suite knows of the timer."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from purgatory_conformance.components import narrowed
from purgatory_conformance.describing.timer_states import describe_timer_state
from purgatory_conformance.describing.timer_words import (
    describe_timer_configuration,
    describe_timer_operation,
    describe_timer_outcome,
    describe_timer_profile,
)
from purgatory_conformance.drawing.wheel_picture import wheel_picture
from purgatory_conformance.drawing.wheel_scene import scene_of
from purgatory_conformance.generation.real_clock import (
    draw_real_clock_configuration,
    draw_real_clock_operations,
)
from purgatory_conformance.generation.source import Source
from purgatory_conformance.generation.timer.table import (
    TIMER_TABLE,
    TimerDraft,
    delays_are_offered,
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.judging.case_judge import CaseJudge, Deviation, Judge
from purgatory_conformance.judging.real_clock_judge import RealClockJudge
from purgatory_conformance.judging.retraced_case import RetracedCase
from purgatory_conformance.judging.timer.judge import TimerJudge
from purgatory_conformance.judging.variant_judge import VariantJudge
from purgatory_conformance.reducing.timer import TimerCase, simpler_timer_cases
from purgatory_conformance.support.support import Candidate, sibling_profiles
from purgatory_model.claims.timer_variants import VARIANTS
from purgatory_model.timer import TimerState
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Clock,
    Component,
    Configuration,
    Executor,
    Feature,
    Profile,
    SameTickOrder,
    Structure,
    TimerConfiguration,
    TimerProfile,
)
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


class TimerSupport:
    """What the suite knows of the timer; see ``Support``."""

    component: Component = Component.TIMER
    variants: Mapping[str, str] = VARIANTS
    situations: Iterable[str] = tuple(row.name for row in TIMER_TABLE)

    def judge(
        self,
        configuration: Configuration,
        profile: Profile,
        deviations: tuple[Deviation, ...],
        *,
        forgetful: bool = False,
        state: object = None,
    ) -> Judge:
        """The judge of one case: by intervals on a real clock, by the model on a manual one."""
        configuration, profile = _narrowed(configuration, profile)
        if profile.clock is Clock.WALL:
            return RealClockJudge(configuration, profile)
        begun = None if state is None else narrowed(state, TimerState)
        strict = TimerJudge(configuration, profile, forgetful=forgetful, state=begun)
        if not deviations:
            return CaseJudge(strict, forgetful=forgetful)
        if state is not None:
            raise ValueError("the variants of a timer begin with a fresh one")
        names = frozenset(deviation.variant for deviation in deviations)
        lenient = VariantJudge(configuration, profile, names, forgetful=forgetful)
        declared = frozenset(deviation.rule for deviation in deviations)
        return CaseJudge(strict, lenient, declared, forgetful=forgetful)

    def judged_rules(self, profile: Profile) -> tuple[Requirement, ...]:
        """The rules that apply; for a real clock only the rules that can be judged by intervals."""
        profile = narrowed(profile, TimerProfile)
        return tuple(
            rule
            for rule in requirements(Component.TIMER)
            if rule.applies_to(profile)
            and (profile.clock is Clock.MANUAL or rule.id in _ON_A_REAL_CLOCK)
        )

    def suited(self, case: Case, profile: Profile) -> tuple[Operation, ...] | None:
        """The case without its runs where the executor is not stepped; none on a real clock."""
        profile = narrowed(profile, TimerProfile)
        recorded = narrowed(case.header.profile, TimerProfile)
        if profile.clock is Clock.WALL or not recorded.features <= profile.features:
            return None
        if not delays_are_offered(case.operations, profile):
            return None
        stepped = profile.executor is Executor.STEPPED
        return tuple(op for op in case.operations if stepped or not isinstance(op, RunOne))

    def alternatives(self, profile: Profile) -> Iterator[tuple[str, Profile]]:
        """The profiles that differ in one declared choice, each with its words."""
        profile = narrowed(profile, TimerProfile)
        yield from sibling_profiles(profile, "rounding", "negative_delay", "larger_delay")
        if profile.same_tick_order is SameTickOrder.FIFO:
            yield from sibling_profiles(profile, "same_tick_order")
        if profile.executor is Executor.THREAD:
            yield "executor threads", structs.replace(profile, executor=Executor.THREADS)
        if profile.structure is Structure.DELAY_QUEUE_WHEEL:
            yield from sibling_profiles(profile, "structure")
        else:
            yield from sibling_profiles(profile, "already_due")

    def draw_configuration(
        self, profile: Profile, source: Source, wanted: frozenset[str]
    ) -> TimerConfiguration:
        """The configuration of a generated case."""
        profile = narrowed(profile, TimerProfile)
        if profile.clock is Clock.WALL:
            return draw_real_clock_configuration(source)
        return draw_configuration(profile, source, wanted)

    def draft(self, configuration: Configuration, profile: Profile) -> TimerDraft:
        """A case that is drawn situation by situation."""
        return TimerDraft(*_narrowed(configuration, profile))

    def draw_operations(
        self,
        configuration: Configuration,
        profile: Profile,
        source: Source,
        *,
        most: int,
        wanted: frozenset[str],
    ) -> tuple[Operation, ...]:
        """The operations of a generated case, about ``most`` at the most on a manual clock."""
        configuration, profile = _narrowed(configuration, profile)
        if profile.clock is Clock.WALL:
            return draw_real_clock_operations(profile, source)
        return draw_operations(configuration, profile, source, most=most, wanted=wanted)

    def size(self, candidate: Candidate) -> tuple[int, ...]:
        """Smaller is simpler: operations, actions in scripts, where it starts, the numbers."""
        return _timer_case(candidate).size

    def usable(self, profile: Profile, candidate: Candidate) -> bool:
        """Whether the case ends, its delays are offered, and no task changes a delay that is fixed.

        Whoever runs all that is due would never end where a task makes itself due at once.
        """
        profile = narrowed(profile, TimerProfile)
        if not delays_are_offered(candidate.operations, profile):
            return False
        is_stepped = profile.executor is Executor.STEPPED
        if not is_stepped and not _timer_case(candidate).comes_to_rest:
            return False
        return Feature.CHANGE_DELAY in profile.features or _timer_case(candidate).delays_agree

    def simpler(self, profile: Profile, candidate: Candidate) -> Iterator[Candidate]:
        """Simpler configurations, shorter times, plainer numbers, shorter scripts."""
        profile = narrowed(profile, TimerProfile)
        for case in simpler_timer_cases(profile, _timer_case(candidate)):
            yield Candidate(case.configuration, case.operations)

    def describe_operation(self, operation: Operation) -> str:
        """An operation as a person would say it, for example ``add t1, delay 25 ms``."""
        return describe_timer_operation(operation)

    def describe_outcome(self, operation: Operation, outcome: Outcome) -> str:
        """What came of an operation, its observables aside, for example ``popped, t1 expired``."""
        return describe_timer_outcome(outcome)

    def describe_configuration(self, configuration: Configuration) -> str:
        """What the timer of a case was made with."""
        return describe_timer_configuration(narrowed(configuration, TimerConfiguration))

    def describe_profile(self, profile: Profile) -> str:
        """The declared choices that a reader needs in order to follow a case."""
        return describe_timer_profile(narrowed(profile, TimerProfile))

    def describe_state(self, state: object) -> str:
        """The clock, the pending tasks with their due ticks, the wheel, the queue."""
        return describe_timer_state(state)

    def picture(self, case: RetracedCase, number: int) -> str:
        """The levels of the model's wheel on the way to the divergence."""
        return wheel_picture(scene_of(case), case.divergence, number)


def _narrowed(
    configuration: Configuration, profile: Profile
) -> tuple[TimerConfiguration, TimerProfile]:
    return narrowed(configuration, TimerConfiguration), narrowed(profile, TimerProfile)


def _timer_case(candidate: Candidate) -> TimerCase:
    return TimerCase(narrowed(candidate.configuration, TimerConfiguration), candidate.operations)
