"""The watcher lists by themselves: chunks, their removal, and walks on which others remove."""

import gc
import random
import weakref
from collections.abc import Callable
from itertools import pairwise

import pytest

from purgatory_impl import DelayedOperation, chunks
from purgatory_impl.chunks import Chunk
from purgatory_impl.walks import Walk, sweep_shard, walk_over, walk_under
from purgatory_impl.watchers import Shard

from .purgatory_bench import Recorded, operations_of


@pytest.fixture(params=[2, 3, 5, 16, 128], autouse=True)
def chunk_places(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Set the number of places of a chunk; every test is made with several sizes."""
    places: int = request.param
    monkeypatch.setattr(chunks, "CHUNK", places)
    return places


def shard_of(names: str) -> tuple[Shard[str], list[Recorded]]:
    """A shard with one list, under the key ``k``."""
    shard: Shard[str] = Shard()
    operations = [Recorded(name, []) for name in names]
    for operation in operations:
        shard.append("k", operation)
    return shard, operations


def names(shard: Shard[str]) -> list[str]:
    """The operations of the list."""
    if "k" not in shard.lists:
        assert shard.entries == 0
        return []
    operations = operations_of(shard.lists["k"])
    assert shard.entries == len(operations) > 0
    return [repr(operation) for operation in operations]


def walk_of(shard: Shard[str]) -> Walk[str]:
    walk = walk_under(shard, "k")
    assert walk is not None
    return walk


def step(walk: Walk[str]) -> tuple[str, int]:
    """Return the operation that the walk comes to next, and how many it has removed on the way."""
    operation, removed = walk.next_live()
    return ("end" if operation is None else repr(operation)), removed


def standing_on(shard: Shard[str], name: str) -> Walk[str]:
    """A walk that has returned an operation last."""
    walk = walk_of(shard)
    while step(walk)[0] != name:
        pass
    return walk


def test_an_entry_that_has_moved_often_is_dropped_where_it_is(chunk_places: int) -> None:
    """The walk drops its own entry and no other, and goes on behind it."""
    shard: Shard[int] = Shard()
    operations = [Recorded(str(number), []) for number in range(300)]
    for operation in operations:
        shard.append(0, operation)
    walk = walk_under(shard, 0)
    assert walk is not None
    while walk.next_live()[0] is not operations[150]:
        pass
    chance = random.Random(chunk_places)
    others = [operation for operation in operations if operation is not operations[150]]
    chance.shuffle(others)
    while len(others) > 3:
        for _ in range(30):
            if len(others) > 3:
                others.pop().force_complete()
        assert sweep_shard(shard) > 0
    left = [operation for operation in operations if operation in others]
    assert walk.drop() == 1
    assert operations_of(shard.lists[0]) == left
    behind = [operation for operation in left if operations.index(operation) > 150]
    assert [walk.next_live()[0] for _ in range(len(behind) + 1)] == [*behind, None]


def test_a_look_at_the_operations_removes_none(chunk_places: int) -> None:
    shard, operations = shard_of("abc")
    operations[1].force_complete()
    (watched,) = shard.all_lists()
    walk = walk_over(shard, watched)
    seen: list[DelayedOperation] = []
    while some := walk.next_operations():
        assert len(some) <= chunk_places + 1
        seen += some
    assert (watched.key, seen) == ("k", operations)
    assert names(shard) == ["a", "b", "c"]


@pytest.mark.parametrize("go_on", [Walk.next_live, Walk.sweep, Walk.next_operations])
@pytest.mark.parametrize("tried", [False, True])
@pytest.mark.parametrize("letters", ["a", "abc"])
def test_what_only_a_walk_still_knows_is_let_go_outside_the_lock(
    go_on: Callable[[Walk[str]], object], tried: bool, letters: str
) -> None:
    """Its finaliser runs, and not under the lock of the list."""
    shard, operations = shard_of(letters)
    held: list[bool] = []
    weakref.finalize(operations[0], lambda: held.append(shard.lock.locked()))
    walk = walk_of(shard)
    if tried:
        walk.next_live()
    gc.disable()
    try:
        standing_on(shard, "a").drop()
        operations.clear()
        go_on(walk)
        del walk
    finally:
        gc.enable()
    assert held == [False]


class Named:
    """A key that is equal to all of its kind."""

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named)


@pytest.mark.parametrize("go_on", [Walk.next_live, Walk.sweep, Walk.next_operations, Walk.drop])
def test_what_only_a_chunk_that_has_moved_still_knows_is_let_go_outside_the_lock(
    go_on: Callable[[Walk[str]], object],
) -> None:
    """Its finaliser runs, and not under the lock of the list."""
    shard, operations = shard_of("a" * 128)
    held: list[bool] = []
    weakref.finalize(operations[-1], lambda: held.append(shard.lock.locked()))
    walk = standing_on(shard, "a")
    own = shard.lists["k"].first
    for operation in operations[1:-20]:
        operation.force_complete()
    sweep_shard(shard)
    assert own is not None
    assert own.moved_to is not None
    del own
    gc.disable()
    try:
        for operation in operations[-20:]:
            operation.force_complete()
        sweep_shard(shard)
        del operation
        operations.clear()
        go_on(walk)
        del walk
    finally:
        gc.enable()
    assert held == [False]


@pytest.mark.parametrize("take", [sweep_shard, lambda shard: shard.detach(Named())])
@pytest.mark.parametrize("letters", ["a", "abcd"])
def test_what_only_the_list_knows_is_let_go_outside_the_lock(
    take: Callable[[Shard[object]], object], letters: str
) -> None:
    """The finalisers of all run, and not under the lock of the list."""
    shard: Shard[object] = Shard()
    held: list[bool] = []
    gc.disable()
    try:
        for name in letters:
            operation = Recorded(name, [])
            operation.force_complete()
            weakref.finalize(operation, lambda: held.append(shard.lock.locked()))
            key = Named()
            weakref.finalize(key, lambda: held.append(shard.lock.locked()))
            shard.append(key, operation)
        del key, operation
        # The first key alone is kept by the dictionary.
        assert held == [False] * (len(letters) - 1)
        take(shard)
    finally:
        gc.enable()
    assert held == [False] * (2 * len(letters))
    assert (shard.lists, shard.entries) == ({}, 0)


# Against plain lists


class Expected:
    """The expected course of a walk, by the order in which operations were appended."""

    def __init__(self, walk: Walk[str], there: list[Recorded]) -> None:
        self.walk = walk
        self.way = list(there)
        self.list = there
        self.passed = 0
        self.stands_on: Recorded | None = None

    def next_live(self) -> tuple[Recorded | None, list[Recorded]]:
        """The next operation, and which entries are removed on the way."""
        last, self.stands_on = self.stands_on, None
        start = self.passed - 1 if last is not None else self.passed
        removed: list[Recorded] = []
        for number in range(start, len(self.way)):
            operation = self.way[number]
            self.passed = number + 1
            if operation in self.list:
                if operation.is_completed:
                    removed.append(operation)
                elif operation is not last:
                    self.stands_on = operation
                    break
        return self.stands_on, removed


class Lists:
    """A shard with one list, and a plain list of what is in it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.shard: Shard[str] = Shard()
        self.there: list[Recorded] = []
        self.made = 0
        self.walks: list[Expected] = []

    def act(self) -> None:
        actions = [self.append] * 6 + [self.complete] * 3 + [self.step] * 12
        actions += [self.begin, self.begin, self.drop, self.drop, self.sweep, self.finish_walk]
        if self.chance.random() < 0.01:
            self.detach()
        self.chance.choice(actions)()

    def append(self) -> None:
        for _ in range(self.chance.randint(1, 6)):
            operation = Recorded(str(self.made), [])
            self.made += 1
            self.shard.append("k", operation)
            self.there.append(operation)

    def complete(self) -> None:
        share = self.chance.choice([0.1, 0.5, 0.9])
        for operation in self.there:
            if self.chance.random() < share:
                operation.force_complete()

    def begin(self) -> None:
        walk = walk_under(self.shard, "k")
        assert (walk is None) == (not self.there)
        if walk is not None and len(self.walks) < 6:
            self.walks.append(Expected(walk, self.there))

    def step(self) -> None:
        for expected in self.chance.sample(self.walks, min(len(self.walks), 2)):
            operation, removed = expected.next_live()
            assert expected.walk.next_live() == (operation, len(removed))
            self.take_out(expected, removed)

    def drop(self) -> None:
        for expected in self.walks:
            operation = expected.stands_on
            if operation is not None and self.chance.random() < 0.5:
                operation.force_complete()
                assert expected.walk.drop() == int(operation in expected.list)
                self.take_out(expected, [operation])

    def take_out(self, expected: Expected, removed: list[Recorded]) -> None:
        for operation in removed:
            if operation in expected.list:
                expected.list.remove(operation)

    def sweep(self) -> None:
        """Purge; what is left then takes no more places than it may."""
        completed = [operation for operation in self.there if operation.is_completed]
        assert sweep_shard(self.shard) == len(completed)
        for operation in completed:
            self.there.remove(operation)
        if self.there and self.shard.lists["k"].only is None:
            check_bound(self.shard.lists["k"].first)

    def finish_walk(self) -> None:
        if self.walks:
            expected = self.walks.pop(self.chance.randrange(len(self.walks)))
            if self.chance.random() < 0.5:
                way = expected.way[expected.passed :]
                if expected.stands_on is not None:
                    way.insert(0, expected.stands_on)
                removed = [each for each in way if each.is_completed and each in expected.list]
                assert expected.walk.sweep() == len(removed)
                self.take_out(expected, removed)

    def detach(self) -> None:
        assert self.shard.detach("k") == self.there
        self.there.clear()
        self.there = []

    def check(self) -> None:
        assert names(self.shard) == [operation.name for operation in self.there]


def check_bound(first: Chunk | None) -> None:
    """Check the length of a list after a purge, empty places included."""
    places = chunks.CHUNK
    own: list[Chunk] = []
    while first is not None:
        own.append(first)
        first = first.next
    for chunk in own:
        live = len(chunk.operations) - chunk.removed
        assert len(chunk.operations) <= places
        assert chunk.removed < max(places // 8, live, 1)
    if places == 128:
        entries = sum(len(chunk.operations) - chunk.removed for chunk in own)
        assert sum(len(chunk.operations) for chunk in own) < 2.4 * entries + 16
    for before, chunk in pairwise(own):
        assert len(before.operations) + len(chunk.operations) - chunk.removed > places


@pytest.mark.pure
@pytest.mark.parametrize("seed", range(25))
def test_walks_meet_exactly_what_was_there_when_they_began(seed: int, chunk_places: int) -> None:
    """It comes to what plain lists say, in their order, and removes what they say."""
    lists = Lists(random.Random(1000 * chunk_places + seed))
    for _ in range(500):
        lists.act()
        lists.check()
    assert lists.made > 200


@pytest.mark.pure
def test_a_list_with_one_entry_that_stays_does_not_grow(chunk_places: int) -> None:
    """The list has never more than two chunks, and few places."""
    shard, _ = shard_of("a")
    for number in range(3000):
        shard.append("k", Recorded(str(number), []))
        walk = standing_on(shard, str(number))
        walk.drop()
        walk.next_live()
        first, last = shard.lists["k"].first, shard.lists["k"].last
        assert first is not None
        assert first is last or first.next is last
        assert len(first.operations) <= max(chunk_places // 8, 2) + 1
    assert names(shard) == ["a"]


def test_the_bound_can_be_broken() -> None:
    """The check fails."""
    operation = Recorded("a", [])
    sparse = Chunk([operation, *[None] * (chunks.CHUNK - 1)])
    sparse.removed = chunks.CHUNK - 1
    with pytest.raises(AssertionError):
        check_bound(sparse)
    one, other = Chunk([operation]), Chunk([operation])
    one.next = other
    with pytest.raises(AssertionError):
        check_bound(one)
