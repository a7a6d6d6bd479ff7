"""A state of the timer's model in words."""

from collections.abc import Sequence

from purgatory_conformance.describing.words import counted
from purgatory_model.timer import TimerState
from purgatory_model.timing_wheel import TimingWheel


def describe_timer_state(state: object) -> str:
    """One line: the clock, the pending tasks with their due ticks, the wheel, the queue."""
    if not isinstance(state, TimerState):
        return ""
    parts = [f"clock {state.now_ms}"]
    store = state.store
    if isinstance(store, TimingWheel):
        parts.append(f"own clock {store.own_clock_ms}")
        parts.append(counted(store.levels, "level"))
        buckets = ", ".join(
            f"level {level} at {expiry}: {' '.join(sorted(tasks)) or 'empty'}"
            for (expiry, level), tasks in sorted(store.buckets.items())
        )
        parts.append(f"buckets [{buckets}]" if buckets else "no buckets")
    else:
        due_ticks = sorted(store.due_ticks.items(), key=lambda item: (item[1], item[0]))
        pending = ", ".join(f"{task} due {due_tick}" for task, due_tick in due_ticks)
        parts.append(f"pending [{pending}]" if pending else "nothing pending")
    parts.append(describe_queue(state.queue))
    if state.closed:
        parts.append("shut down")
    return "; ".join(parts)


def describe_queue(tasks: Sequence[str]) -> str:
    """The executor's queue, the first task first."""
    return f"executor's queue [{' '.join(tasks)}]" if tasks else "executor's queue empty"
