"""Which rules a run on a real clock puts to the test, and how often."""

from collections import Counter
from collections.abc import Callable

import pytest

from purgatory_pipeline.replay.judges import judge_of
from purgatory_pipeline.replay.overlapping.purgatory.followed_operations import MOST_STALE_KEYS
from purgatory_pipeline.replay.overlapping.rules import RULES_ON_A_WALL_CLOCK
from purgatory_pipeline.traces.lines import (
    Begin,
    MemoryPoolInstance,
    PurgatoryInstance,
    TimerInstance,
)
from purgatory_spec.operations import (
    Add,
    Allocate,
    Cancel,
    CancelForKey,
    Check,
    Construct,
    Force,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
    Shutdown,
    Watch,
)
from purgatory_spec.profiles import (
    Component,
    MemoryPoolConfiguration,
    MemoryPoolProfile,
    PurgatoryConfiguration,
    ReleaseValidation,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import requirements

from .test_overlapping_purgatory import (
    EXACT,
    RIGHT,
    UNTRIED,
    checked,
    completed,
    timed_out,
    tried,
    watched,
)
from .test_overlapping_rotation import POOLS, TIMERS
from .test_overlapping_timer import ran
from .wall_clock import Line, at_once, begin, call, end, event, judged, returns, rule_of


def visits(first: Begin, lines: list[Line]) -> Counter[str]:
    """How often each rule was put to the test by a run that is right."""
    judge = judge_of(first)
    for line in lines:
        assert judge.take(line) is None
    return judge.visits


NOT_TRIED = "PURGATORY-COMPLETED-NOT-TRIED"
LEFT_BEHIND = [*watched(keys=("k", "l")), *checked(5, completes=True)]
"""An operation that is completed by a check of one of its keys: the other list still has it."""


def test_a_check_that_passes_what_is_completed_puts_that_to_the_test_once() -> None:
    """The first check has put it to the test that what is completed is not tried."""
    assert visits(EXACT, LEFT_BEHIND)[NOT_TRIED] == 0
    passes = [*LEFT_BEHIND, *at_once(6, Check("l"), 0)]
    assert visits(EXACT, passes)[NOT_TRIED] == 1
    assert visits(EXACT, [*passes, *at_once(7, Check("l"), 0)])[NOT_TRIED] == 1
    tries = [*LEFT_BEHIND, call(6, "main", Check("l")), tried(6), returns(6, "main", 0)]
    assert rule_of(EXACT, tries) == NOT_TRIED


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([*LEFT_BEHIND, *at_once(6, Check("k"), 0)], id="the check has dropped it"),
        pytest.param(
            [
                call(0, "main", Watch("a", ("k",), 50)),
                tried(0),
                completed(0),
                returns(0, "main", True),
                *at_once(6, Check("k"), 0),
            ],
            id="it never was in the list",
        ),
        pytest.param(
            [
                *watched(),
                *at_once(5, CancelForKey("k"), ("a",)),
                call(5, "main", Force("a")),
                completed(5),
                returns(5, "main", True),
                *at_once(6, Check("k"), 0),
            ],
            id="it was cancelled",
        ),
    ],
)
def test_where_nothing_completed_is_in_the_list_nothing_is_put_to_the_test(
    lines: list[Line],
) -> None:
    assert visits(EXACT, lines)[NOT_TRIED] == 0


def test_without_its_tries_a_trace_says_nothing_of_them() -> None:
    untold = [
        line
        for line in [*LEFT_BEHIND, *at_once(6, Check("l"), 0)]
        if getattr(getattr(line, "event", None), "value", "") != "tried"
    ]
    assert visits(UNTRIED, untold)[NOT_TRIED] == 0


def test_so_many_keys_are_remembered_and_no_more() -> None:
    lines: list[Line] = []
    number = MOST_STALE_KEYS + 1
    for each in range(number):
        lines += watched(1, (f"k{each}",), f"o{each}")
        lines += [call(1, "main", Force(f"o{each}")), completed(1, name=f"o{each}")]
        lines += [returns(1, "main", True)]
    for each in range(number):
        lines += at_once(2, Check(f"k{each}"), 0)
    assert visits(EXACT, lines)[NOT_TRIED] == MOST_STALE_KEYS


def test_what_waits_after_shutdown_and_is_completed_puts_that_to_the_test() -> None:
    closed = [*watched(), *at_once(5, Shutdown())]
    after = [*closed, *checked(6, completes=True)]
    assert visits(EXACT, after)["PURGATORY-SHUTDOWN-COMPLETES"] == 1
    nothing = [*closed, *at_once(6, Check("x"), 0)]
    assert visits(EXACT, nothing)["PURGATORY-SHUTDOWN-COMPLETES"] == 0
    before = [*watched(), *checked(5, completes=True), *at_once(6, Shutdown())]
    assert visits(EXACT, before)["PURGATORY-SHUTDOWN-COMPLETES"] == 0
    refused = [*closed, call(6, "main", Check("k")), returns(6, "main", None, Reason.CLOSED)]
    assert rule_of(EXACT, refused) == "PURGATORY-SHUTDOWN-COMPLETES"


WITHOUT_TIME_OUTS = begin(PurgatoryInstance(PurgatoryConfiguration(time_outs=False)))


def test_where_there_are_no_time_outs_each_operation_puts_that_to_the_test() -> None:
    done = [*watched(), *checked(500, completes=True)]
    assert visits(WITHOUT_TIME_OUTS, done)["PURGATORY-NO-TIME-OUTS"] == 1
    assert visits(EXACT, [*watched(), *timed_out(50)])["PURGATORY-NO-TIME-OUTS"] == 0
    assert rule_of(WITHOUT_TIME_OUTS, [*watched(), *timed_out(50)]) == "PURGATORY-TIME-OUT"


def test_what_is_not_found_is_not_counted() -> None:
    """When they are judged, nothing is found wrong: so the rules about these are never counted."""
    both = [*watched(name="a"), *watched(name="b")]
    order = [call(5, "main", Check("k")), tried(5, name="b"), tried(5), returns(5, "main", 0)]
    dropped = [*checked(5, completes=True), *at_once(6, CancelForKey("k"), ("a",))]
    left = [*checked(5, completes=True), event(50, "executor", "expired", "a")]
    counted: Counter[str] = Counter()
    for lines in ([*both, *order], [*watched(), *dropped], [*watched(), *left]):
        assert judged(EXACT, lines) is None
        counted += visits(EXACT, lines)
    assert not counted.keys() & {
        "PURGATORY-CHECK-ORDER",
        "PURGATORY-CHECK-DROPS",
        "PURGATORY-TIMER-LEFT",
    }


def refused_add(delay_ms: int, reason: Reason) -> list[Line]:
    return [call(0, "t1", Add("x", delay_ms)), returns(0, "t1", None, reason)]


def timer_visits() -> Counter[str]:
    counted: Counter[str] = Counter()
    for run in TIMERS.values():
        counted += visits(run.first, run.lines)
    first = begin(TimerInstance(TimerConfiguration(10), TimerProfile(largest_delay_ms=1000)))
    cancelled = [*at_once(0, Add("a", 50)), *at_once(5, Cancel("a")), *at_once(6, Cancel("a"))]
    again = [*at_once(7, Add("a", 0)), ran(7), *at_once(8, Cancel("a")), *at_once(9, Add("a", -1))]
    unknown = [*at_once(10, Cancel("b")), ran(10), *refused_add(1001, Reason.TOO_LARGE), end(500)]
    twice = [*at_once(600, Shutdown()), *at_once(601, Shutdown())]
    alone = [*cancelled, *at_once(7, Add("a", 100)), ran(110), end(500)]
    return counted + visits(first, alone) + visits(first, [*cancelled, *again, *unknown, *twice])


def purgatory_visits() -> Counter[str]:
    counted: Counter[str] = Counter()
    for lines in RIGHT.values():
        counted += visits(EXACT, lines)
    counted += visits(EXACT, [*LEFT_BEHIND, *at_once(6, Check("l"), 0), end(500)])
    twice = [*at_once(5, Shutdown()), *checked(6, completes=True), *at_once(7, Shutdown())]
    counted += visits(EXACT, [*watched(), *twice])
    return counted + visits(WITHOUT_TIME_OUTS, [*watched(), *checked(500, completes=True)])


def pool_visits() -> Counter[str]:
    identity = MemoryPoolProfile(release_validation=ReleaseValidation.IDENTITY)
    counted: Counter[str] = Counter()
    for run in POOLS.values():
        counted += visits(run.first, run.lines)
    strict = begin(MemoryPoolInstance(MemoryPoolConfiguration(3, 2, strict=True), identity))
    unbounded = begin(MemoryPoolInstance(MemoryPoolConfiguration(3, 2, unbounded=True)))
    wrong: list[tuple[Operation, Reason]] = [
        (Allocate("x", 0), Reason.INVALID_ARGUMENT),
        (Allocate("x", -1), Reason.INVALID_ARGUMENT),
        (Allocate("x", 3), Reason.INVALID_ARGUMENT),
        (Release("a", ReleaseForm.SLICE), Reason.INVALID_ARGUMENT),
        (Release("a", ReleaseForm.COPY), Reason.INVALID_ARGUMENT),
        (ReleaseForeign(1), Reason.INVALID_ARGUMENT),
        (ReleaseNothing(), Reason.INVALID_ARGUMENT),
        (Construct(0, 0), Reason.INVALID_ARGUMENT),
    ]
    lines = at_once(0, Allocate("a", 2), True)
    for operation, reason in wrong:
        lines += [call(0, "main", operation), returns(0, "main", None, reason)]
    counted += visits(strict, [*lines, *at_once(0, Lose("a"))])
    return counted + visits(unbounded, at_once(0, Allocate("a", 2), True))


@pytest.mark.parametrize(
    ("component", "counted"),
    [
        (Component.TIMER, timer_visits),
        (Component.PURGATORY, purgatory_visits),
        (Component.MEMORY_POOL, pool_visits),
    ],
)
def test_the_rules_that_can_be_counted_are_those_that_some_run_visits(
    component: Component, counted: Callable[[], Counter[str]]
) -> None:
    """These are the rules that are stated to be, all of them rules of the component."""
    assert set(counted()) == RULES_ON_A_WALL_CLOCK[component]
    assert RULES_ON_A_WALL_CLOCK[component] < {rule.id for rule in requirements(component)}
