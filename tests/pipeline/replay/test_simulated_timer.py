"""Timers whose users overlap, simulated: right runs conform, faults are found at their places."""

import pytest

from purgatory_pipeline.traces.lines import Call, Happened, Return, TraceLine
from purgatory_spec.operations import Add, Cancel
from purgatory_spec.profiles import NegativeDelay, Rounding

from .simulation.judged import conforms, overlapping, shown_at, verdict_of
from .simulation.machine import NS_PER_MS, Machine, Script, Thread
from .simulation.timer import TimerFault, TimerPlan
from .simulation.timer_run import RULES, SCENES, TimerRun, drawn_plan, simulated_timer

PLANS = {
    "three users": TimerPlan(),
    "eight users of two tasks": TimerPlan(threads=8, names=2),
    "ticks, rounded up, no reaper": TimerPlan(tick_ms=10, rounding=Rounding.UP, has_reaper=False),
    "ticks, rounded down, rejecting, ends abruptly": TimerPlan(
        threads=5,
        tick_ms=7,
        negative_delay=NegativeDelay.REJECT,
        lateness_ms=5,
        ends_abruptly=True,
    ),
    "a small wheel, shut down": TimerPlan(threads=2, wheel_size=2, shuts_down=True, lateness_ms=50),
    "lines written late": TimerPlan(threads=6, lag_ns=3_000_000, lateness_ms=50),
}
SEEDS = range(12)

plans = pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)


@plans
def test_a_right_run_conforms(plan: TimerPlan) -> None:
    """
    Given runs of a timer that is right, with snapshots in the middle
    When they are judged, each from its beginning and from each of its snapshots
    Then they conform, and many of their calls overlap
    """
    crowded = 0
    for seed in SEEDS:
        machine = simulated_timer(seed, plan, snapshots=3).machine
        assert conforms(machine), seed
        crowded += overlapping(machine.lines)
    assert crowded > 10 * len(SEEDS)


@pytest.mark.parametrize(
    "seeds",
    [range(30), pytest.param(range(30, 1500), marks=pytest.mark.large)],
    ids=["few", "many"],
)
def test_a_right_run_of_a_drawn_timer_conforms(seeds: range) -> None:
    for seed in seeds:
        assert conforms(simulated_timer(seed, drawn_plan(seed), snapshots=3).machine), seed


@plans
@pytest.mark.parametrize("fault", TimerFault)
def test_a_fault_is_found_where_it_was_planted(plan: TimerPlan, fault: TimerFault) -> None:
    """
    Given a run in which one thing goes wrong, at a moment that is drawn
    When it is judged
    Then the first line that is not allowed is the one that shows it, and the rule is the right one
    """
    for seed in range(4):
        machine = simulated_timer(seed, plan, SCENES[fault]).machine
        verdict = verdict_of(machine.lines)
        assert (verdict.verdict, verdict.seq) == ("diverges", shown_at(machine)), (seed, verdict)
        assert verdict.rule in RULES[fault], (seed, verdict)


def test_each_fault_has_a_scene_and_rules() -> None:
    assert set(SCENES) == set(RULES) == set(TimerFault)


def test_a_seed_stands_for_one_trace() -> None:
    plan = PLANS["eight users of two tasks"]
    again = simulated_timer(5, plan).machine.lines
    assert simulated_timer(5, plan).machine.lines == again
    assert simulated_timer(6, plan).machine.lines != again


def cancelled_when_it_may_be_due(run: TimerRun, thread: Thread) -> Script:
    """A task is cancelled in vain, at about the time at which it is due."""
    task = run.fresh(TimerFault.SURVIVES_CANCEL)
    yield from run.timer.add(thread, task, run.timer.machine.source.randrange(3))
    yield run.timer.machine.pause(1_000_000)
    yield from run.timer.cancel(thread, task)
    yield 50 * NS_PER_MS


def lines_of(machine: Machine, task: str) -> list[TraceLine]:
    """The lines that tell of a task: its calls, their returns, its runs."""
    found, inside = list[TraceLine](), dict[str, list[bool]]()
    for line in machine.lines:
        if isinstance(line, Call):
            assert isinstance(line.operation, Add | Cancel)
            concerns = line.operation.task == task
            inside.setdefault(line.thread, []).append(concerns)
        elif isinstance(line, Return):
            concerns = inside[line.thread].pop()
        else:
            concerns = isinstance(line, Happened) and line.task == task
        if concerns:
            found.append(line)
    return found


def test_what_may_have_been_handed_over_is_no_fault() -> None:
    """
    Given a timer that runs what was cancelled, if it was cancelled before it ran
    When the cancellation returns before the task can be due, or later
    Then only the former is wrong: the latter may come too late to hold the task
    """
    masked = found = 0
    for seed in range(60):
        timer = simulated_timer(seed, TimerPlan(), cancelled_when_it_may_be_due)
        (task,) = timer.wrong
        add, _, *rest = lines_of(timer.machine, task)
        cancelled = next(line for line in rest if isinstance(line, Return))
        ran = next(line for line in rest if isinstance(line, Happened))
        assert isinstance(add, Call)
        assert isinstance(add.operation, Add)
        assert add.at_ns is not None
        assert cancelled.at_ns is not None
        due_ms = add.at_ns // NS_PER_MS + add.operation.delay_ms
        verdict = verdict_of(timer.machine.lines)
        if ran.seq < cancelled.seq or due_ms <= cancelled.at_ns // NS_PER_MS:
            masked += ran.seq > cancelled.seq
            assert verdict.verdict == "conforms", (seed, verdict)
        else:
            found += 1
            assert (verdict.verdict, verdict.seq, verdict.rule) == (
                "diverges",
                ran.seq,
                "TIMER-CANCEL",
            )
    assert masked > 5
    assert found > 5


@pytest.mark.slow
def test_a_large_run_conforms() -> None:
    """
    Given 8 threads that add and cancel, half of their calls for the same four tasks
    When a run of about 50,000 lines is judged
    Then it conforms
    """
    machine = simulated_timer(1, TimerPlan(threads=8, calls=2600)).machine
    assert len(machine.lines) > 45_000
    assert verdict_of(machine.lines).verdict == "conforms"
