"""A variant of the timing wheel: 64-bit arithmetic that wraps and rounds towards zero.

Theory of operation. This is what becomes of the wheel where times and intervals are computed in
signed 64-bit integers without a check, and where division and remainder round towards zero, as
Apache Kafka's do (observed on 4.0.0 and 4.4.0). As long as every number stays small and positive
it is the timing wheel of the rules. Beyond that:

- the expiry of a huge delay wraps to the past, so that the task expires at once;
- the interval of a high level wraps; a level whose tick becomes zero cannot be made, and the add
  fails; levels made on the way remain;
- a bucket's index may be negative, and the add fails; the task is not pending then;
- a task may land in a bucket to which it returns whenever that is popped: the wheel is *ruined*,
  and nothing can be said of it any more.

Every level has a clock of its own here, since the clocks part ways once intervals have wrapped.
"""

from collections.abc import Mapping

import msgspec
from immutables import Map

from purgatory_model.pending_tasks import Inserted, Popped, Tasks
from purgatory_model.replacing import replace
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Observable

_MOST_LEVELS = 80
"""A wheel that would need more has run into endless recursion."""


class _Failure(Exception):
    """The failure of the arithmetic at this point."""


def wrapped(number: int) -> int:
    """Return the number as a signed 64-bit integer holds it."""
    return (number + 2**63) % 2**64 - 2**63


def quotient(number: int, divisor: int) -> int:
    """Return the quotient, rounded towards zero."""
    if divisor == 0:
        raise _Failure
    size = abs(number) // abs(divisor)
    return wrapped(size if (number < 0) == (divisor < 0) else -size)


def remainder(number: int, divisor: int) -> int:
    """Return the remainder that belongs to ``quotient``: it has the sign of the number."""
    return wrapped(number - divisor * quotient(number, divisor))


class Level(msgspec.Struct, frozen=True):
    """A level of the wheel: tick, interval and clock in milliseconds."""

    tick_ms: int
    interval_ms: int
    clock_ms: int


Place = tuple[int, int]
"""A bucket's place: level, counted from 1, and index in the ring."""


class LongArithmeticWheel(msgspec.Struct, frozen=True):
    """A store in buckets whose numbers wrap.

    ``expiries`` has the tasks' expiries, ``buckets`` for each queued place its expiry and tasks.
    """

    wheel_size: int
    rings: tuple[Level, ...]
    expiries: Map[str, int] = Map()
    places: Map[str, Place] = Map()
    buckets: Map[Place, tuple[int, Tasks]] = Map()
    counts_levels: bool = True
    ruined: bool = False

    @property
    def due_ticks(self) -> Mapping[str, int]:
        """Return the pending tasks with their expiries rounded to the tick."""
        tick = self.rings[0].tick_ms
        return {task: x - remainder(x, tick) for task, x in self.expiries.items()}

    def insert(
        self, task: str, expiry_ms: int, due_tick: int, now_ms: int
    ) -> Inserted["LongArithmeticWheel"]:
        """Put a task where the wrapped arithmetic leads."""
        return self._insert(task, wrapped(expiry_ms))

    def _insert(self, task: str, expiry_ms: int) -> Inserted["LongArithmeticWheel"]:
        wheel = self
        number = 1
        while True:
            ring = wheel.rings[number - 1]
            if expiry_ms < wrapped(ring.clock_ms + ring.tick_ms):
                return Inserted(expired=wheel)
            if expiry_ms < wrapped(ring.clock_ms + ring.interval_ms):
                return wheel._put(task, expiry_ms, number, ring)
            number += 1
            if number > len(wheel.rings):
                if number > _MOST_LEVELS:
                    return Inserted(failed=replace(wheel, counts_levels=False))
                try:
                    above = new_level(ring.interval_ms, wheel.wheel_size, ring.clock_ms)
                except _Failure:
                    return Inserted(failed=wheel)
                wheel = replace(wheel, rings=(*wheel.rings, above))

    def _put(
        self, task: str, expiry_ms: int, number: int, ring: Level
    ) -> Inserted["LongArithmeticWheel"]:
        ticks = quotient(expiry_ms, ring.tick_ms)
        index = remainder(ticks, self.wheel_size)
        if index < 0:
            return Inserted(failed=self)
        place = (number, index)
        _, held = self.buckets.get(place, (0, frozenset[str]()))
        bucket = (wrapped(ticks * ring.tick_ms), held | {task})
        return Inserted(
            pending=replace(
                self,
                expiries=self.expiries.set(task, expiry_ms),
                places=self.places.set(task, place),
                buckets=self.buckets.set(place, bucket),
            )
        )

    def remove(self, task: str) -> "LongArithmeticWheel":
        """Take a task out of its bucket; the bucket stays queued."""
        if task not in self.places:
            return self
        place = self.places[task]
        expiry_ms, held = self.buckets[place]
        return replace(
            self,
            expiries=self.expiries.delete(task),
            places=self.places.delete(task),
            buckets=self.buckets.set(place, (expiry_ms, held - {task})),
        )

    def pop_due(self, now_ms: int) -> Popped["LongArithmeticWheel"]:
        """Pop every due bucket; the store is ruined where that fails or does not end."""
        wheel = self
        popped: list[tuple[int, Tasks]] = []
        while wheel.buckets:
            place = min(wheel.buckets, key=lambda each: wheel.buckets[each][0])
            expiry_ms, held = wheel.buckets[place]
            if expiry_ms > now_ms:
                break
            wheel = wheel._advanced(expiry_ms)
            wheel = replace(wheel, buckets=wheel.buckets.delete(place))
            due: set[str] = set()
            for task in sorted(held):
                lifted = replace(
                    wheel,
                    expiries=wheel.expiries.delete(task),
                    places=wheel.places.delete(task),
                )
                inserted = lifted._insert(task, wheel.expiries[task])
                if inserted.expired is not None:
                    wheel = inserted.expired
                    due.add(task)
                elif inserted.pending is not None and inserted.pending.places[task] != place:
                    wheel = inserted.pending
                else:
                    return Popped(replace(wheel, ruined=True), (), None)
            popped.append((expiry_ms, frozenset(due)))
        return Popped(wheel, _in_order(popped), bool(popped))

    def emptied(self) -> "LongArithmeticWheel":
        """Return the wheel without tasks and buckets; the clocks of its levels stay."""
        return replace(self, expiries=Map(), places=Map(), buckets=Map())

    def observe(self) -> Mapping[Observable, Value]:
        """Return the observables of a wheel; the number of levels not after endless recursion."""
        observed: dict[Observable, Value] = {
            Observable.SIZE: len(self.expiries),
            Observable.WHEEL_CLOCK: self.rings[0].clock_ms,
            Observable.QUEUED_BUCKETS: len(self.buckets),
            Observable.NEXT_EXPIRY: min((b[0] for b in self.buckets.values()), default=None),
        }
        if self.counts_levels:
            observed[Observable.LEVELS] = len(self.rings)
        return observed

    def _advanced(self, to_ms: int) -> "LongArithmeticWheel":
        rings = list(self.rings)
        for number, ring in enumerate(rings):
            if to_ms < wrapped(ring.clock_ms + ring.tick_ms):
                break
            to_ms = wrapped(to_ms - remainder(to_ms, ring.tick_ms))
            rings[number] = replace(ring, clock_ms=to_ms)
        return replace(self, rings=tuple(rings))


def _in_order(popped: list[tuple[int, Tasks]]) -> tuple[Tasks, ...]:
    """Return the expired tasks bucket after bucket; buckets of one expiry in any order."""
    groups: list[Tasks] = []
    last: int | None = None
    for expiry_ms, due in popped:
        if groups and expiry_ms == last:
            groups[-1] |= due
        else:
            groups.append(due)
        last = expiry_ms
    return tuple(group for group in groups if group)


def new_level(tick_ms: int, wheel_size: int, start_ms: int) -> Level:
    """Return a level that starts at a time, which is rounded to its tick, towards zero."""
    clock_ms = wrapped(start_ms - remainder(start_ms, tick_ms))
    return Level(tick_ms, wrapped(tick_ms * wheel_size), clock_ms)
