"""What simulations found in the judges of overlapping calls: the smallest traces that show it."""

from collections.abc import Sequence

import msgspec
import pytest

from purgatory_pipeline.replay import replay
from purgatory_pipeline.results.rows import QuarantineRow, VerdictRow
from purgatory_pipeline.traces.lines import (
    Begin,
    HeldBuffer,
    Instance,
    MemoryPoolInstance,
    OpenCall,
    PendingTask,
    PurgatoryInstance,
    Snapshot,
    TimerInstance,
    WaitingOperation,
)
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.reasons import Reason

from .simulation.judged import located, verdict_of
from .wall_clock import NS_PER_MS, Line, at_once, begin, call, end, event, returns

TIMER = TimerInstance()
EXACT = PurgatoryInstance(profile=profiles.PurgatoryProfile(accounting=profiles.Accounting.EXACT))
PROPOSAL = PurgatoryInstance()
POOL = MemoryPoolInstance(profiles.MemoryPoolConfiguration(size_bytes=3, max_single_bytes=2))
KNOWS = msgspec.structs.replace(
    POOL, profile=profiles.MemoryPoolProfile(release_validation=profiles.ReleaseValidation.IDENTITY)
)


def trace(instance: Instance, *lines: Line, first: int = 0) -> list[Begin | Line]:
    """A run of these lines, numbered."""
    of_run: Sequence[Begin | Line] = [begin(instance), *lines]
    return [
        msgspec.structs.replace(line, seq=seq, run="simulated")
        for seq, line in enumerate(of_run, start=first)
    ]


def verdict(instance: Instance, *lines: Line, first: int = 0) -> VerdictRow:
    return verdict_of(trace(instance, *lines, first=first))


def conforms(instance: Instance, *lines: Line, first: int = 0) -> bool:
    row = verdict(instance, *lines, first=first)
    assert row.verdict in ("conforms", "diverges"), row
    return row.verdict == "conforms"


def told(at_ms: int, **what: object) -> Snapshot:
    return Snapshot(run="simulated", seq=0, at_ns=at_ms * NS_PER_MS, **what)  # type: ignore[arg-type]


def add(task: str, at_ms: int, delay_ms: int) -> list[Line]:
    return at_once(at_ms, op.Add(task, delay_ms))


def watched(name: str, *keys: str, at_ms: int = 0, delay_ms: int = 50) -> list[Line]:
    return [
        call(at_ms, "main", op.Watch(name, keys, delay_ms)),
        event(at_ms, "main", "tried", name),
        event(at_ms, "main", "tried", name),
        returns(at_ms, "main", False),
    ]


def test_a_line_may_be_a_little_older_than_the_snapshot_before_it() -> None:
    """That is right: a reading is taken before the line's number is."""
    queued = told(100, queued=("a",))
    assert conforms(TIMER, queued, event(99, "e", "ran", "a"), end(300), first=7)


def test_a_snapshot_may_tell_of_a_task_while_a_shutdown_is_open() -> None:
    calls = (OpenCall("t2", op.Shutdown(), 10 * NS_PER_MS),)
    snapshot = told(10, tasks=(PendingTask("a", 50, 50),), calls=calls)
    shutdown: list[Line] = [call(10, "t2", op.Shutdown()), snapshot, returns(11, "t2"), end(90)]
    assert conforms(TIMER, *add("a", 0, 50), *shutdown)


@pytest.mark.parametrize(
    "snapshot",
    [
        pytest.param(told(10, tasks=(PendingTask("a", 500, 500),)), id="expires much later"),
        pytest.param(told(10, tasks=(PendingTask("a", 20, 20),)), id="expires before it may"),
        pytest.param(told(10, queued=("a",)), id="queued before it is due"),
        pytest.param(told(10, tasks=(PendingTask("a", 50, 50),), closed=True), id="closed"),
        pytest.param(told(10, tasks=(PendingTask("a", 50, 50),), queued=("a",)), id="twice"),
    ],
)
def test_a_snapshot_of_a_timer_must_agree_in_all_that_it_says(snapshot: Snapshot) -> None:
    assert not conforms(TIMER, *add("a", 0, 50), snapshot, event(50, "e", "ran", "a"), end(90))


def test_a_snapshot_may_tell_of_a_completion_whose_callback_has_not_begun() -> None:
    """Given an operation whose time-out has just completed it: that is right."""
    snapshot = told(50, operations=(WaitingOperation("a", ("k",), 50, completed=True, queued=1),))
    run: list[Line] = [event(50, "e", "completed", "a"), event(50, "e", "timed_out", "a")]
    assert conforms(EXACT, *watched("a", "k"), snapshot, *run, end(90))


def test_a_run_may_begin_between_a_completion_and_its_callback() -> None:
    snapshot = told(50, operations=(WaitingOperation("a", ("k",), 50, completed=True, queued=1),))
    run: list[Line] = [event(50, "e", "completed", "a"), event(50, "e", "timed_out", "a")]
    assert conforms(EXACT, snapshot, *run, end(90), first=7)


def test_a_snapshot_may_be_taken_while_a_shutdown_is_open() -> None:
    """Given an operation that owes a time-out: that is right."""
    snapshot = told(
        10,
        operations=(WaitingOperation("a", ("k",), 50),),
        calls=(OpenCall("t2", op.Shutdown(), 10 * NS_PER_MS),),
        closed=True,
    )
    shutdown: list[Line] = [call(10, "t2", op.Shutdown()), snapshot, returns(11, "t2")]
    assert conforms(EXACT, *watched("a", "k"), *shutdown, end(200))


def test_a_check_that_was_open_may_have_met_what_was_cancelled_since() -> None:
    """When a run begins with a snapshot behind the cancellation, the check may still try it."""
    snapshot = told(
        10,
        operations=(WaitingOperation("a", ("l",), 50, early_ms=50, late_ms=50),),
        calls=(OpenCall("t2", op.Check("k"), 5 * NS_PER_MS),),
    )
    tries: list[Line] = [event(10, "t2", "tried", "a"), returns(10, "t2", 0)]
    run: list[Line] = [event(50, "e", "completed", "a"), event(50, "e", "timed_out", "a")]
    assert conforms(EXACT, snapshot, *tries, *run, end(90), first=7)
    tries = [event(50, "t2", "tried", "a"), returns(50, "t2", 0)]
    assert conforms(EXACT, snapshot, *run, *tries, end(90), first=7)


@pytest.mark.parametrize(
    "operations",
    [
        pytest.param((WaitingOperation("a", ("k",), 50, completed=True),), id="in its list still"),
        pytest.param((), id="dropped"),
    ],
)
def test_a_check_that_was_open_may_still_try_what_was_completed_since(
    operations: tuple[WaitingOperation, ...],
) -> None:
    """The check may still try it, as in a run that is seen from its beginning."""
    calls = (OpenCall("t2", op.Check("k"), 5 * NS_PER_MS),)
    snapshot = told(10, operations=operations, calls=calls)
    tries: list[Line] = [event(10, "t2", "tried", "a"), returns(10, "t2", 0), end(90)]
    assert conforms(EXACT, snapshot, *tries, first=7)


def test_a_time_out_of_what_was_cancelled_is_blamed_so_inside_advance() -> None:
    """PURGATORY-CANCEL-LAST-KEY is broken, as where it times out in a thread of its own."""
    lines = [
        *watched("a", "k"),
        *at_once(5, op.CancelForKey("k"), ("a",)),
        call(50, "main", op.Advance(50)),
        event(50, "main", "completed", "a"),
    ]
    assert verdict(EXACT, *lines).rule == "PURGATORY-CANCEL-LAST-KEY"


def test_a_time_out_has_called_both_callbacks_when_its_call_returns() -> None:
    """PURGATORY-CALLBACK-ORDER, or PURGATORY-TIME-OUT, is broken."""
    lines = [
        *watched("a", "k"),
        call(50, "main", op.Advance(50)),
        event(50, "main", "completed", "a"),
        returns(50, "main"),
        end(90),
    ]
    assert not conforms(EXACT, *lines)


WITHOUT = PurgatoryInstance(
    profiles.PurgatoryConfiguration(time_outs=False),
    profiles.PurgatoryProfile(accounting=profiles.Accounting.EXACT),
)


@pytest.mark.parametrize(
    ("instance", "operations"),
    [
        pytest.param(WITHOUT, (), id="without time-outs, left out"),
        pytest.param(
            EXACT,
            (
                WaitingOperation("a", ("k",), 50, early_ms=50, late_ms=50),
                WaitingOperation("b", ("k",), 50, early_ms=50, late_ms=50),
            ),
            id="one that was never watched",
        ),
        pytest.param(
            EXACT,
            (WaitingOperation("a", ("k", "l"), 50, early_ms=50, late_ms=50),),
            id="under a key that it was not watched under",
        ),
        pytest.param(
            EXACT,
            (WaitingOperation("a", ("k",), 50, early_ms=500, late_ms=500),),
            id="times out much later",
        ),
        pytest.param(
            EXACT,
            (WaitingOperation("a", ("k",), 50, queued=1),),
            id="queued before it is due",
        ),
        pytest.param(
            EXACT,
            (WaitingOperation("a", ("k", "k"), 50, early_ms=50, late_ms=50),),
            id="twice under its key",
        ),
    ],
)
def test_a_snapshot_of_a_purgatory_must_agree_in_all_that_it_says(
    instance: Instance, operations: tuple[WaitingOperation, ...]
) -> None:
    cancelled = at_once(20, op.CancelForKey("k"), ("a",))
    lines = [*watched("a", "k"), told(10, operations=operations), *cancelled, end(30)]
    assert not conforms(instance, *lines)


def test_a_snapshot_must_not_tell_of_what_is_completed_as_waiting() -> None:
    forced: list[Line] = [
        call(5, "main", op.Force("a")),
        event(5, "main", "completed", "a"),
        returns(5, "main", True),
    ]
    waiting = told(10, operations=(WaitingOperation("a", ("k",), 50, early_ms=50, late_ms=50),))
    assert not conforms(EXACT, *watched("a", "k"), *forced, waiting, end(30))


def test_a_cancellation_returns_nothing_that_was_never_watched() -> None:
    lines = [*watched("a", "k"), *at_once(20, op.CancelForKey("k"), ("a", "b")), end(30)]
    assert not conforms(EXACT, *lines)
    right = [*watched("a", "k"), *at_once(20, op.CancelForKey("k"), ("a",)), end(30)]
    assert conforms(EXACT, *right)


def granted(buffer: str, size_bytes: int) -> list[Line]:
    return at_once(0, op.Allocate(buffer, size_bytes), True)


REJECTED: list[Line] = [
    call(0, "main", op.Release("x")),
    returns(0, "main", None, Reason.INVALID_ARGUMENT),
]


def test_a_buffer_that_was_given_back_before_the_snapshot_is_rejected() -> None:
    """When it is given back again, and rejected, that is right."""
    assert conforms(KNOWS, told(0), *REJECTED, end(1), first=7)
    assert not conforms(KNOWS, told(0), *at_once(0, op.Release("x")), end(1), first=7)


def test_a_buffer_that_was_given_back_long_ago_is_rejected() -> None:
    lines: list[Line] = []
    for name in ("x", *(f"b{number}" for number in range(1100))):
        lines += [*granted(name, 1), *at_once(0, op.Release(name))]
    assert conforms(KNOWS, *lines, *REJECTED, end(1))


def test_a_finding_says_what_was_expected() -> None:
    """It is said that a buffer was expected, since it must have had the last byte before."""
    row = verdict(
        MemoryPoolInstance(profiles.MemoryPoolConfiguration(size_bytes=1, max_single_bytes=1)),
        call(0, "t1", op.Allocate("a", 1)),
        call(0, "t2", op.Allocate("b", 1)),
        returns(0, "t1", False),
        returns(0, "t2", False),
    )
    assert (row.seq, row.expected, row.seen) == (4, "a buffer", "no buffer")


def test_one_name_for_two_buffers_is_unusable() -> None:
    lines = trace(POOL, *granted("a", 1), *granted("a", 1), end(1))
    assert any(isinstance(row, QuarantineRow) for row in replay(located(lines)))


def test_a_snapshot_of_a_pool_is_compared_though_a_call_is_open() -> None:
    """Given one open request for a byte: nothing explains that."""
    request: Line = call(0, "t2", op.Allocate("b", 1))
    calls = (OpenCall("t2", op.Allocate("b", 1), 0),)
    held = (HeldBuffer("a", 2),)
    right = told(0, buffers=held, calls=calls, available_bytes=1)
    wrong = told(0, buffers=held, calls=calls, available_bytes=3)
    assert conforms(POOL, *granted("a", 2), request, right, returns(0, "t2", True), end(1))
    assert not conforms(POOL, *granted("a", 2), request, wrong, returns(0, "t2", True), end(1))
