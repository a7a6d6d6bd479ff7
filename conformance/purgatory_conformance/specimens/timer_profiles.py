"""One tiny timer for each value that a profile may declare, and the same timer declared otherwise.

The first conforms: the value is a legal choice. The second, its sibling, breaks the rule that the
choice belongs to; where the other value asks for less, the sibling conforms as well.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from threading import Thread

import msgspec

from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.small.timer import (
    PROFILE,
    SmallTimer,
    Task,
    small_subject,
)
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import (
    AlreadyDue,
    Executor,
    Feature,
    LargerDelay,
    NegativeDelay,
    Observable,
    Rounding,
    SameTickOrder,
    Structure,
    TimerConfiguration,
    TimerProfile,
)

_SMALL_LIMIT_MS = 1000


class HeapTimer(SmallTimer):
    """A timer without buckets: a heap of armings; all that is due waits for the next advance."""

    def __init__(self, configuration: TimerConfiguration, profile: TimerProfile) -> None:
        """Begin with an empty heap."""
        super().__init__(configuration, profile)
        self.heap: list[tuple[int, int, Task]] = []

    def is_due(self, task: Task) -> bool:
        """Adding expires nothing."""
        return False

    def put(self, task: Task) -> None:
        """Push the arming."""
        heappush(self.heap, (task.due_tick, task.arming, task))

    def leave(self, task: Task) -> None:
        """Take the arming out of the heap, which else would keep it until it is due."""
        self.heap = [each for each in self.heap if each[2] is not task]
        heapify(self.heap)

    def shutdown(self) -> None:
        """Drop the heap as well."""
        super().shutdown()
        self.heap = []

    def advance(self) -> bool:
        """Pop every arming that is due."""
        due: list[Task] = []
        while self.heap and self.heap[0][0] <= self.now_ms:
            due.append(heappop(self.heap)[2])
        self.pending -= len(due)
        self.hand_over(due)
        return bool(due)


class TickerTimer(HeapTimer):
    """A timer that does each tick once, when its ticker comes to it."""

    def __init__(self, configuration: TimerConfiguration, profile: TimerProfile) -> None:
        """The tick in which the timer is made is done."""
        super().__init__(configuration, profile)
        self.ticked_ms = self.round_down(self.now_ms, self.tick_ms)

    def put(self, task: Task) -> None:
        """Push the arming, no sooner than the next tick."""
        task.due_tick = max(task.due_tick, self.ticked_ms + self.tick_ms)
        super().put(task)

    def advance(self) -> bool:
        """Do the ticks that have come."""
        self.ticked_ms = self.round_down(self.now_ms, self.tick_ms)
        return super().advance()


class ThreadsTimer(HeapTimer):
    """A timer whose tasks each have a thread of their own, here the last one first."""

    def settle(self) -> None:
        """Wait until all threads are through."""
        self.queue.reverse()
        while self.queue:
            thread = Thread(target=self.run_one)
            thread.start()
            thread.join()


class ThreadTimer(SmallTimer):
    """A timer whose tasks run in a thread of its executor."""

    def settle(self) -> None:
        """Wait until the executor is idle."""
        if self.queue:
            thread = Thread(target=self.run_all)
            thread.start()
            thread.join()


def _subject(
    behaves: TimerProfile, declares: TimerProfile, timer: type[SmallTimer] = SmallTimer
) -> Callable[[], Subject]:
    """Makes a timer that behaves as under one profile and declares another."""
    return lambda: small_subject(lambda configuration, _: timer(configuration, behaves), declares)


def _profile_subject(
    value: str,
    behaves: TimerProfile,
    other: TimerProfile,
    sibling_rule: str = "",
    timer: type[SmallTimer] = SmallTimer,
) -> ProfileSubject:
    return ProfileSubject(
        name=value.replace("_", "-").replace(" ", "-"),
        value=value,
        make=_subject(behaves, behaves, timer),
        sibling=_subject(behaves, other, timer),
        sibling_rule=sibling_rule,
    )


_change = msgspec.structs.replace

_UP = _change(PROFILE, rounding=Rounding.UP)
_FIFO = _change(PROFILE, same_tick_order=SameTickOrder.FIFO)
_INLINE = _change(PROFILE, executor=Executor.INLINE)
_THREAD = _change(PROFILE, executor=Executor.THREAD)
_REJECT = _change(PROFILE, negative_delay=NegativeDelay.REJECT)
_LIMITED = _change(PROFILE, largest_delay_ms=_SMALL_LIMIT_MS)
_ANY = _change(
    PROFILE,
    structure=Structure.ANY,
    observables=frozenset({Observable.SIZE, Observable.QUEUED, Observable.ADVANCE_RESULT}),
)
_THREADS = _change(
    _ANY,
    executor=Executor.THREADS,
    features=_ANY.features - {Feature.SCRIPT_ADD, Feature.SCRIPT_CANCEL, Feature.SCRIPT_ADVANCE},
)
_ONE_THREAD = _change(_THREADS, executor=Executor.THREAD)
_EXACT = _change(_ANY, rounding=Rounding.EXACT)
_AS_ZERO = _change(_ANY, negative_delay=NegativeDelay.AS_ZERO, rounding=Rounding.UP)
_ALREADY_DUE = _change(_AS_ZERO, negative_delay=NegativeDelay.ALREADY_DUE)
_NO_NEGATIVE = _change(PROFILE, negative_delay=NegativeDelay.NOT_OFFERED)
_SATURATING = _change(_LIMITED, larger_delay=LargerDelay.SATURATE)
_NO_LARGER = _change(_LIMITED, larger_delay=LargerDelay.NOT_OFFERED)
_NEXT_TICK = _change(_ANY, already_due=AlreadyDue.NEXT_TICK)
_FEW_OBSERVABLES_OF_A_WHEEL = _change(_ANY, structure=Structure.DELAY_QUEUE_WHEEL)

_PROFILE_SUBJECTS = (
    _profile_subject("rounding down", PROFILE, _UP, "TIMER-ROUNDING"),
    _profile_subject("rounding up", _UP, PROFILE, "TIMER-ROUNDING"),
    _profile_subject("rounding exact", _EXACT, _ANY, "TIMER-ROUNDING", HeapTimer),
    _profile_subject("same_tick_order none", PROFILE, _FIFO, "TIMER-SAME-TICK-ORDER"),
    _profile_subject("same_tick_order fifo", _FIFO, PROFILE),
    _profile_subject("executor stepped", PROFILE, _INLINE, "TIMER-EXECUTOR-ORDER"),
    _profile_subject("executor inline", _INLINE, PROFILE, "TIMER-EXECUTOR-ORDER"),
    _profile_subject("executor thread", _THREAD, PROFILE, "TIMER-EXECUTOR-ORDER", ThreadTimer),
    _profile_subject("executor threads", _THREADS, _ONE_THREAD, "TIMER-TICK-ORDER", ThreadsTimer),
    _profile_subject(
        "structure any", _ANY, _FEW_OBSERVABLES_OF_A_WHEEL, "TIMER-OWN-CLOCK", HeapTimer
    ),
    _profile_subject("structure delay_queue_wheel", _FEW_OBSERVABLES_OF_A_WHEEL, _ANY),
    _profile_subject("negative_delay already_due", PROFILE, _REJECT, "TIMER-NEGATIVE-DELAY"),
    _profile_subject("negative_delay reject", _REJECT, PROFILE, "TIMER-NEGATIVE-DELAY"),
    _profile_subject(
        "negative_delay as_zero", _AS_ZERO, _ALREADY_DUE, "TIMER-NEGATIVE-DELAY", HeapTimer
    ),
    _profile_subject(
        "negative_delay not_offered", _NO_NEGATIVE, _change(_REJECT), "TIMER-NEGATIVE-DELAY"
    ),
    _profile_subject("larger_delay reject", _LIMITED, _SATURATING, "TIMER-LARGEST-DELAY"),
    _profile_subject("larger_delay saturate", _SATURATING, _LIMITED, "TIMER-LARGEST-DELAY"),
    _profile_subject("larger_delay not_offered", _NO_LARGER, _LIMITED, "TIMER-LARGEST-DELAY"),
    _profile_subject("already_due free", _ANY, _NEXT_TICK, "TIMER-NOT-EARLY", HeapTimer),
    _profile_subject("already_due next_tick", _NEXT_TICK, _ANY, "TIMER-ZERO-DELAY", TickerTimer),
    _profile_subject(
        f"largest_delay_ms {PROFILE.largest_delay_ms}", PROFILE, _LIMITED, "TIMER-LARGEST-DELAY"
    ),
    _profile_subject(
        f"largest_delay_ms {_SMALL_LIMIT_MS}", _LIMITED, PROFILE, "TIMER-LARGEST-DELAY"
    ),
)


def timer_profile_subjects() -> tuple[ProfileSubject, ...]:
    """One subject for each value of each choice that a timer with a manual clock may declare."""
    return _PROFILE_SUBJECTS
