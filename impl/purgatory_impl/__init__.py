"""A timer on a hierarchical timing wheel, a purgatory of delayed operations, and memory pools.

``network`` has the server whose connections wait for the memory of a pool. ``event_loops`` has the
operations that coroutines wait for; asyncio is imported with it alone.
"""

from purgatory_impl.arguments import Delay
from purgatory_impl.callable_operation import CallableOperation
from purgatory_impl.clocks import Clock, MonotonicClock, VirtualClock
from purgatory_impl.delayed_operation import DelayedOperation
from purgatory_impl.errors import (
    BufferInUse,
    BufferPart,
    BufferReleased,
    DelayTooLarge,
    ForeignBuffer,
    InvalidAllocation,
    InvalidConfiguration,
    InvalidDelay,
    InvalidRelease,
    KeysAreText,
    MemoryPoolError,
    NoKeys,
    NotABuffer,
    NotATask,
    OneShotEnded,
    OperationOfAnotherPurgatory,
    PurgatoryClosed,
    PurgatoryError,
    TaskOfAnotherTimer,
    TimerClosed,
    TimerError,
    UsedAfterFork,
    WatchError,
)
from purgatory_impl.executors import Executor, InlineExecutor, SteppedExecutor, ThreadExecutor
from purgatory_impl.leak_detecting_memory_pool import LeakDetectingMemoryPool
from purgatory_impl.memory_pool import MemoryPool, SimpleMemoryPool
from purgatory_impl.purgatory import Purgatory
from purgatory_impl.task import COMPILED, CallableTask, OneShotTask, Task, TimerTask
from purgatory_impl.timer import LARGEST_DELAY_MS, Timer
from purgatory_impl.unbounded_memory_pool import UnboundedMemoryPool

__all__ = [
    "COMPILED",
    "LARGEST_DELAY_MS",
    "BufferInUse",
    "BufferPart",
    "BufferReleased",
    "CallableOperation",
    "CallableTask",
    "Clock",
    "Delay",
    "DelayTooLarge",
    "DelayedOperation",
    "Executor",
    "ForeignBuffer",
    "InlineExecutor",
    "InvalidAllocation",
    "InvalidConfiguration",
    "InvalidDelay",
    "InvalidRelease",
    "KeysAreText",
    "LeakDetectingMemoryPool",
    "MemoryPool",
    "MemoryPoolError",
    "MonotonicClock",
    "NoKeys",
    "NotABuffer",
    "NotATask",
    "OneShotEnded",
    "OneShotTask",
    "OperationOfAnotherPurgatory",
    "Purgatory",
    "PurgatoryClosed",
    "PurgatoryError",
    "SimpleMemoryPool",
    "SteppedExecutor",
    "Task",
    "TaskOfAnotherTimer",
    "ThreadExecutor",
    "Timer",
    "TimerClosed",
    "TimerError",
    "TimerTask",
    "UnboundedMemoryPool",
    "UsedAfterFork",
    "VirtualClock",
    "WatchError",
]
