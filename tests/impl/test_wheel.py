"""The wheel by itself: no clock, no lock, no executor."""

import pytest

from purgatory_impl.bucket import Bucket, remove
from purgatory_impl.task import Cell, Task, TimerTask
from purgatory_impl.wheel import Wheel

ENOUGH = 1_000_000


def tasks_of(bucket: Bucket) -> list[Task]:
    """The tasks of a bucket, first to last, after a check of the links in both directions."""
    forwards: list[Task] = []
    before: Cell = bucket
    while (task := bucket.behind(before)) is not None:
        assert task._previous is before
        forwards.append(task)
        before = task
    assert bucket._previous is before
    assert bucket.first() is (forwards[0] if forwards else None)
    return forwards


def advance(wheel: Wheel, now_ms: int) -> list[int]:
    """The expiries of the tasks that one whole advance expires."""
    expired: list[Task] = []
    assert wheel.advance(now_ms, ENOUGH, expired) is False
    return [task._expiry_ms for task in expired]


# Buckets


@pytest.mark.parametrize(
    "order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)], ids=["first", "last", "middle", "inner"]
)
def test_a_task_leaves_its_bucket_from_any_place(order: tuple[int, int, int]) -> None:
    """Given a bucket of three tasks.

    When they are removed in some order.
    Then after each removal the others stand in their order and the removed one has no links.
    """
    bucket = Bucket()
    tasks = [TimerTask() for _ in range(3)]
    for task in tasks:
        bucket.append(task)
    assert tasks_of(bucket) == tasks
    left = list(tasks)
    for position in order:
        removed = tasks[position]
        remove(removed)
        left.remove(removed)
        assert tasks_of(bucket) == left
        assert (removed._previous, removed._next) == (None, None)


def test_a_removed_task_can_be_appended_again() -> None:
    """Given a bucket from which the first of two tasks was removed.

    When that task is appended.
    Then it stands at the end.
    """
    bucket = Bucket()
    first, second = TimerTask(), TimerTask()
    bucket.append(first)
    bucket.append(second)
    remove(first)
    bucket.append(first)
    assert tasks_of(bucket) == [second, first]


# Where a task waits


@pytest.mark.parametrize(
    ("delay_ms", "waits", "bucket_expiry_ms", "levels"),
    [
        (-1, False, None, 1),
        (5, False, None, 1),
        (9, False, None, 1),
        (10, True, 1010, 1),
        (25, True, 1020, 1),
        (49, True, 1040, 1),
        (50, True, 1050, 2),
        (99, True, 1050, 2),
        (100, True, 1100, 2),
        (249, True, 1200, 2),
        (250, True, 1250, 3),
    ],
)
def test_a_task_waits_in_the_bucket_of_its_tick(
    delay_ms: int, waits: bool, bucket_expiry_ms: int | None, levels: int
) -> None:
    """Given a wheel of tick 10 and 5 buckets, started at 1003.

    When a task is placed at 1000 plus a delay.
    Then its own clock is 1000, and the edges of ticks, levels and buckets are where they belong.
    """
    wheel = Wheel(tick_ms=10, wheel_size=5, start_ms=1003)
    assert wheel.clock_ms == 1000
    assert wheel.place(TimerTask(), 1000 + delay_ms) is waits
    assert (wheel.next_expiry_ms, wheel.levels) == (bucket_expiry_ms, levels)
    assert (wheel.size, wheel.queued_buckets) == (int(waits), int(waits))


@pytest.mark.parametrize(
    ("start_ms", "expiry_ms", "levels"),
    [
        (0, 0, 1),
        (0, 19, 1),
        (0, 20, 2),
        (0, 399, 2),
        (0, 400, 3),
        (0, 7999, 3),
        (0, 8000, 4),
        (15, 34, 1),
        (15, 35, 2),
        (15, 399, 2),
        (15, 400, 3),
        (15, 414, 3),
        (15, 7999, 3),
        (15, 8000, 4),
        (15, 8014, 4),
    ],
)
def test_a_level_covers_its_interval_less_the_present_tick(
    start_ms: int, expiry_ms: int, levels: int
) -> None:
    """Given a wheel of tick 1 and 20 buckets whose clock is or is not a multiple of upper ticks.

    When a task is placed.
    Then exactly the levels that it needs exist: a level's interval counts from its own tick, and a
    delay of one whole interval overflows.
    """
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=start_ms)
    wheel.place(TimerTask(), expiry_ms)
    assert wheel.levels == levels


@pytest.mark.parametrize(
    ("expiry_ms", "bucket_expiry_ms"), [(419, 400), (399, 380), (420, 400), (434, 400), (439, 400)]
)
def test_an_existing_level_is_not_used_beyond_its_interval(
    expiry_ms: int, bucket_expiry_ms: int
) -> None:
    """Given a wheel of tick 1 and 20 buckets at 35 that already has four levels.

    When a task is placed around 20 + 400, where level 2 ends.
    Then from 420 on it waits for the bucket of 400 on level 3, and not for that of 420 on level 2.
    """
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=35)
    wheel.place(TimerTask(), 8000)
    wheel.place(TimerTask(), expiry_ms)
    assert (wheel.levels, wheel.next_expiry_ms) == (4, bucket_expiry_ms)


@pytest.mark.parametrize(
    ("start_ms", "clock_ms", "expiry_ms", "waits", "bucket_expiry_ms"),
    [
        (-1003, -1010, -1001, False, None),
        (-1003, -1010, -1000, True, -1000),
        (-1003, -1010, -961, True, -970),
        (-1003, -1010, -960, True, -1000),
        (-5, -10, -1, False, None),
        (-5, -10, 0, True, 0),
        (-5, -10, 45, True, 0),
    ],
)
def test_rounding_goes_down_below_zero_too(
    start_ms: int, clock_ms: int, expiry_ms: int, waits: bool, bucket_expiry_ms: int | None
) -> None:
    """Given a wheel of tick 10 and 5 buckets, started below zero.

    When a task is placed.
    Then clock, tick and bucket are rounded towards minus infinity, not towards zero.
    """
    wheel = Wheel(tick_ms=10, wheel_size=5, start_ms=start_ms)
    assert wheel.clock_ms == clock_ms
    assert wheel.place(TimerTask(), expiry_ms) is waits
    assert wheel.next_expiry_ms == bucket_expiry_ms


def test_many_levels_appear_at_once() -> None:
    """Given a wheel of 2 buckets.

    When a task lies 2 to the power of 40 ahead.
    Then the levels in between exist too, and the task expires exactly there.
    """
    wheel = Wheel(tick_ms=1, wheel_size=2, start_ms=0)
    expiry_ms = 2**40
    assert wheel.place(TimerTask(), expiry_ms)
    assert wheel.levels == 41
    assert advance(wheel, expiry_ms - 1) == []
    assert advance(wheel, expiry_ms) == [expiry_ms]


# The delay queue


def test_a_bucket_is_queued_once() -> None:
    """Given a wheel of tick 10.

    When three tasks go to one bucket, leave it and one comes back.
    Then the bucket stands in the delay queue once and is popped once.
    """
    wheel = Wheel(tick_ms=10, wheel_size=5, start_ms=0)
    tasks = [TimerTask() for _ in range(3)]
    for number, task in enumerate(tasks):
        wheel.place(task, 20 + number)
    assert (wheel.queued_buckets, wheel.size) == (1, 3)
    assert [wheel.remove(task) for task in tasks] == [True, True, True]
    assert wheel.remove(tasks[0]) is False
    assert (wheel.queued_buckets, wheel.size, wheel.next_expiry_ms) == (1, 0, 20)
    wheel.place(tasks[0], 29)
    assert (wheel.queued_buckets, wheel.size) == (1, 1)
    assert advance(wheel, 1000) == [29]
    assert (wheel.popped_buckets, wheel.queued_buckets, wheel.next_expiry_ms) == (1, 0, None)


def test_an_emptied_bucket_moves_the_own_clock() -> None:
    """Given a wheel whose only task was removed.

    When its bucket is due.
    Then the bucket is popped, nothing expires, and the own clock is the bucket's expiry.
    """
    wheel = Wheel(tick_ms=10, wheel_size=5, start_ms=0)
    task = TimerTask()
    wheel.place(task, 30)
    wheel.remove(task)
    assert advance(wheel, 29) == []
    assert (wheel.popped_buckets, wheel.clock_ms) == (0, 0)
    assert advance(wheel, 45) == []
    assert (wheel.popped_buckets, wheel.clock_ms) == (1, 30)


def test_a_bucket_serves_the_next_turn() -> None:
    """Given a wheel of 5 buckets whose bucket of 3 was popped.

    When the same slot takes a task for 8.
    Then it is queued with the expiry 8, and not with the one before.
    """
    wheel = Wheel(tick_ms=1, wheel_size=5, start_ms=0)
    wheel.place(TimerTask(), 3)
    wheel.place(TimerTask(), 4)
    assert advance(wheel, 4) == [3, 4]
    wheel.place(TimerTask(), 8)
    assert (wheel.queued_buckets, wheel.next_expiry_ms) == (1, 8)
    assert advance(wheel, 7) == []
    assert advance(wheel, 8) == [8]


# Advancing


def test_tasks_cascade_and_expire_in_the_order_of_their_ticks() -> None:
    """Given a wheel of tick 10 and 5 buckets with tasks on three levels.

    When one advance passes them all.
    Then they expire by tick, whichever level they came from, and the own clock is the last one's.
    """
    wheel = Wheel(tick_ms=10, wheel_size=5, start_ms=0)
    for expiry_ms in (777, 49, 312, 50, 99, 10, 260, 1249):
        assert wheel.place(TimerTask(), expiry_ms)
    assert wheel.levels == 3
    assert advance(wheel, 5000) == [10, 49, 50, 99, 260, 312, 777, 1249]
    assert (wheel.clock_ms, wheel.size, wheel.queued_buckets) == (1240, 0, 0)


def test_a_task_comes_down_level_by_level() -> None:
    """Given a wheel of tick 10 and 5 buckets with a task for 1099 on level 2.

    When the bucket of 1050 is popped.
    Then the task moves to the bucket of 1090 on level 1, still waiting, and expires there.
    """
    wheel = Wheel(tick_ms=10, wheel_size=5, start_ms=1000)
    wheel.place(TimerTask(), 1099)
    assert advance(wheel, 1050) == []
    assert (wheel.size, wheel.popped_buckets, wheel.next_expiry_ms) == (1, 1, 1090)
    assert advance(wheel, 1089) == []
    assert advance(wheel, 1090) == [1099]


def test_the_way_down_does_not_scan_ticks() -> None:
    """Given one task 10 to the power of 15 ms ahead.

    When the clock jumps there.
    Then the advance takes at most three steps for each level: pop, move, finish.
    """
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=0)
    wheel.place(TimerTask(), 10**15)
    expired: list[Task] = []
    assert wheel.advance(10**15, 3 * wheel.levels + 1, expired) is False
    assert [task._expiry_ms for task in expired] == [10**15]
    assert wheel.popped_buckets <= wheel.levels


def test_an_advance_in_single_steps_is_the_same_advance() -> None:
    """Given two equal wheels.

    When one advances in one go and the other step by step.
    Then the same tasks expire in the same order, and both wheels end alike.
    """
    expiries = [3, 3, 25, 21, 450, 9000, 8999, 19, 20, 400]
    whole, stepped = Wheel(1, 20, 0), Wheel(1, 20, 0)
    for expiry_ms in expiries:
        whole.place(TimerTask(), expiry_ms)
        stepped.place(TimerTask(), expiry_ms)
    expired: list[Task] = []
    steps = 0
    while stepped.advance(8999, 1, expired):
        steps += 1
    assert [task._expiry_ms for task in expired] == advance(whole, 8999)
    assert steps > len(expiries)
    assert (stepped.clock_ms, stepped.size) == (whole.clock_ms, whole.size) == (8999, 1)


def test_between_two_steps_tasks_may_come_and_go() -> None:
    """Given an advance that has popped a bucket of three tasks and expired the first.

    When the second is removed, the third moved to later, and another placed in that tick.
    Then the second never expires, the third expires later, and the other is due at once.
    """
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=0)
    first, second, third = TimerTask(), TimerTask(), TimerTask()
    for task in (first, second, third):
        wheel.place(task, 7)
    expired: list[Task] = []
    assert wheel.advance(7, 2, expired) is True
    assert expired == [first]
    assert wheel.remove(second)
    assert wheel.remove(third)
    assert wheel.place(third, 27)
    assert wheel.place(TimerTask(), 7) is False
    assert wheel.advance(7, ENOUGH, expired) is False
    assert (expired, wheel.size) == ([first], 1)
    assert wheel.advance(27, ENOUGH, expired) is False
    assert expired == [first, third]


def test_dropping_all_leaves_nothing_behind() -> None:
    """Given a wheel with tasks on several levels, one of them in a bucket half emptied.

    When all are dropped.
    Then every pending task is returned once and has no links, and nothing is queued.
    """
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=0)
    tasks = [TimerTask() for _ in range(6)]
    for task, expiry_ms in zip(tasks, [5, 5, 5, 6, 30, 500], strict=True):
        wheel.place(task, expiry_ms)
    expired: list[Task] = []
    assert wheel.advance(5, 2, expired) is True
    dropped = wheel.drop_all()
    assert sorted(map(id, dropped)) == sorted(map(id, tasks[1:]))
    assert [(task._previous, task._next) for task in tasks] == [(None, None)] * 6
    assert (wheel.size, wheel.queued_buckets, wheel.next_expiry_ms) == (0, 0, None)
    assert wheel.advance(10_000, ENOUGH, expired) is False
    assert expired == [tasks[0]]
    assert wheel.place(tasks[1], 6)
    assert (wheel.size, wheel.queued_buckets, wheel.next_expiry_ms) == (1, 1, 6)
