"""Find out whether a subject's clock may be moved by years in one step.

A timer that goes from tick to tick would need hours for the way. So the step is tried from short to
long, each sixteen times as long as the one before, and the trial ends at the first that costs.
"""

import time

from msgspec import structs

from purgatory_conformance.running.case_run import run_case
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

_MOST_S = 0.005
"""The time that a step may take which costs nothing; one of the tries is as fast as that."""

_TRIES = 20
"""The number of tries: a busy machine makes some of them slow."""


def with_far_advance(subject: Subject, profile: Profile) -> Profile:
    """Return the profile, with ``far_advance`` where the subject turns out to offer it.

    The cases of a campaign are drawn with it. A timer on a real clock, a pool and a server are not
    tried, nor is who declares the feature, or a wheel that goes from bucket to bucket.
    """
    match profile:
        case TimerProfile(clock=Clock.MANUAL, structure=Structure.ANY):
            feature: Feature | PurgatoryFeature = Feature.FAR_ADVANCE
        case PurgatoryProfile(structure=Structure.ANY):
            feature = PurgatoryFeature.FAR_ADVANCE
        case _:
            return profile
    if feature in profile.features or not all(_is_cheap(subject, profile, s) for s in _SPANS_MS):
        return profile
    return structs.replace(profile, features=profile.features | {feature})


def _is_cheap(subject: Subject, profile: TimerProfile | PurgatoryProfile, span_ms: int) -> bool:
    """Decide whether a step over the span takes no time, in one of the tries.

    Something waits meanwhile: a timer in which nothing waits may leave out ticks.
    """
    delay_ms = min(span_ms, LARGEST_INT)
    configuration: TimerConfiguration | PurgatoryConfiguration = PurgatoryConfiguration()
    waits: Operation = Watch("far", ("far",), delay_ms)
    if isinstance(profile, TimerProfile):
        configuration = TimerConfiguration()
        waits = Add("far", min(delay_ms, profile.largest_delay_ms))
    for _ in range(_TRIES):
        began_s = time.monotonic()
        run = run_case(subject, "far", configuration, (waits, Advance(span_ms)))
        seconds = time.monotonic() - began_s
        answers = [step.outcome for step in run.steps]
        if len(answers) < len(run.operations) or any(not a or a.rejected for a in answers):
            return False
        if seconds <= _MOST_S:
            return True
    return False
