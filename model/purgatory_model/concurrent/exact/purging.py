"""Purging: when more entries are stale than the interval allows, take them out list by list.

Any number of purges may run, and nothing is ever reset.

Rules: PURGATORY-PURGE-START, PURGATORY-PURGE-REMOVES, PURGATORY-STALE-ENTRIES.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.state import ExactState
from purgatory_model.concurrent.exact.turn import Choice, Turn, ended


def purge_is_due(instance: ExactInstance, state: ExactState) -> bool:
    """Whether the count of stale entries is above the interval. Rules: PURGATORY-PURGE-START."""
    return state.stale > instance.interval(state.entries - state.stale)


def begin_purge(turn: Turn) -> Iterator[Choice]:
    """Read the count of stale entries: a purge is due. Rules: PURGATORY-PURGE-START."""
    if purge_is_due(turn.instance, turn.state):
        pairs = ((key, number) for key in turn.instance.keys for number in turn.state.operations)
        yield (), turn.after(replace(turn.me, stage="sweep", unswept=frozenset(pairs)))


def sweep(turn: Turn) -> Iterator[Choice]:
    """Take the entries of completed operations out of a list, or those of one of them.

    Rules: PURGATORY-PURGE-REMOVES, PURGATORY-STALE-ENTRIES.
    """
    by_operation = turn.has("sweep-by-operation")
    for key, pairs in groupby(sorted(turn.me.unswept), key=lambda pair: pair[0]):
        numbers = tuple(number for _, number in pairs)
        glances = [(number,) for number in numbers] if by_operation else [numbers]
        for seen in glances:
            yield _swept(turn, key, seen, (key, *seen) if by_operation else (key,))


def _swept(turn: Turn, key: str, seen: tuple[int, ...], choice: tuple[str | int, ...]) -> Choice:
    gone = turn.state.completed.intersection(seen)
    before = turn.state.lists[key]
    after = tuple(number for number in before if number not in gone)
    removed = 0 if turn.is_variant("purge-subtracts-nothing") else len(before) - len(after)
    rest = turn.me.unswept - {(key, number) for number in seen}
    me = replace(turn.me, balance=turn.me.balance - removed, unswept=rest)
    done = turn.after(me if rest else ended(me))
    return choice, replace(done, lists=turn.state.lists.set(key, after))
