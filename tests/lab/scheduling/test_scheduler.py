"""The scheduler on small programs: every interleaving, obstacles, deadlocks, what never ends."""

import threading
from collections.abc import Callable, Iterator

import pytest

from purgatory_lab.scheduling import errors
from purgatory_lab.scheduling.run import Record
from purgatory_lab.scheduling.schedule import from_text
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.search import Prefix, exhaust, replay

from .toys import Toy, ToyRuns


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """Every run ends the real threads that it has started."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def failure_of(record: Record | None) -> str:
    assert record is not None
    assert record.failure is not None
    return str(record.failure)


def alone(*bodies: Callable[[Toy], object]) -> tuple[Record, Toy]:
    """A run in which nobody interrupts."""
    runs = ToyRuns(*bodies)
    return runs(Prefix()), runs.toy


# What one run does


def test_only_one_thread_moves_at_a_time() -> None:
    def body(name: str) -> Callable[[Toy], None]:
        def parts(toy: Toy) -> None:
            for number in range(2):
                if number:
                    toy.scheduler.reach("between")
                toy.log.append(f"{name}{number} begins")
                toy.log.append(f"{name}{number} ends")

        return parts

    runs = ToyRuns(body("x"), body("y"), body("z"))
    search = exhaust(runs, 2)
    assert search.complete
    for left in runs.left:
        assert isinstance(left, tuple)
        log = left[1:]
        assert [begin.replace("begins", "ends") for begin in log[::2]] == list(log[1::2])
    assert len(set(runs.left)) == search.schedules


def test_a_run_is_determined_by_its_schedule() -> None:
    runs = ToyRuns(Toy.add_in_two_steps, Toy.add_in_two_steps)
    records: list[Record] = []

    def kept(strategy: Prefix) -> Record:
        records.append(runs(strategy))
        return records[-1]

    exhaust(kept, 3)  # type: ignore[arg-type]
    assert len(records) > 3
    for record in records:
        again = replay(runs, record.chosen())
        assert (again.marks, again.choices) == (record.marks, record.choices)


def test_nothing_is_scheduled_outside_a_run() -> None:
    toy = Toy(Scheduler())
    toy.add_under_lock()
    with toy.again, toy.again:
        assert toy.again.locked()
    assert not toy.again.locked()
    with (
        toy.left,
        pytest.raises(errors.SchedulingError, match="left is held although nothing runs"),
    ):
        toy.left.acquire()
    with pytest.raises(errors.SchedulingError, match="nobody notifies"), toy.changed:
        toy.changed.wait()


# Locks


def test_a_lock_excludes_and_its_absence_is_found() -> None:
    locked = ToyRuns(Toy.add_under_lock, Toy.add_under_lock)
    assert exhaust(locked, 3).complete
    assert set(locked.left) == {(2,)}
    free = ToyRuns(Toy.add_in_two_steps, Toy.add_in_two_steps)
    assert exhaust(free, 3).complete
    assert set(free.left) == {(1,), (2,)}


def test_locks_in_two_orders_are_a_deadlock() -> None:
    def take_left_first(toy: Toy) -> None:
        toy.take(toy.left, toy.right)

    def take_right_first(toy: Toy) -> None:
        toy.take(toy.right, toy.left)

    search = exhaust(ToyRuns(take_left_first, take_right_first), 1)
    assert failure_of(search.failure) == (
        "t0 waits for right, which t1 holds; t1 waits for left, which t0 holds"
    )
    assert isinstance(search.failure and search.failure.failure, errors.Deadlock)
    assert exhaust(ToyRuns(take_left_first, take_left_first), 3).complete


def test_a_lock_is_not_taken_twice_by_its_holder() -> None:
    record, _ = alone(lambda toy: toy.take(toy.left, toy.left))
    assert failure_of(record) == "t0 waits for left, which t0 holds"
    record, toy = alone(lambda toy: toy.take(toy.again, toy.again))
    assert (record.failure, toy.number, toy.again.locked()) == (None, 1, False)


def test_a_lock_that_is_tried_does_not_wait() -> None:
    def attempt(toy: Toy) -> None:
        if toy.left.acquire(blocking=False):
            toy.log.append("got it")
            toy.left.release()

    runs = ToyRuns(Toy.add_under_lock, attempt)
    assert exhaust(runs, 3).complete
    assert set(runs.left) == {(1,), (1, "got it")}


def test_a_lock_is_released_by_its_holder() -> None:
    record, _ = alone(Toy.add_under_lock, lambda toy: toy.left.release())
    assert "t1 has raised RuntimeError('left is released by a thread" in failure_of(record)


def test_no_thread_ends_with_a_lock() -> None:
    record, _ = alone(lambda toy: toy.left.acquire())
    assert failure_of(record) == "thread t0 has ended and holds a lock"


# Conditions and threads


def test_who_waits_is_woken_by_a_notification() -> None:
    def wait_inside(toy: Toy) -> None:
        with toy.changed:
            while toy.number == 0:
                assert toy.changed.wait()

    def wait_after_look(toy: Toy) -> None:
        if toy.number == 0:
            with toy.changed:
                toy.changed.wait()

    def change(toy: Toy) -> None:
        with toy.changed:
            toy.number = 1
            toy.changed.notify_all()

    assert exhaust(ToyRuns(wait_inside, change), 3).complete
    lost = exhaust(ToyRuns(wait_after_look, change), 3)
    assert failure_of(lost.failure) == "t0 waits for a notification of changed"


def test_a_notification_wakes_as_many_as_it_says() -> None:
    def wait(toy: Toy) -> None:
        with toy.changed:
            toy.changed.wait()

    def notify(toy: Toy) -> None:
        with toy.changed:
            toy.changed.notify()

    record, _ = alone(wait, wait, notify)
    assert failure_of(record) == "t1 waits for a notification of changed"


def test_a_time_limit_runs_out_when_nothing_else_can_happen() -> None:
    def wait(toy: Toy) -> None:
        with toy.changed:
            assert toy.changed.wait(5) is False
            assert toy.changed.wait_for(lambda: toy.number == 7, 5) is False
            toy.changed.notify_all()

    def join(toy: Toy) -> None:
        def sleep() -> None:
            with toy.changed:
                toy.changed.wait()

        thread = toy.threading.Thread(target=sleep, name="sleeper")
        assert not thread.is_alive()
        thread.start()
        thread.join(1)
        assert thread.is_alive()
        with toy.changed:
            toy.changed.notify_all()
        thread.join()
        assert not thread.is_alive()

    for body in (wait, join):
        record, _ = alone(body)
        assert record.failure is None, record.failure


def test_the_clock_of_a_run_jumps_to_the_end_of_the_wait_that_ends_first() -> None:
    def keep(toy: Toy) -> None:
        with toy.left, toy.again:
            toy.elsewhere.wait(9)

    def acquire(toy: Toy) -> None:
        assert toy.left.acquire(timeout=3) is False
        toy.log.append(f"{toy.scheduler.now_s:g}")
        assert toy.left.acquire(timeout=7) is True
        toy.log.append(f"{toy.scheduler.now_s:g}")
        toy.left.release()

    record, toy = alone(keep, acquire)
    assert (record.failure, toy.log) == (None, ["3", "9"])


def test_a_thread_that_waits_in_a_loop_lets_the_others_go_on() -> None:
    def spin(toy: Toy) -> None:
        while toy.number == 0:
            toy.scheduler.reach("spins")

    search = exhaust(ToyRuns(spin, Toy.add_under_lock), 0)
    assert (search.failure, search.complete) == (None, True)


def test_a_run_ends_without_its_background_threads() -> None:
    def start(toy: Toy) -> None:
        def serve() -> None:
            with toy.left:
                toy.changed.wait()

        toy.scheduler.start("server", serve, background=True)

    record, _ = alone(start)
    assert record.failure is None


def test_a_thread_knows_which_it_is() -> None:
    def body(toy: Toy) -> None:
        def look() -> None:
            toy.log.append(str(toy.threading.current_thread() is thread))

        thread = toy.threading.Thread(target=look, name="started")
        thread.start()
        thread.join()
        current = toy.threading.current_thread()
        assert current is not thread
        assert current is not toy.threading.main_thread()
        assert current.name == "t0"

    record, toy = alone(body)
    assert (record.failure, toy.log) == (None, ["True"])


def test_what_is_not_under_control_is_an_error() -> None:
    record, _ = alone(lambda toy: getattr(toy.threading, "Event")())  # noqa: B009
    assert "threading.Event, which the scheduler does not know" in failure_of(record)
    assert isinstance(record.failure, errors.NotUnderControl)


# What never ends


def test_a_program_that_raises_is_a_failure() -> None:
    def fail(toy: Toy) -> None:
        with toy.left:
            raise ValueError("planned")

    record, toy = alone(fail, Toy.add_under_lock)
    assert failure_of(record) == "thread t0 has raised ValueError('planned')"
    assert isinstance(record.failure, errors.ThreadFailed)
    # The lock is free again, and the other thread has ended.
    assert toy.number == 1


def test_threads_that_go_on_without_end_are_stopped() -> None:
    def spin(toy: Toy) -> None:
        while True:
            toy.scheduler.reach("spins")

    record, _ = alone(spin, spin)
    assert isinstance(record.failure, errors.TooManySteps)


def test_a_thread_that_waits_for_something_else_is_noticed() -> None:
    event = threading.Event()
    others = threading.enumerate()

    def wait(toy: Toy) -> None:
        with toy.left:
            threading.Timer(1, event.set).start()
            event.wait(10)

    runs = ToyRuns(wait, longest_wait_s=0.5)
    with pytest.raises(errors.Stalled, match=r"thread t0 has reached no yield point .* after left"):
        runs(Prefix())
    for thread in threading.enumerate():
        if thread not in others:
            thread.join(10)


def test_there_are_as_many_threads_as_letters() -> None:
    runs = ToyRuns(*[Toy.add_under_lock] * 26)
    assert runs(Prefix(from_text("z"))).failure is None
    assert runs.toy.number == 26
    scheduler = Scheduler()
    for number in range(26):
        scheduler.start(f"t{number}", int)
    # No real thread has begun yet: what is never executed leaves none behind.
    with pytest.raises(errors.SchedulingError, match="26 threads at most"):
        scheduler.start("one more", int)
