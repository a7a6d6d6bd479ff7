"""The workloads on the bundled timer, purgatory and memory pool, recorded or not."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import Final

from purgatory_impl import (
    CallableTask,
    DelayedOperation,
    MemoryPool,
    Purgatory,
    SimpleMemoryPool,
    Task,
    Timer,
    TimerTask,
)
from purgatory_spec.profiles import Component
from purgatory_traces.recording.recorded.memory_pool import RecordedMemoryPool
from purgatory_traces.recording.recorded.operation import recorded
from purgatory_traces.recording.recorded.purgatory import RecordedPurgatory
from purgatory_traces.recording.recorded.timer import RecordedTimer
from purgatory_traces.recording.recorder import Recorder
from purgatory_traces.recording.workload import Wish, Workload, random_delay_ms

TICK_MS: Final = 1
WHEEL_SIZE: Final = 20
PURGE_INTERVAL: Final = 1000
POOL_BYTES: Final = 10_000
MAX_SINGLE_BYTES: Final = 1000

_SLOTS: Final = 512
_POOL_SLOTS: Final = 256
_MOST_TASKS: Final = 5000
_MOST_OPERATIONS: Final = 2000
_MOST_KEYS: Final = 3


def bundled_workload(component: Component, wish: Wish, recorder: Recorder | None) -> Workload:
    """Return the workload on a fresh instance, which is recorded where there is a recorder."""
    match component:
        case Component.TIMER:
            return TimerWorkload(wish, recorder)
        case Component.PURGATORY:
            return PurgatoryWorkload(wish, recorder)
        case Component.MEMORY_POOL:
            return MemoryPoolWorkload(wish, recorder)
        case Component.CHANNEL_MUTING:
            raise ValueError("there are no traces of a server's channels")


def _lines_of(recorder: Recorder | None) -> Callable[[], int] | None:
    return None if recorder is None else lambda: recorder.lines


class TimerWorkload(Workload):
    """Tasks are added, cancelled and added again, each by any thread."""

    def __init__(self, wish: Wish, recorder: Recorder | None) -> None:
        super().__init__(wish, _lines_of(recorder))
        self._timer: Timer
        self._fresh: Callable[[Callable[[], object]], TimerTask]
        if recorder is None:
            self._timer = Timer(tick_ms=TICK_MS, wheel_size=WHEEL_SIZE)
            self._fresh = CallableTask
        else:
            self._timer = recorded = RecordedTimer(recorder, tick_ms=TICK_MS, wheel_size=WHEEL_SIZE)
            self._fresh = recorded.task
        self._tasks: list[Task | None] = [None] * _SLOTS

    def turn(self, random: Random) -> None:
        """Cancel what is in a slot, add it again, or add a fresh task."""
        slot = random.randrange(_SLOTS)
        task = self._tasks[slot]
        choice = random.randrange(100)
        if task is not None and choice < 25:
            self._timer.cancel(task)
        elif task is not None and choice < 40:
            self._timer.add(task, random_delay_ms(random))
        else:
            self._tasks[slot] = self._timer.add(self._fresh(_nothing), random_delay_ms(random))

    def is_crowded(self) -> bool:
        """Decide whether too many tasks are pending."""
        return self._timer.size > _MOST_TASKS

    def close(self) -> None:
        """Close the timer of the workload."""
        self._timer.close()


class WorkloadOperation(DelayedOperation):
    """An operation that can be completed once it is ready."""

    def __init__(self, delay_ms: int, keys: list[str]) -> None:
        super().__init__(delay_ms)
        self.keys = keys
        self.ready = False

    def try_complete(self) -> bool:
        """Complete the operation if it is ready."""
        return self.ready and self.force_complete()


RecordedWorkloadOperation: Final = recorded(WorkloadOperation)


class PurgatoryWorkload(Workload):
    """Operations are watched, satisfied, checked, forced and cancelled, each by any thread."""

    def __init__(self, wish: Wish, recorder: Recorder | None) -> None:
        super().__init__(wish, _lines_of(recorder))
        self._purgatory: Purgatory[str]
        self._satisfying: Callable[[DelayedOperation], AbstractContextManager[None]]
        self._operation: type[WorkloadOperation]
        if recorder is None:
            self._purgatory = Purgatory(purge_interval=PURGE_INTERVAL)
            self._satisfying = lambda *_: nullcontext()
            self._operation = WorkloadOperation
        else:
            of_trace: RecordedPurgatory[str] = RecordedPurgatory(
                recorder, purge_interval=PURGE_INTERVAL, tick_ms=TICK_MS, wheel_size=WHEEL_SIZE
            )
            self._purgatory = of_trace
            self._satisfying = of_trace.satisfying
            self._operation = RecordedWorkloadOperation
        self._keys = [f"key-{number}" for number in range(wish.keys)]
        self._operations: list[WorkloadOperation | None] = [None] * _SLOTS

    def turn(self, random: Random) -> None:
        """Watch a fresh operation, or do something to one that was watched, or to a key."""
        slot = random.randrange(_SLOTS)
        operation = self._operations[slot]
        choice = random.randrange(100)
        if operation is None or choice < (90 if operation.is_completed else 35):
            under = random.sample(self._keys, min(len(self._keys), random.randint(1, _MOST_KEYS)))
            fresh = self._operation(random_delay_ms(random), under)
            self._purgatory.try_complete_else_watch(fresh, under)
            self._operations[slot] = fresh
        elif choice < 65:
            if not operation.ready:
                with self._satisfying(operation):
                    operation.ready = True
            self._purgatory.check_and_complete(random.choice(operation.keys))
        elif choice < 80:
            self._purgatory.check_and_complete(random.choice(self._keys))
        elif choice < 98:
            operation.force_complete()
        else:
            self._purgatory.cancel_for_key(random.choice(self._keys))

    def is_crowded(self) -> bool:
        """Decide whether too many time-outs are pending."""
        return self._purgatory.timer_size > _MOST_OPERATIONS

    def close(self) -> None:
        """Close the purgatory of the workload."""
        self._purgatory.close()


class MemoryPoolWorkload(Workload):
    """Buffers are allocated by one thread and released by any."""

    def __init__(self, wish: Wish, recorder: Recorder | None) -> None:
        super().__init__(wish, _lines_of(recorder))
        pool = SimpleMemoryPool(POOL_BYTES, MAX_SINGLE_BYTES)
        self._pool: MemoryPool = pool if recorder is None else RecordedMemoryPool(recorder, pool)
        self._slots: list[list[memoryview]] = [[] for _ in range(_POOL_SLOTS)]

    def turn(self, random: Random) -> None:
        """Release the buffer in a slot, or allocate a buffer for an empty slot."""
        slot = self._slots[random.randrange(_POOL_SLOTS)]
        try:
            self._pool.release(slot.pop())
        except IndexError:
            buffer = self._pool.try_allocate(random.randint(1, MAX_SINGLE_BYTES))
            if buffer is not None:
                slot.append(buffer)

    def is_crowded(self) -> bool:
        """Return false: a pool refuses by itself."""
        return False

    def close(self) -> None:
        """Do nothing: a pool has no threads."""


def _nothing() -> None:
    """Do nothing, as a task of the workload."""
