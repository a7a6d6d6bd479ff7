"""Checks of a timer when every call has returned, whatever the schedule."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from purgatory_impl import Task, Timer
from purgatory_impl.bucket import Bucket
from purgatory_impl.wheel import Level
from purgatory_lab.scheduling.bundled.timer.under_test import TimerUnderTest
from purgatory_spec.operations import Add, Shutdown

_MOST_TASKS: Final = 100


def problems(tested: TimerUnderTest) -> list[str]:
    """Return all problems of the timer at rest; wrong links are reported alone."""
    if wrong := list(_linked_right(tested)):
        return wrong
    return [
        *_not_late(tested),
        *_run_as_often_as_armed(tested),
    ]


def _linked_right(tested: TimerUnderTest) -> Iterator[str]:
    """Yield the wrong links between buckets, pending tasks and the delay queue.

    Rules: TIMER-SIZE, TIMER-BUCKET-REUSE.
    """
    for timer in (tested.timer, tested.other):
        held: list[Task] = []
        for level in timer._wheel.all_levels():
            for slot, bucket in enumerate(level.buckets):
                inside = _tasks_of(bucket)
                held += inside
                if bool(level.queued >> slot & 1) != bucket.queued:
                    yield f"a bucket and the delay queue disagree on slot {slot}"
                if inside and not bucket.queued:
                    yield f"a bucket with {len(inside)} tasks is not in the delay queue"
            if level.queued and level.first_ms != _earliest_ms(level):
                yield f"the first bucket of a level expires at {_earliest_ms(level)} ms"
        pending = [task for task in tested.tasks.values() if _is_pending(task, timer)]
        if Counter(held) != Counter(pending):
            yield f"{len(pending)} tasks are pending, the buckets hold {len(held)}"
        if timer.size != len(pending):
            yield f"size is {timer.size}, and {len(pending)} tasks are pending"


def _earliest_ms(level: Level) -> int:
    return min(bucket.expiry_ms for bucket in level.buckets if bucket.queued)


def _tasks_of(bucket: Bucket) -> list[Task]:
    """Return the tasks of a bucket; not all of a ring that does not come back to its bucket."""
    tasks: list[Task] = []
    task = bucket.first()
    while task is not None and len(tasks) < _MOST_TASKS:
        tasks.append(task)
        task = bucket.behind(task)
    return tasks


def _is_pending(task: Task, timer: Timer) -> bool:
    return task._timer is timer and task._next is not None


def _not_late(tested: TimerUnderTest) -> Iterator[str]:
    """Yield the due tasks that have not run when the timer's own threads rest.

    Rules: TIMER-NOT-LATE, TIMER-WAKE-UP.
    """
    for name in tested.late:
        yield f"{name} is due, and nobody has run it"


def _run_as_often_as_armed(tested: TimerUnderTest) -> Iterator[str]:
    """Yield the tasks that ran too often, or are left when everything pending has come due.

    Rules: TIMER-EXACTLY-ONCE, TIMER-CANCEL.
    """
    closed = any(isinstance(operation, Shutdown) for operation in tested.history.called())
    owed = Counter(
        operation.task
        for operation, returned in tested.history.calls()
        if isinstance(operation, Add) and returned.raised is None
    )
    before = {task.name: task.runs for task in tested.tasks.values()}
    pending = [task.name for task in tested.tasks.values() if task._next is not None]
    if not tested.own_threads:
        tested.settle()
    for task in tested.tasks.values():
        if task.runs > owed[task.name]:
            yield f"{task.name} was armed {owed[task.name]} times and ran {task.runs} times"
        if task.name in pending and task.runs == before[task.name] and not closed:
            yield f"{task.name} was pending, and has not run"
    for timer in (tested.timer, tested.other):
        if timer.size:
            yield f"size is {timer.size} after everything has come due"
