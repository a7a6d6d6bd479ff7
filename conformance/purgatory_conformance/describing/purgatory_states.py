"""A state of the purgatory's model in words."""

from purgatory_conformance.describing.timer_states import describe_queue
from purgatory_model.purgatory_state import PurgatoryState


def describe_purgatory_state(state: object) -> str:
    """One line: clock, lists with ``*`` behind what is completed, time-outs, executor's queue."""
    if not isinstance(state, PurgatoryState):
        return ""
    completed = state.completed
    lists = ", ".join(
        f"{key}: {' '.join(f'{name}*' if name in completed else name for name in names)}"
        for key, names in sorted(state.lists.items())
    )
    due_ticks = sorted(state.timer.store.due_ticks.items(), key=lambda item: (item[1], item[0]))
    armed = ", ".join(f"{name} due {due_tick}" for name, due_tick in due_ticks)
    parts = [
        f"clock {state.timer.now_ms}",
        f"lists [{lists}]" if lists else "no lists",
        f"timer [{armed}]" if armed else "timer empty",
        describe_queue(state.timer.queue),
    ]
    if state.estimate:
        parts.append(f"estimate {state.estimate}")
    if state.closed:
        parts.append("shut down")
    return "; ".join(parts)
