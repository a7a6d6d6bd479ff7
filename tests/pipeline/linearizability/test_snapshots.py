"""Runs that begin in the middle, with a snapshot of what is live."""

from typing import NamedTuple

import pytest

from purgatory_pipeline.linearizability.checker import Answered
from purgatory_pipeline.traces.lines import (
    HeldBuffer,
    Instance,
    ManualClock,
    MemoryPoolInstance,
    OpenCall,
    PendingTask,
    PurgatoryInstance,
    Snapshot,
    TimerInstance,
    TraceLine,
    WaitingOperation,
    WallClock,
)
from purgatory_spec.operations import (
    Add,
    Advance,
    Allocate,
    CancelForKey,
    Check,
    Release,
    RunOne,
    Satisfy,
)
from purgatory_spec.outcomes import EventKind, completed, expired, ran, timed_out, tried
from purgatory_spec.profiles import (
    Accounting,
    Executor,
    MemoryPoolConfiguration,
    PurgatoryProfile,
    TimerProfile,
)

from .traces import back, event, found_of, located, ns, step

POOL = MemoryPoolInstance(configuration=MemoryPoolConfiguration(10, 5))
STEPPED = TimerInstance(profile=TimerProfile(executor=Executor.STEPPED))
THREAD = TimerInstance(profile=TimerProfile(executor=Executor.THREAD))
PURGATORY = PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.STEPPED)
)
OUT = (HeldBuffer("a", 5), HeldBuffer("b", 5))


class Begun(NamedTuple):
    """A snapshot and lines behind it; ``wrong_at`` counts the first line as 100."""

    instance: Instance
    snapshot: Snapshot
    lines: tuple[TraceLine, ...]
    wrong_at: int | None
    clock: ManualClock | WallClock = ManualClock()


def live(**what: object) -> Snapshot:
    """A snapshot."""
    return Snapshot(run="r", seq=0, at_ns=ns(1000), **what)  # type: ignore[arg-type]


WAITS = WaitingOperation("a", ("k1", "k2"), 10, early_ms=1010, late_ms=1010)

BEGUN = {
    "a buffer that was out is given back": Begun(
        POOL,
        live(buffers=OUT),
        (
            step("t", Allocate("c", 1), False),
            step("t", Release("a")),
            step("t", Allocate("d", 1), True),
        ),
        None,
    ),
    "more is granted than the snapshot left": Begun(
        POOL, live(buffers=OUT), (step("t", Allocate("c", 1), True),), 102
    ),
    # Whatever became of what is out, the pool has this.
    "what is available is said": Begun(
        POOL,
        live(buffers=OUT[:1], available_bytes=0),
        (step("t", Allocate("c", 1), False),),
        None,
    ),
    "a call that was open returns": Begun(
        POOL,
        live(calls=(OpenCall("u", Allocate("e", 5), 999_000_000),)),
        (step("t", Allocate("c", 5), True), step("t", Allocate("d", 1), False), back("u", True)),
        None,
    ),
    "a pending task expires at its tick": Begun(
        STEPPED,
        live(now_ms=1000, tasks=(PendingTask("a", 1004, 1004),), queued=("z",)),
        (
            step("t", RunOne(), None, ran("z")),
            step("t", Advance(1003)),
            step("t", Advance(1004), None, expired("a")),
        ),
        None,
    ),
    "a pending task is passed": Begun(
        STEPPED,
        live(now_ms=1000, tasks=(PendingTask("a", 1004, 1004),)),
        (step("t", Advance(1005)),),
        102,
    ),
    "on the real clock a pending task runs": Begun(
        THREAD,
        live(tasks=(PendingTask("a", 1004, 1006),), queued=("z",)),
        (event("e", EventKind.RAN, "z", 1001), event("e", EventKind.RAN, "a", 1030)),
        None,
        WallClock(),
    ),
    "on the real clock a pending task runs too early": Begun(
        THREAD,
        live(tasks=(PendingTask("a", 1004, 1006),)),
        (event("e", EventKind.RAN, "a", 1003), step("t", Add("b", 9000), at_ms=1004)),
        102,
        WallClock(),
    ),
    "an operation that waits is completed by a check": Begun(
        PURGATORY,
        live(operations=(WAITS,)),
        (step("t", Satisfy("a")), step("t", Check("k2"), 1, tried("a"), completed("a"))),
        None,
    ),
    "an operation that waits is passed by a check": Begun(
        PURGATORY,
        live(operations=(WAITS,)),
        (step("t", Satisfy("a")), step("t", Check("k2"), 0)),
        103,
    ),
    "an operation that waits times out, and is found completed": Begun(
        PURGATORY,
        live(operations=(WAITS,)),
        (
            step("t", Advance(1010), None, expired("a")),
            step("t", RunOne(), None, completed("a"), timed_out("a")),
            step("t", CancelForKey("k1"), ("a",)),
        ),
        None,
    ),
    "a completed operation is completed again": Begun(
        PURGATORY,
        live(operations=(WaitingOperation("a", ("k1",), completed=True, satisfied=True),)),
        (step("t", Check("k1"), 1, tried("a"), completed("a")),),
        102,
    ),
}


@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN)
def test_a_run_that_begins_in_the_middle_begins_with_its_snapshot(begun: Begun) -> None:
    """Given a run whose earlier lines are gone, and a snapshot: what is live counts."""
    lines = located(
        begun.instance, (begun.snapshot, *begun.lines), first=100, clock=begun.clock, at_ms=1040
    )
    finding = found_of(lines)
    if begun.wrong_at is None:
        assert finding.answered is Answered.LINEARIZABLE, (finding.reason, finding.shares)
        return
    assert finding.answered is Answered.NOT_LINEARIZABLE, finding.reason
    assert finding.shares[0].fails_at == begun.wrong_at


def test_a_snapshot_in_the_middle_of_a_run_changes_nothing() -> None:
    """When it is checked, it is one history."""
    first = located(POOL, [step("t", Allocate("a", 5), True)], ends=False)
    further = located(
        POOL, [live(buffers=(HeldBuffer("a", 5),)), step("t", Release("a"))], first=len(first)
    )
    finding = found_of([*first, *further])
    assert finding.answered is Answered.LINEARIZABLE, finding.reason
    assert finding.calls == 2


def test_a_snapshot_that_contradicts_itself_decides_nothing() -> None:
    """When the run behind it is checked, it is inconclusive, and the reason names the buffer."""
    lines = located(POOL, [live(buffers=OUT[:1] * 2), step("t", Release("a"))], first=100)
    finding = found_of(lines)
    assert (finding.answered, finding.reason) == (
        Answered.INCONCLUSIVE,
        "buffer 'a' is told twice",
    )
