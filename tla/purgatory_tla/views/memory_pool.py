"""The counts of the memory pool and of its calls."""

from collections.abc import Mapping

from purgatory_tla.views.parts import entries, number, numbers
from purgatory_tla.views.sayings import State


def memory_pool(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """What is available, and what is in the hands of threads, in bytes."""
    return {"available": number(state, "available"), "outstanding": sum(numbers(state["held"]))}


def memory_pool_calls(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """The clock, the bytes available and out, and whether the pool is dry, and how long it was."""
    since = number(state, "since")
    out = entries(state["held"])
    return {
        "clock": number(state, "now"),
        "available": number(state, "available"),
        "out": ", ".join(f"{buffer}: {size}" for buffer, size in sorted(out.items())) or "nothing",
        "dry": f"since {since}" if since >= 0 else "no",
        "dry before": f"{number(state, 'depleted')} in {number(state, 'spells')}",
    }
