"""The control: a timer written by nobody who wrote the model passes the whole suite."""

from collections import Counter

import msgspec
import pytest

from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.specimens.small.other_timers import (
    HeapTimer,
    RetryingTimer,
    StoppingTimer,
    TickerTimer,
)
from purgatory_conformance.specimens.small.timer import PROFILE, SmallTimer, small_subject
from purgatory_conformance.specimens.wrong import arming
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Cancel, Shutdown, Wait
from purgatory_spec.outcomes import EventKind
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import Level, requirements
from tests.conformance.generated import drawn, passes, run_of

pytestmark = pytest.mark.recorded

CASES = 300
ANY = profiles.Structure.ANY
ACTS = frozenset(
    {profiles.Feature.SCRIPT_ADD, profiles.Feature.SCRIPT_CANCEL, profiles.Feature.SCRIPT_ADVANCE}
)
OF_WHEELS = frozenset(
    {
        profiles.Observable.WHEEL_CLOCK,
        profiles.Observable.QUEUED_BUCKETS,
        profiles.Observable.NEXT_EXPIRY,
        profiles.Observable.LEVELS,
    }
)


PROFILES = [
    msgspec.structs.replace(PROFILE, executor=each, structure=structure, same_tick_order=order)
    for each in profiles.Executor
    if each is not profiles.Executor.THREADS  # which goes with neither scripts nor order
    for structure in profiles.Structure
    for order in profiles.SameTickOrder
]


@pytest.mark.parametrize(
    "profile",
    PROFILES,
    ids=lambda p: f"{p.executor.value}-{p.structure.value}-{p.same_tick_order.value}",
)
def test_small_timer_conforms_under_every_profile(profile: profiles.TimerProfile) -> None:
    passes(small_subject(profile=profile), profiles.Component.TIMER, 60)


@pytest.mark.parametrize("executor", [profiles.Executor.STEPPED, profiles.Executor.THREADS])
@pytest.mark.parametrize("make", [RetryingTimer, StoppingTimer, TickerTimer])
def test_there_are_several_ways_to_keep_refused_tasks(
    make: type[SmallTimer], executor: profiles.Executor
) -> None:
    """A list, the bucket that was popped, and the next tick: all conform."""
    structure = profiles.Structure.DELAY_QUEUE_WHEEL if make is StoppingTimer else ANY
    already_due = profiles.AlreadyDue.NEXT_TICK if make is TickerTimer else profiles.AlreadyDue.FREE
    of_wheels = frozenset() if make is StoppingTimer else OF_WHEELS
    acts = frozenset() if executor is profiles.Executor.STEPPED else ACTS
    profile = msgspec.structs.replace(
        PROFILE,
        executor=executor,
        structure=structure,
        already_due=already_due,
        features=PROFILE.features - acts,
        observables=PROFILE.observables - of_wheels,
    )
    passes(small_subject(make, profile=profile), profiles.Component.TIMER, 150)


def test_small_timer_is_put_to_every_test() -> None:
    """Every MUST that applies to it was visited: a pass is not an empty one."""
    visits: Counter[str] = Counter()
    subject = small_subject()
    for seed in range(CASES):
        run = run_of(subject, drawn(profiles.Component.TIMER, PROFILE, seed))
        assert run.verdict is CaseVerdict.PASS, run.divergence
        visits.update(run.visits)
    applicable = {
        r.id
        for r in requirements(profiles.Component.TIMER)
        if r.applies_to(PROFILE) and r.level is Level.MUST
    }
    assert applicable <= set(visits)


def test_unplanned_failure_is_internal() -> None:
    subject = small_subject(arming.cancel_unknown_fails)
    subject.new("unknown", profiles.TimerConfiguration())
    (outcome,) = subject.do_all([Cancel("a")])
    assert (outcome.rejected, outcome.detail) == (Reason.INTERNAL, "KeyError('a')")


def test_operation_of_a_real_clock_is_unsupported() -> None:
    subject = small_subject()
    subject.new("wait", profiles.TimerConfiguration())
    waited, closed, added = subject.do_all([Wait(1), Shutdown(), Add("a", 0)])
    assert waited.rejected is Reason.UNSUPPORTED
    assert (closed.rejected, added.rejected) == (None, Reason.CLOSED)


def test_step_before_the_first_new_is_refused() -> None:
    subject = small_subject()
    with pytest.raises(ValueError, match="before the first new"):
        list(subject.do_all([Shutdown()]))
    subject.new("once", profiles.TimerConfiguration())
    subject.end()
    with pytest.raises(ValueError, match="before the first new"):
        list(subject.do_all([Shutdown()]))


def test_tasks_run_inline_without_being_stepped() -> None:
    """The step shows that the task ran and nothing of its expiry."""
    subject = small_subject(
        profile=msgspec.structs.replace(PROFILE, executor=profiles.Executor.INLINE)
    )
    subject.new("inline", profiles.TimerConfiguration())
    (outcome,) = subject.do_all([Add("a", 0)])
    assert [event.kind for event in outcome.events] == [EventKind.RAN]
    assert outcome.observed["queued"] == 0


def test_a_heap_keeps_nothing_of_what_was_cancelled_or_moved() -> None:
    timer = HeapTimer(profiles.TimerConfiguration(), PROFILE)
    tasks = [timer.task(str(number)) for number in range(100)]
    for task in tasks * 2:
        timer.add(task, 3_600_000)
    assert len(timer.heap) == len(tasks)
    for task in tasks:
        timer.cancel(task)
    assert timer.heap == []
