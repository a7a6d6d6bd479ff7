"""Find out whether a subject's clock may be moved by years in one step.

A timer that goes from tick to tick would need hours for the way. So the step is tried from short to
long, each sixteen times as long as the one before, and the trial ends at the first that costs.
"""

import time

from msgspec import structs

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.operations import Add, Advance, Operation, Watch
from purgatory_spec.profiles import (
    LARGEST_INT,
    Clock,
    Feature,
    Profile,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryProfile,
    Structure,
    TimerConfiguration,
    TimerProfile,
)

_SPANS_MS = tuple(2**power for power in range(14, 51, 4))
"""The spans that are tried, ms; by ticks, the last of them would take years."""

_LARGEST_MS = 2**42
"""The largest span that every clock must have, ms: nanoseconds in 63 bits end behind 2^43 ms."""

_MOST_S = 0.005
"""The time that a step may take which costs nothing; one of the tries is as fast as that."""

_TRIES = 20
"""The number of tries: a busy machine makes some of them slow."""


def with_far_advance(subject: Subject, profile: Profile) -> tuple[Profile, CaseRun | None]:
    """Return the profile, with ``far_advance`` where the subject turns out to offer it.

    The first case of the trial in which the subject breaks a rule is returned as well. A clock that
    fails by centuries alone has an end, which is no fault.

    The cases of a campaign are drawn with the feature. A timer on a real clock, a pool and a server
    are not tried, nor is who declares the feature, or a wheel that goes from bucket to bucket.
    """
    match profile:
        case TimerProfile(clock=Clock.MANUAL, structure=Structure.ANY):
            feature: Feature | PurgatoryFeature = Feature.FAR_ADVANCE
        case PurgatoryProfile(structure=Structure.ANY):
            feature = PurgatoryFeature.FAR_ADVANCE
        case _:
            return profile, None
    if feature in profile.features:
        return profile, None
    wrong: CaseRun | None = None
    for span_ms in _SPANS_MS:
        is_cheap, run = _tried(subject, profile, span_ms)
        if wrong is None and run.verdict is CaseVerdict.FAIL:
            if span_ms > _LARGEST_MS:
                return profile, None
            wrong = run
        if not is_cheap:
            return profile, wrong
    return structs.replace(profile, features=profile.features | {feature}), wrong


def _tried(
    subject: Subject, profile: TimerProfile | PurgatoryProfile, span_ms: int
) -> tuple[bool, CaseRun]:
    """Decide whether a step over the span takes no time, in one of the tries; with the last try.

    Something waits meanwhile, as long as it can: where nothing waits a timer may leave out ticks.
    """
    delay_ms = min(2 * span_ms, LARGEST_INT)
    configuration: TimerConfiguration | PurgatoryConfiguration = PurgatoryConfiguration()
    waits: Operation = Watch("far", ("far",), delay_ms)
    if isinstance(profile, TimerProfile):
        configuration = TimerConfiguration()
        waits = Add("far", min(delay_ms, profile.largest_delay_ms))
    for _ in range(_TRIES):
        began_s = time.monotonic()
        run = run_case(subject, "far", configuration, (waits, Advance(span_ms)))
        seconds = time.monotonic() - began_s
        if not _went_there(run) or seconds <= _MOST_S:
            break
    return _went_there(run) and seconds <= _MOST_S, run


def _went_there(run: CaseRun) -> bool:
    """Decide whether the subject went all the way, and something waited meanwhile.

    Where the task is gone too early, the way may cost nothing for that reason.
    """
    outcomes = [step.outcome for step in run.steps]
    is_whole = len(outcomes) == len(run.operations)
    return is_whole and all(
        outcome is not None
        and outcome.rejected is None
        and (run.verdict is CaseVerdict.PASS or not outcome.events)
        for outcome in outcomes
    )
