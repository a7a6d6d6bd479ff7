"""Histories known to be right and known to be wrong, each with a word why."""

# Each is a trace; of the wrong ones the line is given that is the first that cannot be explained.

import pytest

from purgatory_pipeline.linearizability.checker import Answered
from purgatory_pipeline.replay.overlapping.purgatory.operation_monitor import ANY_KEY_TAKES_TIME_OUT
from purgatory_pipeline.replay.run_replay import RunReplay, rows_of
from purgatory_pipeline.results.rows import RunVerdict, VerdictRow
from purgatory_pipeline.traces.lines import DeclaredDeviation, TraceLine
from purgatory_spec.operations import (
    Add,
    Answer,
    Cancel,
    CancelForKey,
    Check,
    Elapse,
    Force,
    Script,
    Watch,
)
from purgatory_spec.outcomes import EventKind, completed

from .known_history import WALL, Known
from .known_memory_pools import POOLS
from .known_purgatories import EXACT, EXACT_THREAD, PURGATORIES, WAITS, W
from .known_real_clocks import REAL_CLOCKS
from .known_timers import THREAD, TIMERS
from .traces import back, call, event, found_of, located, step

RAN, TRIED, COMPLETED = EventKind.RAN, EventKind.TRIED, EventKind.COMPLETED

KNOWN = {**POOLS, **TIMERS, **REAL_CLOCKS, **PURGATORIES}


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_what_is_known_of_a_history_is_found(known: Known) -> None:
    """That is found, and for a wrong one the first line that cannot be explained."""
    lines = located(known.instance, known.lines, clock=known.clock, at_ms=known.ended_ms)
    finding = found_of(lines)
    if known.wrong_at is None:
        assert finding.answered is Answered.LINEARIZABLE, finding.reason or finding.shares
        return
    assert finding.answered is Answered.NOT_LINEARIZABLE, finding.reason
    assert finding.shares[0].fails_at == known.wrong_at


ON_REAL_CLOCKS = {name: known for name, known in KNOWN.items() if known.clock == WALL}


@pytest.mark.parametrize("known", ON_REAL_CLOCKS.values(), ids=ON_REAL_CLOCKS)
def test_the_replay_finds_the_same(known: Known) -> None:
    """When it is replayed, it diverges if it is known to be wrong, and only then."""
    lines = located(known.instance, known.lines, clock=known.clock, at_ms=known.ended_ms)
    rows = list(rows_of(RunReplay("r"), iter(lines)))
    (verdict,) = (row for row in rows if isinstance(row, VerdictRow))
    assert (verdict.verdict == RunVerdict.DIVERGES.value) is (known.wrong_at is not None)


def test_a_declared_deviation_need_not_happen() -> None:
    """It is explained, as it is where nothing is declared."""
    kept = DeclaredDeviation("PURGATORY-CANCEL-KEEPS-TIME-OUT", ANY_KEY_TAKES_TIME_OUT)
    lines = (
        step("t", Watch("a", ("k", "l"), 10), False, *WAITS, at_ms=1),
        step("t", CancelForKey("k"), ("a",), at_ms=2),
        event("e", COMPLETED, "a", 13),
        event("e", EventKind.TIMED_OUT, "a", 13),
    )
    for declared in ((), (kept,)):
        run = located(EXACT_THREAD, lines, clock=WALL, at_ms=100, deviations=declared)
        assert found_of(run).answered is Answered.LINEARIZABLE


BROKEN_OFF = {
    # Its run may be among the lines that are missing.
    "a task never runs": REAL_CLOCKS["a task never runs"],
    # The executor may have completed it, and not told anybody yet.
    "completed by nobody": PURGATORIES["completed by nobody"],
}


@pytest.mark.parametrize("known", BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_what_may_stand_in_missing_lines_is_not_held_against_the_others(known: Known) -> None:
    """Given a history that is wrong because something does not happen in it: it is inconclusive."""
    lines = located(known.instance, known.lines, clock=known.clock, ends=False)
    finding = found_of(lines)
    assert finding.answered is Answered.INCONCLUSIVE
    assert finding.reason == "its last line is missing"


def test_a_thread_that_is_stopped_before_its_line_gets_a_number_is_not_late() -> None:
    """It is explained; and where it never ran it is not."""
    begun = (call("t", Add("a", 10), 100), back("t", None, 100))
    for other in (Cancel("a"), Add("a", 400)):
        late = (*begun, step("u", other, at_ms=300))
        ran_in_time = (*late, event("e", RAN, "a", 111))
        right = found_of(located(THREAD, ran_in_time, clock=WALL, at_ms=350))
        assert right.answered is Answered.LINEARIZABLE
        wrong = found_of(located(THREAD, late, clock=WALL, at_ms=350))
        assert wrong.answered is Answered.NOT_LINEARIZABLE
        assert wrong.shares[0].fails_at == 4


SCRIPTED = Watch("a", ("k",), 10, Script(tries=(Answer.WAIT, Answer.WAIT, Answer.COMPLETE)))


def test_operations_with_scripts_are_explained_by_whole_calls_or_not_at_all() -> None:
    """Whole calls explain the first, and of the second nothing is said: parts might."""
    watched = step("t", SCRIPTED, False, *WAITS)
    begun = (watched, call("u", Elapse(1)), call("t", Check("k")))
    shown = (event("t", TRIED, "a"), event("t", COMPLETED, "a"))
    right = found_of(located(EXACT, (*begun, *shown, back("t", 1), back("u"))))
    assert right.answered is Answered.LINEARIZABLE, right.reason
    wrong = found_of(located(EXACT, (*begun, back("t", 0), back("u"))))
    assert wrong.answered is Answered.INCONCLUSIVE
    assert wrong.reason.startswith("the operation 'a' has a script")


def test_a_name_that_is_given_again_is_not_taken_for_the_same_operation() -> None:
    """When the run is checked, nothing is said that would hold one against the other."""
    lines = [
        step("t", W, False, *WAITS, at_ms=1),
        step("t", Force("a"), True, completed("a"), at_ms=2),
        step("t", W, False, *WAITS, at_ms=3),
    ]
    finding = found_of(located(EXACT_THREAD, lines, clock=WALL, at_ms=5))
    assert finding.answered is Answered.INCONCLUSIVE
    assert "the name 'a' is given to a further operation" in finding.reason


def test_a_line_without_a_time_on_a_real_clock_is_told() -> None:
    """When it is checked, it is inconclusive, and the line is named."""
    lines: list[TraceLine] = [call("t", Add("a", 10), 100), back("t")]
    finding = found_of(located(THREAD, lines, clock=WALL, at_ms=500))
    assert finding.answered is Answered.INCONCLUSIVE
    assert finding.reason == "seq 2, trace.jsonl:3, says no time, and the clock is a real one"
