"""The control: a timer written by nobody who wrote the model passes the whole suite."""

from collections import Counter

import msgspec
import pytest

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.generation.timer.table import draw_configuration, draw_operations
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.specimens.small_timer import PROFILE, SmallTimer, small_subject
from purgatory_conformance.specimens.timer_mutants import SILENT_PROFILE
from purgatory_conformance.specimens.wrong import arming, executor, expiry, wheel
from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.support.support import Candidate
from purgatory_spec.operations import Add, Cancel, Shutdown, Wait
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Component, Executor, SameTickOrder, Structure, TimerProfile
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import Level, requirements

CASES = 300


def drawn(profile: TimerProfile, seed: int) -> Candidate:
    source = SeededSource(seed)
    configuration = draw_configuration(profile, source, frozenset())
    return Candidate(configuration, draw_operations(configuration, profile, source, most=50))


def run_of(subject: Subject, case: Candidate) -> CaseRun:
    return run_case(subject, "case", case.configuration, case.operations)


PROFILES = [
    msgspec.structs.replace(PROFILE, executor=each, structure=structure, same_tick_order=order)
    for each in Executor
    for structure in Structure
    for order in SameTickOrder
]


@pytest.mark.parametrize(
    "profile",
    PROFILES,
    ids=lambda p: f"{p.executor.value}-{p.structure.value}-{p.same_tick_order.value}",
)
def test_small_timer_conforms_under_every_profile(profile: TimerProfile) -> None:
    """
    Given the small timer, which shows everything, under a profile
    When generated cases run
    Then all of them pass
    """
    subject = small_subject(profile=profile)
    for seed in range(60):
        run = run_of(subject, drawn(profile, seed))
        assert run.verdict is CaseVerdict.PASS, run.divergence


def test_small_timer_is_put_to_every_test() -> None:
    """
    Given the small timer
    When generated cases run
    Then every MUST that applies to it was visited: a pass is not an empty one
    """
    visits: Counter[str] = Counter()
    subject = small_subject()
    for seed in range(CASES):
        run = run_of(subject, drawn(PROFILE, seed))
        assert run.verdict is CaseVerdict.PASS, run.divergence
        visits.update(run.visits)
    applicable = {
        r.id
        for r in requirements(Component.TIMER)
        if r.applies_to(PROFILE) and r.level is Level.MUST
    }
    assert applicable <= set(visits)


def test_unplanned_failure_is_internal() -> None:
    """
    Given a timer that fails to cancel what it does not know
    When an unknown task is cancelled
    Then the operation is rejected as internal, with the exception in the detail
    """
    subject = small_subject(arming.CancelUnknownFails)
    subject.new("unknown", drawn(PROFILE, 0).configuration)
    (outcome,) = subject.do_all([Cancel("a")])
    assert (outcome.rejected, outcome.detail) == (Reason.INTERNAL, "KeyError('a')")


def test_operation_of_a_real_clock_is_unsupported() -> None:
    """
    Given the small timer, whose clock is moved by hand
    When it is asked to wait, and after shutdown to add
    Then it says that it cannot wait, and that it is closed
    """
    subject = small_subject()
    subject.new("wait", drawn(PROFILE, 0).configuration)
    waited, closed, added = subject.do_all([Wait(1), Shutdown(), Add("a", 0)])
    assert waited.rejected is Reason.UNSUPPORTED
    assert (closed.rejected, added.rejected) == (None, Reason.CLOSED)


def test_step_before_the_first_new_is_refused() -> None:
    """
    Given a subject without an instance
    When a step is asked for
    Then it says so, and again after the instance was dropped
    """
    subject = small_subject()
    with pytest.raises(ValueError, match="before the first new"):
        list(subject.do_all([Shutdown()]))
    subject.new("once", drawn(PROFILE, 0).configuration)
    subject.end()
    with pytest.raises(ValueError, match="before the first new"):
        list(subject.do_all([Shutdown()]))


VISIBLE_BY_EVENTS = (
    (expiry.RoundsUp, "TIMER-ROUNDING"),
    (expiry.EarlyAtTickTen, "TIMER-NOT-EARLY"),
    (expiry.OneTickLate, "TIMER-NOT-LATE"),
    (expiry.TicksBackwards, "TIMER-TICK-ORDER"),
    (expiry.BucketKeepsTasks, "TIMER-EXACTLY-ONCE"),
    (expiry.ZeroDropped, "TIMER-ZERO-DELAY"),
    (expiry.HugeWraps, "TIMER-LARGEST-DELAY"),
    (arming.ReaddLeavesOldArming, "TIMER-READD-PENDING"),
    (arming.CancelSticks, "TIMER-READD-CANCELLED"),
    (arming.OnlyOnce, "TIMER-READD-FIRED"),
    (arming.ReaddTakesQueuedRun, "TIMER-READD-FIRED"),
    (arming.CancelledStillFires, "TIMER-CANCEL"),
    (arming.CancelTakesQueuedRun, "TIMER-CANCEL-TOO-LATE"),
    (executor.LastInFirstOut, "TIMER-EXECUTOR-ORDER"),
    (executor.ThrowLosesBatch, "TIMER-THROWING-TASK"),
    (executor.CancelInsideIgnored, "TIMER-CANCEL-INSIDE"),
    (executor.AdvanceInsideIgnored, "TIMER-ADVANCE-INSIDE"),
    (executor.ShutdownEmptiesQueue, "TIMER-SHUTDOWN-QUEUE"),
    (wheel.LostOnCascade, "TIMER-NOT-LATE"),
    (wheel.ExpiresWithItsBucket, "TIMER-NOT-EARLY"),
)
"""Wrong timers that declare no structure and show nothing, with the rule that is left to blame."""


@pytest.mark.parametrize(
    ("timer", "rule"), VISIBLE_BY_EVENTS, ids=lambda value: getattr(value, "__name__", None)
)
def test_events_alone_name_the_rule(timer: type[SmallTimer], rule: str) -> None:
    """
    Given a wrong timer behind a first adapter, which shows nothing but events
    When generated cases run until one fails, and that one is reduced
    Then it diverges by its rule, and never by one about timing wheels
    """
    subject = small_subject(timer, SILENT_PROFILE)

    def fails(case: Candidate) -> bool:
        return run_of(subject, case).verdict is CaseVerdict.FAIL

    failing = next(case for seed in range(3000) if fails(case := drawn(SILENT_PROFILE, seed)))
    run = run_of(subject, reduce_case(SILENT_PROFILE, failing, fails, 3000))
    assert run.divergence is not None
    assert run.divergence.rule == rule


def test_tasks_run_inline_without_being_stepped() -> None:
    """
    Given the small timer with an inline executor
    When a task without delay is added
    Then the step shows that it ran and nothing of its expiry
    """
    subject = small_subject(profile=msgspec.structs.replace(PROFILE, executor=Executor.INLINE))
    subject.new("inline", drawn(PROFILE, 0).configuration)
    (outcome,) = subject.do_all([Add("a", 0)])
    assert [event.kind for event in outcome.events] == [EventKind.RAN]
    assert outcome.observed["queued"] == 0
