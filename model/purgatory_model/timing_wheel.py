"""The hierarchical timing wheel: how pending tasks are kept in buckets of several levels.

Theory of operation. Level ``i``, counted from 1, has ``wheel_size`` buckets of the tick
``tick_ms * wheel_size ** (i - 1)``. A bucket is named by level and expiry, the first time that
falls into the bucket. The wheel has one clock of its own: the expiry of the last bucket popped. A
task that is due by that clock expires; any other goes to the lowest level that covers it, into the
bucket of its due tick, and that bucket enters the delay queue if it is not there. An advance pops
the bucket with the smallest expiry as long as that is not larger than the reading, moves the own
clock to it and inserts its tasks anew: they expire or come to rest in a lower level.

Kafka keeps a clock per level; each is the own clock rounded down to the level's tick, always, so
that one number says it all, and the moment at which a level is created cannot be seen in it.

A bucket stays in the delay queue when its tasks are cancelled. Two buckets of different levels may
have one expiry; which of them is popped first changes nothing but the order inside a tick.
"""

from collections.abc import Iterator, Mapping

import msgspec
from immutables import Map

from purgatory_model.arithmetic import bucket_index, floor_to, level_end, level_of, tick_of_level
from purgatory_model.kafka_timer import TimerState
from purgatory_model.pending_tasks import Inserted, PendingTasks, Popped, Tasks
from purgatory_model.replacing import replace
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Observable

Bucket = tuple[int, int]
"""A bucket in the delay queue: its expiry (ms) and its level; buckets sort as they are popped."""


class TimingWheel(msgspec.Struct, frozen=True):
    """A store of pending tasks in buckets.

    ``places`` has for each pending task its bucket, ``buckets`` the delay queue with the tasks of
    each bucket; a bucket without tasks is one whose tasks were cancelled.
    """

    tick_ms: int
    wheel_size: int
    own_clock_ms: int
    levels: int = 1
    due_ticks: Map[str, int] = Map()
    places: Map[str, Bucket] = Map()
    buckets: Map[Bucket, Tasks] = Map()

    def insert(
        self, task: str, expiry_ms: int, due_tick: int, now_ms: int
    ) -> Inserted["TimingWheel"]:
        """Expire a task that is due by the own clock; put any other into its bucket.

        Rules: TIMER-OWN-CLOCK, TIMER-SPAN, TIMER-OVERFLOW-ON-DEMAND.
        """
        if due_tick <= self.own_clock_ms:
            return Inserted(expired=self)
        level = level_of(due_tick, self.own_clock_ms, self.tick_ms, self.wheel_size)
        bucket = (floor_to(due_tick, self.tick_of(level)), level)
        held = self.buckets.get(bucket, frozenset())
        return Inserted(
            pending=replace(
                self,
                levels=max(self.levels, level),
                due_ticks=self.due_ticks.set(task, due_tick),
                places=self.places.set(task, bucket),
                buckets=self.buckets.set(bucket, held | {task}),
            )
        )

    def remove(self, task: str) -> "TimingWheel":
        """Take a task out of its bucket; the bucket stays queued. Rules: TIMER-EMPTIED-BUCKET."""
        if task not in self.places:
            return self
        bucket = self.places[task]
        return replace(
            self,
            due_ticks=self.due_ticks.delete(task),
            places=self.places.delete(task),
            buckets=self.buckets.set(bucket, self.buckets[bucket] - {task}),
        )

    def pop_due(self, now_ms: int) -> Popped["TimingWheel"]:
        """Pop every due bucket. Rules: TIMER-CASCADE, TIMER-TICK-ORDER, TIMER-ADVANCE-RESULT."""
        wheel = self
        ticks: dict[int, Tasks] = {}
        while wheel.buckets and (bucket := min(wheel.buckets))[0] <= now_ms:
            wheel, due = wheel.pop(bucket)
            if due:
                ticks[bucket[0]] = ticks.get(bucket[0], frozenset()) | due
        return Popped(wheel, tuple(ticks.values()), wheel is not self)

    def emptied(self) -> "TimingWheel":
        """Return the wheel without tasks and buckets; its own clock and its levels stay."""
        return replace(self, due_ticks=Map(), places=Map(), buckets=Map())

    def observe(self) -> Mapping[Observable, Value]:
        """Return the observables. Rules: TIMER-SIZE, TIMER-WAKE-UP, TIMER-DELAY-QUEUE-BOUND."""
        return {
            Observable.SIZE: len(self.due_ticks),
            Observable.WHEEL_CLOCK: self.own_clock_ms,
            Observable.QUEUED_BUCKETS: len(self.buckets),
            Observable.NEXT_EXPIRY: min(self.buckets)[0] if self.buckets else None,
            Observable.LEVELS: self.levels,
        }

    def tick_of(self, level: int) -> int:
        """Return the tick of a level in milliseconds."""
        return tick_of_level(level, self.tick_ms, self.wheel_size)

    def pop(self, bucket: Bucket) -> tuple["TimingWheel", Tasks]:
        """Pop one bucket: the wheel afterwards, and the tasks of the bucket that expire."""
        held, clock_ms = self.buckets[bucket], max(self.own_clock_ms, bucket[0])
        wheel = replace(self, own_clock_ms=clock_ms, buckets=self.buckets.delete(bucket))
        due: set[str] = set()
        for task in held:
            due_tick = self.due_ticks[task]
            wheel = replace(
                wheel,
                due_ticks=wheel.due_ticks.delete(task),
                places=wheel.places.delete(task),
            )
            inserted = wheel.insert(task, due_tick, due_tick, bucket[0])
            if inserted.pending is None:
                due.add(task)
            else:
                wheel = inserted.pending
        return wheel, frozenset(due)


def as_timer(state: TimerState[TimingWheel]) -> TimerState[PendingTasks]:
    """Return the refinement map: the part of a wheel's state that is a timer's state."""
    return TimerState(
        state.now_ms,
        PendingTasks(state.store.due_ticks),
        state.queue,
        state.scripts,
        state.order,
        state.closed,
        state.kept,
    )


def broken_invariants(state: TimerState[TimingWheel]) -> Iterator[str]:
    """Yield the ids of the rules whose invariant does not hold; none where no task was refused."""
    wheel = state.store
    if wheel.own_clock_ms > state.now_ms or wheel.own_clock_ms % wheel.tick_ms:
        yield "TIMER-OWN-CLOCK"
    if any(due_tick <= wheel.own_clock_ms for due_tick in wheel.due_ticks.values()):
        yield "TIMER-NOT-LATE"
    if len(wheel.buckets) > wheel.levels * wheel.wheel_size:
        yield "TIMER-DELAY-QUEUE-BOUND"
    if not all(_is_usable(wheel, bucket) for bucket in wheel.buckets):
        yield "TIMER-SPAN"
    if not _buckets_are_distinct(wheel):
        yield "TIMER-BUCKET-REUSE"
    held = sorted(task for tasks in wheel.buckets.values() for task in tasks)
    if held != sorted(wheel.due_ticks) or set(held) != set(wheel.places):
        yield "TIMER-EXACTLY-ONCE"
    if not all(
        (floor_to(due_tick, wheel.tick_of(wheel.places[task][1])), wheel.places[task][1])
        == wheel.places[task]
        for task, due_tick in wheel.due_ticks.items()
    ):
        yield "TIMER-CASCADE"


def _is_usable(wheel: TimingWheel, bucket: Bucket) -> bool:
    """Decide whether a queued bucket's expiry lies within its level and after the present tick."""
    expiry, level = bucket
    tick = wheel.tick_of(level)
    own_clock = floor_to(wheel.own_clock_ms, tick)
    return (
        1 <= level <= wheel.levels
        and expiry % tick == 0
        and own_clock + tick <= expiry < level_end(wheel.own_clock_ms, tick, wheel.wheel_size)
    )


def _buckets_are_distinct(wheel: TimingWheel) -> bool:
    """Decide whether no two queued buckets share a place in the ring of their level."""
    places = {
        (level, bucket_index(expiry, wheel.tick_of(level), wheel.wheel_size))
        for expiry, level in wheel.buckets
    }
    return len(places) == len(wheel.buckets)
