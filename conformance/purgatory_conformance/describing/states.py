"""States of the models in words."""

from collections.abc import Sequence

from purgatory_conformance.describing.words import counted, describe_task
from purgatory_model.channel_muting import Channel, ChannelMutingState, Receive
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.timer import TimerState
from purgatory_model.timing_wheel import TimingWheel

_MOST_NAMES = 8
"""The number of buffers that a description names."""


def describe_state(state: object) -> str:
    """Return a state of a component's model on one line; empty for anything else."""
    match state:
        case TimerState():
            return _timer_state(state)
        case PurgatoryState():
            return _purgatory_state(state)
        case MemoryPoolState():
            return _memory_pool_state(state)
        case ChannelMutingState():
            return _channel_muting_state(state)
        case _:
            return ""


def _timer_state(state: TimerState[Store]) -> str:
    """Return the clock, the pending tasks with their due ticks, the wheel and the queue."""
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
        pending = _due_ticks(store)
        parts.append(f"pending [{pending}]" if pending else "nothing pending")
    parts.append(_queue(state.queue))
    if state.closed:
        parts.append("shut down")
    return "; ".join(parts)


def _due_ticks(store: Store) -> str:
    due_ticks = sorted(store.due_ticks.items(), key=lambda item: (item[1], item[0]))
    return ", ".join(f"{name} due {due_tick}" for name, due_tick in due_ticks)


def _queue(tasks: Sequence[str]) -> str:
    return f"executor's queue [{' '.join(tasks)}]" if tasks else "executor's queue empty"


def _purgatory_state(state: PurgatoryState) -> str:
    """Return clock, lists with ``*`` behind what is completed, time-outs and executor's queue."""
    completed = state.completed
    lists = ", ".join(
        f"{key}: {' '.join(f'{name}*' if name in completed else name for name in names)}"
        for key, names in sorted(state.lists.items())
    )
    armed = _due_ticks(state.timer.store)
    parts = [
        f"clock {state.timer.now_ms}",
        f"lists [{lists}]" if lists else "no lists",
        f"timer [{armed}]" if armed else "timer empty",
        _queue(state.timer.queue),
    ]
    if state.estimate:
        parts.append(f"estimate {state.estimate}")
    if state.closed:
        parts.append("shut down")
    return "; ".join(parts)


def _memory_pool_state(state: MemoryPoolState) -> str:
    """Return the available bytes and the held buffers."""
    names = sorted(state.held, key=lambda name: (len(name), name))
    held = ", ".join(f"{describe_task(name)} {state.held[name]}" for name in names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        held += f" and {len(names) - _MOST_NAMES} more"
    words = f"clock {state.now_ms}; {state.available_bytes} available; held: {held or 'nothing'}"
    if state.spell_began_ms is not None:
        words += f"; dry since {state.spell_began_ms}"
    return words


def _channel_muting_state(state: ChannelMutingState) -> str:
    """Return the available bytes and the open channels."""
    channels = "; ".join(
        f"{name}: {describe_channel(channel)}"
        for name, channel in sorted(state.channels.items())
        if channel.is_open
    )
    handled = ", ".join(f"{request} {size}" for request, size in sorted(state.handled.items()))
    words = f"clock {state.now_ms}; {state.available_bytes} available; handled: "
    words += handled or "nothing"
    if state.line:
        words += f"; in line: {', '.join(state.line)}"
    return f"{words}; {channels or 'no channels'}"


def describe_channel(channel: Channel) -> str:
    """Return what an open channel does, for example ``waits, request 1 of 10 sent to 4``."""
    facts = {
        "holds": channel.receive is Receive.HOLDS,
        "waits": channel.waits,
        "asks with the next bytes": channel.receive is Receive.ASKS_LATER,
        "ordered": channel.is_ordered,
        "throttled": channel.is_throttled,
    }
    words = [word for word, holds in facts.items() if holds]
    words += [
        f"request {each.number} of {each.size_bytes} sent to {each.sent_bytes}"
        for each in channel.coming
    ]
    return ", ".join(words) or "idle"
