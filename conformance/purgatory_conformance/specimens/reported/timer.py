"""Timers with bugs that people reported: a heap of armings, or a wheel, that runs tasks at once."""

from heapq import heappop

import msgspec

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.other_timers import HeapTimer
from purgatory_conformance.specimens.small.timer import PROFILE, Fate, Script, SmallTimer, Task
from purgatory_spec import profiles

INLINE_PROFILE = msgspec.structs.replace(
    PROFILE,
    executor=profiles.Executor.INLINE,
    structure=profiles.Structure.ANY,
    largest_delay_ms=profiles.LARGEST_INT,
    features=frozenset(profiles.Feature) - {profiles.Feature.INT64, profiles.Feature.SHUTDOWN},
    observables=frozenset({profiles.Observable.SIZE}),
)
"""A timer that runs what is due inside the advance, and shows its size."""


def reported(
    rule: str, *also: str, report: str, profile: profiles.TimerProfile = INLINE_PROFILE
) -> breaks:
    """Register a timer for the rule that it breaks, with the report."""
    return breaks(rule, *also, profile=profile, report=report)


@reported("TIMER-NOT-EARLY", report="tgstation#38994")
class CatchUpRunsNewcomers(HeapTimer):
    """An add in a late advance lands in a slot that is still to be emptied, and runs early.

    It does so three times in an advance at most: where a task adds itself, the advance ends.
    """

    doing_ms: int | None = None
    early = 0

    def advance(self) -> bool:
        ran = False
        self.early = 0
        while self.heap and self.heap[0][0] <= self.now_ms:
            ran = True
            self.doing_ms, _, task = heappop(self.heap)
            self.pending -= 1
            self.hand_over([task])
            self.run_all()
        self.doing_ms = None
        return ran

    def expiry(self, delay_ms: int) -> int:
        expiry_ms = super().expiry(delay_ms)
        if self.doing_ms is None or expiry_ms <= self.now_ms or self.early == 3:
            return expiry_ms
        ahead = (expiry_ms - self.doing_ms) // self.tick_ms
        behind = (self.now_ms - self.doing_ms) // self.tick_ms
        if ahead % self.wheel_size > behind:
            return expiry_ms
        self.early += 1
        return self.now_ms


@reported("TIMER-NOT-EARLY", "TIMER-NEGATIVE-DELAY", "TIMER-TICK-ORDER", report="DolphinVM#100").by(
    HeapTimer.due_tick
)
def milliseconds_of_32_bits(self: HeapTimer, expiry_ms: int) -> int:
    """The sum of clock and delay does not carry beyond 32 bits."""
    if expiry_ms >= 0:
        expiry_ms = self.now_ms - self.now_ms % 2**32 + expiry_ms % 2**32
    return SmallTimer.due_tick(self, expiry_ms)


@reported("TIMER-NOT-EARLY", "TIMER-NOT-LATE", report="picotcp#2").by(HeapTimer.due_tick)
def milliseconds_of_31_bits(self: HeapTimer, expiry_ms: int) -> int:
    """A sum that leaves a signed int of 32 bits is negative, and so is due at once."""
    return SmallTimer.due_tick(self, (expiry_ms + 2**31) % 2**32 - 2**31)


@reported("TIMER-NOT-LATE", report="netty#15730")
class SixtyFourInAPass(HeapTimer):
    """An advance runs at most 64 tasks; the others wait for the next."""

    def advance(self) -> bool:
        due: list[Task] = []
        while self.heap and self.heap[0][0] <= self.now_ms and len(due) < 64:
            due.append(heappop(self.heap)[2])
        self.pending -= len(due)
        self.hand_over(due)
        return bool(due)


@reported("TIMER-ADD-INSIDE", "TIMER-SIZE", "TIMER-NOT-LATE", report="AsyncTimer#12")
class FreedAfterTheCallback(HeapTimer):
    """The slot of a task is freed after its callback, although an add inside has taken it.

    A slot that was cancelled inside the callback is free, and the next add takes it.
    """

    freed = False

    def run(self, task: Task) -> None:
        self.freed = False
        self.reused: list[Task] = []
        super().run(task)
        for each in self.reused:
            if each.fate is Fate.PENDING:
                self.cancel(each)

    def cancel(self, task: Task) -> None:
        super().cancel(task)
        self.freed = True

    def add(self, task: Task, delay_ms: int, script: Script = None) -> None:
        super().add(task, delay_ms, script)
        if self.freed:
            self.freed, self.reused = False, [task]


@reported("TIMER-NOT-EARLY", report="dpvs#901").by(HeapTimer.expiry)
def no_carry_beyond_19_bits(self: HeapTimer, delay_ms: int) -> int:
    """The remainder of a far delay loses its carry: it expires a wheel's turn early."""
    early_ms = 2**19 if delay_ms >= 2**19 and self.now_ms % 2**19 else 0
    return SmallTimer.expiry(self, delay_ms - early_ms)
