"""Removal of finished names: a forgetful judge drops facts that no live object needs.

Theory of operation. The suite's cases are short, and their names stand for one object from the
first step to the last: an operation that was completed long ago may be forced again. Traces are
long, and their names come and go. There a name is *finished* when the instance holds nothing of it
any more: a task that is neither pending nor in the executor's queue; a delayed operation that has,
besides, no entry in a list, and is not merely introduced and not yet watched; a buffer that is not
outstanding. What is finished is dropped from the model's state after the step that finished it.
"""

from collections.abc import Hashable
from typing import TypeVar

from immutables import Map

from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_state import OperationState, PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.timer import TimerState

Same = TypeVar("Same", bound=Hashable)


def without_finished_tasks(
    states: tuple[TimerState[Store], ...],
) -> tuple[TimerState[Store], ...]:
    """Return the states of a timer without the scripts of tasks that are finished."""
    if not any(state.scripts for state in states):
        return states
    return _each_once(tuple(_without_scripts(state) for state in states))


def without_finished_operations(
    states: tuple[PurgatoryState, ...], before: PurgatoryState
) -> tuple[PurgatoryState, ...]:
    """Return a purgatory's states without finished operations; ``before`` is before the step."""
    return _each_once(tuple(_without_operations(state, before) for state in states))


def with_finished_operation(
    states: tuple[PurgatoryState, ...], name: str
) -> tuple[PurgatoryState, ...]:
    """Return the states with the fact that an operation of this name was completed before."""
    done = OperationState(delay_ms=0, completed=True)
    return tuple(replace(state, operations=state.operations.set(name, done)) for state in states)


def without_returned_buffers(states: tuple[MemoryPoolState, ...]) -> tuple[MemoryPoolState, ...]:
    """Return the states of a pool without the buffers that were given back."""
    if not any(state.returned for state in states):
        return states
    return _each_once(
        tuple(replace(state, returned=Map()) if state.returned else state for state in states)
    )


def live_operations(state: PurgatoryState) -> set[str]:
    """Return the operations with an entry in a list or with a time-out that is owed."""
    live = {name for entries in state.lists.values() for name in entries}
    live.update(state.timer.store.due_ticks)
    live.update(state.timer.queue)
    return live


def _without_scripts(state: TimerState[Store]) -> TimerState[Store]:
    live = state.store.due_ticks
    gone = [task for task in state.scripts if task not in live and task not in state.queue]
    scripts = state.scripts
    for task in gone:
        scripts = scripts.delete(task)
    return replace(state, scripts=scripts) if gone else state


def _without_operations(state: PurgatoryState, before: PurgatoryState) -> PurgatoryState:
    live = live_operations(state)
    if len(live) == len(state.operations):
        return state
    operations = state.operations
    for name, operation in state.operations.items():
        announced = operation.satisfied and not operation.completed
        if name not in live and not (announced and name not in live_operations(before)):
            operations = operations.delete(name)
    return replace(state, operations=operations)


def _each_once(states: tuple[Same, ...]) -> tuple[Same, ...]:
    return states if len(states) < 2 else tuple(dict.fromkeys(states))
