"""The suite's own wrong timers: each breaks one rule, and the suite must say which."""

import inspect
import re
from functools import partial

import msgspec

from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.small.timer import PROFILE, SmallTimer, small_subject
from purgatory_conformance.specimens.wrong import arming, executor, expiry, wheel
from purgatory_spec.profiles import SameTickOrder, Structure, TimerProfile

SILENT_PROFILE = msgspec.structs.replace(PROFILE, structure=Structure.ANY, observables=frozenset())
"""The profile of a first adapter: any structure, and nothing is shown but events."""

FIFO_PROFILE = msgspec.structs.replace(PROFILE, same_tick_order=SameTickOrder.FIFO)
"""The profile of a timer that keeps the order of arming inside a tick."""


def _mutant(
    timer: type[SmallTimer], rule: str, *also: str, profile: TimerProfile = PROFILE
) -> Mutant:
    """The mutant of a timer, named after its class and summarised by its docstring."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", timer.__name__).lower()
    make = partial(small_subject, timer, profile, name)
    return Mutant(name, inspect.cleandoc(timer.__doc__ or ""), rule, also, make)


_MUTANTS = (
    _mutant(expiry.RoundsUp, "TIMER-ROUNDING"),
    _mutant(expiry.EarlyAtTickTen, "TIMER-NOT-EARLY"),
    _mutant(expiry.OneTickLate, "TIMER-NOT-LATE"),
    _mutant(expiry.SkippedTicksLost, "TIMER-NOT-LATE"),
    _mutant(expiry.TicksBackwards, "TIMER-TICK-ORDER"),
    _mutant(expiry.LatestOfATickFirst, "TIMER-SAME-TICK-ORDER", profile=FIFO_PROFILE),
    _mutant(expiry.BucketKeepsTasks, "TIMER-EXACTLY-ONCE"),
    _mutant(expiry.DueTaskWaitsATurn, "TIMER-ALREADY-DUE"),
    _mutant(expiry.ZeroDropped, "TIMER-ZERO-DELAY"),
    _mutant(expiry.NegativeRejected, "TIMER-NEGATIVE-DELAY"),
    _mutant(expiry.NegativeWaits, "TIMER-NEGATIVE-DELAY"),
    _mutant(expiry.HugeWraps, "TIMER-LARGEST-DELAY"),
    _mutant(expiry.NegativeClockTruncates, "TIMER-NEGATIVE-CLOCK"),
    _mutant(expiry.AdvanceAlwaysTrue, "TIMER-IDLE-ADVANCE"),
    _mutant(expiry.ResultOnlyOfRuns, "TIMER-ADVANCE-RESULT"),
    _mutant(arming.ReaddLeavesOldArming, "TIMER-READD-PENDING"),
    _mutant(arming.ReaddCountsTwice, "TIMER-READD-PENDING"),
    _mutant(arming.ReaddIgnored, "TIMER-READD-PENDING"),
    _mutant(arming.CancelSticks, "TIMER-READD-CANCELLED"),
    _mutant(arming.OnlyOnce, "TIMER-READD-FIRED"),
    _mutant(arming.ReaddTakesQueuedRun, "TIMER-READD-FIRED"),
    _mutant(arming.CancelledStillFires, "TIMER-CANCEL"),
    _mutant(arming.CancelIgnored, "TIMER-CANCEL", profile=SILENT_PROFILE),
    _mutant(arming.CancelCountsTwice, "TIMER-CANCEL-AGAIN"),
    _mutant(arming.CancelFiredCounts, "TIMER-CANCEL-FIRED", "TIMER-CANCEL-INSIDE"),
    _mutant(arming.CancelTakesQueuedRun, "TIMER-CANCEL-TOO-LATE"),
    _mutant(arming.CancelUnknownFails, "TIMER-CANCEL-UNKNOWN"),
    _mutant(arming.CancelForgetsCount, "TIMER-SIZE"),
    _mutant(arming.SizeCountsQueued, "TIMER-SIZE"),
    _mutant(executor.LastInFirstOut, "TIMER-EXECUTOR-ORDER"),
    _mutant(executor.ThrowLosesBatch, "TIMER-THROWING-TASK"),
    _mutant(executor.ThrowEscapes, "TIMER-THROWING-TASK"),
    _mutant(executor.ThrowClosesTimer, "TIMER-THROWING-TASK"),
    _mutant(executor.AddInsideLost, "TIMER-ADD-INSIDE"),
    _mutant(executor.CancelInsideIgnored, "TIMER-CANCEL-INSIDE"),
    _mutant(executor.AdvanceInsideIgnored, "TIMER-ADVANCE-INSIDE"),
    _mutant(executor.ShutdownKeepsPending, "TIMER-SHUTDOWN-DROPS"),
    _mutant(executor.ShutdownEmptiesQueue, "TIMER-SHUTDOWN-QUEUE"),
    _mutant(executor.TakenAfterShutdown, "TIMER-SHUTDOWN-CLOSED"),
    _mutant(executor.ShutdownTwiceFails, "TIMER-SHUTDOWN-AGAIN"),
    _mutant(wheel.FollowsClock, "TIMER-OWN-CLOCK"),
    _mutant(wheel.DueByTheClock, "TIMER-OWN-CLOCK"),
    _mutant(wheel.SpanOfAllBuckets, "TIMER-SPAN"),
    _mutant(wheel.WholeIntervalLate, "TIMER-SPAN"),
    _mutant(wheel.ThirdLevelTooWide, "TIMER-SPAN"),
    _mutant(wheel.EagerLevel, "TIMER-OVERFLOW-ON-DEMAND"),
    _mutant(wheel.LostOnCascade, "TIMER-CASCADE"),
    _mutant(wheel.ExpiresWithItsBucket, "TIMER-CASCADE"),
    _mutant(wheel.OneBucketPerAdvance, "TIMER-CASCADE"),
    _mutant(wheel.EmptiedBucketLeaves, "TIMER-EMPTIED-BUCKET"),
    _mutant(wheel.LostOnReuse, "TIMER-BUCKET-REUSE"),
    _mutant(wheel.OfferedTwice, "TIMER-DELAY-QUEUE-BOUND"),
    _mutant(wheel.WakesEveryTick, "TIMER-WAKE-UP"),
)


def timer_mutants() -> tuple[Mutant, ...]:
    """The timer's mutants, in the order of the rules that they break."""
    return _MUTANTS
