"""The shared memory and the observables of both modules of the purgatory."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from purgatory_spec.outcomes import Value

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Shared:
    """The shared memory of a purgatory.

    ``lists`` has for each key how many entries each operation has. ``count`` is the number of the
    accounting: ``estimate`` in ``PurgatoryProposal``, ``stale`` in ``PurgatoryExact``. ``events``
    counts the events of each key. ``entries`` are those that the words of operations promise, in
    ``PurgatoryExact`` alone.
    """

    lists: Mapping[str, Mapping[int, int]]
    completed: frozenset[int]
    timer: frozenset[int]
    queue: frozenset[int]
    count: int
    events: Mapping[str, int]
    entries: Mapping[int, int] = field(default_factory=dict)

    def after(self, before: "Shared", after: "Shared") -> "Shared":
        """Return this state after the step that leads from ``before`` to ``after``."""
        return Shared(
            {
                key: _moved(self.lists[key], before.lists[key], after.lists[key])
                for key in self.lists
            },
            _changed(self.completed, before.completed, after.completed),
            _changed(self.timer, before.timer, after.timer),
            _changed(self.queue, before.queue, after.queue),
            self.count + after.count - before.count,
            _moved(self.events, before.events, after.events),
            _moved(self.entries, before.entries, after.entries),
        )

    def observe(self) -> dict[str, Value]:
        """Return the observables that do not depend on the accounting.

        =====================  ==============================================================
        observable             in a state of TLA+
        =====================  ==============================================================
        ``entries``            the entries in all ``lists``
        ``keys``               the keys whose list is not empty (in TLA+ empty lists stay)
        ``stale_entries``      the entries of completed operations
        ``stale_operations``   how many completed operations have entries
        ``timer_size``         how many operations are in ``timer``
        ``queued``             how many operations are in ``queue``
        =====================  ==============================================================
        """
        entries = [
            (operation, count)
            for listed in self.lists.values()
            for operation, count in listed.items()
            if count
        ]
        stale = [(operation, count) for operation, count in entries if operation in self.completed]
        return {
            "entries": sum(count for _, count in entries),
            "keys": sum(any(listed.values()) for listed in self.lists.values()),
            "stale_entries": sum(count for _, count in stale),
            "stale_operations": len({operation for operation, _ in stale}),
            "timer_size": len(self.timer),
            "queued": len(self.queue),
        }

    def listed(self, key: str) -> list[int]:
        """Return the entries of a key, in the order of the operations' numbers."""
        return [o for o, count in sorted(self.lists[key].items()) for _ in range(count)]


def differing(before: Shared, after: Shared) -> frozenset[str]:
    """Return the cells in which two states differ; see ``calls``."""
    cells = {
        f"{name} {operation}"
        for name, one, other in (
            ("completed", before.completed, after.completed),
            ("timer", before.timer, after.timer),
            ("queue", before.queue, after.queue),
        )
        for operation in one ^ other
    }
    cells |= {f"events {key}" for key in _unlike(before.events, after.events)}
    cells |= {f"entries {operation}" for operation in _unlike(before.entries, after.entries)}
    for key, listed in before.lists.items():
        cells |= {f"list {key} {operation}" for operation in _unlike(listed, after.lists[key])}
    if before.count != after.count:
        cells.add("count")
    return frozenset(cells)


def _changed(here: frozenset[int], before: Iterable[int], after: Iterable[int]) -> frozenset[int]:
    was, is_now = frozenset(before), frozenset(after)
    return (here | (is_now - was)) - (was - is_now)


def _moved(
    here: Mapping[Name, int], before: Mapping[Name, int], after: Mapping[Name, int]
) -> dict[Name, int]:
    names = {*here, *before, *after}
    return {name: here.get(name, 0) + after.get(name, 0) - before.get(name, 0) for name in names}


def _unlike(before: Mapping[Name, int], after: Mapping[Name, int]) -> set[Name]:
    return {n for n in {*before, *after} if before.get(n, 0) != after.get(n, 0)}
