"""Campaigns: each verdict arises where it should, and none where it should not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import msgspec
import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import SUITES, Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.subject import FailureKind, SubjectFailure
from purgatory_judge.case_judge import Deviation
from purgatory_judge.components import narrowed
from purgatory_judge.timer import judge as timer_judge
from purgatory_spec.cases import Case, Step, TimerCaseHeader
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Add, Advance, Elapse, Operation, Shutdown
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Executor,
    Feature,
    Observable,
    Profile,
    Rounding,
    Structure,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

QUICK = replace(SUITES["quick"], shrink_runs=200)


class Wrapped:
    """The bundled timer behind a hook that may change what is seen."""

    def __init__(self, profile: TimerProfile = PROFILE) -> None:
        self.inner = bundled_subject()
        self._profile = profile
        self.operations = 0

    @property
    def implementation(self) -> Implementation:
        return self.inner.implementation

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        return {Component.TIMER: self._profile}

    def new(self, case: str, configuration: Configuration) -> None:
        self.inner.new(case, configuration)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        for operation in operations:
            (outcome,) = self.inner.do_all([operation])
            self.operations += 1
            yield self.seen(operation, outcome)

    def seen(self, operation: Operation, outcome: Outcome) -> Outcome:
        return outcome

    def end(self) -> None:
        self.inner.end()

    def close(self) -> None:
        self.inner.close()


def campaign_of(
    subject: Wrapped | InProcessSubject,
    *,
    seed: int = 7,
    budget: Budget = QUICK,
    vectors: Sequence[Case] = (),
    deviations: tuple[Deviation, ...] = (),
    replays: Sequence[tuple[str, Case]] = (),
    only_rules: frozenset[str] = frozenset(),
) -> Campaign:
    try:
        return run_campaign(
            subject,
            Component.TIMER,
            seed=seed,
            budget=budget,
            vectors=vectors,
            deviations=deviations,
            replays=replays,
            only_rules=only_rules,
        )
    finally:
        subject.close()


def test_bundled_timer_is_conformant() -> None:
    """It is conformant, all vectors ran, and every applicable rule was visited often enough."""
    campaign = campaign_of(bundled_subject(), vectors=vectors(Component.TIMER))
    assert (campaign.verdict, campaign.causes, campaign.failures) == (Verdict.CONFORMANT, [], [])
    assert campaign.vectors == len(vectors(Component.TIMER))
    assert campaign.too_few == []
    assert min(campaign.visits[rule.id] for rule in campaign.rules) >= 20


def test_vectors_do_not_count_for_coverage() -> None:
    """No rule was visited, and the verdict is inconclusive."""
    campaign = campaign_of(
        bundled_subject(), vectors=vectors(Component.TIMER), budget=Budget(most_cases=0)
    )
    assert (campaign.verdict, campaign.why) == (Verdict.INCONCLUSIVE, "no case was generated")
    assert campaign.vectors == len(vectors(Component.TIMER))
    assert sum(campaign.visits.values()) == 0


def test_too_few_visits_are_inconclusive() -> None:
    campaign = campaign_of(bundled_subject(), budget=Budget(least_cases=1, most_cases=3))
    assert campaign.verdict is Verdict.INCONCLUSIVE
    assert "visited fewer than 20 times: TIMER-" in campaign.why


def test_only_the_rules_asked_for_must_be_visited() -> None:
    """Given two rules that are asked for, when a campaign runs, these two alone are reported."""
    asked = frozenset({"TIMER-CASCADE", "TIMER-SIZE"})
    campaign = campaign_of(bundled_subject(), only_rules=asked)
    assert {rule.id for rule in campaign.rules} == asked
    assert campaign.verdict is Verdict.CONFORMANT


def test_too_many_possible_states_are_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a judge that may carry no state at all: it is inconclusive, not conformant."""
    monkeypatch.setattr(timer_judge, "STATES_CAP", 0)
    campaign = campaign_of(bundled_subject(), budget=Budget(least_cases=5, most_cases=5))
    assert campaign.verdict is Verdict.INCONCLUSIVE
    assert "too many states" in campaign.why


def test_equal_seeds_give_equal_campaigns() -> None:
    """The equal seeds give equal counts, and the other does not."""
    first, second, other = (
        campaign_of(bundled_subject(), seed=seed, budget=Budget(least_cases=40, most_cases=40))
        for seed in (1, 1, 2)
    )
    assert (first.steps, first.visits) == (second.steps, second.visits)
    assert first.visits != other.visits


@pytest.mark.recorded
def test_steering_reaches_the_minimum_sooner() -> None:
    """Given a minimum that takes a while: every rule reached it before the cases ran out."""
    budget = Budget(least_cases=1, most_cases=500, minimum_visits=60)
    campaign = campaign_of(bundled_subject(), budget=budget)
    assert campaign.too_few == []
    assert campaign.cases < 500


def each_look_at_the_clock(monkeypatch: pytest.MonkeyPatch, takes_s: int) -> None:
    """Let so many seconds pass between two looks at the clock."""
    clock = SimpleNamespace(monotonic=count(0, takes_s).__next__)
    monkeypatch.setattr("purgatory_conformance.running.campaign.time", clock)


@pytest.mark.recorded
def test_a_slow_machine_gives_the_same_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign with hours between its cases is that of a fast machine, except for its time."""
    fast = campaign_of(bundled_subject(), budget=SUITES["quick"])
    each_look_at_the_clock(monkeypatch, takes_s=3600)
    slow = campaign_of(bundled_subject(), budget=SUITES["quick"])
    assert slow.seconds > 100 * 3600
    slow.seconds = fast.seconds
    assert slow == fast


def test_time_ends_a_campaign_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict says so, and names the option."""
    each_look_at_the_clock(monkeypatch, takes_s=1)
    campaign = campaign_of(bundled_subject(), budget=Budget(seconds=10))
    assert campaign.cases == 9
    assert campaign.verdict is Verdict.INCONCLUSIVE
    assert campaign.ended_by == "the time of --seconds 10 was over"
    assert campaign.why.endswith(f"it ended after 9 cases, since {campaign.ended_by}")


def test_what_a_suite_cannot_reach_names_the_larger_one() -> None:
    campaign = campaign_of(bundled_subject(), budget=Budget(least_cases=2, most_cases=4))
    assert campaign.cases == 4
    assert campaign.why.endswith("since this suite has no more; a larger --suite has")


class ForgetsOnce(Wrapped):
    """Loses the events of every 211th advance that has any, counted over all cases."""

    def __init__(self) -> None:
        super().__init__()
        self.advances = 0

    def seen(self, operation: Operation, outcome: Outcome) -> Outcome:
        self.advances += isinstance(operation, Advance) and bool(outcome.events)
        if isinstance(operation, Advance) and outcome.events and self.advances % 211 == 0:
            return msgspec.structs.replace(outcome, events=())
        return outcome


@pytest.mark.recorded
def test_a_subject_that_answers_differently_is_nondeterministic() -> None:
    """The verdict is nondeterministic, with how often it failed."""
    campaign = campaign_of(ForgetsOnce())
    assert campaign.verdict is Verdict.NONDETERMINISTIC
    assert "answered differently" in campaign.why
    failed, repeats = campaign.causes[0].answers or (0, 0)
    assert 0 <= failed <= repeats == 5


class NeverAnswers(Wrapped):
    """Fails as a broken adapter does."""

    def new(self, case: str, configuration: Configuration) -> None:
        raise SubjectFailure(FailureKind.CRASHED, "it is gone", standard_error="Traceback")


def test_a_subject_that_fails_is_not_judged() -> None:
    """It ends after three failures, with the verdict that the subject failed."""
    campaign = campaign_of(NeverAnswers())
    assert (campaign.verdict, len(campaign.failures)) == (Verdict.SUBJECT_FAILED, 3)
    assert campaign.failures[0].standard_error == "Traceback"


class RoundsUp(Wrapped):
    """Moves every expiry to the end of its tick, which is rounding up."""

    def __init__(self) -> None:
        observables = frozenset({Observable.SIZE})
        features = frozenset({Feature.CANCEL, Feature.ELAPSE})
        super().__init__(
            TimerProfile(
                executor=Executor.STEPPED,
                largest_delay_ms=PROFILE.largest_delay_ms,
                observables=observables,
                features=features,
            )
        )
        self.tick_ms = 1
        self.now_ms = 0

    def new(self, case: str, configuration: Configuration) -> None:
        arguments = narrowed(configuration, TimerConfiguration)
        self.tick_ms, self.now_ms = arguments.tick_ms, arguments.start_ms
        super().new(case, configuration)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        for operation in operations:
            if isinstance(operation, Advance | Elapse):
                self.now_ms = operation.to_ms
            if isinstance(operation, Add) and operation.delay_ms < PROFILE.largest_delay_ms - 10:
                expiry = self.now_ms + operation.delay_ms
                rounded = -(-expiry // self.tick_ms) * self.tick_ms
                operation = Add(operation.task, rounded - self.now_ms)
            yield from super().do_all([operation])


def test_an_undeclared_choice_is_recognised() -> None:
    campaign = campaign_of(RoundsUp())
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    (cause,) = campaign.causes
    assert cause.rule == "TIMER-ROUNDING"
    assert [(way.line, way.variant) for way in cause.ways_out] == [('"rounding": "up"', "")]
    # A delay that is moved beyond the largest one is refused, which is not rounding.
    assert "failing cases pass under rounding up" in cause.ways_out[0].words
    assert cause.ways_out[0].words.endswith("; if that is your design, declare it")


@pytest.mark.recorded
def test_a_real_fault_is_no_choice() -> None:
    """No other profile is offered as an explanation."""
    campaign = run_campaign(mutant("lost-on-cascade").make(), Component.TIMER, seed=1, budget=QUICK)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert {cause.ways_out for cause in campaign.causes} == {()}


class TakesAfterShutdown(Wrapped):
    """Accepts what is added after shutdown, as Kafka does; optionally breaks something else."""

    def __init__(self, other_fault: bool = False) -> None:
        super().__init__()
        self.other_fault = other_fault
        self.closed = False

    def new(self, case: str, configuration: Configuration) -> None:
        self.closed = False
        super().new(case, configuration)

    def seen(self, operation: Operation, outcome: Outcome) -> Outcome:
        self.closed |= isinstance(operation, Shutdown)
        if isinstance(operation, Add) and outcome.rejected is Reason.CLOSED:
            return msgspec.structs.replace(outcome, rejected=None)
        if self.other_fault and self.closed and isinstance(operation, Advance):
            return msgspec.structs.replace(outcome, rejected=Reason.TOO_LARGE, result=None)
        return outcome


SHUTDOWN_DEVIATION = Deviation("TIMER-SHUTDOWN-CLOSED", "taken_after_shutdown", "replay.jsonl")


def shutdown_replay(*operations: Operation) -> tuple[str, Case]:
    steps = tuple(Step(operation) for operation in operations)
    return "TIMER-SHUTDOWN-CLOSED", Case(TimerCaseHeader(case="replay"), steps)


@pytest.mark.recorded
def test_a_declared_deviation_is_conformant_with_deviations() -> None:
    """Its verdict says so, and the deviation was seen in generated cases too."""
    campaign = campaign_of(
        TakesAfterShutdown(),
        deviations=(SHUTDOWN_DEVIATION,),
        replays=(shutdown_replay(Shutdown(), Add("a", 5)),),
    )
    assert campaign.verdict is Verdict.CONFORMANT_WITH_DEVIATIONS
    assert campaign.verdict_words == "conformant with 1 declared deviation"
    assert campaign.why == f"{len(campaign.rules) - 1} of {len(campaign.rules)} rules held"
    assert campaign.seen["TIMER-SHUTDOWN-CLOSED"].cases > 1
    assert campaign.verdicts[CaseVerdict.DEVIATES] > 0


@pytest.mark.recorded
def test_an_undeclared_deviation_is_not_conformant() -> None:
    """Given the same subject without its declaration: it is not conformant."""
    campaign = campaign_of(TakesAfterShutdown())
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert [cause.rule for cause in campaign.causes] == ["TIMER-SHUTDOWN-CLOSED"]


@pytest.mark.recorded
def test_a_further_fault_behind_a_declared_deviation_is_found() -> None:
    campaign = campaign_of(TakesAfterShutdown(other_fault=True), deviations=(SHUTDOWN_DEVIATION,))
    assert campaign.verdict is Verdict.NOT_CONFORMANT


@pytest.mark.recorded
@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ((Shutdown(), Advance(5)), "its replay file passes: withdraw the declaration"),
        ((Add("a", 2**60), Shutdown()), "its replay file passes"),
    ],
)
def test_a_declaration_that_no_longer_holds_is_not_conformant(
    operations: tuple[Operation, ...], words: str
) -> None:
    """The declaration has to be withdrawn."""
    campaign = campaign_of(
        TakesAfterShutdown(),
        deviations=(SHUTDOWN_DEVIATION,),
        replays=(shutdown_replay(*operations),),
    )
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert words in campaign.why


def test_rounding_of_a_declared_profile_parameterises_the_prediction() -> None:
    """The same outcomes that were right are wrong."""
    operations = (Add("a", 15), Advance(10))
    configuration = TimerConfiguration(tick_ms=10)
    down = run_case(bundled_subject(), "c", configuration, operations)
    up = run_case(
        Wrapped(msgspec.structs.replace(PROFILE, rounding=Rounding.UP)),
        "c",
        configuration,
        operations,
    )
    assert (down.verdict, up.verdict) == (CaseVerdict.PASS, CaseVerdict.FAIL)
    assert PROFILE.structure is Structure.DELAY_QUEUE_WHEEL
