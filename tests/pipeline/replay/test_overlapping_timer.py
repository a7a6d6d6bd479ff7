"""Timers on a real clock: expiries are intervals, and calls of one task may overlap."""

import heapq
import random

import pytest

from purgatory_conformance.judging.real_clock_judge import RealClockJudge
from purgatory_pipeline.replay.judges import judge_of
from purgatory_pipeline.traces.lines import (
    DeclaredDeviation,
    PendingTask,
    Snapshot,
    Step,
    TimerInstance,
)
from purgatory_spec.operations import Add, Cancel, Operation, Shutdown, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import Clock, NegativeDelay, Rounding, TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason

from .wall_clock import NS_PER_MS, Line, at_once, begin, call, end, event, judged, returns, rule_of

TIMER = begin(TimerInstance())
ADD: list[Line] = [call(100, "t1", Add("a", 50)), returns(102, "t1")]


def ran(at_ms: int, task: str = "a") -> Line:
    return event(at_ms, "executor", "ran", task)


@pytest.mark.parametrize(
    ("at_ms", "rule"),
    [(149, "TIMER-NOT-EARLY"), (150, None), (172, None), (173, "TIMER-LATENESS")],
)
def test_a_run_is_right_within_its_interval(at_ms: int, rule: str | None) -> None:
    """When it runs at one of the edges, 150 to 172 is right."""
    assert rule_of(TIMER, [*ADD, ran(at_ms), end(500)]) == rule


@pytest.mark.parametrize(
    ("rounding", "at_ms", "rule"),
    [
        (Rounding.DOWN, 150, None),
        (Rounding.DOWN, 149, "TIMER-NOT-EARLY"),
        (Rounding.UP, 159, "TIMER-NOT-EARLY"),
        (Rounding.UP, 180, None),
        (Rounding.UP, 181, "TIMER-LATENESS"),
    ],
)
def test_an_expiry_is_rounded_as_the_profile_says(
    rounding: Rounding, at_ms: int, rule: str | None
) -> None:
    """When it runs, its interval begins and ends at a tick, or begins at one."""
    first = begin(TimerInstance(TimerConfiguration(10), TimerProfile(rounding=rounding)))
    add: list[Line] = [call(101, "t1", Add("a", 50)), returns(103, "t1")]
    assert rule_of(first, [*add, ran(at_ms)]) == rule


RUNS: dict[str, tuple[list[Line], str | None]] = {
    "never ran, at the end": ([*ADD, end(173)], "TIMER-LATENESS"),
    "the end comes before its time is over": ([*ADD, end(172)], None),
    "never ran": ([*ADD, *at_once(200, Cancel("b"))], "TIMER-LATENESS"),
    "ran twice": ([*ADD, ran(160), ran(161)], "TIMER-EXACTLY-ONCE"),
    "ran without being pending": ([ran(160)], "TIMER-EXACTLY-ONCE"),
    "cancelled": ([*ADD, *at_once(140, Cancel("a")), ran(150)], "TIMER-CANCEL"),
    "cancelled, gone": ([*ADD, *at_once(140, Cancel("a")), end(500)], None),
    "cancelled too late": ([*ADD, *at_once(151, Cancel("a")), ran(152), end(500)], None),
    "cancelled too late, ran twice": (
        [*ADD, *at_once(151, Cancel("a")), ran(152), ran(153)],
        "TIMER-CANCEL",
    ),
    "moved, ran before": ([*ADD, *at_once(110, Add("a", 90)), ran(150)], "TIMER-NOT-EARLY"),
    "moved, ran once": ([*ADD, *at_once(110, Add("a", 90)), ran(200), end(500)], None),
    "added again when it was due: two runs": (
        [*ADD, *at_once(152, Add("a", 0)), ran(153), ran(154), end(500)],
        None,
    ),
    "added again when it was due: three runs": (
        [*ADD, *at_once(152, Add("a", 0)), ran(153), ran(154), ran(155)],
        "TIMER-EXACTLY-ONCE",
    ),
    "ran before its add returned": (
        [call(0, "t1", Add("a", 0)), ran(0), returns(1, "t1"), end(500)],
        None,
    ),
    "ran twice before its add returned": (
        [call(0, "t1", Add("a", 0)), ran(0), ran(0)],
        "TIMER-EXACTLY-ONCE",
    ),
    "add and cancel overlap: cancelled": (
        [
            call(0, "t1", Add("a", 5)),
            call(0, "t2", Cancel("a")),
            returns(1, "t1"),
            returns(1, "t2"),
            end(500),
        ],
        None,
    ),
    "add and cancel overlap: added last": (
        [
            call(0, "t1", Add("a", 5)),
            call(0, "t2", Cancel("a")),
            returns(1, "t2"),
            returns(1, "t1"),
            ran(5),
            end(500),
        ],
        None,
    ),
    "an add without return, not in effect": ([call(0, "t1", Add("a", 5)), end(500)], None),
    "an add without return, ran": ([call(0, "t1", Add("a", 5)), ran(7), end(500)], None),
    "ran though never added": ([event(0, "e", "ran", "b")], "TIMER-EXACTLY-ONCE"),
    "dropped": ([*ADD, *at_once(110, Shutdown()), end(500)], None),
    "ran after": ([*ADD, *at_once(110, Shutdown()), ran(150)], "TIMER-SHUTDOWN-DROPS"),
    "overlaps": ([*ADD, call(110, "t2", Shutdown()), ran(155), returns(200, "t2")], None),
    "taken after": ([*at_once(0, Shutdown()), *at_once(1, Add("a", 1))], "TIMER-SHUTDOWN-CLOSED"),
    "rejected after": (
        [
            *at_once(0, Shutdown()),
            call(1, "t1", Add("a", 1)),
            returns(1, "t1", None, Reason.CLOSED),
        ],
        None,
    ),
    "rejected before": (
        [call(1, "t1", Add("a", 1)), returns(1, "t1", None, Reason.CLOSED)],
        "TIMER-SHUTDOWN-CLOSED",
    ),
    "an add that overlaps is taken, and lost": (
        [
            call(0, "t2", Shutdown()),
            call(1, "t1", Add("a", 1)),
            returns(1, "t2"),
            returns(1, "t1"),
            end(500),
        ],
        None,
    ),
}
"""Runs in which calls that concern one task overlap or not, with the rule that is broken."""


@pytest.mark.parametrize(("lines", "rule"), RUNS.values(), ids=RUNS)
def test_each_arming_runs_once_unless_it_is_ended(lines: list[Line], rule: str | None) -> None:
    """When it runs, or does not, what some order of them explains is right."""
    assert rule_of(TIMER, lines) == rule


def test_a_declared_loss_after_shutdown_is_a_deviation() -> None:
    declared = DeclaredDeviation("TIMER-SHUTDOWN-CLOSED", "taken_after_shutdown")
    judge = judge_of(begin(TimerInstance(), deviations=(declared,)))
    for line in [*at_once(0, Shutdown()), *at_once(1, Add("a", 1)), end(500)]:
        assert judge.take(line) is None
    assert judge.deviated == ("TIMER-SHUTDOWN-CLOSED",)


@pytest.mark.parametrize(
    ("profile", "delay_ms", "rejected", "rule"),
    [
        (TimerProfile(), -1, None, None),
        (TimerProfile(), -1, Reason.INVALID_ARGUMENT, "TIMER-NEGATIVE-DELAY"),
        (TimerProfile(negative_delay=NegativeDelay.REJECT), -1, None, "TIMER-NEGATIVE-DELAY"),
        (TimerProfile(negative_delay=NegativeDelay.REJECT), -1, Reason.INVALID_ARGUMENT, None),
        (TimerProfile(largest_delay_ms=9), 10, None, "TIMER-LARGEST-DELAY"),
        (TimerProfile(largest_delay_ms=9), 10, Reason.TOO_LARGE, None),
        (TimerProfile(largest_delay_ms=9), 9, Reason.TOO_LARGE, "TIMER-LARGEST-DELAY"),
    ],
)
def test_an_add_is_rejected_as_the_profile_says(
    profile: TimerProfile, delay_ms: int, rejected: Reason | None, rule: str | None
) -> None:
    lines: list[Line] = [call(0, "t1", Add("a", delay_ms)), returns(0, "t1", None, rejected)]
    assert rule_of(begin(TimerInstance(profile=profile)), lines) == rule


def real_clock_case(seed: int) -> list[Step]:
    """Calls that do not overlap, of a timer that is right but for one fault in a while."""
    source = random.Random(seed)
    now, armed, steps = 0, dict[str, tuple[int, int]](), []
    waiting: list[Event] = []
    fault = source.choice(("none", "none", "early", "late", "twice", "lost", "sticks"))
    for _ in range(40):
        called = now
        now += source.randint(0, 3)
        task = source.choice("abc")
        operation: Operation = source.choice(
            (Add(task, source.randint(0, 30)), Cancel(task), Wait(0))
        )
        if isinstance(operation, Wait):
            now += source.randint(0, 40)
        due = sorted((expiry, name) for name, (expiry, _) in armed.items())
        events = waiting
        waiting = []
        for expiry, name in due:
            strikes = source.random() < 0.1
            if fault == "early" and strikes and expiry - 3 >= called:
                expiry -= 3
            if expiry > now:
                continue
            if fault == "late" and strikes and expiry + 60 <= now:
                expiry += 60
            del armed[name]
            if fault == "lost" and strikes:
                continue
            events.append(Event(EventKind.RAN, name, at_ms=max(expiry, called)))
            if fault == "twice" and strikes:
                waiting.append(Event(EventKind.RAN, name, at_ms=now))
        match operation:
            case Add(name, delay):
                armed[name] = now + delay, now
            case Cancel(name) if fault != "sticks" or source.random() > 0.1:
                armed.pop(name, None)
        steps.append(_step(operation, called, now, events))
    steps.append(_step(Wait(0), now, now, []))
    return steps


def _step(operation: Operation, called: int, now: int, events: list[Event]) -> Step:
    return Step(
        run="run",
        seq=0,
        at_ns=now * NS_PER_MS,
        called_ns=called * NS_PER_MS,
        operation=operation,
        events=tuple(sorted(events, key=lambda each: each.at_ms or 0)),
    )


def test_it_says_what_the_judge_of_real_clocks_says() -> None:
    """Both judges name the same rule at the same step, but for seven cases."""
    rules = set()
    differing: dict[int, tuple[str | None, str | None]] = {}
    for seed in range(600):
        steps = real_clock_case(seed)
        profile = TimerProfile(clock=Clock.WALL, lateness_ms=0)
        other = RealClockJudge(TimerConfiguration(), profile)
        divergences = (other.step(step.operation, _outcome(step)).divergence for step in steps)
        expected = next(
            ((place, found.rule) for place, found in enumerate(divergences) if found), None
        )
        found = judged(begin(TimerInstance(), lateness_ms=0), steps)
        seen = None if found is None else (found[0], found[1].rule)
        rules.add(None if seen is None else seen[1])
        if seen != expected:
            differing[seed] = (expected and expected[1], seen and seen[1])
            assert seen is not None
            assert expected is None or seen[0] <= expected[0]
    assert differing == {
        5: ("TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE"),
        169: ("TIMER-LATENESS", "TIMER-NOT-EARLY"),
        325: ("TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE"),
        437: (None, "TIMER-EXACTLY-ONCE"),
        493: ("TIMER-LATENESS", "TIMER-NOT-EARLY"),
        514: ("TIMER-CANCEL", "TIMER-NOT-EARLY"),
        539: ("TIMER-LATENESS", "TIMER-NOT-EARLY"),
    }
    assert rules >= {None, "TIMER-NOT-EARLY", "TIMER-LATENESS", "TIMER-EXACTLY-ONCE"}


def _outcome(step: Step) -> Outcome:
    assert step.at_ns is not None
    assert step.called_ns is not None
    return Outcome(
        events=step.events,
        called_ms=step.called_ns // NS_PER_MS,
        returned_ms=step.at_ns // NS_PER_MS,
    )


def run_of_a_right_timer(number: int, seed: int) -> list[Line]:
    """Calls of four threads, and the runs of what they add; some tasks are added often."""
    source = random.Random(seed)
    now_ns, lines, heap = 0, list[Line](), list[tuple[int, str, int]]()
    pending: dict[str, int] = {}
    for arming in range(number):
        now_ns += source.randint(0, 400_000)
        while heap and heap[0][0] <= now_ns // NS_PER_MS:
            due_ms, task, which = heapq.heappop(heap)
            if pending.get(task) == which:
                del pending[task]
                lines.append(ran(due_ms, task))
        at_ms, thread = now_ns // NS_PER_MS, f"t{source.randint(1, 4)}"
        if source.random() < 0.6 or not pending:
            often = source.random() < 0.3
            task = f"often {source.randint(1, 50)}" if often else f"task {arming}"
            delay_ms = source.randint(0, 60)
            pending[task] = arming
            heapq.heappush(heap, (at_ms + delay_ms, task, arming))
            lines += [call(at_ms, thread, Add(task, delay_ms)), returns(at_ms, thread)]
        else:
            task = next(iter(pending))
            del pending[task]
            lines += [call(at_ms, thread, Cancel(task)), returns(at_ms, thread)]
    return lines


def test_it_can_be_pickled_between_any_two_lines() -> None:
    lines = run_of_a_right_timer(150, 2)
    wrong = [*lines, ran(10_000, "task 1")]
    assert judged(TIMER, lines, pickled=True) is None
    found = judged(TIMER, wrong, pickled=True)
    assert found is not None
    assert found == judged(TIMER, wrong)


def snapshot(at_ms: int, *tasks: PendingTask, queued: tuple[str, ...] = ()) -> Snapshot:
    return Snapshot(run="run", seq=1, at_ns=at_ms * NS_PER_MS, tasks=tasks, queued=queued)


def test_a_run_may_begin_with_a_snapshot() -> None:
    """That is judged as if the run had been seen from its beginning."""
    first = begin(TimerInstance(), seq=7)
    told = snapshot(100, PendingTask("a", 150, 150), queued=("b",))
    assert rule_of(first, [told, ran(101, "b"), ran(150), end(500)]) is None
    assert rule_of(first, [told, ran(149)]) == "TIMER-NOT-EARLY"
    assert rule_of(first, [told, ran(150), ran(151)]) == "TIMER-EXACTLY-ONCE"
    assert rule_of(first, [told, end(500)]) == "TIMER-LATENESS"


def test_a_snapshot_in_the_middle_must_agree() -> None:
    """Given a task that is armed: only the first is right."""
    assert rule_of(TIMER, [*ADD, snapshot(110, PendingTask("a", 150, 152))]) is None
    assert rule_of(TIMER, [*ADD, snapshot(110)]) == "TIMER-EXACTLY-ONCE"
    other = snapshot(110, PendingTask("a", 150, 152), PendingTask("b", 150, 152))
    assert rule_of(TIMER, [*ADD, other]) == "TIMER-EXACTLY-ONCE"
