"""Purgatories whose users overlap, simulated: right runs conform, faults are found in place."""

import pytest

from purgatory_pipeline.traces.lines import Call, Happened, Return
from purgatory_spec.operations import Check, Watch
from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting, Rounding

from .simulation import purgatory_threads as calls
from .simulation.judged import conforms, overlapping, shown_at, verdict_of
from .simulation.machine import NS_PER_MS, Machine, Script, Thread
from .simulation.purgatory_faults import RULES, SCENES, can_go_wrong
from .simulation.purgatory_plan import PurgatoryFault, PurgatoryPlan, drawn_plan
from .simulation.purgatory_run import PurgatoryRun, simulated_purgatory

PROPOSAL = Accounting.PROPOSAL
PLANS = {
    "exact": PurgatoryPlan(),
    "proposal": PurgatoryPlan(accounting=PROPOSAL),
    "proposal, arms first": PurgatoryPlan(accounting=PROPOSAL, arms_first=True, threads=5),
    "eight users of two keys": PurgatoryPlan(threads=8, keys=2, calls=15),
    "ticks, rounded up, no reaper": PurgatoryPlan(
        tick_ms=10, rounding=Rounding.UP, has_reaper=False
    ),
    "tries untold, ends abruptly": PurgatoryPlan(threads=5, tells_tries=False, ends_abruptly=True),
    "satisfied untold, ticks, rounded down": PurgatoryPlan(
        threads=4, accounting=PROPOSAL, tells_satisfied=False, lateness_ms=5, tick_ms=7
    ),
    "no time-outs": PurgatoryPlan(time_outs=False),
    "exact, shut down": PurgatoryPlan(threads=4, shuts_down=True, lateness_ms=50),
    "proposal, shut down": PurgatoryPlan(threads=4, accounting=PROPOSAL, shuts_down=True),
    "lines written late": PurgatoryPlan(threads=6, lag_ns=3_000_000, lateness_ms=50),
}
SEEDS = range(5)

plans = pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)


@plans
def test_a_right_run_conforms(plan: PurgatoryPlan) -> None:
    """
    Given runs of a purgatory that is right, with snapshots in the middle
    When they are judged, each from its beginning and from each of its snapshots
    Then they conform, and many of their calls overlap
    """
    crowded = 0
    for seed in SEEDS:
        machine = simulated_purgatory(seed, plan, snapshots=3).machine
        assert conforms(machine), seed
        crowded += overlapping(machine.lines)
    assert crowded > 10 * len(SEEDS)


@pytest.mark.parametrize(
    "seeds",
    [range(30), pytest.param(range(30, 1500), marks=pytest.mark.large)],
    ids=["few", "many"],
)
def test_a_right_run_of_a_drawn_purgatory_conforms(seeds: range) -> None:
    for seed in seeds:
        assert conforms(simulated_purgatory(seed, drawn_plan(seed), snapshots=3).machine), seed


FAULTY = {
    f"{name}, {fault.name}": (plan, fault)
    for name, plan in PLANS.items()
    for fault in PurgatoryFault
    if can_go_wrong(plan, fault)
}


@pytest.mark.parametrize(("plan", "fault"), FAULTY.values(), ids=FAULTY)
def test_a_fault_is_found_where_it_was_planted(plan: PurgatoryPlan, fault: PurgatoryFault) -> None:
    """
    Given a run in which one thing goes wrong, at a moment that is drawn
    When it is judged
    Then the first line that is not allowed is the one that shows it, and the rule is the right one
    """
    seed = list(PurgatoryFault).index(fault)
    machine = simulated_purgatory(seed, plan, SCENES[fault]).machine
    verdict = verdict_of(machine.lines)
    assert (verdict.verdict, verdict.seq) == ("diverges", shown_at(machine)), verdict
    assert verdict.rule in RULES[fault], verdict


def test_each_fault_has_a_scene_rules_and_plans_that_show_it() -> None:
    assert set(SCENES) == set(RULES) == set(PurgatoryFault)
    for fault in PurgatoryFault:
        assert sum(can_go_wrong(plan, fault) for plan in PLANS.values()) > 8


def test_a_seed_stands_for_one_trace() -> None:
    plan = PLANS["eight users of two keys"]
    again = simulated_purgatory(5, plan).machine.lines
    assert simulated_purgatory(5, plan).machine.lines == again
    assert simulated_purgatory(6, plan).machine.lines != again


def checked_when_it_may_be_due(run: PurgatoryRun, thread: Thread) -> Script:
    """What is satisfied is not completed by a check, at about the time at which it is due."""
    purgatory, name = run.purgatory, run.fresh(PurgatoryFault.LOST_WAKE_UP)
    delay_ms = purgatory.machine.source.randrange(4)
    yield from calls.watch(purgatory, thread, name, ("own 1",), delay_ms)
    yield from calls.satisfy(purgatory, thread, name)
    yield purgatory.machine.pause(1_000_000)
    yield from calls.check(purgatory, thread, "own 1", PurgatoryFault.LOST_WAKE_UP)
    yield 50 * NS_PER_MS


def own_check(machine: Machine) -> tuple[Return, int]:
    """The return of the scene's check, with the latest reading up to it, ms."""
    thread, latest_ms = "", 0
    for line in machine.lines:
        if line.at_ns is not None:
            latest_ms = max(latest_ms, line.at_ns // NS_PER_MS)
        if isinstance(line, Call) and line.operation == Check("own 1"):
            thread = line.thread
        elif isinstance(line, Return) and line.thread == thread:
            return line, latest_ms
    raise AssertionError("the scene was not played")


def test_what_may_just_be_timing_out_is_no_lost_wake_up() -> None:
    """
    Given a purgatory that does not try what a check should complete
    When the operation cannot be due before the check has returned, or may be
    Then only the former is wrong: in the latter its time-out may just have completed it
    """
    masked = found = 0
    for seed in range(60):
        purgatory = simulated_purgatory(seed, PurgatoryPlan(), checked_when_it_may_be_due)
        machine = purgatory.machine
        name = next(each.name for each in purgatory.operations.values() if each.fault)
        watch = next(
            line
            for line in machine.lines
            if isinstance(line, Call)
            and isinstance(line.operation, Watch)
            and line.operation.operation == name
        )
        done = next(
            line
            for line in machine.lines
            if isinstance(line, Happened)
            and line.task == name
            and line.event is EventKind.COMPLETED
        )
        assert isinstance(watch.operation, Watch)
        assert watch.at_ns is not None
        returned, latest_ms = own_check(machine)
        verdict = verdict_of(machine.lines)
        if latest_ms >= watch.at_ns // NS_PER_MS + watch.operation.delay_ms:
            masked += done.seq > returned.seq
            assert verdict.verdict == "conforms", (seed, verdict)
        else:
            found += 1
            assert (verdict.verdict, verdict.seq, verdict.rule) == (
                "diverges",
                returned.seq,
                "PURGATORY-NOT-LOST",
            )
    assert masked > 5
    assert found > 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "accounting", [Accounting.EXACT, pytest.param(Accounting.PROPOSAL, marks=pytest.mark.large)]
)
def test_a_large_run_conforms(accounting: Accounting) -> None:
    """
    Given 8 threads that watch, check, force and cancel under four keys
    When a run of about 50,000 lines is judged
    Then it conforms
    """
    plan = PurgatoryPlan(threads=8, calls=1400, keys=4, accounting=accounting)
    machine = simulated_purgatory(1, plan).machine
    assert len(machine.lines) > 45_000
    assert verdict_of(machine.lines).verdict == "conforms"
