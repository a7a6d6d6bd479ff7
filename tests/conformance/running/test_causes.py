"""Causes: repeated, shrunk within their rule, and one for each fault."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from types import ModuleType
from typing import ClassVar

import pytest
from msgspec import structs

from purgatory_conformance.reporting.results import results_of
from purgatory_conformance.running.campaign import SUITES, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.running.causes import CauseSearch
from purgatory_conformance.running.shrinking import is_part_of
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.specimens.small.timer import PROFILE, SmallTimer, Task, small_subject
from purgatory_conformance.specimens.wrong.executor import last_in_first_out
from purgatory_conformance.specimens.wrong.expiry import ticks_backwards, zero_dropped
from purgatory_conformance.specimens.wrong.wheel import wakes_every_tick
from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.components import PROFILES, narrowed
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, EventKind, Outcome
from tests.strangers.purgatories import copy_on_write, one_lock
from tests.strangers.timers import calendar_queue, hierarchical_wheel

pytestmark = pytest.mark.recorded

QUICK = replace(SUITES["quick"], shrink_runs=200)


def campaign_of(subject: InProcessSubject, seed: int = 1) -> Campaign:
    return run_campaign(subject, profiles.Component.TIMER, seed=seed, budget=QUICK)


def states_of(campaign: Campaign, subject: InProcessSubject) -> dict[str, str]:
    results = results_of(
        campaign,
        subject="subject",
        implementation=subject.implementation,
        profile=subject.profiles[campaign.component],
        suite="quick",
        suite_version="0",
        schema="",
        replays={},
    )
    return {rule.id: rule.state for rule in results.rules}


def shuffling(design: type) -> InProcessSubject:
    """A design that runs the tasks of a tick in any order, as far as this suite knows its words."""
    stranger = calendar_queue.STRANGER
    known = PROFILES[profiles.Component.TIMER].__struct_fields__
    words = {name: value for name, value in stranger.profile.items() if name in known}
    return replace(stranger, profile=words).subject(design)


def test_an_order_that_is_left_free_is_no_nondeterminism() -> None:
    """It is not conformant, and the case is shrunk to few steps: two tasks and their end."""
    campaign = campaign_of(shuffling(calendar_queue.OrderOfDays), seed=3)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    # The order is drawn by chance: how an arming came about may be named in the rule's place.
    cause = max(campaign.causes, key=lambda each: each.cases)
    assert "TIMER-TICK-ORDER" in {cause.rule, *cause.also}
    assert cause.steady
    assert 3 <= len(cause.shrunk.steps) <= 5
    failed, repeats = cause.answers or (5, 5)
    assert 0 <= failed <= repeats == 5


class FailsSeldom(SmallTimer):
    """Loses a task whose delay it meets for the first time, and one of 4 ms always."""

    met: ClassVar[set[int]] = set()

    def add(self, task: Task, delay_ms: int, script: tuple[op.Action, ...] | None = None) -> None:
        if delay_ms in self.met and delay_ms != 4:
            super().add(task, delay_ms, script)
        self.met.add(delay_ms)


@pytest.mark.parametrize(("most_ms", "is_steady"), [(3, False), (4, True)])
def test_further_cases_are_repeated_where_the_shortest_fail_seldom(
    most_ms: int, is_steady: bool
) -> None:
    FailsSeldom.met.clear()
    subject = small_subject(FailsSeldom)
    runs = [
        run_case(
            subject, f"{ms} ms", profiles.TimerConfiguration(), (op.Add("t1", ms), op.Advance(ms))
        )
        for ms in range(1, most_ms + 1)
    ]
    divergences = {run.divergence.cause for run in runs if run.divergence}
    assert len(divergences) == 1
    search = CauseSearch(subject, (), seed=1, shrink_runs=50)
    (cause,) = search.causes(dict.fromkeys(divergences, runs), lambda: None)
    assert cause.steady is is_steady
    assert cause.answers == (None if is_steady else (0, 5))


def test_a_free_order_alone_is_no_failure() -> None:
    """Given the same design without the fault: the order of ticks is not blamed."""
    campaign = campaign_of(shuffling(calendar_queue.CalendarQueueTimer))
    assert "TIMER-TICK-ORDER" not in campaign.blamed


class Simulated:
    """A timer that claims a real clock; its readings are made up, so that no test has to wait."""

    def __init__(self, late_ms: Callable[[], int]) -> None:
        self.now_ms, self.late_ms = 0, late_ms()
        self.due: dict[str, int] = {}

    def do(self, operation: op.Operation) -> Outcome:
        called_ms = self.now_ms
        events: list[Event] = []
        match operation:
            case op.Add(task, delay_ms):
                self.due[task] = self.now_ms + max(delay_ms, 0) + self.late_ms
            case op.Cancel(task):
                self.due.pop(task, None)
            case op.Wait(for_ms):
                self.now_ms += for_ms
        for task, at_ms in sorted(self.due.items(), key=lambda item: item[1]):
            if at_ms <= self.now_ms:
                events.append(Event(EventKind.RAN, task, at_ms=max(at_ms, called_ms)))
                del self.due[task]
        return Outcome(events=tuple(events), called_ms=called_ms, returned_ms=self.now_ms)

    def close(self) -> None:
        self.due.clear()


def simulated(late_ms: Callable[[], int]) -> InProcessSubject:
    profile = profiles.TimerProfile(
        clock=profiles.Clock.WALL,
        executor=profiles.Executor.THREAD,
        lateness_ms=20,
        features=frozenset(
            {profiles.Feature.CANCEL, profiles.Feature.READD, profiles.Feature.CHANGE_DELAY}
        ),
    )

    def make(configuration: profiles.Configuration) -> Simulated:
        assert narrowed(configuration, profiles.TimerConfiguration).start_ms == 0
        return Simulated(late_ms)

    return subject_of(make, profile)


def test_lateness_that_is_not_seen_again_is_inconclusive() -> None:
    """The verdict is inconclusive and says so, nothing is hinted at, and the rule did not hold."""
    cases = count()
    subject = simulated(lambda: 500 if next(cases) == 3 else 0)
    campaign = campaign_of(subject)
    assert campaign.verdict is Verdict.INCONCLUSIVE
    assert campaign.verdict.exit_code == 4
    assert "TIMER-LATENESS failed once and in 0 of 5 repetitions" in campaign.why
    assert [cause.ways_out for cause in campaign.causes] == [()]
    assert states_of(campaign, subject)["TIMER-LATENESS"] == "doubtful"


def test_lateness_that_is_seen_again_is_a_failure() -> None:
    """The first is not conformant, and the second is."""
    assert campaign_of(simulated(lambda: 500)).verdict is Verdict.NOT_CONFORMANT
    assert campaign_of(simulated(lambda: 0)).verdict is Verdict.CONFORMANT


class DropsZeroAndStacks(SmallTimer):
    """Drop what is due at once, and run the last task first: two faults."""

    add = zero_dropped.add
    next_to_run = last_in_first_out.next_to_run


class TicksBackwardsAndWakes(SmallTimer):
    """Have two faults, of which one shows in nearly every case."""

    in_order = ticks_backwards.in_order
    next_expiry = wakes_every_tick.next_expiry


def test_two_faults_are_two_causes_with_their_own_rules() -> None:
    for timer, rules in (
        (DropsZeroAndStacks, {"TIMER-ZERO-DELAY", "TIMER-EXECUTOR-ORDER"}),
        (TicksBackwardsAndWakes, {"TIMER-TICK-ORDER", "TIMER-WAKE-UP"}),
    ):
        campaign = campaign_of(small_subject(timer, PROFILE, "two faults"), seed=3)
        named = [rules & {cause.rule, *cause.also} for cause in campaign.causes]
        assert sorted(rule for each in named for rule in each) == sorted(rules)
        assert max(map(len, named)) == 1
        for cause in campaign.causes:
            assert cause.shrunk.breaks(cause.rule)


def test_one_fault_is_one_cause() -> None:
    """There is one cause, which names both rules."""
    wrong = mutant("cancel-fired-counts")
    for seed in (0, 1):
        campaign = campaign_of(narrowed(wrong.make(), InProcessSubject), seed)
        (cause,) = campaign.causes
        assert {"TIMER-CANCEL-FIRED", "TIMER-CANCEL-INSIDE"} <= {cause.rule, *cause.also}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stranger", "design", "rules"),
    [
        (copy_on_write, copy_on_write.NoSecondTry, {"SECOND-TRY-THROWS", "WATCH-SECOND-TRY"}),
        (one_lock, one_lock.ExpiresTheCompleted, {"TIMER-LEFT", "WATCH-SECOND-TRY"}),
        (
            hierarchical_wheel,
            hierarchical_wheel.LosesWhatShouldMoveDown,
            {"TIMER-SIZE", "TIMER-NOT-LATE"},
        ),
    ],
    ids=["an answer behind an event", "put down to either rule", "a count and an event"],
)
def test_a_fault_that_shows_in_several_ways_is_one_cause(
    stranger: ModuleType, design: type, rules: set[str]
) -> None:
    """There is one cause, which names the rules."""
    component = stranger.STRANGER.component
    prefix = "PURGATORY-" if component is profiles.Component.PURGATORY else ""
    subject = stranger.STRANGER.subject(design)
    budget = replace(QUICK, least_cases=30, shrink_runs=60)
    campaign = run_campaign(subject, component, seed=2, budget=budget)
    (cause,) = campaign.causes
    assert {prefix + rule for rule in rules} <= {cause.rule, *cause.also}


ADVANCED = (op.Add("a", 3), op.Cancel("a"), op.Advance(3))


@pytest.mark.parametrize(
    ("operations", "is_part"),
    [
        (ADVANCED, True),
        ((op.Add("a", 3), op.Advance(3)), True),
        ((op.Advance(2),), True),
        ((op.Add("a", 2), op.Advance(3)), False),
        ((op.Add("a", 3), op.Advance(4)), False),
        ((op.Add("a", 3), op.Cancel("a")), False),
        ((op.Cancel("a"), op.Add("a", 3), op.Advance(3)), False),
        ((), False),
    ],
)
def test_a_part_leaves_out_and_changes_nothing_else(
    operations: tuple[op.Operation, ...], is_part: bool
) -> None:
    """Given a case that ends with an advance: the first two are parts of it."""
    whole = Candidate(profiles.TimerConfiguration(), ADVANCED)
    assert is_part_of(Candidate(profiles.TimerConfiguration(), operations), whole) is is_part
    assert not is_part_of(Candidate(profiles.TimerConfiguration(tick_ms=2), ADVANCED), whole)


def test_a_part_may_leave_out_of_a_script() -> None:
    two = Candidate(
        profiles.TimerConfiguration(),
        (op.Add("a", 1, (op.AddInside("b", 1), op.CancelInside("b"))),),
    )
    one = Candidate(profiles.TimerConfiguration(), (op.Add("a", 1, (op.CancelInside("b"),)),))
    assert is_part_of(one, two)
    assert not is_part_of(two, one)


class SizeOnceRun(SmallTimer):
    """The size is wrong once a task has run."""

    has_run = False

    def run(self, task: Task) -> None:
        """Run the task as the rules say, and note it."""
        super().run(task)
        self.has_run = True

    def size(self) -> int:
        """One too many."""
        return super().size() + self.has_run


class StacksAndCounts(SizeOnceRun):
    """Have two faults in one step of the executor."""

    next_to_run = last_in_first_out.next_to_run


class TicksBackwardsAndCounts(SizeOnceRun):
    """Have two faults in one advance."""

    in_order = ticks_backwards.in_order


@pytest.mark.parametrize(
    ("timer", "executor", "rule"),
    [
        (StacksAndCounts, profiles.Executor.STEPPED, "TIMER-EXECUTOR-ORDER"),
        (TicksBackwardsAndCounts, profiles.Executor.INLINE, "TIMER-TICK-ORDER"),
    ],
)
def test_two_faults_of_one_step_are_two_causes(
    timer: type[SmallTimer], executor: profiles.Executor, rule: str
) -> None:
    """A part of the first one's case breaks the other's rule, and yet there are two causes."""
    profile = structs.replace(PROFILE, executor=executor)
    campaign = campaign_of(small_subject(timer, profile, "two faults in a step"))
    two = {rule, "TIMER-SIZE"}
    named = [sorted(two & {cause.rule, *cause.also}) for cause in campaign.causes]
    assert sorted(filter(None, named)) == [[each] for each in sorted(two)]


def test_a_rule_that_was_blamed_is_never_said_to_have_held() -> None:
    """Every rule that a case was blamed on is broken, and others held."""
    subject = narrowed(mutant("cancel-fired-counts").make(), InProcessSubject)
    campaign = campaign_of(subject)
    states = states_of(campaign, subject)
    assert len(campaign.blamed) > len(campaign.causes)
    assert {states[rule] for rule in campaign.blamed} == {"broken"}
    assert "held" in states.values()
    assert not set(campaign.blamed) & {rule.id for rule in campaign.held}


def test_a_failure_of_a_campaign_that_ended_early_is_not_forgotten() -> None:
    """Given a campaign that knows of a failing case and has no cause for it: the rule is broken."""
    subject = narrowed(mutant("rounds-up").make(), InProcessSubject)
    campaign = Campaign(profiles.Component.TIMER, 1, QUICK, ())
    campaign.rules = campaign_of(subject).rules
    campaign.visits.update({rule.id: 100 for rule in campaign.rules})
    assert set(states_of(campaign, subject).values()) == {"held"}
    campaign.blamed["TIMER-ROUNDING"] += 1
    assert states_of(campaign, subject)["TIMER-ROUNDING"] == "broken"
