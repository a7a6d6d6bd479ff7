"""A visit counts only where another answer, another event or none would have been found wrong."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import pytest

from purgatory_spec.operations import Add, Cancel, Shutdown
from purgatory_spec.outcomes import EventKind
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.judge import JudgedLine
from purgatory_traces.replay.run_replay import judge_of
from purgatory_traces.traces.lines import Begin, End, Happened, Return, TimerInstance, TraceLine

from .simulation.judged import verdict_of
from .simulation.memory_pool_run import drawn_plan as pool_plan
from .simulation.memory_pool_run import simulated_pool
from .simulation.purgatory_plan import PurgatoryPlan
from .simulation.purgatory_plan import drawn_plan as purgatory_plan
from .simulation.purgatory_run import simulated_purgatory
from .simulation.timer import TimerPlan
from .simulation.timer_run import drawn_plan as timer_plan
from .simulation.timer_run import simulated_timer
from .wall_clock import at_once, begin, call, end, event, returns

AT_RETURNS = {
    "timer": ("TIMER-SHUTDOWN-CLOSED", "TIMER-NEGATIVE-DELAY"),
    "memory pool": ("POOL-BOUND", "POOL-REFUSAL", "POOL-STRICT", "POOL-NON-STRICT"),
}


def other_answer(line: Return) -> Return:
    """The same return with the other answer."""
    if isinstance(line.result, bool):
        return msgspec.structs.replace(line, result=not line.result)
    rejected = Reason.CLOSED if line.rejected is None else None
    return msgspec.structs.replace(line, rejected=rejected)


def visited(lines: list[TraceLine]) -> Iterator[tuple[int, TraceLine, Counter[str]]]:
    """The lines of a run behind the first, with the rules that each puts to the test."""
    begin, *rest = lines
    assert isinstance(begin, Begin)
    judge = judge_of(begin)
    for place, line in enumerate(rest, start=1):
        assert not isinstance(line, Begin)
        before = Counter(judge.visits)
        assert judge.take(line) is None
        yield place, line, judge.visits - before
        if isinstance(line, End):
            return


@pytest.mark.parametrize(
    ("component", "lines"),
    [
        ("timer", simulated_timer(11, timer_plan(11)).machine.lines),
        ("memory pool", simulated_pool(5, pool_plan(5)).machine.lines),
    ],
    ids=["timer", "memory pool"],
)
def test_no_return_visits_a_rule_that_its_other_answer_would_keep(
    component: str, lines: list[TraceLine]
) -> None:
    """Expect a divergence wherever the return put one of these rules to the test."""
    tested = free = 0
    for place, line, rules in list(visited(lines)):
        if not isinstance(line, Return):
            continue
        changed = [*lines[:place], other_answer(line), *lines[place + 1 :]]
        if any(rule in rules for rule in AT_RETURNS[component]):
            assert verdict_of(changed).verdict == "diverges", (place, line)
            tested += 1
        else:
            free += verdict_of(changed).verdict != "diverges"
    assert tested > 0 < free


def with_numbers(lines: Sequence[TraceLine]) -> list[TraceLine]:
    """The lines numbered anew, so that none is missing."""
    return [msgspec.structs.replace(line, seq=seq) for seq, line in enumerate(lines)]


def runs_outside_calls(lines: list[TraceLine]) -> Iterator[tuple[int, ...]]:
    """The places of the lines that tell of one expiry: a run, or a time-out's two callbacks."""
    for place, line in enumerate(lines):
        if isinstance(line, Happened) and line.event is EventKind.RAN:
            yield (place,)
        elif isinstance(line, Happened) and line.event is EventKind.TIMED_OUT:
            before = [
                each
                for each, other in enumerate(lines[:place])
                if isinstance(other, Happened)
                and other.event is EventKind.COMPLETED
                and other.task == line.task
            ]
            yield max(before), place


def test_no_run_visits_exactly_once_where_a_second_one_would_be_right() -> None:
    """Expect a divergence wherever the run put it to the test that a task runs once."""
    lines = simulated_timer(11, TimerPlan(threads=8, names=2)).machine.lines
    tested = free = 0
    for place, line, rules in list(visited(lines)):
        if not isinstance(line, Happened):
            continue
        again = with_numbers([*lines[: place + 1], line, *lines[place + 1 :]])
        if "TIMER-EXACTLY-ONCE" in rules:
            assert verdict_of(again).verdict == "diverges", place
            tested += 1
        else:
            free += verdict_of(again).verdict != "diverges"
    assert tested > 0 < free


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("TIMER-NOT-LATE", simulated_timer(3, TimerPlan()).machine.lines),
        (
            "TIMER-NOT-LATE",
            simulated_timer(3, TimerPlan(shuts_down=True, lateness_ms=2)).machine.lines,
        ),
        ("PURGATORY-TIME-OUT", simulated_purgatory(3, PurgatoryPlan(threads=6)).machine.lines),
        ("PURGATORY-TIME-OUT", simulated_purgatory(3, purgatory_plan(3)).machine.lines),
    ],
    ids=["timer", "timer, shut down", "purgatory", "cancelled after they timed out"],
)
def test_no_expiry_is_visited_whose_absence_would_be_right(
    rule: str, lines: list[TraceLine]
) -> None:
    """As many traces diverge at least as expiries were counted as visits."""
    visits = sum(rules[rule] for _, _, rules in visited(lines))
    found = 0
    for places in runs_outside_calls(lines):
        left = [line for place, line in enumerate(lines) if place not in places]
        found += verdict_of(with_numbers(left)).verdict == "diverges"
    assert 0 < visits <= found


TIMER = begin(TimerInstance())
ZERO = [*at_once(0, Add("a", 0)), event(1, "x", "ran", "a")]
READDED = [*at_once(0, Add("a", 10)), *at_once(12, Add("a", 10)), event(23, "x", "ran", "a")]
CANCELLED = [
    *at_once(0, Add("a", 10)),
    call(5, "c", Cancel("a")),
    event(12, "x", "ran", "a"),
    returns(13, "c"),
]
SHUT = [*at_once(0, Add("a", 10)), event(12, "x", "ran", "a"), *at_once(15, Shutdown())]
PLAIN = [*at_once(0, Add("a", 10)), event(12, "x", "ran", "a")]


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (PLAIN, set()),
        (ZERO, {"TIMER-NOT-EARLY"}),
        (READDED, {"TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE"}),
        (CANCELLED, {"TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE", "TIMER-NOT-LATE"}),
        (SHUT, {"TIMER-NOT-LATE"}),
    ],
    ids=["plain", "due at once", "armed again when due", "a cancel is open", "soon shut down"],
)
def test_what_a_run_cannot_refute_is_no_visit(lines: list[JudgedLine], kept: set[str]) -> None:
    judge = judge_of(TIMER)
    for line in [*lines, *at_once(500, Cancel("z")), end(600)]:
        assert judge.take(line) is None
    rules = {"TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE", "TIMER-NOT-LATE"}
    assert {rule for rule in rules if not judge.visits[rule]} == kept
