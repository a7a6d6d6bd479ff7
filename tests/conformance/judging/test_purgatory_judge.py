"""The judge of the purgatory: what it accepts, what it counts as a visit, and what it blames."""

from collections.abc import Sequence

import msgspec
import pytest

from purgatory_conformance.judging.judgement import Divergence, TooManyStates
from purgatory_conformance.judging.purgatory.judge import STATES_CAP, PurgatoryJudge
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.specimens.purgatory_mutants import PROPOSAL_PROFILE, SILENT_PROFILE
from purgatory_conformance.specimens.small.purgatory import PROFILE, small_purgatory
from purgatory_conformance.support.registry import support_of
from purgatory_spec.operations import (
    Advance,
    Answer,
    CancelForKey,
    CancelForKeyInside,
    Check,
    CheckInside,
    Force,
    Operation,
    RunOne,
    Satisfy,
    Script,
    Shutdown,
    Watch,
)
from purgatory_spec.outcomes import Event, EventKind, Outcome, completed, expired, tried
from purgatory_spec.profiles import (
    Accounting,
    Component,
    Executor,
    PurgatoryConfiguration,
    PurgatoryObservable,
    PurgatoryProfile,
    Structure,
)
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import requirements_of_steps

MASS_EXPIRY: tuple[Operation, ...] = (
    Watch("o1", ("a",), 1),
    Advance(1),
    RunOne(),
    Advance(1),
)


def visits_of(profile: PurgatoryProfile, operations: Sequence[Operation]) -> list[set[str]]:
    """What each step of the small purgatory visits, without the rules' common beginning."""
    subject = small_purgatory(profile=profile)
    configuration = PurgatoryConfiguration(purge_interval=0)
    subject.new("visits", configuration)
    judge = PurgatoryJudge(configuration, profile)
    found = []
    for operation, outcome in zip(operations, subject.do_all(operations), strict=True):
        judgement = judge.step(operation, outcome)
        assert judgement.divergence is None
        found.append({rule.removeprefix("PURGATORY-") for rule in judgement.visited})
    return found


def blamed(
    steps: Sequence[tuple[Operation, Outcome]],
    profile: PurgatoryProfile = SILENT_PROFILE,
    configuration: PurgatoryConfiguration | None = None,
) -> Divergence:
    """The divergence of the last of these steps."""
    judge = PurgatoryJudge(configuration or PurgatoryConfiguration(), profile)
    for operation, outcome in steps[:-1]:
        assert judge.step(operation, outcome).divergence is None
    divergence = judge.step(*steps[-1]).divergence
    assert divergence is not None
    return divergence


def waits(name: str) -> Outcome:
    return Outcome(False, events=(tried(name), tried(name)))


def test_stale_operations_are_bounded_whatever_the_accounting_predicts() -> None:
    """The next pass leaves more stale operations than the interval, and that is what is blamed."""
    subject = small_purgatory(profile=PROPOSAL_PROFILE)
    run = run_case(subject, "mass", PurgatoryConfiguration(purge_interval=0), MASS_EXPIRY)
    assert run.verdict is CaseVerdict.FAIL
    assert run.divergence is not None
    assert (run.divergence.rule, run.divergence.kind, run.divergence.seen) == (
        "PURGATORY-STALE-OPERATIONS",
        "stale_operations",
        "stale_operations = 1",
    )
    assert len(run.steps) == 4


def test_bound_is_judged_only_of_quiet_advances_and_what_is_shown() -> None:
    """When they are judged, nothing is blamed: something is queued, or nobody can see it."""
    configuration = PurgatoryConfiguration(purge_interval=0)
    busy = run_case(
        small_purgatory(profile=PROPOSAL_PROFILE),
        "busy",
        configuration,
        (Watch("o2", ("b",), 2), *MASS_EXPIRY[:3], Advance(2)),
    )
    hidden = PROPOSAL_PROFILE.observables - {PurgatoryObservable.STALE_OPERATIONS}
    profile = msgspec.structs.replace(PROPOSAL_PROFILE, observables=hidden)
    unseen = run_case(small_purgatory(profile=profile), "unseen", configuration, MASS_EXPIRY)
    assert (busy.verdict, unseen.verdict) == (CaseVerdict.PASS, CaseVerdict.PASS)


def test_excused_rule_is_neither_judged_nor_visited() -> None:
    """There is no divergence, and the rule is not counted as visited."""
    configuration = PurgatoryConfiguration(purge_interval=0)
    excused = frozenset({"PURGATORY-STALE-OPERATIONS"})
    judge = PurgatoryJudge(configuration, PROPOSAL_PROFILE, excused)
    subject = small_purgatory(profile=PROPOSAL_PROFILE)
    subject.new("excused", configuration)
    visited: set[str] = set()
    for operation, outcome in zip(MASS_EXPIRY, subject.do_all(MASS_EXPIRY), strict=True):
        judgement = judge.step(operation, outcome)
        assert judgement.divergence is None
        visited |= judgement.visited
    assert "PURGATORY-PURGE-START" in visited
    assert not visited & excused


def test_stale_entries_are_bounded_under_the_exact_accounting() -> None:
    """The model diverges there, and two entries of one operation are blamed on the bound."""
    shown = frozenset({PurgatoryObservable.STALE_ENTRIES})
    profile = msgspec.structs.replace(PROFILE, observables=shown)
    second = Script((Answer.WAIT, Answer.COMPLETE))
    events = (tried("o1"), tried("o1"), completed("o1"))
    divergence = blamed(
        [
            (Watch("o1", ("a", "b"), 9, second), Outcome(True, None, events, {"stale_entries": 2})),
            (Advance(0), Outcome(observed={"stale_entries": 2})),
        ],
        profile,
        PurgatoryConfiguration(purge_interval=1),
    )
    assert divergence.rule == "PURGATORY-STALE-ENTRIES"
    assert (divergence.expected, divergence.seen) == ("stale_entries = 0", "stale_entries = 2")


def test_silent_subject_is_not_visited_by_what_it_cannot_show() -> None:
    """The purge is visited where it can be seen, and not where it cannot."""
    operations = (Watch("o1", ("a", "b"), 9), Satisfy("o1"), Check("a"), Advance(1))
    seen, unseen = visits_of(PROFILE, operations), visits_of(SILENT_PROFILE, operations)
    assert {"PURGE-START", "PURGE-REMOVES", "STALE-ENTRIES", "STALE-OPERATIONS"} <= seen[3]
    assert unseen[3] == set()
    assert {"NOT-LOST", "CHECK-COUNT", "EXACTLY-ONCE"} <= unseen[2]
    assert "CHECK-DROPS" in seen[2] - unseen[2]


def test_time_out_that_was_taken_is_visited_when_it_would_have_come() -> None:
    """Only the second advance puts it to the test that the operation has left the timer."""
    operations = (Watch("o1", ("a",), 5), Force("o1"), Advance(4), Advance(5), Advance(6))
    visited = visits_of(SILENT_PROFILE, operations)
    assert ["TIMER-LEFT" in rules for rules in visited] == [False, False, False, True, False]


def test_cancelled_time_outs_are_visited_by_their_own_rules() -> None:
    """One time-out is missing and the other one comes, each by its rule."""
    operations = (
        Watch("o1", ("a",), 5),
        Watch("o2", ("a", "b"), 5),
        CancelForKey("a"),
        Advance(5),
        Check("a"),
    )
    visited = visits_of(SILENT_PROFILE, operations)
    assert {"CANCEL-LAST-KEY", "CANCEL-KEEPS-TIME-OUT", "TIME-OUT"} <= visited[3]
    assert "CANCEL-LEAVES" in visited[4]
    assert {"CANCEL-LAST-KEY", "CANCEL-KEEPS-TIME-OUT"} <= visits_of(PROFILE, operations)[2]


def test_idle_purgatory_visits_nothing() -> None:
    """No rule was put to the test, until it is shut down again."""
    visited = visits_of(PROFILE, (Advance(5), RunOne(), Shutdown(), Advance(6), Shutdown()))
    assert visited == [set(), set(), set(), set(), {"SHUTDOWN-AGAIN"}]


COMPLETING = Script(on_complete=(CheckInside("b"),))

WRONG_STEPS: dict[str, tuple[list[tuple[Operation, Outcome]], str]] = {
    "a try of what is completed": (
        [
            (Watch("o1", ("a", "b"), 9), waits("o1")),
            (Force("o1"), Outcome(True, events=(completed("o1"),))),
            (Check("b"), Outcome(0, events=(tried("o1"),))),
        ],
        "PURGATORY-COMPLETED-NOT-TRIED",
    ),
    "a check that misses what can be completed": (
        [
            (Watch("o1", ("a",), 9), waits("o1")),
            (Satisfy("o1"), Outcome()),
            (Check("a"), Outcome(0)),
        ],
        "PURGATORY-NOT-LOST",
    ),
    "a check that completes and says nothing": (
        [
            (Watch("o1", ("a",), 9), waits("o1")),
            (Satisfy("o1"), Outcome()),
            (Check("a"), Outcome(0, events=(tried("o1"), completed("o1")))),
        ],
        "PURGATORY-CHECK-COUNT",
    ),
    "a callback whose check is lost": (
        [
            (Watch("o1", ("a",), 9, COMPLETING), waits("o1")),
            (Watch("o2", ("b",), 9), waits("o2")),
            (Force("o1"), Outcome(True, events=(completed("o1"),))),
        ],
        "PURGATORY-CHECK-INSIDE",
    ),
    "a second completion": (
        [(Force("o1"), Outcome(True, events=(completed("o1"), completed("o1"))))],
        "PURGATORY-EXACTLY-ONCE",
    ),
    "an expiration of what was forced": (
        [
            (
                Force("o1"),
                Outcome(True, events=(completed("o1"), Event(EventKind.TIMED_OUT, "o1"))),
            )
        ],
        "PURGATORY-CALLBACK-ORDER",
    ),
    "a late time-out": (
        [(Watch("o1", ("a",), 2), waits("o1")), (Advance(2), Outcome())],
        "PURGATORY-TIME-OUT",
    ),
    "an early time-out": (
        [(Watch("o1", ("a",), 2), waits("o1")), (Advance(1), Outcome(events=(expired("o1"),)))],
        "PURGATORY-TIME-OUT",
    ),
    "a cancel that calls": (
        [
            (Watch("o1", ("a",), 2), waits("o1")),
            (CancelForKey("a"), Outcome(("o1",), events=(completed("o1"),))),
        ],
        "PURGATORY-CANCEL-LEAVES",
    ),
    "an exception that nobody threw": (
        [(Check("a"), Outcome(rejected=Reason.INTERNAL))],
        "PURGATORY-CHECK-UNKNOWN",
    ),
    "a result of another type": (
        [(Force("o1"), Outcome(1, events=(completed("o1"),)))],
        "PURGATORY-FORCE",
    ),
}


@pytest.mark.parametrize("name", WRONG_STEPS)
def test_wrong_step_is_blamed_on_its_rule(name: str) -> None:
    """Given a case whose last step is wrong: the rule that it breaks is named."""
    steps, rule = WRONG_STEPS[name]
    assert blamed(steps).rule == rule


def test_what_is_wrong_inside_may_be_declared_from_outside() -> None:
    """The callback's rule is blamed, and the rule about the time-out also explains it."""
    shown = frozenset({PurgatoryObservable.TIMER_SIZE})
    profile = msgspec.structs.replace(PROFILE, observables=shown)
    cancels = Script(on_complete=(CancelForKeyInside("b"),))
    divergence = blamed(
        [
            (
                Watch("o1", ("a", "b"), 9),
                msgspec.structs.replace(waits("o1"), observed={"timer_size": 1}),
            ),
            (
                Watch("o2", ("a",), 9, cancels),
                msgspec.structs.replace(waits("o2"), observed={"timer_size": 2}),
            ),
            (Force("o2"), Outcome(True, None, (completed("o2"),), {"timer_size": 0})),
        ],
        profile,
    )
    assert divergence.rule == "PURGATORY-CANCEL-INSIDE"
    assert "PURGATORY-CANCEL-KEEPS-TIME-OUT" in divergence.also


def test_inline_order_that_nobody_expects_is_blamed() -> None:
    """The one that is missing is blamed, without going through all orders."""
    profile = msgspec.structs.replace(SILENT_PROFILE, executor=Executor.INLINE)
    names = [f"o{number}" for number in range(1, 12)]
    steps: list[tuple[Operation, Outcome]] = [
        (Watch(name, ("a",), 1), waits(name)) for name in names
    ]
    events = [
        event
        for name in names[:-1]
        for event in (completed(name), Event(EventKind.TIMED_OUT, name))
    ]
    divergence = blamed([*steps, (Advance(1), Outcome(events=tuple(events)))], profile)
    assert divergence.rule == "PURGATORY-TIME-OUT"
    assert divergence.kind == "missing"


def _second_try_completes(number: int) -> tuple[Operation, Outcome]:
    name = f"o{number}"
    events = (tried(name), tried(name), completed(name))
    script = Script((Answer.WAIT, Answer.COMPLETE))
    return Watch(name, ("a",), number, script), Outcome(True, events=events)


def test_too_many_states_are_told() -> None:
    """The judge carries both for each, up to its cap, and then says that it cannot follow."""
    profile = PurgatoryProfile(executor=Executor.STEPPED, structure=Structure.DELAY_QUEUE_WHEEL)
    judge = PurgatoryJudge(PurgatoryConfiguration(wheel_size=20), profile)
    counts = []
    for number in range(1, 9):
        judge.step(*_second_try_completes(number))
        counts.append(len(judge.states))
    with pytest.raises(TooManyStates):
        judge.step(*_second_try_completes(9))
    assert counts == [2**number for number in range(1, 9)]
    assert counts[-1] == STATES_CAP
    assert judge.state in judge.states


def test_rules_that_cannot_be_shown_are_not_asked_for() -> None:
    """Those are left out whose breach it would never show."""
    support = support_of(Component.PURGATORY)

    def judged(profile: PurgatoryProfile) -> set[str]:
        return {rule.id.removeprefix("PURGATORY-") for rule in support.judged_rules(profile)}

    rules = requirements_of_steps(Component.PURGATORY)
    everything = {rule.id.removeprefix("PURGATORY-") for rule in rules}
    assert judged(PROFILE) == everything - {"ESTIMATE-PROPOSAL"}
    assert everything - judged(PROPOSAL_PROFILE) == {
        "PENDING",
        "ESTIMATE-EXACT",
        "STALE-ENTRIES",
    }
    stepped = msgspec.structs.replace(PurgatoryProfile(), executor=Executor.STEPPED)
    assert judged(stepped) - judged(PurgatoryProfile()) == {"LOST-EXPIRY", "TIMER-LEFT"}
    hidden = {"PURGE-START", "PURGE-REMOVES", "CHECK-DROPS"}
    assert hidden <= judged(PROFILE) - judged(SILENT_PROFILE)
    assert not hidden & judged(PurgatoryProfile(accounting=Accounting.EXACT))
