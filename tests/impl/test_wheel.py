"""The wheel by itself: no clock, no lock, no executor."""

import pytest

from purgatory_impl.bucket import Bucket, remove
from purgatory_impl.task import Cell, Task, TimerTask
from purgatory_impl.wheel import Level, Wheel

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
    """The others stand in their order, and the removed one has no links, each time."""
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
    """Given a bucket from which the first of two tasks was removed: it stands at the end."""
    bucket = Bucket()
    first, second = TimerTask(), TimerTask()
    bucket.append(first)
    bucket.append(second)
    remove(first)
    bucket.append(first)
    assert tasks_of(bucket) == [second, first]


# The delay queue


# Advancing


def test_the_way_down_does_not_scan_ticks() -> None:
    """The advance takes at most three steps for each level: pop, move, finish."""
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=0)
    wheel.place(TimerTask(), 10**15)
    expired: list[Task] = []
    assert wheel.advance(10**15, 3 * wheel.levels + 1, expired) is False
    assert [task._expiry_ms for task in expired] == [10**15]
    assert wheel.popped_buckets <= wheel.levels


def test_an_advance_in_single_steps_is_the_same_advance() -> None:
    """The same tasks expire in the same order, and both wheels end alike."""
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
    """The second never expires, the third expires later, and the other is due at once."""
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
    """Every pending task is returned once and has no links, and nothing is queued."""
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


def test_a_pass_that_ends_in_the_middle_of_a_bucket_leaves_a_whole_ring() -> None:
    """At each end the tasks that are left are linked both ways."""
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=0)
    tasks = [TimerTask() for _ in range(5)]
    for task, expiry_ms in zip(tasks, [21, 22, 21, 20, 22], strict=True):
        wheel.place(task, expiry_ms)
    finest, second = wheel.all_levels()
    expired: list[Task] = []
    assert wheel.advance(20, 3, expired) is True
    assert tasks_of(second.buckets[1]) == tasks[2:]
    assert (tasks_of(finest.buckets[1]), tasks_of(finest.buckets[2])) == ([tasks[0]], [tasks[1]])
    assert wheel.remove(tasks[2])
    assert wheel.advance(20, 2, expired) is True
    assert (expired, wheel.size) == ([tasks[3]], 3)
    assert tasks_of(second.buckets[1]) == []
    assert tasks_of(finest.buckets[2]) == [tasks[1], tasks[4]]
    assert wheel.advance(22, ENOUGH, expired) is False
    assert expired == [tasks[3], tasks[0], tasks[1], tasks[4]]
    assert wheel.size == 0


@pytest.mark.pure
@pytest.mark.parametrize("moved", [False, True], ids=["before", "behind"])
def test_an_interrupted_pass_loses_no_task(moved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that have not moved are still in the bucket, linked both ways, and all expire."""
    wheel = Wheel(tick_ms=1, wheel_size=20, start_ms=0)
    tasks = [TimerTask() for _ in range(4)]
    for task in tasks:
        wheel.place(task, 25)
    move_down = Wheel._move_down

    def interrupted(self: Wheel, task: Task, level: Level) -> None:
        if moved or task is not tasks[1]:
            move_down(self, task, level)
        if task is tasks[1]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Wheel, "_move_down", interrupted)
        with pytest.raises(KeyboardInterrupt):
            wheel.advance(25, ENOUGH, [])
    second = wheel.all_levels()[1]
    assert tasks_of(second.buckets[1]) == tasks[2 if moved else 1 :]
    expired: list[Task] = []
    assert wheel.advance(25, ENOUGH, expired) is False
    assert (expired, wheel.size) == (tasks, 0)
