"""Looks at objects that are finished: does the component still hold them?

A name that is looked at is dropped: nothing but a further look names it afterwards, and no script
does at any time, so that an adapter needs no more than a weak reference to its object.
"""

from collections.abc import Callable

from purgatory_conformance.generation.fields import Operations, words_of
from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import Operation, Reachable

_MOST_LOOKS = 3
"""The most looks at the end of a case."""


def names_of(value: object) -> set[str]:
    """Return the names of tasks or delayed operations in operations or scripts."""
    return {word for is_key, word in words_of(value) if not is_key}


def drops_are_kept(operations: Operations) -> bool:
    """Decide whether no operation names what was dropped before, and no script names it ever."""
    dropped: set[str] = set()
    for operation in operations:
        if isinstance(operation, Reachable):
            dropped.add(operation.task)
        elif dropped and names_of(operation) & dropped:
            return False
    return not dropped or not dropped & _scripted(operations)


def last_looks(
    operations: Operations, may_hold: Callable[[str], bool], source: Source
) -> tuple[Operation, ...]:
    """Return looks at some objects that the component must have let go by now; often none."""
    if source.integer(0, 2):
        return ()
    names = sorted(names_of(operations) - _scripted(operations))
    finished = [name for name in names if not may_hold(name)]
    first = source.integer(0, max(0, len(finished) - _MOST_LOOKS))
    return tuple(Reachable(name) for name in finished[first : first + _MOST_LOOKS])


def _scripted(operations: Operations) -> set[str]:
    """Return the names that scripts mention."""
    return names_of(tuple(getattr(operation, "script", ()) for operation in operations))
