"""Timers on a real clock: expiries are intervals, and calls of one task may overlap."""

import heapq
import random

from purgatory_judge.timer.real_clock_judge import RealClockJudge
from purgatory_spec.operations import Add, Cancel, Operation, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import Clock, TimerConfiguration, TimerProfile
from purgatory_traces.traces.lines import Step, TimerInstance

from .wall_clock import NS_PER_MS, Line, begin, call, event, judged, returns

TIMER = begin(TimerInstance())


def ran(at_ms: int, task: str = "a") -> Line:
    return event(at_ms, "executor", "ran", task)


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
    """Expect the same rule at the same step of both judges, but for seven cases."""
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
