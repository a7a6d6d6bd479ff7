"""The counts of the memory pool."""

from collections.abc import Mapping

from purgatory_tla.views.parts import number, numbers
from purgatory_tla.views.sayings import State


def memory_pool(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """What is available, and what is in the hands of threads, in bytes."""
    return {"available": number(state, "available"), "outstanding": sum(numbers(state["held"]))}
