"""The counts of the purgatory: entries, distinct, live, stale, pending, estimate."""

from collections.abc import Mapping

from purgatory_tla.views.parts import entries, members, number
from purgatory_tla.views.sayings import State


def proposal(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the counts of the published accounting; lists are sets of operations."""
    completed = members(state["completed"])
    watched = frozenset[object]().union(*map(members, entries(state["lists"]).values()))
    return {
        "timer": len(members(state["timer"])),
        "queue": len(members(state["queue"])),
        "estimate": number(state, "estimate"),
        "distinct": len(watched),
        "live": len(watched - completed),
        "stale": len(watched & completed),
    }


def exact(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the counts of the exact accounting; ``stale`` is the true number."""
    completed = {operation for operation, yes in entries(state["completed"]).items() if yes}
    listed = [
        (operation, many)
        for operations in entries(state["lists"]).values()
        for operation, many in entries(operations).items()
        if isinstance(many, int) and many
    ]
    pending = _pending(state, constants.get("Defects", ""))
    counted = number(state, "stale")
    return {
        "timer": len(members(state["timer"])),
        "queue": len(members(state["queue"])),
        "pending": pending,
        "counted": counted,
        "stale": sum(many for operation, many in listed if operation in completed),
        "estimate": pending + max(0, counted),
        "live": len({operation for operation, _ in listed if operation not in completed}),
    }


def _pending(state: State, defects: str) -> int:
    """Return the number of pending operations, as the module with these defects counts."""
    pending = len(members(state["timer"]))
    if "pending-is-timer-size" in defects:
        return pending
    pending += len(members(state["queue"]))
    deciding = entries(state["pc"]).get("executor") == "decide"
    return pending + (deciding and "pending-omits-running" not in defects)


def purgatory_calls(state: State, constants: Mapping[str, str]) -> Mapping[str, object]:
    """Return the clock, the lists, the timer, the executor's queue and completed operations."""
    lines = {str(key): line for key, line in entries(state["lists"]).items()}
    shown = [f"{key}: {' '.join(map(str, _line(line)))}" for key, line in sorted(lines.items())]
    return {
        "clock": number(state, "now"),
        "lists": "; ".join(each for each in shown if not each.endswith(": ")) or "empty",
        "timer": state["due"],
        "queue": state["queue"],
        "completed": state["completed"],
        "satisfied": state["satisfied"],
    }


def _line(value: object) -> list[object]:
    return value if isinstance(value, list) else []
