"""The watcher lists by themselves: entries, their removal, and walks on which others remove."""

import gc
import weakref
from collections.abc import Callable

import pytest

from purgatory_impl.watchers import Entry, Shard, Walk

from .purgatory_bench import Recorded


def shard_of(names: str) -> tuple[Shard[str], list[Recorded]]:
    """A shard with one list, under the key ``k``."""
    shard: Shard[str] = Shard()
    operations = [Recorded(name, []) for name in names]
    for operation in operations:
        shard.append("k", operation)
    return shard, operations


def names(shard: Shard[str]) -> list[str]:
    """The operations of the list, forwards; checked against the way back."""
    if "k" not in shard.lists:
        return []
    watched = shard.lists["k"]
    forwards: list[Entry[str]] = []
    entry = watched.first
    while entry is not None:
        forwards.append(entry)
        entry = entry.next
    backwards: list[Entry[str]] = []
    entry = watched.last
    while entry is not None:
        backwards.append(entry)
        entry = entry.previous
    assert backwards == forwards[::-1]
    assert watched.length == shard.entries == len(forwards)
    return [repr(entry.operation) for entry in forwards]


def step(walk: Walk[str]) -> tuple[str, int]:
    """What the walk comes to next, and how many it has removed on the way."""
    entry, dropped = walk.next_live()
    return ("end" if entry is None else repr(entry.operation)), dropped


def test_an_entry_leaves_its_list_once() -> None:
    """Given a list of three.

    When the first, the last and the middle entry are dropped, each twice.
    Then each leaves once, the list is whole in between, and it is gone with the last.
    """
    shard, _ = shard_of("abc")
    watched = shard.lists["k"]
    first, last = watched.first, watched.last
    assert first is not None
    assert last is not None
    middle = first.next
    assert middle is not None
    assert [names(shard), first.drop(), first.drop(), names(shard)] == [
        ["a", "b", "c"], 1, 0, ["b", "c"],
    ]  # fmt: skip
    assert [last.drop(), last.drop(), names(shard)] == [1, 0, ["b"]]
    assert [middle.drop(), middle.drop(), names(shard), shard.entries] == [1, 0, [], 0]
    shard.append("k", Recorded("d", []))
    assert [middle.drop(), last.drop(), names(shard)] == [0, 0, ["d"]]


def test_an_entry_of_a_detached_list_is_out() -> None:
    shard, operations = shard_of("ab")
    first = shard.lists["k"].first
    assert first is not None
    assert shard.detach("k") == operations
    shard.append("k", operations[1])
    assert (first.drop(), names(shard), shard.detach("l")) == (0, ["b"], [])


def test_a_walk_finds_back_from_an_entry_that_was_taken_out() -> None:
    """Given a walk that stands on the first of six.

    When that one and the next two are completed and removed by another walk.
    Then it goes on with the fourth, and removes what has been completed behind that.
    """
    shard, operations = shard_of("abcdef")
    walk = shard.walk("k")
    assert step(walk) == ("a", 0)
    for operation in operations[:3]:
        operation.force_complete()
    assert shard.walk("k").sweep() == 3
    operations[4].force_complete()
    assert [step(walk), step(walk), step(walk)] == [("d", 0), ("f", 1), ("end", 0)]
    assert names(shard) == ["d", "f"]


def test_a_walk_ends_where_it_ended_at_the_start() -> None:
    """Given a walk that stands on the last of two, which is then removed.

    When others are appended.
    Then the walk does not come to them.
    """
    shard, operations = shard_of("ab")
    walk = shard.walk("k")
    assert [step(walk), step(walk)] == [("a", 0), ("b", 0)]
    shard.append("k", Recorded("c", []))
    operations[1].force_complete()
    assert [step(walk), step(walk)] == [("end", 1), ("end", 0)]
    assert names(shard) == ["a", "c"]


def test_a_walk_over_nothing_is_at_its_end() -> None:
    shard: Shard[str] = Shard()
    walk = shard.walk("k")
    assert (step(walk), walk.sweep(), walk.next_operations()) == (("end", 0), 0, [])


def test_a_look_at_the_operations_removes_none() -> None:
    shard, operations = shard_of("abc")
    operations[1].force_complete()
    (walk,) = shard.all_walks()
    assert (walk.key, walk.next_operations(), walk.next_operations()) == ("k", operations, [])
    assert names(shard) == ["a", "b", "c"]


@pytest.mark.parametrize("go_on", [Walk.next_live, Walk.sweep, Walk.next_operations])
@pytest.mark.parametrize("tried", [False, True])
def test_what_only_a_walk_still_knows_is_let_go_outside_the_lock(
    go_on: Callable[[Walk[str]], object], tried: bool
) -> None:
    """Given a walk that stands on the first of three operations, and somebody else takes that out.

    When nobody else knows the operation any more, and the walk goes on.
    Then its finaliser runs, and not under the lock of the list.
    """
    shard, operations = shard_of("abc")
    held: list[bool] = []
    weakref.finalize(operations[0], lambda: held.append(shard.lock.locked()))
    walk = shard.walk("k")
    if tried:
        walk.next_live()
    gc.disable()
    try:
        entry = shard.lists["k"].first
        assert entry is not None
        entry.drop()
        del entry
        operations.clear()
        assert held == []
        go_on(walk)
        walk = shard.walk("k")
    finally:
        gc.enable()
    assert held == [False]
