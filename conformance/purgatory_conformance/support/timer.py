"""What the suite knows of the timer."""

from collections.abc import Iterator

from msgspec import structs

from purgatory_judge.components import narrowed
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
from purgatory_judge.case_judge import CaseJudge, Judge
from purgatory_judge.real_clock_judge import RealClockJudge
from purgatory_judge.timer.judge import TimerJudge
from purgatory_judge.variant_judge import VariantJudge
from purgatory_conformance.reducing.usable import timer_is_usable
from purgatory_conformance.support.support import Asked, ComponentSupport, sibling_profiles
from purgatory_model.claims.timer_variants import VARIANTS
from purgatory_model.timer import TimerState
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.profiles import (
    Clock,
    Component,
    Executor,
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


def _judge(asked: Asked[TimerConfiguration, TimerProfile]) -> Judge:
    """The judge of one case: by intervals on a real clock, by the model on a manual one."""
    configuration, profile, forgetful = asked.configuration, asked.profile, asked.forgetful
    if profile.clock is Clock.WALL:
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


def _rules(profile: TimerProfile) -> Iterator[Requirement]:
    """The rules; for a real clock only those that can be judged by intervals."""
    for rule in requirements(Component.TIMER):
        if profile.clock is Clock.MANUAL or rule.id in _ON_A_REAL_CLOCK:
            yield rule


def _suited(
    configuration: TimerConfiguration, operations: tuple[Operation, ...], profile: TimerProfile
) -> tuple[Operation, ...] | None:
    """The case without its runs where the executor is not stepped; none on a real clock."""
    del configuration
    if profile.clock is Clock.WALL or not delays_are_offered(operations, profile):
        return None
    stepped = profile.executor is Executor.STEPPED
    return tuple(op for op in operations if stepped or not isinstance(op, RunOne))


def _alternatives(profile: TimerProfile) -> Iterator[tuple[str, Profile]]:
    yield from sibling_profiles(profile, "rounding", "negative_delay", "larger_delay")
    if profile.same_tick_order is SameTickOrder.FIFO:
        yield from sibling_profiles(profile, "same_tick_order")
    if profile.executor is Executor.THREAD:
        yield "executor threads", structs.replace(profile, executor=Executor.THREADS)
    if profile.structure is Structure.DELAY_QUEUE_WHEEL:
        yield from sibling_profiles(profile, "structure")
    else:
        yield from sibling_profiles(profile, "already_due")


def _draw_configuration(
    profile: TimerProfile, source: Source, wanted: frozenset[str]
) -> TimerConfiguration:
    if profile.clock is Clock.WALL:
        return draw_real_clock_configuration(source)
    return draw_configuration(profile, source, wanted)


def _draw_operations(
    configuration: TimerConfiguration,
    profile: TimerProfile,
    source: Source,
    most: int,
    wanted: frozenset[str],
) -> tuple[Operation, ...]:
    if profile.clock is Clock.WALL:
        return draw_real_clock_operations(profile, source)
    return draw_operations(configuration, profile, source, most=most, wanted=wanted)


TIMER_SUPPORT = ComponentSupport(
    component=Component.TIMER,
    configuration_type=TimerConfiguration,
    profile_type=TimerProfile,
    variants=VARIANTS,
    situations=tuple(row.name for row in TIMER_TABLE),
    judge_of=_judge,
    rules_of=_rules,
    suit=_suited,
    siblings=_alternatives,
    configuration_of=_draw_configuration,
    draft_of=TimerDraft,
    operations_of=_draw_operations,
    is_usable=timer_is_usable,
    describe_operation=describe_timer_operation,
    describe_outcome=lambda _, outcome: describe_timer_outcome(outcome),
    configuration_words=describe_timer_configuration,
    profile_words=describe_timer_profile,
    describe_state=describe_timer_state,
    picture=lambda case, number: wheel_picture(scene_of(case), case.divergence, number),
)
"""What the suite knows of the timer."""
