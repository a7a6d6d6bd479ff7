"""The counts of the lemmas: an operation's lock, emptied lists, the counting abstraction."""

from collections.abc import Mapping

from purgatory_tla.views.parts import entries, numbers
from purgatory_tla.views.sayings import State


def operation_lock(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the number of changes, and the state of the single operation."""
    return {
        "changes": state["changes"],
        "lock": state["owner"],
        "flag": state["flag"],
        "completed": state["completed"],
        "callbacks": state["callbacks"],
    }


def watcher_list_removal(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the mapped list (0 for none), the members of lists, the completed operations."""
    members_of = entries(state["members"])
    return {
        "in the map": state["current"],
        "lists": {number: inside for number, inside in members_of.items() if inside},
        "retired": state["retired"],
        "condition": state["condition"],
        "completed": state["completed"],
    }


def exact_accounting(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the counter of stale entries, the balances, the entries and the time-outs."""
    return {
        "counted": state["stale"],
        "balances": state["balances"],
        "entries": sum(sum(numbers(state[name])) for name in ("in_lists", "promised", "detached")),
        "pending": sum(sum(numbers(state[name])) for name in ("in_timer", "queued", "deciding")),
    }
