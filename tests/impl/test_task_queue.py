"""The queue of an executor against a ``deque``, and how much of it is ever in one list."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from purgatory_impl import CallableTask, TimerTask
from purgatory_impl.task_queue import BATCH, TaskQueue

SIZES = st.sampled_from([0, 1, 2, 3, BATCH // 2, BATCH - 1, BATCH, BATCH + 1])


def fresh(count: int) -> list[TimerTask]:
    return [CallableTask(int) for _ in range(count)]


@given(st.lists(st.tuples(SIZES, SIZES), max_size=12))
def test_it_gives_out_what_was_put_in_its_order(rounds: list[tuple[int, int]]) -> None:
    """Both give the same one, and say the same of what is left."""
    queue, expected = TaskQueue(), deque[TimerTask]()
    for put, taken in rounds:
        tasks = fresh(put)
        queue.put(tasks)
        expected.extend(tasks)
        for _ in range(taken):
            assert queue.take() is (expected.popleft() if expected else None)
        assert len(queue) == len(expected)
        assert queue.tasks() == list(expected)


def lists_of(queue: TaskQueue) -> list[int]:
    """The lengths of the lists that the queue holds."""
    lengths = []
    batch = queue._first
    while True:
        lengths.append(len(batch.tasks))
        if batch.next is None:
            assert batch is queue._last
            return lengths
        batch = batch.next


def test_no_list_grows_with_the_queue() -> None:
    """No list is ever longer than a batch, and lists that are done with are gone."""
    queue = TaskQueue()
    for task in fresh(10_000):
        queue.put([task])
    for _ in range(3):
        queue.put(fresh(BATCH))
    assert lists_of(queue) == [BATCH] * 9 + [10_000 - 9 * BATCH] + [BATCH] * 3
    for task in fresh(20_000):
        assert queue.take() is not None
        queue.put([task])
        assert max(lists_of(queue)) <= BATCH
    assert len(lists_of(queue)) <= len(queue) // BATCH + 2
    while queue.take() is not None:
        pass
    assert lists_of(queue) == [0]


def test_what_was_taken_is_not_kept() -> None:
    """Given two tasks in one list: the queue has no reference to it any more."""
    queue = TaskQueue()
    queue.put(fresh(2))
    queue.take()
    assert queue._first.tasks[0] is None
    assert len(queue.tasks()) == 1
