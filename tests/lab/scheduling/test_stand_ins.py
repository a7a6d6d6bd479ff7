"""The stand-ins for ``threading``, ``queue`` and ``time`` of code under test in a scheduled run."""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from purgatory_lab.scheduling import errors
from purgatory_lab.scheduling.run import Record
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.search import Prefix
from purgatory_lab.scheduling.strangers.primitives import Primitives


def run(*bodies: Callable[[], object]) -> Record:
    """A run of some threads, each undisturbed until it has to wait."""
    primitives = Primitives(Scheduler(locks_are_owned=False))
    with primitives.active():
        primitives.begin()
        for number, body in enumerate(bodies):
            primitives.scheduler.start(f"t{number}", body)
        return primitives.scheduler.execute(Prefix())


def succeeds(*bodies: Callable[[], object]) -> None:
    record = run(*bodies)
    assert record.failure is None, record.failure


class Box:
    """Something with a lock and a condition."""

    condition: threading.Condition

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.condition = threading.Condition()
        self.full = threading.Event()


def test_locks_are_those_of_the_code_that_asks_for_them() -> None:
    def body() -> None:
        box = Box()
        assert type(box.lock).__name__ == "TriedLock"
        assert type(box.condition).__name__ == "ControlledCondition"
        assert isinstance(box.condition, threading.Condition)
        assert isinstance(None, threading.Condition | None)
        with box.condition:
            assert box.condition.acquire(blocking=False)
            box.condition.release()

    succeeds(body)
    assert type(Box().lock).__name__ == "lock"


def test_a_deadlock_names_the_locks_by_the_attributes_that_have_them() -> None:
    boxes: list[Box] = []

    def first() -> None:
        boxes.append(Box())
        with boxes[0].condition:
            boxes[0].condition.wait()

    def second() -> None:
        with boxes[0].lock:
            boxes[0].full.wait()

    record = run(first, second, lambda: boxes[0].lock.acquire())
    assert str(record.failure) == (
        "t0 waits for a notification of Box.condition; t1 waits for a notification of Box.full; "
        "t2 waits for Box.lock, which t1 holds"
    )


def test_a_lock_may_be_given_back_by_another_thread_but_not_twice() -> None:
    locks: list[threading.Lock] = []

    def take() -> None:
        locks.append(threading.Lock())
        locks[0].acquire()

    def give() -> None:
        locks[0].release()
        with pytest.raises(RuntimeError, match="does not hold it"):
            locks[0].release()

    succeeds(take, give)


def test_waits_take_the_time_of_the_run() -> None:
    told: list[str] = []

    def body() -> None:
        began_s, began = time.monotonic(), time.time()
        time.sleep(3_600)
        assert threading.Event().wait(60) is False
        with pytest.raises(queue.Empty):
            queue.Queue[int]().get(timeout=60)
        assert time.monotonic() - began_s == pytest.approx(3_720, abs=0.001)
        assert time.time() - began == pytest.approx(3_720, abs=0.001)
        assert time.monotonic_ns() // 10**9 == 3_720
        told.append("over")

    began_s = time.monotonic()
    succeeds(body)
    assert told == ["over"]
    assert time.monotonic() - began_s < 3_600


def test_what_is_built_on_locks_needs_no_stand_in() -> None:
    barriers: list[threading.Barrier] = []
    messages: list[queue.SimpleQueue[str]] = []

    def first() -> None:
        barriers.append(threading.Barrier(2))
        messages.append(queue.SimpleQueue())
        barriers[0].wait()
        assert messages[0].get() == "come"

    def second() -> None:
        barriers[0].wait()
        messages[0].put("come")

    def third() -> None:
        with ThreadPoolExecutor(2) as workers:
            assert list(workers.map(str, range(3))) == ["0", "1", "2"]

    succeeds(first, second, third)


def test_a_thread_of_the_code_is_one_of_the_run() -> None:
    class Worker(threading.Thread):
        def run(self) -> None:
            assert threading.current_thread() is self
            self.done = True

    def body() -> None:
        worker = Worker(name="worker")
        assert not worker.is_alive()
        worker.start()
        assert worker.is_alive()
        worker.join()
        assert not worker.is_alive()
        assert worker.done
        with pytest.raises(RuntimeError, match="once"):
            worker.start()

    record = run(body)
    assert (record.failure, record.names) == (None, ["t0", "worker"])


def test_what_cannot_be_scheduled_is_refused() -> None:
    before = threading.Lock()

    def own_sort() -> None:
        class Own(threading.Condition):
            pass

        Own()

    for body, words in (
        (lambda: threading.Condition(before), "no lock of this run: it was made before"),
        (own_sort, "Own extends Condition: that is not scheduled"),
    ):
        record = run(body)
        assert isinstance(record.failure, errors.NotUnderControl)
        assert words in str(record.failure)


def test_a_thread_that_is_started_while_its_module_is_imported_is_refused() -> None:
    primitives = Primitives(Scheduler())
    with primitives.active():
        primitives.preparing = True
        with pytest.raises(errors.NotUnderControl, match="start it where the object is made"):
            threading.Thread(name="early").start()


def test_a_thread_beside_the_run_has_the_locks_and_the_clock_of_the_process() -> None:
    """It was there before, and sleeps and takes locks while the run goes on."""
    go_on, seen, failures = True, [""], list[BaseException]()

    def work_beside() -> None:
        try:
            while go_on:
                time.sleep(0.0001)
                seen.append(type(threading.Lock()).__name__)
        except BaseException as failure:
            failures.append(failure)

    def body() -> None:
        count = len(seen)
        for _ in range(100_000):
            if len(seen) > count + 3:
                break
            threading.Lock()

    beside = threading.Thread(target=work_beside)
    beside.start()
    try:
        succeeds(body)
    finally:
        go_on = False
        beside.join()
    assert not failures
    assert {*seen[1:]} == {"lock"}
