"""Count exactly what each operation touches: no clock is read, so no machine makes noise."""

# A *touch* is a change of a list of tasks, or of the delay queue. Whoever makes the wheel touch
# more than it has to changes a number here.

import random
from collections import Counter

import pytest

from purgatory_impl import CallableTask, SteppedExecutor, Timer, VirtualClock
from purgatory_impl import wheel as wheel_module
from purgatory_impl.bucket import Bucket, remove
from purgatory_impl.task import Task
from purgatory_impl.wheel import Level, Wheel

pytestmark = pytest.mark.pure

TICK_MS, WHEEL_SIZE = 1, 20


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the changes of lists and queue, by kind."""
    counts: Counter[str] = Counter()
    append, empty = Bucket.append, Wheel._empty
    queue, pop_bucket, polls = Level.queue, Level.pop, Wheel._pop_due

    def counted_append(bucket: Bucket, task: Task) -> None:
        counts["append"] += 1
        append(bucket, task)

    def counted_remove(task: Task) -> None:
        counts["remove"] += 1
        remove(task)

    def counted_pass(wheel: Wheel, bucket: Bucket, steps: int, expired: list[Task]) -> int:
        taken = empty(wheel, bucket, steps, expired)
        counts["pass"] += 1
        counts["taken"] += taken
        return taken

    def counted_queue(level: Level, slot: int, expiry_ms: int) -> None:
        counts["queue"] += 1
        queue(level, slot, expiry_ms)

    def counted_pop_bucket(level: Level) -> Bucket:
        counts["unqueue"] += 1
        return pop_bucket(level)

    def counted_polls(wheel: Wheel, now_ms: int) -> bool:
        counts["poll"] += 1
        return polls(wheel, now_ms)

    monkeypatch.setattr(Bucket, "append", counted_append)
    monkeypatch.setattr(wheel_module, "remove", counted_remove)
    monkeypatch.setattr(Wheel, "_empty", counted_pass)
    monkeypatch.setattr(Level, "queue", counted_queue)
    monkeypatch.setattr(Level, "pop", counted_pop_bucket)
    monkeypatch.setattr(Wheel, "_pop_due", counted_polls)
    return counts


def quiet_timer() -> tuple[Timer, VirtualClock, SteppedExecutor]:
    clock, executor = VirtualClock(), SteppedExecutor()
    timer = Timer(tick_ms=TICK_MS, wheel_size=WHEEL_SIZE, clock=clock, executor=executor)
    return timer, clock, executor


def level_of(delay_ms: int) -> int:
    """The level where a task waits that is added at time 0: counted from 1."""
    level = 1
    while delay_ms >= TICK_MS * WHEEL_SIZE**level:
        level += 1
    return level


@pytest.mark.parametrize("delay_ms", [1, 19, 20, 399, 400, 7_999, 8_000, 10**9])
def test_to_add_touches_one_cell_however_far_away(delay_ms: int, counts: Counter[str]) -> None:
    """One list gets it; the delay queue changes only for the first one in its bucket."""
    timer, _, _ = quiet_timer()
    timer.add(int, delay_ms)
    assert counts == {"append": 1, "queue": 1}
    for _ in range(1000):
        timer.add(int, delay_ms)
    assert counts == {"append": 1001, "queue": 1}


def test_to_cancel_touches_one_list(counts: Counter[str]) -> None:
    """Each costs one change of that list, and the delay queue is left alone."""
    timer, _, _ = quiet_timer()
    tasks = [timer.add(int, 500) for _ in range(1000)]
    random.Random(1).shuffle(tasks)
    counts.clear()
    assert all(task.cancel() for task in tasks)
    assert counts == {"remove": 1000}
    assert not any(task.cancel() for task in tasks)
    assert counts == {"remove": 1000}


def test_to_move_a_task_touches_two_lists(counts: Counter[str]) -> None:
    timer, _, _ = quiet_timer()
    task = timer.add(int, 500)
    counts.clear()
    timer.add(task, 9)
    assert counts == {"remove": 1, "append": 1, "queue": 1}


def test_a_task_comes_down_one_level_at_a_time(counts: Counter[str]) -> None:
    """Each is put again once for each level below its own, and no more; none is unlinked alone."""
    timer, clock, executor = quiet_timer()
    delays_ms = [WHEEL_SIZE**level - 1 for level in range(1, 6)]
    for delay_ms in delays_ms:
        timer.add(int, delay_ms)
    assert counts["append"] == 5
    clock.set_ms(WHEEL_SIZE**5)
    timer.advance()
    again = sum(level_of(delay_ms) - 1 for delay_ms in delays_ms)
    assert (counts["append"], counts["taken"], executor.queued) == (5 + again, 5 + again, 5)
    assert counts["remove"] == 0


def test_a_thousand_random_timers_cost_what_their_expiries_say(counts: Counter[str]) -> None:
    """Both touch the same: a task is put again once for each level below its own, at most."""
    delays_ms = [random.Random(7).randrange(1, 60_000) for _ in range(1000)]
    in_one_go = led_to_end(delays_ms, counts, 60_000)
    counts.clear()
    in_steps = led_to_end(delays_ms, counts, 1)
    assert in_one_go["poll"] == in_one_go["unqueue"] + 1
    assert in_steps["poll"] == in_steps["unqueue"] + 60_000
    assert in_steps["pass"] == in_steps["unqueue"]
    # A pass ends with its hold, in the middle of a bucket.
    assert in_one_go["pass"] <= in_one_go["unqueue"] + in_one_go["taken"] // 500
    for seen in (in_one_go, in_steps):
        assert seen["queue"] == seen["unqueue"]
        assert seen["append"] == seen["taken"]
        assert seen["remove"] == 0
        assert seen["append"] <= sum(level_of(delay_ms) for delay_ms in delays_ms)
        del seen["poll"], seen["pass"]
    assert in_one_go == in_steps


def led_to_end(delays_ms: list[int], counts: Counter[str], step_ms: int) -> Counter[str]:
    timer, clock, executor = quiet_timer()
    for delay_ms in delays_ms:
        timer.add(CallableTask(int), delay_ms)
    for now_ms in range(step_ms, 60_000 + 1, step_ms):
        clock.set_ms(now_ms)
        timer.advance()
    assert (timer.size, executor.queued) == (0, len(delays_ms))
    return Counter(counts)


@pytest.mark.parametrize("tasks", [1, 100, 10_000])
def test_an_idle_wheel_is_not_turned(tasks: int, counts: Counter[str]) -> None:
    """The delay queue is polled once each time and nothing is touched, however many there are."""
    timer, clock, _ = quiet_timer()
    for _ in range(tasks):
        timer.add(int, 3_600_000)
    counts.clear()
    for now_ms in range(1, 1001):
        clock.set_ms(now_ms * 60)
        timer.advance()
    assert counts == {"poll": 1000}
