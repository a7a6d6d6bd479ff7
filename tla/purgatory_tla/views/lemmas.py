"""The counts of the lemmas: the operation's lock, and the counting abstraction."""

from collections.abc import Mapping

from purgatory_tla.sayings import State
from purgatory_tla.views.parts import numbers


def operation_lock(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """How many changes there were, and what has become of the one operation."""
    return {
        "changes": state["changes"],
        "lock": state["owner"],
        "flag": state["flag"],
        "completed": state["completed"],
        "callbacks": state["callbacks"],
    }


def exact_accounting(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """The counter of stale entries with all balances, and the entries and time-outs there are."""
    return {
        "counted": state["stale"],
        "balances": state["balances"],
        "entries": sum(sum(numbers(state[name])) for name in ("in_lists", "promised", "detached")),
        "pending": sum(sum(numbers(state[name])) for name in ("in_timer", "queued", "deciding")),
    }
