"""Runs on a real clock that go on in a further file, at any line, with any calls open there."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import pytest

from purgatory_pipeline.traces.lines import Begin, Call, MemoryPoolInstance
from purgatory_spec.operations import Add, Lose, Release
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_spec.reasons import Reason

from .cut_runs import CutRun, Ledger, Said, is_same, said_from
from .ledgers import PoolLedger, PurgatoryLedger, TimerLedger
from .test_overlapping_memory_pool import KNOWS, POOL, RELEASED_TWICE_AT_ONCE, granted, right_run
from .test_overlapping_memory_pool import RUNS as POOL_RUNS
from .test_overlapping_purgatory import EXACT, PROPOSAL, RIGHT, WRONG
from .test_overlapping_timer import ADD, TIMER, ran, run_of_a_right_timer
from .test_overlapping_timer import RUNS as TIMER_RUNS
from .wall_clock import Line, at_once, begin, call, end, judged, returns

LARGE = begin(MemoryPoolInstance(MemoryPoolConfiguration(300, 100)))


class Run(NamedTuple):
    """A run, and how it may be that calls took effect: when they began, when they returned."""

    first: Begin
    lines: list[Line]
    ledger: Callable[[], Ledger]
    truths: tuple[bool, ...] = (True, False)


LAST = (False,)
"""Calls took effect when they returned: that they did before contradicts what follows."""


def timer(*lines: Line, truths: tuple[bool, ...] = (True, False)) -> Run:
    return Run(TIMER, list(lines), TimerLedger, truths)


def pool(*lines: Line, first: Begin = POOL, truths: tuple[bool, ...] = (True, False)) -> Run:
    return Run(first, list(lines), PoolLedger, truths)


TAKES_EFFECT_LAST = {
    "add and cancel overlap: added last",
    "an add without return, not in effect",
    "overlaps",
    "an add that overlaps is taken, and lost",
    "refused during a release",
}
TIMERS = {
    name: timer(*lines, truths=LAST if name in TAKES_EFFECT_LAST else (True, False))
    for name, (lines, rule) in TIMER_RUNS.items()
    if rule is None
} | {
    "runs": timer(*ADD, ran(160), end(500)),
    "two adds at once, the shorter last": timer(
        call(0, "t1", Add("a", 5)),
        call(0, "t2", Add("a", 60)),
        returns(1, "t2"),
        returns(1, "t1"),
        ran(6),
        end(500),
        truths=LAST,
    ),
    "a long run": timer(*run_of_a_right_timer(40, 3)),
}
POOLS = {
    name: pool(*lines, truths=LAST if name in TAKES_EFFECT_LAST else (True, False))
    for name, (lines, rule) in POOL_RUNS.items()
    if rule is None
} | {
    "leaked while it is given back": pool(
        *granted("a", 2),
        call(0, "t1", Release("a")),
        call(0, "t2", Lose("a")),
        returns(0, "t2", None, Reason.UNKNOWN_NAME),
        returns(0, "t1"),
        *granted("b", 2),
        first=KNOWS,
    ),
    "given back twice at once": pool(*RELEASED_TWICE_AT_ONCE, first=KNOWS),
    # Here calls are granted and give back when they begin.
    "a long run": pool(*right_run(60, 2, 300), first=LARGE, truths=(True,)),
}
PURGATORIES = {
    f"{name}, {accounting}": Run(first, lines, PurgatoryLedger)
    for accounting, first in (("exact", EXACT), ("proposal", PROPOSAL))
    for name, lines in RIGHT.items()
}
ALL_RIGHT = {
    f"{component}: {name}": run
    for component, runs in (("timer", TIMERS), ("pool", POOLS), ("purgatory", PURGATORIES))
    for name, run in runs.items()
}


@pytest.mark.parametrize("run", ALL_RIGHT.values(), ids=ALL_RIGHT)
def test_a_right_run_is_right_from_any_line_on(run: Run) -> None:
    """Given a run that is right: it is right."""
    assert judged(run.first, run.lines) is None
    for truth in run.truths:
        for cut in range(len(run.lines) + 1):
            assert said_from(cut, run.first, run.lines, run.ledger, at_once=truth) is None, cut


WRONG_TIMERS = {
    name: timer(*lines) for name, (lines, rule) in TIMER_RUNS.items() if rule is not None
} | {
    "too early": timer(*ADD, ran(149)),
    "too late": timer(*ADD, ran(173)),
    "a long run": timer(*run_of_a_right_timer(40, 3), ran(9000, "task 1")),
}
WRONG_POOLS = {
    name: pool(*lines) for name, (lines, rule) in POOL_RUNS.items() if rule is not None
} | {
    "given back twice": pool(
        *granted("a", 2), *at_once(0, Release("a")), *at_once(0, Release("a")), first=KNOWS
    ),
}
WRONG_PURGATORIES = {
    f"{name}, {accounting}": Run(first, lines, PurgatoryLedger)
    for accounting, first in (("exact", EXACT), ("proposal", PROPOSAL))
    for name, (lines, _) in WRONG.items()
}
ALL_WRONG = {
    f"{component}: {name}": run._replace(truths=LAST)
    for component, runs in (
        ("timer", WRONG_TIMERS),
        ("pool", WRONG_POOLS),
        ("purgatory", WRONG_PURGATORIES),
    )
    for name, run in runs.items()
}
UNKNOWN_NAMES = {
    # What is forced and not live may be new, or have been completed long ago.
    "purgatory: a force completes what is completed": {8},
    # The first thing that a thread shows may be the rest of a run that began before the snapshot.
    "purgatory: times out twice": {6},
    "purgatory: on_expiration twice": {6},
    "purgatory: on_expiration of what a check completed": {8},
    "purgatory: completed and never watched": {0},
}
"""Cuts behind which a wrong line may be right, as far as a snapshot tells: by names that it does
not know."""


def is_quiet(run: Run, cut: int) -> bool:
    """Whether no call is open in front of a line."""
    return not CutRun(run.lines, run.ledger(), False).go_to(cut).calls


def is_same_or_of_unknown(whole: Said, resumed: Said) -> bool:
    """Whether the same line is wrong; of a name that is done with no particular rule is named."""
    if is_same(whole, resumed):
        return True
    assert whole is not None
    by = ("PURGATORY-EXACTLY-ONCE", "TIMER-EXACTLY-ONCE", "POOL-RELEASE-AGAIN")
    return resumed is not None and resumed[0] == whole[0] and resumed[1].rule in by


@pytest.mark.parametrize("name", ALL_WRONG)
def test_what_is_wrong_is_found_from_any_line_before_it(name: str) -> None:
    """The same line is found, or none where a call is open that is not seen from its beginning."""
    run = ALL_WRONG[name]
    whole = judged(run.first, run.lines)
    assert whole is not None
    missed = set()
    for cut in range(whole[0] + 1):
        resumed = said_from(cut, run.first, run.lines, run.ledger, at_once=False)
        if resumed is None and is_quiet(run, cut):
            missed.add(cut)
        assert resumed is None or is_same_or_of_unknown(whole, resumed), (cut, resumed)
    assert missed == UNKNOWN_NAMES.get(name.rsplit(",", 1)[0], set())


def test_a_check_that_was_open_is_still_judged() -> None:
    """That is found; whether it had tried the operation before is free."""
    lines = [*RIGHT["is completed by a check"]]
    counted = [*lines[:-2], returns(9, "main", 0)]
    cut = len(lines) - 4
    assert isinstance(lines[cut - 1], Call)
    said = said_from(cut, EXACT, counted, PurgatoryLedger, at_once=False)
    assert said is not None
    assert (said[0], said[1].rule) == (len(counted) - 1, "PURGATORY-CHECK-COUNT")
    forgets = [*lines[: cut + 1], returns(9, "main", 0), end(500)]
    said = said_from(cut, EXACT, forgets, PurgatoryLedger, at_once=False)
    assert said is not None
    assert said[1].rule == "PURGATORY-TIME-OUT"
    assert said_from(cut, EXACT, lines, PurgatoryLedger, at_once=False) is None


def test_a_snapshot_that_leaves_out_its_open_calls_makes_a_right_run_wrong() -> None:
    """A control: that the open calls are told matters."""
    run = PURGATORIES["is completed by a check, exact"]
    cut = len(run.lines) - 3
    told = CutRun(run.lines, run.ledger(), False).go_to(cut)
    without = msgspec.structs.replace(told, calls=())
    first = begin(EXACT.instance, seq=7)
    assert judged(first, [told, *run.lines[cut:]]) is None
    assert judged(first, [without, *run.lines[cut:]]) is not None
