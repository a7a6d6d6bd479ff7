"""Histories known to be right and known to be wrong, each with a word why.

Each is a trace; of the wrong ones the line is given that is the first that cannot be explained.
"""

from typing import NamedTuple

import pytest

from purgatory_pipeline.linearizability.checker import Answered
from purgatory_pipeline.trace_lines import (
    Instance,
    ManualClock,
    MemoryPoolInstance,
    PurgatoryInstance,
    TimerInstance,
    TraceLine,
    WallClock,
)
from purgatory_spec.operations import (
    Add,
    Advance,
    Allocate,
    Answer,
    Cancel,
    CancelForKey,
    Check,
    Elapse,
    Force,
    Release,
    RunOne,
    Satisfy,
    Script,
    Shutdown,
    Watch,
)
from purgatory_spec.outcomes import EventKind, completed, expired, ran, timed_out, tried
from purgatory_spec.profiles import (
    Accounting,
    Executor,
    MemoryPoolConfiguration,
    MemoryPoolProfile,
    PurgatoryProfile,
    ReleaseValidation,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

from .traces import back, call, event, found_of, located, step

ONE_BYTE = MemoryPoolInstance(configuration=MemoryPoolConfiguration(1, 1))
STRICT = MemoryPoolInstance(
    configuration=MemoryPoolConfiguration(100, 60, strict=True),
    profile=MemoryPoolProfile(release_validation=ReleaseValidation.IDENTITY),
)
LENIENT = MemoryPoolInstance(configuration=MemoryPoolConfiguration(100, 60))
STEPPED = TimerInstance(profile=TimerProfile(executor=Executor.STEPPED))
INLINE = TimerInstance(profile=TimerProfile(executor=Executor.INLINE))
THREAD = TimerInstance(profile=TimerProfile(executor=Executor.THREAD))
TICKS = TimerInstance(
    configuration=TimerConfiguration(tick_ms=10), profile=TimerProfile(executor=Executor.THREAD)
)
EXACT = PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.STEPPED)
)
EXACT_THREAD = PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.THREAD)
)
EXACT_INLINE = PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.INLINE)
)

TRIED, COMPLETED, TIMED_OUT = EventKind.TRIED, EventKind.COMPLETED, EventKind.TIMED_OUT
EXPIRED, RAN = EventKind.EXPIRED, EventKind.RAN


class Known(NamedTuple):
    """A trace; ``wrong_at`` is the line that cannot be explained, None where there is none."""

    instance: Instance
    wrong_at: int | None
    lines: tuple[TraceLine, ...]
    clock: ManualClock | WallClock = ManualClock()
    ended_ms: int | None = None


W = Watch("a", ("k",), 10)
WAITS = (tried("a"), tried("a"))

POOLS = {
    # Both overlap, so the later one may have been served first.
    "the later of two requests is granted": Known(
        ONE_BYTE,
        None,
        (
            call("t", Allocate("a", 1)),
            call("u", Allocate("b", 1)),
            back("t", False),
            back("u", True),
        ),
    ),
    # One byte cannot be lent twice.
    "two requests are granted and there is room for one": Known(
        ONE_BYTE,
        4,
        (
            call("t", Allocate("a", 1)),
            call("u", Allocate("b", 1)),
            back("t", True),
            back("u", True),
        ),
    ),
    # It was refused before anybody else asked.
    "a request is refused and nothing is out": Known(
        ONE_BYTE,
        2,
        (
            call("t", Allocate("a", 1)),
            back("t", False),
            step("u", Allocate("b", 1), True),
        ),
    ),
    # The release is under way when the second request is granted.
    "a byte is lent again while its release has not returned": Known(
        ONE_BYTE,
        None,
        (
            step("t", Allocate("a", 1), True),
            call("t", Release("a")),
            step("u", Allocate("b", 1), True),
            back("t"),
        ),
    ),
    # The release began after the grant had returned.
    "a byte is lent again before its release began": Known(
        ONE_BYTE,
        2,
        (
            step("t", Allocate("a", 1), True),
            step("u", Allocate("b", 1), True),
            step("t", Release("a")),
        ),
    ),
    # Its outcome is unknown: the second request may take the byte that nobody returned.
    "a release never returns, and took effect": Known(
        ONE_BYTE,
        None,
        (
            step("t", Allocate("a", 1), True),
            call("t", Release("a")),
            step("u", Allocate("b", 1), True),
            step("u", Allocate("c", 1), False),
        ),
    ),
    # One release cannot make room for two.
    "a release never returns, and two are granted after it": Known(
        ONE_BYTE,
        4,
        (
            step("t", Allocate("a", 1), True),
            call("t", Release("a")),
            step("u", Allocate("b", 1), True),
            step("u", Allocate("c", 1), True),
        ),
    ),
    # It took effect long after it began, and never returned.
    "a request that never returns takes the last byte much later": Known(
        ONE_BYTE,
        None,
        (
            call("t", Allocate("a", 1)),
            step("u", Allocate("b", 1), True),
            step("u", Release("b")),
            step("u", Allocate("c", 1), True),
            step("u", Release("c")),
            step("u", Allocate("d", 1), False),
        ),
    ),
    # 40 are left, 41 are asked for.
    "a strict pool grants more than there is": Known(
        STRICT,
        2,
        (step("t", Allocate("a", 60), True), step("u", Allocate("b", 41), True)),
    ),
    # The lenient pool grants as long as a byte is left.
    "a lenient pool grants more than there is": Known(
        LENIENT,
        None,
        (step("t", Allocate("a", 60), True), step("u", Allocate("b", 41), True)),
    ),
    # Of two threads that give back one buffer, one must be told.
    "one buffer is given back twice at once": Known(
        STRICT,
        None,
        (
            step("t", Allocate("a", 1), True),
            call("t", Release("a")),
            call("u", Release("a")),
            back("t", rejected=Reason.INVALID_ARGUMENT),
            back("u"),
        ),
    ),
    "one buffer is given back twice at once, and both are told nothing": Known(
        STRICT,
        5,
        (
            step("t", Allocate("a", 1), True),
            call("t", Release("a")),
            call("u", Release("a")),
            back("t"),
            back("u"),
        ),
    ),
}

TIMERS = {
    # The cancellation overlaps with the advance that hands over: it came too late.
    "a task is handed over while it is cancelled": Known(
        STEPPED,
        None,
        (
            step("t", Add("a", 1)),
            call("u", Advance(1)),
            call("t", Cancel("a")),
            back("t"),
            event("u", EXPIRED, "a"),
            back("u"),
            step("t", RunOne(), None, ran("a")),
        ),
    ),
    # It was cancelled before the advance began. What an advance shows is judged when it returns.
    "a cancelled task is handed over": Known(
        STEPPED,
        5,
        (
            step("t", Add("a", 1)),
            step("t", Cancel("a")),
            call("u", Advance(1)),
            event("u", EXPIRED, "a"),
            back("u"),
        ),
    ),
    # The add read the clock at 0, and armed the task when the clock had reached 5.
    "an add is overtaken by an advance": Known(
        STEPPED,
        None,
        (
            call("t", Add("a", 3)),
            step("u", Advance(5)),
            back("t"),
            step("u", Advance(6), None, expired("a")),
        ),
    ),
    # The add had returned before the advance.
    "a due task is not handed over": Known(
        STEPPED,
        2,
        (step("t", Add("a", 3)), step("u", Advance(5)), step("u", Advance(6), None, expired("a"))),
    ),
    # Two ticks, in one advance that never returned: the order of what follows is free.
    "an advance never returns, and its tasks run": Known(
        STEPPED,
        None,
        (
            step("t", Add("a", 1)),
            step("t", Add("b", 1)),
            call("u", Advance(1)),
            event("u", EXPIRED, "b"),
            step("t", RunOne(), None, ran("b")),
            step("t", RunOne(), None, ran("a")),
        ),
    ),
    # a is due before b, whatever the advance has shown so far.
    "an advance never returns, and its tasks run in the wrong order": Known(
        STEPPED,
        4,
        (
            step("t", Add("a", 1)),
            step("t", Add("b", 2)),
            call("u", Advance(2)),
            step("t", RunOne(), None, ran("b")),
            step("t", RunOne(), None, ran("a")),
        ),
    ),
    # With an inline executor the advance runs what it hands over.
    "an inline advance runs what is due": Known(
        INLINE,
        None,
        (
            step("t", Add("b", 2)),
            call("u", Advance(2)),
            call("t", Add("c", 1)),
            event("u", RAN, "b"),
            back("t"),
            back("u"),
            step("u", Advance(3), None, ran("c")),
        ),
    ),
    "an inline advance runs a task twice": Known(
        INLINE,
        5,
        (
            step("t", Add("b", 2)),
            call("u", Advance(2)),
            event("u", RAN, "b"),
            event("u", RAN, "b"),
            back("u"),
        ),
    ),
    # Two threads of the executor: which of two due tasks begins first is free.
    "threads of the executor run tasks of one advance": Known(
        THREAD,
        None,
        (
            step("t", Add("a", 1)),
            step("t", Add("b", 1)),
            step("t", Advance(1)),
            event("e1", RAN, "b"),
            event("e2", RAN, "a"),
        ),
    ),
    "a thread of the executor runs a task that is not due": Known(
        THREAD,
        3,
        (step("t", Add("a", 2)), step("t", Advance(1)), event("e1", RAN, "a")),
    ),
    # Shutdown and add overlap: either may be first.
    "an add is rejected while the timer is shut down": Known(
        STEPPED,
        None,
        (
            call("t", Add("a", 1)),
            call("u", Shutdown()),
            back("t", rejected=Reason.CLOSED),
            back("u"),
        ),
    ),
    "an add is rejected before the timer is shut down": Known(
        STEPPED,
        2,
        (
            call("t", Add("a", 1)),
            back("t", rejected=Reason.CLOSED),
            step("u", Shutdown()),
        ),
    ),
}

WALL = WallClock(lateness_ms=50)

REAL_CLOCKS = {
    # Added between 100 and 103, so due between 110 and 113.
    "a task runs in its interval": Known(
        THREAD,
        None,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            event("e", RAN, "a", 110),
        ),
        WALL,
        500,
    ),
    "a task runs too early": Known(
        THREAD,
        3,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            event("e", RAN, "a", 109),
        ),
        WALL,
        500,
    ),
    # 113 and 50 ms of declared lateness.
    "a task runs too late": Known(
        THREAD,
        3,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            event("e", RAN, "a", 164),
        ),
        WALL,
        500,
    ),
    "a task never runs": Known(
        THREAD,
        3,
        (call("t", Add("a", 10), 100), back("t", None, 103)),
        WALL,
        500,
    ),
    # The run ends before it is overdue.
    "a task has not run yet": Known(
        THREAD, None, (call("t", Add("a", 10), 100), back("t", None, 103)), WALL, 120
    ),
    # Due at 110 at the earliest, and the cancellation had returned at 109.
    "a task runs that was cancelled in time": Known(
        THREAD,
        4,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            step("t", Cancel("a"), at_ms=109),
            event("e", RAN, "a", 111),
        ),
        WALL,
        500,
    ),
    # It may have been handed over before, since the cancellation returned at 112.
    "a task runs that was cancelled too late": Known(
        THREAD,
        None,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            call("t", Cancel("a"), 108),
            back("t", None, 112),
            event("e", RAN, "a", 113),
        ),
        WALL,
        500,
    ),
    # Each arming may run once.
    "a task that was cancelled too late runs twice": Known(
        THREAD,
        6,
        (
            call("t", Add("a", 10), 100),
            back("t", None, 103),
            call("t", Cancel("a"), 108),
            back("t", None, 112),
            event("e", RAN, "a", 113),
            event("e", RAN, "a", 114),
        ),
        WALL,
        500,
    ),
    # Of two adds that overlap either may be the one that counts: due at 105 or at 130.
    "two threads add one task": Known(
        THREAD,
        None,
        (
            call("t", Add("a", 5), 100),
            call("u", Add("a", 30), 100),
            back("u", None, 101),
            back("t", None, 101),
            event("e", RAN, "a", 131),
        ),
        WALL,
        500,
    ),
    "two threads add one task, and it runs at neither time": Known(
        THREAD,
        5,
        (
            call("t", Add("a", 5), 100),
            call("u", Add("a", 90), 100),
            back("u", None, 101),
            back("t", None, 101),
            event("e", RAN, "a", 180),
        ),
        WALL,
        500,
    ),
    # Rounded down to the tick of 10 ms: due at 100 already.
    "a task runs at its tick": Known(
        TICKS,
        None,
        (
            call("t", Add("a", 9), 100),
            back("t", None, 100),
            event("e", RAN, "a", 100),
        ),
        WALL,
        500,
    ),
}

PURGATORIES = {
    # Satisfied between the two tries: its own watch completes it.
    "a watch completes on its second try": Known(
        EXACT,
        None,
        (
            call("t", W),
            event("t", TRIED, "a"),
            step("u", Satisfy("a")),
            event("t", TRIED, "a"),
            event("t", COMPLETED, "a"),
            back("t", True),
        ),
    ),
    # The check began after it was satisfied and in its list, and must complete it.
    "a check passes what it should complete": Known(
        EXACT,
        3,
        (step("t", W, False, *WAITS), step("u", Satisfy("a")), step("u", Check("k"), 0)),
    ),
    # Two checks, one completion.
    "one of two checks completes": Known(
        EXACT,
        None,
        (
            step("t", W, False, *WAITS),
            step("t", Satisfy("a")),
            call("t", Check("k")),
            call("u", Check("k")),
            event("t", TRIED, "a"),
            event("t", COMPLETED, "a"),
            back("u", 0),
            back("t", 1),
        ),
    ),
    "both of two checks complete it": Known(
        EXACT,
        10,
        (
            step("t", W, False, *WAITS),
            step("t", Satisfy("a")),
            call("t", Check("k")),
            call("u", Check("k")),
            event("t", TRIED, "a"),
            event("t", COMPLETED, "a"),
            event("u", TRIED, "a"),
            event("u", COMPLETED, "a"),
            back("u", 1),
            back("t", 1),
        ),
    ),
    # It completed one and says two.
    "a check counts wrongly": Known(
        EXACT,
        3,
        (
            step("t", W, False, *WAITS),
            step("t", Satisfy("a")),
            step("u", Check("k"), 2, tried("a"), completed("a")),
        ),
    ),
    # Nobody named it, so that nothing but the count is wrong.
    "a check of an empty list counts one": Known(EXACT, 1, (step("u", Check("k"), 1),)),
    # The time-out and the force overlap; one of them completes.
    "forced and timed out at once": Known(
        EXACT,
        None,
        (
            step("t", W, False, *WAITS),
            step("t", Advance(10), None, expired("a")),
            call("e", RunOne()),
            call("t", Force("a")),
            back("t", False),
            event("e", COMPLETED, "a"),
            event("e", TIMED_OUT, "a"),
            back("e"),
        ),
    ),
    "forced, and timed out all the same": Known(
        EXACT,
        7,
        (
            step("t", W, False, *WAITS),
            step("t", Advance(10), None, expired("a")),
            step("t", Force("a"), True, completed("a")),
            call("e", RunOne()),
            event("e", COMPLETED, "a"),
            event("e", TIMED_OUT, "a"),
            back("e"),
        ),
    ),
    # In a thread of the executor, which makes no calls: completed a moment before its callback.
    "a time-out in a thread of the executor": Known(
        EXACT_THREAD,
        None,
        (
            step("t", W, False, *WAITS, at_ms=1),
            step("t", Force("a"), False, at_ms=12),
            event("e", COMPLETED, "a", 13),
            event("e", TIMED_OUT, "a", 13),
        ),
        WALL,
        100,
    ),
    "completed by nobody": Known(
        EXACT_THREAD,
        2,
        (step("t", W, False, *WAITS, at_ms=1), step("t", Force("a"), False, at_ms=12)),
        WALL,
        100,
    ),
    # The purge of a real clock cannot be seen.
    "purged while nobody looks": Known(
        EXACT_THREAD,
        None,
        (
            step("t", W, False, *WAITS, at_ms=1),
            step("t", Force("a"), True, completed("a"), at_ms=2),
            step("t", CancelForKey("k"), (), at_ms=30),
        ),
        WALL,
        100,
    ),
    # On a manual clock nobody advanced, so nothing was purged.
    "gone, though nothing purged": Known(
        EXACT,
        3,
        (
            step("t", W, False, *WAITS),
            step("t", Force("a"), True, completed("a")),
            step("t", CancelForKey("k"), ()),
        ),
    ),
    # An advance with an inline executor runs the time-out itself.
    "an inline advance times out": Known(
        EXACT_INLINE,
        None,
        (
            step("t", W, False, *WAITS),
            call("u", Advance(10)),
            event("u", COMPLETED, "a"),
            call("t", Check("k")),
            back("t", 0),
            event("u", TIMED_OUT, "a"),
            back("u"),
        ),
    ),
    "an inline advance times out twice": Known(
        EXACT_INLINE,
        4,
        (
            step("t", W, False, *WAITS),
            step("u", Advance(10), None, completed("a"), timed_out("a")),
            step("u", Elapse(11)),
            step("u", Advance(12), None, completed("a"), timed_out("a")),
        ),
    ),
    # Two keys, each cancelled once; the second time nothing is left.
    "cancelled twice for one key": Known(
        EXACT,
        3,
        (
            step("t", W, False, *WAITS),
            step("t", CancelForKey("k"), ("a",)),
            step("u", CancelForKey("k"), ("a",)),
        ),
    ),
    # A callback of a check watches another operation: a call inside a call.
    "a callback watches": Known(
        EXACT,
        None,
        (
            step("t", W, False, *WAITS),
            step("t", Satisfy("a")),
            call("t", Check("k")),
            event("t", TRIED, "a"),
            event("t", COMPLETED, "a"),
            call("t", Watch("b", ("k",), 10)),
            event("t", TRIED, "b"),
            event("t", TRIED, "b"),
            back("t", False),
            back("t", 1),
        ),
    ),
}

KNOWN = {**POOLS, **TIMERS, **REAL_CLOCKS, **PURGATORIES}


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_what_is_known_of_a_history_is_found(known: Known) -> None:
    """
    Given a history of which it is known whether some order of its calls is allowed
    When it is checked
    Then that is found, and for a wrong one the first line that cannot be explained
    """
    lines = located(known.instance, known.lines, clock=known.clock, at_ms=known.ended_ms)
    finding = found_of(lines)
    if known.wrong_at is None:
        assert finding.answered is Answered.LINEARIZABLE, finding.reason or finding.shares
        return
    assert finding.answered is Answered.NOT_LINEARIZABLE, finding.reason
    assert finding.shares[0].fails_at == known.wrong_at


BROKEN_OFF = {
    # Its run may be among the lines that are missing.
    "a task never runs": REAL_CLOCKS["a task never runs"],
    # The executor may have completed it, and not told anybody yet.
    "completed by nobody": PURGATORIES["completed by nobody"],
}


@pytest.mark.parametrize("known", BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_what_may_stand_in_missing_lines_is_not_held_against_the_others(known: Known) -> None:
    """
    Given a history that is wrong because something does not happen in it
    When its last line is missing
    Then it is inconclusive
    """
    lines = located(known.instance, known.lines, clock=known.clock, ends=False)
    finding = found_of(lines)
    assert finding.answered is Answered.INCONCLUSIVE
    assert finding.reason == "its last line is missing"


def test_a_thread_that_is_stopped_before_its_line_gets_a_number_is_not_late() -> None:
    """
    Given a task that ran in time, by its own line, which stands behind a line of a later time
    When that other line ends its arming, or arms it again
    Then it is explained; and where it never ran it is not
    """
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
    """
    Given an operation whose third try completes it, and a check that overlaps with an elapse
    When the check completes it, and when it does not
    Then whole calls explain the first, and of the second nothing is said: parts might
    """
    watched = step("t", SCRIPTED, False, *WAITS)
    begun = (watched, call("u", Elapse(1)), call("t", Check("k")))
    shown = (event("t", TRIED, "a"), event("t", COMPLETED, "a"))
    right = found_of(located(EXACT, (*begun, *shown, back("t", 1), back("u"))))
    assert right.answered is Answered.LINEARIZABLE, right.reason
    wrong = found_of(located(EXACT, (*begun, back("t", 0), back("u"))))
    assert wrong.answered is Answered.INCONCLUSIVE
    assert wrong.reason.startswith("the operation 'a' has a script")


def test_a_name_that_is_given_again_is_not_taken_for_the_same_operation() -> None:
    """
    Given an operation that is completed, and another one that gets its name
    When the run is checked
    Then nothing is said that would hold one against the other
    """
    lines = [
        step("t", W, False, *WAITS, at_ms=1),
        step("t", Force("a"), True, completed("a"), at_ms=2),
        step("t", W, False, *WAITS, at_ms=3),
    ]
    finding = found_of(located(EXACT_THREAD, lines, clock=WALL, at_ms=5))
    assert finding.answered is Answered.INCONCLUSIVE
    assert "the name 'a' is given to a further operation" in finding.reason


def test_a_line_without_a_time_on_a_real_clock_is_told() -> None:
    """
    Given a run on a real clock, one line of which says no time
    When it is checked
    Then it is inconclusive, and the line is named
    """
    lines: list[TraceLine] = [call("t", Add("a", 10), 100), back("t")]
    finding = found_of(located(THREAD, lines, clock=WALL, at_ms=500))
    assert finding.answered is Answered.INCONCLUSIVE
    assert finding.reason == "line 2 says no time, and the clock is a real one"
