"""Runs on a real clock that go on in a further file, at any line, with any calls open there."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_traces.traces.lines import Begin, Call, MemoryPoolInstance
from tests.pipeline.trace_cases import TraceCase, cases_of

from .cut_runs import CutRun, Ledger, Said, is_same, said_from
from .ledgers import PoolLedger, PurgatoryLedger, TimerLedger
from .test_overlapping_memory_pool import right_run
from .test_overlapping_purgatory import EXACT, PROPOSAL
from .test_overlapping_timer import TIMER, ran, run_of_a_right_timer
from .wall_clock import Line, begin, end, judged, returns

VERDICTS = Path(__file__).with_name("verdicts")
LARGE = begin(MemoryPoolInstance(MemoryPoolConfiguration(300, 100)))


class Run(NamedTuple):
    """A run, and how it may be that calls took effect: when they began, when they returned."""

    first: Begin
    lines: Sequence[Line]
    ledger: Callable[[], Ledger]
    truths: tuple[bool, ...] = (True, False)


LAST = (False,)
"""Calls took effect when they returned: that they did before contradicts what follows."""


def cut_run(first: Begin, case: TraceCase, ledger: Callable[[], Ledger]) -> Run:
    """Return a run of a file as one that can be cut."""
    lines = [line for line in case.rest if not isinstance(line, Begin)]
    effects = LAST if case.expected["cut"] == "effects last" else (True, False)
    return Run(first, lines, ledger, effects)


RUNS = {
    f"{component}: {name}{suffix}": (run, cut_run(first or run.first, run, ledger))
    for component, file, ledger, variants in (
        ("timer", "timers", TimerLedger, {"": None}),
        ("pool", "memory_pools", PoolLedger, {"": None}),
        ("purgatory", "purgatories", PurgatoryLedger, {", exact": EXACT, ", proposal": PROPOSAL}),
    )
    for name, run in cases_of(VERDICTS / f"wall_clock_{file}.jsonl").items()
    if "cut" in run.expected
    for suffix, first in variants.items()
}
ALL_RIGHT = {
    name: run for name, (told, run) in RUNS.items() if told.expected["verdict"] != "diverges"
} | {
    "timer: a long run": Run(TIMER, run_of_a_right_timer(40, 3), TimerLedger),
    # Here calls are granted and give back when they begin.
    "pool: a long run": Run(LARGE, right_run(60, 2, 300), PoolLedger, (True,)),
}


@pytest.mark.parametrize("run", ALL_RIGHT.values(), ids=ALL_RIGHT)
def test_a_right_run_is_right_from_any_line_on(run: Run) -> None:
    assert judged(run.first, run.lines) is None
    for truth in run.truths:
        for cut in range(len(run.lines) + 1):
            assert said_from(cut, run.first, run.lines, run.ledger, at_once=truth) is None, cut


ALL_WRONG = {
    name: run._replace(truths=LAST)
    for name, (told, run) in RUNS.items()
    if told.expected["verdict"] == "diverges"
} | {
    "timer: a long run": Run(
        TIMER, [*run_of_a_right_timer(40, 3), ran(9000, "task 1")], TimerLedger, LAST
    )
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
    """Return whether no call is open in front of a line."""
    return not CutRun(run.lines, run.ledger(), False).go_to(cut).calls


def is_same_or_of_unknown(whole: Said, resumed: Said) -> bool:
    """Decide whether the same line is wrong; of a forgotten name no particular rule is named."""
    if is_same(whole, resumed):
        return True
    assert whole is not None
    by = ("PURGATORY-EXACTLY-ONCE", "TIMER-EXACTLY-ONCE", "POOL-RELEASE-AGAIN")
    return resumed is not None and resumed[0] == whole[0] and resumed[1].rule in by


@pytest.mark.parametrize("name", ALL_WRONG)
def test_what_is_wrong_is_found_from_any_line_before_it(name: str) -> None:
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
    lines = [*ALL_RIGHT["purgatory: is completed by a check, exact"].lines]
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
    """Control the tests above: that the open calls are told matters."""
    run = ALL_RIGHT["purgatory: is completed by a check, exact"]
    cut = len(run.lines) - 3
    told = CutRun(run.lines, run.ledger(), False).go_to(cut)
    without = msgspec.structs.replace(told, calls=())
    first = begin(EXACT.instance, seq=7)
    assert judged(first, [told, *run.lines[cut:]]) is None
    assert judged(first, [without, *run.lines[cut:]]) is not None
