"""The actor of a trace's step, and the step in words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from purgatory_tla.modules.vocabulary import Owned
from purgatory_tla.views.sayings import State, fill, show

_STRING = re.compile(r'"([^"]*)"')

NOBODY_KNOWN = "someone"
"""The actor of a step that changes no thread's own variable."""


@dataclass(frozen=True, slots=True)
class Told:
    """A step of a trace in words."""

    actor: str
    text: str


def tell(action: str, before: State, after: State, known: Mapping[str, Owned]) -> Told:
    """Return a step in the words of its action's ``@says`` line; without one, the action's name.

    Raises:
        InvalidSaying: the line does not fit the states.
    """
    owned = known.get(action)
    says = owned.definition.annotation("says") if owned else None
    if owned is None or says is None:
        return Told("", action)
    column, _, text = (part.strip() for part in says.partition(":"))
    variable = owned.definition.annotation("self")
    if variable is not None:
        acting = changed_entry(variable.strip(), before, after)
    else:
        acting = acting_thread(owned, before, after)
    actor = show(acting or NOBODY_KNOWN) if column == "self" else column
    return Told(fill(actor, before, after, acting), fill(text, before, after, acting))


def changed_entry(variable: str, before: State, after: State) -> object:
    """Return the argument at which a variable changes; empty for several or none.

    An action's ``@self`` line names the variable: ``@self sent``.
    """
    old = before.get(variable)
    if not isinstance(old, Mapping):
        return ""
    changed = [each for each in old if _entry(before, after, variable, each)]
    return changed[0] if len(changed) == 1 else ""


def acting_thread(action: Owned, before: State, after: State) -> str:
    """Return the thread whose place in the program changes; empty where it is unclear.

    Where the places of several change, or of none, it is the one whose place before is named in
    the action, and of these the one of whose other variables some change.
    """
    places = before.get("pc")
    if not isinstance(places, Mapping):
        return ""
    moved = [thread for thread in places if _entry(before, after, "pc", thread)]
    labels = set(_STRING.findall(action.body))
    named = [thread for thread in places if places[thread] in labels]
    touched = [thread for thread in places if _touches(before, after, thread)]
    for candidates in (
        moved,
        [thread for thread in moved if thread in named],
        [thread for thread in touched if not moved],
        [thread for thread in touched if thread in named and not moved],
        named,
        list(places),
    ):
        if len(candidates) == 1:
            return str(candidates[0])
    return ""


def _entry(before: State, after: State, variable: str, thread: object) -> bool:
    """Decide whether the thread's entry in a variable changes."""
    old, new = before[variable], after[variable]
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return False
    return thread in old and thread in new and bool(old[thread] != new[thread])


def _touches(before: State, after: State, thread: object) -> bool:
    return any(_entry(before, after, variable, thread) for variable in before)
