"""Timers with bugs that people reported: a heap of armings, or a wheel, that runs tasks at once."""

from functools import cached_property
from heapq import heapify, heappop
from itertools import count
from operator import itemgetter

import msgspec

from purgatory_conformance.specimens.mutant import Kind, breaks
from purgatory_conformance.specimens.small.other_timers import HeapTimer
from purgatory_conformance.specimens.small.specimen import OrdinaryScriptFailure, ScriptFailure
from purgatory_conformance.specimens.small.timer import PROFILE, Fate, Script, SmallTimer, Task
from purgatory_spec import profiles
from purgatory_spec.operations import Action, CancelInside

INLINE_PROFILE = msgspec.structs.replace(
    PROFILE,
    executor=profiles.Executor.INLINE,
    structure=profiles.Structure.ANY,
    largest_delay_ms=profiles.LARGEST_INT,
    features=frozenset(profiles.Feature)
    - {profiles.Feature.INT64, profiles.Feature.SHUTDOWN, profiles.Feature.REACHABLE},
    observables=frozenset({profiles.Observable.SIZE}),
)
"""A timer that runs what is due inside the advance, and shows its size."""


RELEASING_PROFILE = msgspec.structs.replace(
    INLINE_PROFILE, features=INLINE_PROFILE.features | {profiles.Feature.REACHABLE}
)
"""The profile of such a timer whose tasks are looked at once they are dropped."""

LONG_PROFILE = msgspec.structs.replace(INLINE_PROFILE, largest_delay_ms=profiles.LARGEST_LONG)
"""The profile of such a timer that takes delays of 63 bits."""

FIFO_PROFILE = msgspec.structs.replace(INLINE_PROFILE, same_tick_order=profiles.SameTickOrder.FIFO)
"""The profile of such a timer that keeps the order of arming inside a tick."""


def reported(
    report: str,
    kind: Kind,
    rule: str,
    *also: str,
    profile: profiles.TimerProfile = INLINE_PROFILE,
) -> breaks:
    """Register a timer with its report, for the rule that it breaks."""
    return breaks(rule, *also, profile=profile, report=report, kind=kind)


_END_OF_TIME = 2**70


@reported("tgstation#38994", Kind.BATCHES, "TIMER-NOT-EARLY")
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


@reported(
    "DolphinVM#100", Kind.OLD_CLOCKS, "TIMER-NOT-EARLY", "TIMER-NEGATIVE-DELAY", "TIMER-TICK-ORDER"
).by(HeapTimer.due_tick)
def milliseconds_of_32_bits(self: HeapTimer, expiry_ms: int) -> int:
    """The sum of clock and delay does not carry beyond 32 bits."""
    if expiry_ms >= 0:
        expiry_ms = self.now_ms - self.now_ms % 2**32 + expiry_ms % 2**32
    return SmallTimer.due_tick(self, expiry_ms)


@reported(
    "picotcp#2", Kind.OLD_CLOCKS, "TIMER-NOT-EARLY", "TIMER-NOT-LATE", "TIMER-LARGEST-DELAY"
).by(HeapTimer.due_tick)
def milliseconds_of_31_bits(self: HeapTimer, expiry_ms: int) -> int:
    """A sum that leaves a signed int of 32 bits is negative, and so is due at once."""
    return SmallTimer.due_tick(self, (expiry_ms + 2**31) % 2**32 - 2**31)


@reported("netty#15730", Kind.CROWDS, "TIMER-NOT-LATE").by(HeapTimer.pop_due)
def sixty_four_in_a_pass(self: HeapTimer) -> list[Task]:
    """An advance runs at most 64 tasks; the others wait for the next."""
    due = HeapTimer.pop_due(self)
    for task in due[64:]:
        self.put(task)
    return due[:64]


@reported("AsyncTimer#12", Kind.BATCHES, "TIMER-ADD-INSIDE", "TIMER-SIZE", "TIMER-NOT-LATE")
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


@reported("dpvs#901", Kind.FAR_DELAYS, "TIMER-NOT-EARLY").by(HeapTimer.expiry)
def no_carry_beyond_19_bits(self: HeapTimer, delay_ms: int) -> int:
    """The remainder of a far delay loses its carry: it expires a wheel's turn early."""
    early_ms = 2**19 if delay_ms >= 2**19 and self.now_ms % 2**19 else 0
    return SmallTimer.expiry(self, delay_ms - early_ms)


# A wheel that is walked slot by slot


@reported("netty#12888", Kind.ORDER, "TIMER-NOT-LATE", "TIMER-TICK-ORDER").by(HeapTimer.pop_due)
def stops_at_a_later_round(self: HeapTimer) -> list[Task]:
    """A walk through a slot stops at the first task of a later round."""
    due: dict[Task, int] = {}
    blocked: set[int] = set()
    for due_tick, _, task in sorted(self.heap, key=itemgetter(1)):
        slot = due_tick // self.tick_ms % self.wheel_size
        if due_tick > self.now_ms:
            blocked.add(slot)
        elif slot not in blocked:
            due[task] = due_tick
    self.heap = sorted(each for each in self.heap if each[2] not in due)
    return sorted(due, key=due.__getitem__)


@reported("bngblaster#361", Kind.BATCHES, "TIMER-ADD-INSIDE").by(HeapTimer.run)
def slot_is_freed_after_the_callback(self: HeapTimer, task: Task) -> None:
    """An emptied slot is freed after its callbacks, and loses the tasks that they added."""
    slot, before = task.due_tick // self.tick_ms % self.wheel_size, self.armings
    SmallTimer.run(self, task)
    self.heap = sorted(
        each
        for each in self.heap
        if each[1] <= before or each[0] // self.tick_ms % self.wheel_size != slot
    )


# Rounding and arithmetic


@reported("netty#1959", Kind.ARITHMETIC, "TIMER-ROUNDING", "TIMER-NOT-EARLY").by(HeapTimer.expiry)
def remainder_is_lost(self: HeapTimer, delay_ms: int) -> int:
    """A delay is counted from the last tick, and the part of the tick that has passed is lost."""
    return self.round_down(self.now_ms, self.tick_ms) + delay_ms


class SinceStart(HeapTimer):
    """A timer that knows the reading at its start."""

    def __init__(
        self, configuration: profiles.TimerConfiguration, profile: profiles.TimerProfile
    ) -> None:
        """Note the clock's reading at the start."""
        super().__init__(configuration, profile)
        self.start_ms = self.now_ms


@reported("coreclr#25603", Kind.FAR_DELAYS, "TIMER-LARGEST-DELAY", "TIMER-NOT-EARLY").by(
    SinceStart.expiry
)
def sums_of_31_bits(self: SinceStart, delay_ms: int) -> int:
    """The sum of a delay and the time since the start keeps its lowest 31 bits."""
    total_ms = self.now_ms - self.start_ms + delay_ms
    return self.start_ms + (total_ms if total_ms < 0 else total_ms % 2**31)


@reported("tokio#5536", Kind.OLD_CLOCKS, "TIMER-NOT-LATE").by(SinceStart.refuse)
def takes_nothing_after_36_bits(self: SinceStart, delay_ms: int) -> None:
    """A timer that has existed for 2^36 ms finds that every expiry is beyond its wheel."""
    SmallTimer.refuse(self, delay_ms)
    if self.now_ms - self.start_ms >= 2**36:
        raise LookupError(delay_ms)


@reported(
    "node#4541", Kind.FAR_DELAYS, "TIMER-LARGEST-DELAY", "TIMER-NOT-EARLY", profile=LONG_PROFILE
).by(HeapTimer.expiry)
def too_long_is_one_ms(self: HeapTimer, delay_ms: int) -> int:
    """A delay that does not fit 31 bits stands for one millisecond."""
    return SmallTimer.expiry(self, delay_ms if delay_ms < 2**31 else 1)


@reported("rpc-perf#180", Kind.FAR_DELAYS, "TIMER-NOT-EARLY").by(HeapTimer.due_tick)
def turns_are_not_counted(self: HeapTimer, expiry_ms: int) -> int:
    """A delay beyond a turn of the wheel expires when the hand first comes to its slot."""
    due_tick, turn_ms = SmallTimer.due_tick(self, expiry_ms), self.tick_ms * self.wheel_size
    begins_ms = self.round_down(self.now_ms, self.tick_ms)
    is_beyond = due_tick - begins_ms > turn_ms
    return begins_ms + (due_tick - begins_ms) % turn_ms if is_beyond else due_tick


@reported("nebula#802", Kind.SIZES, "TIMER-NOT-LATE").by(HeapTimer.due_tick)
def last_slot_and_a_turn(self: HeapTimer, expiry_ms: int) -> int:
    """A delay of a whole turn is beyond the wheel while its hand is at the last slot."""
    due_tick, hand = SmallTimer.due_tick(self, expiry_ms), self.now_ms // self.tick_ms
    is_last = hand % self.wheel_size == self.wheel_size - 1
    if is_last and due_tick // self.tick_ms - hand == self.wheel_size:
        raise LookupError(due_tick)
    return due_tick


@reported("ubxlib#209", Kind.OLD_CLOCKS, "TIMER-NOT-LATE").by(HeapTimer.pop_due)
def long_past_is_the_future(self: HeapTimer) -> list[Task]:
    """A task that has been due for longer than 2^31 ms is taken for one that is due later."""
    due = [each for each in self.heap if self.now_ms - each[0] >= 0]
    due = [each for each in due if (self.now_ms - each[0]) % 2**32 < 2**31]
    self.heap = sorted(each for each in self.heap if each not in due)
    return [task for _, _, task in sorted(due)]


@reported("QuarkTS#7", Kind.ARITHMETIC, "TIMER-NOT-EARLY", "TIMER-ROUNDING").by(HeapTimer.expiry)
def float_seconds(self: HeapTimer, delay_ms: int) -> int:
    """A delay is kept as a float of seconds and truncated when it is turned back."""
    return self.now_ms + int(delay_ms / 1000 * 1000)


@reported("bull#1705", Kind.OLD_CLOCKS, "TIMER-NEGATIVE-DELAY", "TIMER-NEGATIVE-CLOCK").by(
    HeapTimer.pop_due
)
def looks_from_zero_to_now(self: HeapTimer) -> list[Task]:
    """An advance looks for times from zero to now, and sees nothing that is due below zero."""
    below = [each for each in self.heap if each[0] < 0]
    self.heap = sorted(each for each in self.heap if each[0] >= 0)
    due = HeapTimer.pop_due(self)
    self.heap = sorted(self.heap + below)
    return due


# The order of the heap, and what stands for it


@reported("tokio#854, tokio#849", Kind.ORDER, "TIMER-NOT-LATE")
class WakesAtTheFirst(HeapTimer):
    """The time at which the timer wakes is not brought forward for a task that is due sooner."""

    wakes_at = 0

    def put(self, task: Task) -> None:
        if not self.heap:
            self.wakes_at = task.due_tick
        super().put(task)

    def pop_due(self) -> list[Task]:
        due = super().pop_due() if self.now_ms >= self.wakes_at else []
        if due and self.heap:
            self.wakes_at = self.heap[0][0]
        return due


@reported("tokio#871", Kind.ORDER, "TIMER-NOT-LATE", "TIMER-READD-PENDING")
class MovedTaskTakesTheWakeUp(HeapTimer):
    """The time at which the timer wakes goes along with the first task when that is moved."""

    wakes_at = 0
    moved: Task | None = None

    def move_away(self, task: Task) -> None:
        self.moved = task if self.heap[0][2] is task else None
        super().move_away(task)

    def put(self, task: Task) -> None:
        super().put(task)
        if task in (self.moved, self.heap[0][2]):
            self.wakes_at = task.due_tick
        self.moved = None

    def leave(self, task: Task) -> None:
        super().leave(task)
        if self.heap and task.fate is Fate.CANCELLED:
            self.wakes_at = self.heap[0][0]

    def pop_due(self) -> list[Task]:
        due = super().pop_due() if self.now_ms >= self.wakes_at else []
        if due and self.heap:
            self.wakes_at = self.heap[0][0]
        return due


@reported("go#47762", Kind.HISTORIES, "TIMER-NOT-LATE")
class WakesInVain(HeapTimer):
    """After a wake-up for a task that was cancelled the timer sleeps until its oldest task."""

    wakes_at = _END_OF_TIME

    def put(self, task: Task) -> None:
        super().put(task)
        self.wakes_at = min(self.wakes_at, task.due_tick)

    def pop_due(self) -> list[Task]:
        if self.now_ms < self.wakes_at:
            return []
        due = super().pop_due()
        following = self.heap[:1] if due else sorted(self.heap, key=itemgetter(1))[:1]
        self.wakes_at = following[0][0] if following else _END_OF_TIME
        return due


@reported("k6#5199", Kind.ORDER, "TIMER-NOT-EARLY")
class RunsAnotherInItsPlace(HeapTimer):
    """The wake-up for a first task that was cancelled stays, and runs the task behind it."""

    @cached_property
    def wake_ups(self) -> list[int]:
        return []

    def cancel(self, task: Task) -> None:
        if task.fate is Fate.PENDING and self.heap[0][2] is task:
            self.wake_ups.append(task.due_tick)
        super().cancel(task)

    def pop_due(self) -> list[Task]:
        due = super().pop_due()
        in_vain = [at for at in self.wake_ups if at <= self.now_ms]
        self.wake_ups[:] = [at for at in self.wake_ups if at > self.now_ms]
        return [heappop(self.heap)[2]] if in_vain and not due and self.heap else due


class TwoLevels(HeapTimer):
    """A timer that knows which tasks were a turn of the wheel away when they were added."""

    @cached_property
    def coarse(self) -> set[Task]:
        """Return the tasks of the second level."""
        return set()

    def is_far(self, task: Task) -> bool:
        """Decide whether a task is a turn of the wheel away now."""
        return task.due_tick - self.now_ms >= self.tick_ms * self.wheel_size

    def put(self, task: Task) -> None:
        """Choose the level."""
        self.coarse.discard(task)
        if self.is_far(task):
            self.coarse.add(task)
        super().put(task)


@reported("glommio#44", Kind.ORDER, "TIMER-NOT-LATE", "TIMER-TICK-ORDER").by(TwoLevels.pop_due)
def first_level_hides_the_second(self: TwoLevels) -> list[Task]:
    """A timer sleeps until the first task of its first level, though one of the second is due."""
    in_first = [due_tick for due_tick, _, task in self.heap if task not in self.coarse]
    return HeapTimer.pop_due(self) if min(in_first, default=self.now_ms) <= self.now_ms else []


@reported("seastar#2318", Kind.HISTORIES, "TIMER-CANCEL").by(TwoLevels.leave)
def looks_in_the_present_level(self: TwoLevels, task: Task) -> None:
    """A cancel looks for a task in the level that the time that is left belongs to."""
    if self.is_far(task) == (task in self.coarse):
        HeapTimer.leave(self, task)


@reported("eventmachine#20", Kind.ORDER, "TIMER-NOT-LATE").by(HeapTimer.put)
def one_task_for_each_expiry(self: HeapTimer, task: Task) -> None:
    """Tasks are kept in a map by their expiry: of two that expire together, the second stays."""
    self.heap = [each for each in self.heap if each[0] != task.due_tick]
    heapify(self.heap)
    HeapTimer.put(self, task)


@reported("rclcpp#2375", Kind.ORDER, "TIMER-NOT-LATE", "TIMER-TICK-ORDER").by(HeapTimer.leave)
def key_is_changed_in_place(self: HeapTimer, task: Task) -> None:
    """A cancel sets a key of the heap to the end of time, and does not restore the order."""
    self.heap = [
        (_END_OF_TIME, arming, each) if each is task else (due_tick, arming, each)
        for due_tick, arming, each in self.heap
    ]


@reported("openthread#11", Kind.ORDER, "TIMER-TICK-ORDER").by(HeapTimer.pop_due)
def order_of_the_list(self: HeapTimer) -> list[Task]:
    """Tasks that are due together run in the order of the list, and not of time."""
    return sorted(HeapTimer.pop_due(self), key=lambda task: task.arming)


@reported("etl#1484", Kind.ORDER, "TIMER-NOT-EARLY", "TIMER-CANCEL")
class ForgetsACancelledDelta(HeapTimer):
    """Each task counts from its predecessor, and a cancelled task takes its share along."""

    def leave(self, task: Task) -> None:
        earlier = [due_tick for due_tick, *_ in self.heap if due_tick < task.due_tick]
        share = max(0, task.due_tick - max([*earlier, self.round_down(self.now_ms, self.tick_ms)]))
        self.heap = sorted(
            (due_tick - share if due_tick > task.due_tick else due_tick, arming, each)
            for due_tick, arming, each in self.heap
            if each is not task
        )


@reported("joyent/libuv#1284, aeron#1281", Kind.CROWDS, "TIMER-TICK-ORDER", "TIMER-NOT-LATE").by(
    HeapTimer.leave
)
def sifts_down_only(self: HeapTimer, task: Task) -> None:
    """A cancel fills the gap in the heap with the last task, and never moves that up."""
    place = next(place for place, each in enumerate(self.heap) if each[2] is task)
    last = self.heap.pop()
    if place < len(self.heap):
        self.heap[place] = last
    while place < len(self.heap):
        below = range(2 * place + 1, min(2 * place + 3, len(self.heap)))
        least = min(below, key=self.heap.__getitem__, default=place)
        if self.heap[least] >= self.heap[place]:
            break
        self.heap[place], self.heap[least] = self.heap[least], self.heap[place]
        place = least


@reported("joyent/libuv#701", Kind.ORDER, "TIMER-SAME-TICK-ORDER", profile=FIFO_PROFILE).by(
    HeapTimer.pop_due
)
def equal_ones_in_any_order(self: HeapTimer) -> list[Task]:
    """Tasks that are due together run in the order of their addresses, here the last one first."""
    return sorted(HeapTimer.pop_due(self), key=lambda task: (task.due_tick, -task.arming))


@reported("node#37226", Kind.ORDER, "TIMER-TICK-ORDER")
class OneListForEachDelay(HeapTimer):
    """Tasks with one delay share a list, and a late advance runs a list to its end."""

    def add(self, task: Task, delay_ms: int, script: Script = None) -> None:
        super().add(task, delay_ms, script)
        self.delays[task] = delay_ms

    def pop_due(self) -> list[Task]:
        lists: dict[int, list[Task]] = {}
        for task in super().pop_due():
            lists.setdefault(self.delays[task], []).append(task)
        return [task for each in lists.values() for task in each]

    @cached_property
    def delays(self) -> dict[Task, int]:
        return {}


# Tasks that throw


@reported("zmqmachine#5", Kind.THROWS, "TIMER-THROWING-TASK", "TIMER-ADD-INSIDE")
class ThrowLosesRearms(HeapTimer):
    """A task that throws takes along what the tasks before it have added in the same advance."""

    armings_before = 0

    def advance(self) -> bool:
        self.armings_before = self.armings
        return super().advance()

    def run(self, task: Task) -> None:
        try:
            super().run(task)
        except ScriptFailure:
            for each in self.tasks.values():
                if each.arming > self.armings_before:
                    self.cancel(each)
            raise


@reported("rocketmq#3006", Kind.THROWS, "TIMER-THROWING-TASK").by(HeapTimer.run)
def dies_of_a_throw(self: HeapTimer, task: Task) -> None:
    """A task that throws ends the timer's thread, and nothing runs any more."""
    try:
        SmallTimer.run(self, task)
    except ScriptFailure:
        self.queue.clear()
        self.heap.clear()
        raise


@reported("samza#450, jPOS#311", Kind.THROWS, "TIMER-THROWING-TASK")
class OrdinaryOnesAreCaught(HeapTimer):
    """The dispatcher catches ordinary exceptions only, and the other sort ends it."""

    is_dead = False

    def pop_due(self) -> list[Task]:
        return [] if self.is_dead else super().pop_due()

    def run(self, task: Task) -> None:
        try:
            super().run(task)
        except OrdinaryScriptFailure:
            raise
        except ScriptFailure:
            self.is_dead = True
            raise


# Adding again


@reported("ModernUO#705", Kind.BATCHES, "TIMER-ADD-INSIDE").by(HeapTimer.run)
def rearmed_task_is_unlinked(self: HeapTimer, task: Task) -> None:
    """A task that adds itself while it runs is unlinked after it has run."""
    SmallTimer.run(self, task)
    if task.fate is Fate.PENDING:
        self.leave(task)


@reported("tokio#3270", Kind.HISTORIES, "TIMER-SIZE", "TIMER-READD-FIRED")
class ExpiredFlagSurvives(HeapTimer):
    """A task that has expired keeps the flag when it is added again, and is not counted."""

    def size(self) -> int:
        pending = [each for each in self.tasks.values() if each.fate is Fate.PENDING]
        return sum(each not in self.flagged for each in pending)

    def hand_over(self, due: list[Task]) -> None:
        super().hand_over(due)
        self.flagged.update(due)

    @cached_property
    def flagged(self) -> set[Task]:
        return set()


@reported(
    "kue#933", Kind.HISTORIES, "TIMER-NOT-EARLY", "TIMER-READD-PENDING", "TIMER-READD-CANCELLED"
)
class CountsFromCreation(HeapTimer):
    """A new delay of a task counts from its first one."""

    def add(self, task: Task, delay_ms: int, script: Script = None) -> None:
        if task.fate is not Fate.PENDING:
            self.created_ms[task] = self.now_ms
        super().add(task, delay_ms - self.now_ms + self.created_ms[task], script)

    @cached_property
    def created_ms(self) -> dict[Task, int]:
        return {}


class CountsFrom(HeapTimer):
    """A timer that may count a delay from another reading than the present one."""

    counts_from_ms: int | None = None

    def expiry(self, delay_ms: int) -> int:
        """Return the expiry, counted from that reading."""
        from_ms = self.now_ms if self.counts_from_ms is None else self.counts_from_ms
        return from_ms + delay_ms


@reported(
    "zephyr#12332", Kind.BATCHES, "TIMER-NOT-EARLY", "TIMER-ADD-INSIDE", "TIMER-READD-FIRED"
).by(CountsFrom.run)
def counts_from_the_due_tick(self: CountsFrom, task: Task) -> None:
    """Delays that a late task adds are counted from the tick at which it was due."""
    self.counts_from_ms = task.due_tick
    try:
        SmallTimer.run(self, task)
    finally:
        self.counts_from_ms = None


@reported("js-sdk-toolchain#1470", Kind.THROWS, "TIMER-THROWING-TASK", "TIMER-NOT-EARLY").by(
    CountsFrom.run
)
def context_stays_after_a_throw(self: CountsFrom, task: Task) -> None:
    """Delays that are added after a task has thrown are counted from its due tick."""
    self.counts_from_ms = None
    try:
        SmallTimer.run(self, task)
    except ScriptFailure:
        self.counts_from_ms = task.due_tick
        raise


@reported("joyent/libuv#678", Kind.ARITHMETIC, "TIMER-NOT-EARLY").by(CountsFrom.advance)
def clock_of_the_last_pass(self: CountsFrom) -> bool:
    """A delay is counted from the reading of the last advance."""
    self.counts_from_ms = self.now_ms
    return HeapTimer.advance(self)


class Rearms(HeapTimer):
    """A timer in which a pending task that is added again keeps or loses its arming."""

    def add(self, task: Task, delay_ms: int, script: Script = None) -> None:
        """Add a task, unless an override treats what is pending otherwise."""
        due_tick = self.due_tick(self.expiry(delay_ms))
        if task.fate is not Fate.PENDING or self.is_moved(task, due_tick):
            super().add(task, delay_ms, script)

    def is_moved(self, task: Task, due_tick: int) -> bool:
        """Decide whether a pending task is moved."""
        return True


@reported("retimer#8", Kind.HISTORIES, "TIMER-READD-PENDING").by(Rearms.is_moved)
def shorter_is_ignored(self: Rearms, task: Task, due_tick: int) -> bool:
    """A pending task that is added again with a shorter delay keeps the longer one."""
    return due_tick >= task.due_tick


@reported("kue#1132", Kind.HISTORIES, "TIMER-READD-PENDING").by(Rearms.is_moved)
def passed_is_ignored(self: Rearms, task: Task, due_tick: int) -> bool:
    """A pending task that is added again without a delay keeps the delay that it had."""
    return due_tick > self.now_ms


@reported("msquic#3206", Kind.HISTORIES, "TIMER-READD-PENDING").by(Rearms.is_moved)
def later_drops_out(self: Rearms, task: Task, due_tick: int) -> bool:
    """A pending task that is moved to a later tick drops out of the wheel."""
    if due_tick > task.due_tick:
        self.leave(task)
    return due_tick <= task.due_tick


@reported("contiki#293", Kind.HISTORIES, "TIMER-READD-PENDING").by(Rearms.is_moved)
def difference_is_unsigned(self: Rearms, task: Task, due_tick: int) -> bool:
    """A pending task that is moved to an earlier tick is moved by an unsigned difference."""
    if due_tick < task.due_tick:
        self.leave(task)
        task.due_tick += (due_tick - task.due_tick) % 2**32
        HeapTimer.put(self, task)
    return due_tick >= task.due_tick


# Cancelling


@reported("urbit#2954", Kind.ORDER, "TIMER-SIZE", "TIMER-CANCEL").by(HeapTimer.cancel)
def cancels_the_date(self: HeapTimer, task: Task) -> None:
    """A cancel drops every task that is due together with its own."""
    is_pending = task.fate is Fate.PENDING
    for each in self.tasks.values():
        if is_pending and each.due_tick == task.due_tick:
            SmallTimer.cancel(self, each)


@reported("cpython#79124", Kind.ORDER, "TIMER-CANCEL").by(HeapTimer.leave)
def takes_an_equal_one(self: HeapTimer, task: Task) -> None:
    """A cancel takes the first task out that is due at the same time."""
    equal = sorted(each for each in self.heap if each[0] == task.due_tick)
    self.heap = sorted(each for each in self.heap if each not in equal[:1])


@reported(
    "netty#14959", Kind.BATCHES, "TIMER-SIZE", "TIMER-CANCEL-TOO-LATE", "TIMER-CANCEL-INSIDE"
).by(HeapTimer.cancel)
def counted_off_again(self: HeapTimer, task: Task) -> None:
    """A cancel of a task that has expired and not run yet counts it off a second time."""
    if task in self.queue:
        self.pending -= 1
    SmallTimer.cancel(self, task)


@reported(
    "wire#1580, copas#214", Kind.BATCHES, "TIMER-ADD-INSIDE", "TIMER-CANCEL-INSIDE", "TIMER-SIZE"
)
class StoppedAndStartedInside(HeapTimer):
    """A task that cancels itself and then adds itself as it runs stays cancelled."""

    def run(self, task: Task) -> None:
        self.stopped.clear()
        super().run(task)
        if self.stopped[-1:] == [task]:
            super().cancel(task)

    def act(self, action: Action) -> None:
        if isinstance(action, CancelInside):
            self.stopped.append(self.task(action.task))
        super().act(action)

    @cached_property
    def stopped(self) -> list[Task]:
        return []


@reported("tokio#2473", Kind.BATCHES, "TIMER-ADD-INSIDE", "TIMER-READD-FIRED").by(HeapTimer.add)
def expired_is_not_in_the_wheel(
    self: HeapTimer, task: Task, delay_ms: int, script: Script = None
) -> None:
    """To add a task again that has expired and not run yet is an error."""
    if task in self.queue:
        raise LookupError(task.name)
    SmallTimer.add(self, task, delay_ms, script)


class Slots(HeapTimer):
    """A timer whose pending tasks are numbered; a number that is free is given again."""

    @cached_property
    def numbers(self) -> dict[Task, int]:
        """Return the number that each task had last."""
        return {}

    def holders(self, task: Task) -> list[Task]:
        """Return the pending task that has the number of a task now, or none."""
        number = self.numbers.get(task)
        pending = [each for each in self.numbers if each.fate is Fate.PENDING]
        return [each for each in pending if self.numbers[each] == number]

    def put(self, task: Task) -> None:
        """Give the lowest free number."""
        pending = {each for each in self.numbers if each.fate is Fate.PENDING} - {task}
        taken = {self.numbers[each] for each in pending}
        self.numbers[task] = next(number for number in count() if number not in taken)
        super().put(task)


@reported("arduino-timer#76", Kind.HISTORIES, "TIMER-CANCEL-FIRED", "TIMER-CANCEL-AGAIN").by(
    Slots.cancel
)
def stale_number_cancels(self: Slots, task: Task) -> None:
    """A cancel of a task that has run cancels the task that has its number since."""
    for holder in self.holders(task):
        SmallTimer.cancel(self, holder)


@reported("whatwg/html#10387", Kind.HISTORIES, "TIMER-CANCEL")
class NumberIsActiveAgain(Slots):
    """A cancelled task runs if its number has been given to another one, which is pending."""

    def leave(self, task: Task) -> None:
        super().leave(task)
        if task.fate is Fate.CANCELLED:
            self.cleared.append(task)

    def pop_due(self) -> list[Task]:
        over = [each for each in self.cleared if each.due_tick <= self.now_ms]
        run = [each for each in over if each.fate is Fate.CANCELLED and self.holders(each)]
        self.pending += len(run)
        self.cleared = [each for each in self.cleared if each not in over]
        return sorted([*super().pop_due(), *run], key=lambda task: task.due_tick)

    @cached_property
    def cleared(self) -> list[Task]:
        return []


# Letting go


@reported("mesa#3800", Kind.OBSERVABLE, "TIMER-RELEASES", profile=RELEASING_PROFILE)
class KeepsCancelledEvents(HeapTimer):
    """Cancelled entries are never removed from the heap."""

    @cached_property
    def never_popped(self) -> list[Task]:
        return []

    def leave(self, task: Task) -> None:
        super().leave(task)
        self.never_popped.append(task)


# An executor that refuses

STEPPED_PROFILE = msgspec.structs.replace(INLINE_PROFILE, executor=profiles.Executor.STEPPED)
"""The profile of such a timer with an executor, which may refuse."""


@reported("ogema#54", Kind.OPERATION, "TIMER-EXECUTOR-REFUSES", profile=STEPPED_PROFILE)
class DispatcherDies(HeapTimer):
    """The exception of an executor that refuses a task ends the thread that hands tasks over."""

    is_dead = False

    def advance(self) -> bool:
        return not self.is_dead and super().advance()

    def keep(self, due: list[Task]) -> None:
        self.is_dead = True
        super().keep(due)


# Shutting down


@breaks("TIMER-SHUTDOWN-CLOSED", report="openchamber#1251", kind=Kind.BATCHES)
class TakesFromARunningTask(SmallTimer):
    """A task that runs after the shutdown may add."""

    is_running = False

    def run(self, task: Task) -> None:
        self.is_running = True
        try:
            super().run(task)
        finally:
            self.is_running = False

    def refuse(self, delay_ms: int) -> None:
        was_closed, self.closed = self.closed, self.closed and not self.is_running
        try:
            super().refuse(delay_ms)
        finally:
            self.closed = was_closed
