"""The places of the watcher lists that each call touches, counted exactly: no clock is read."""

# A *step* is a hold of a shard's lock, or a look at a place of a chunk. Whoever makes the lists
# look at more than they have to changes a number here.

import time
from collections.abc import Callable, Iterator
from typing import Literal

import pytest

from purgatory_impl import DelayedOperation, Purgatory, SteppedExecutor, Timer, VirtualClock, chunks
from purgatory_impl.chunks import Chunk
from purgatory_impl.exclusion import SectionLock
from purgatory_impl.walks import Pace

from .purgatory_bench import Recorded, sweep

pytestmark = pytest.mark.pure


class Places(list[DelayedOperation | None]):
    """The places of a chunk; counts how many are looked at."""

    looked_at = 0

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        Places.looked_at += 1
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[DelayedOperation | None]:
        Places.looked_at += len(self)
        return super().__iter__()


class Steps:
    """Counts how often a lock of a shard is taken, and how many places of chunks are looked at."""

    def __init__(self, purgatory: Purgatory[int], patch: pytest.MonkeyPatch) -> None:
        self.holds = 0
        for shard in purgatory._lists.shards:
            shard.lock = self._counting(shard.lock)  # type: ignore[assignment]
        made = Chunk.__init__

        def counted(chunk: Chunk, operations: list[DelayedOperation | None]) -> None:
            made(chunk, Places(operations))

        patch.setattr(Chunk, "__init__", counted)

    def _counting(self, lock: SectionLock) -> object:
        steps = self

        class Lock:
            def __enter__(self) -> None:
                steps.holds += 1
                lock.__enter__()

            def __exit__(self, *failure: object) -> None:
                lock.release()

        return Lock()

    def of(self, action: Callable[[], object]) -> tuple[int, int]:
        """Return how often an action took a lock, and at how many places it looked."""
        holds, looked_at = self.holds, Places.looked_at
        action()
        return self.holds - holds, Places.looked_at - looked_at


def still_purgatory() -> Purgatory[int]:
    return Purgatory(timer=Timer(clock=VirtualClock(), executor=SteppedExecutor()))


@pytest.mark.parametrize("length", [0, 1, 2, 500])
def test_watching_touches_the_end_of_each_list_and_nothing_else(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each watch takes the lock once for each key, and looks at no place."""
    purgatory = still_purgatory()
    steps = Steps(purgatory, monkeypatch)
    for _ in range(length):
        purgatory.try_complete_else_watch(Recorded("a", []), [1, 2, 3])
    late = Recorded("b", [])
    assert steps.of(lambda: purgatory.try_complete_else_watch(late, [1, 2, 3])) == (3, 0)
    places = length + 1 if length else 0
    assert steps.of(lambda: purgatory.cancel_for_key(2)) == (1, places)
    assert purgatory.entries == 2 * (length + 1)


@pytest.mark.parametrize("keys", [1, 10, 3000])
def test_completing_costs_no_more_with_many_keys(
    keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That touches no list, no list, and one entry: however many keys there are."""
    clock, executor = VirtualClock(), SteppedExecutor()
    purgatory: Purgatory[int] = Purgatory(timer=Timer(clock=clock, executor=executor))
    steps = Steps(purgatory, monkeypatch)
    log: list[str] = []
    crowd = [Recorded("crowd", log, 10**6) for _ in range(4)]
    hot = [Recorded(str(number), log, number) for number in (10**6, 10, 10**6)]
    for operation in (crowd[0], hot[0], hot[1], crowd[1]):
        purgatory.try_complete_else_watch(operation, range(keys))
    purgatory.try_complete_else_watch(hot[2], [-1, *range(keys)])
    assert steps.of(hot[0].force_complete) == (0, 0)
    clock.set_ms(10)
    purgatory._timer.advance()  # type: ignore[union-attr]
    assert steps.of(executor.run_one) == (0, 0)
    hot[2].ready = True
    # To begin the walk, and to drop the entry: the only one of its list, which has no chunk.
    assert steps.of(lambda: purgatory.check_and_complete(-1)) == (2, 0)
    assert log[-2:] == [f"try {10**6}", f"complete {10**6}"]
    assert (purgatory.stale, purgatory.pending) == (3 * keys, 2)
    # A walk over a key of the crowd pays for the entries of that key alone: five of them, three
    # stale. To begin, to remove the first two, and the last one. Without the lock each of the
    # crowd is looked at before it is tried and after that, each first stale one of a run before
    # the lock is taken; under it, the stale ones and the live one behind the first run.
    assert steps.of(lambda: purgatory.check_and_complete(0)) == (3, 2 * 2 + 2 + 3 + 1)
    assert purgatory.stale == 3 * keys - 3


@pytest.mark.parametrize("entries", [50, 1000])
def test_one_event_costs_its_caller_the_walk_of_its_list(
    entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps are those of one list; what is tried in vain costs a hold for each chunk alone."""
    purgatory = still_purgatory()
    steps = Steps(purgatory, monkeypatch)
    operations = [Recorded(str(number), []) for number in range(entries)]
    for operation in operations:
        purgatory.try_complete_else_watch(operation, range(200))
    left = -(-entries // chunks.CHUNK) - 1
    # Each entry is looked at before it is tried, and after that.
    assert steps.of(lambda: purgatory.check_and_complete(100)) == (1 + left, 2 * entries)
    for operation in operations:
        operation.ready = True
    # To begin, and to drop each entry, which looks at it once more. A chunk that has become empty
    # leaves the list: to go on behind it takes two holds, and a look at what is there.
    assert steps.of(lambda: purgatory.check_and_complete(100)) == (
        1 + entries + 2 * left,
        3 * entries + left,
    )
    assert purgatory.stale == entries * 199


@pytest.mark.parametrize("lists", [1, 4])
@pytest.mark.parametrize("full_chunks", [2, 20])
@pytest.mark.parametrize("every", [2, 10**6])
def test_a_purge_looks_at_each_entry_once_or_twice(
    lists: int, full_chunks: int, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each chunk is one hold, and each place of a chunk is looked at once or twice."""
    purgatory = still_purgatory()
    steps = Steps(purgatory, monkeypatch)
    length = full_chunks * chunks.CHUNK
    operations = [Recorded("a", []) for _ in range(length)]
    for operation in operations:
        purgatory.try_complete_else_watch(operation, range(lists))
    for operation in operations[::every]:
        operation.force_complete()
    stale = lists * len(operations[::every])
    moving = lists * length if every == 2 else 0
    assert steps.of(lambda: sweep(purgatory)) == (
        lists + lists + lists * full_chunks,
        lists * length + stale + moving,
    )
    assert purgatory.entries == lists * length - stale


def test_a_purge_passes_over_lists_of_one_live_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shards are held once each, and once more where there are some of the five."""
    purgatory = still_purgatory()
    steps = Steps(purgatory, monkeypatch)
    operations = [Recorded("a", []) for _ in range(1000)]
    for number, operation in enumerate(operations):
        purgatory.try_complete_else_watch(operation, [number])
    for operation in operations[::200]:
        operation.force_complete()
    shards = len(purgatory._lists.shards)
    assert steps.of(lambda: sweep(purgatory)) == (shards + 5, 0)
    assert (purgatory.entries, purgatory.keys) == (995, 995)


def looked_at_for_each_completed(
    purge_due: Literal["amortised", "fixed"], live: int, keys: int, patch: pytest.MonkeyPatch
) -> float:
    """The entries that purges look at for each entry of a completed operation."""
    # Operations come and go beside those that stay, under keys of the same number, and after each
    # of them the purgatory is advanced.
    looked_at = 0
    count = Pace.count

    def counted(pace: Pace, entries: int) -> None:
        nonlocal looked_at
        looked_at += entries
        count(pace, entries)

    patch.setattr(Pace, "count", counted)
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[int] = Purgatory(timer=timer, purge_interval=10, purge_due=purge_due)
    for number in range(live):
        purgatory.try_complete_else_watch(Recorded("stays", []), [number % keys])
    completed = 3 * live + 100
    for number in range(completed):
        operation = Recorded("goes", [])
        purgatory.try_complete_else_watch(operation, [(live + number) % keys])
        operation.force_complete()
        purgatory.advance()
    assert purgatory.stale <= max(10, live // 2)
    return looked_at / completed


@pytest.mark.parametrize("live", [0, 100, 1000])
@pytest.mark.parametrize("keys", [1, 10, 10**6])
def test_what_a_purge_looks_at_is_bounded_by_what_is_completed(
    live: int, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Purges look at three entries at most for each completed one, however many stay."""
    amortised = looked_at_for_each_completed("amortised", live, keys, monkeypatch)
    assert amortised <= 3
    monkeypatch.undo()
    if live:
        fixed = looked_at_for_each_completed("fixed", live, keys, monkeypatch)
        assert fixed > live / 12


def test_a_purge_gives_way_and_holds_no_lock_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives way after every few hundred entries."""
    purgatory = still_purgatory()
    for number in range(5000):
        purgatory.try_complete_else_watch(Recorded("a", []), [-1])
        purgatory.try_complete_else_watch(Recorded("b", []), [number])
    gave_way: list[bool] = []
    readings = iter(range(10**6))

    def sleep(_seconds: float) -> None:
        gave_way.append(any(shard.lock.locked() for shard in purgatory._lists.shards))

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    sweep(purgatory)
    assert gave_way == []
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(readings)))
    sweep(purgatory)
    assert set(gave_way) == {False}
    assert len(gave_way) >= 10_000 // (6 * chunks.CHUNK)
