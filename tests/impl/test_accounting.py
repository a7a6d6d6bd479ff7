"""What is counted and when a purge starts, under both strategies; all in one thread."""

import random
from collections.abc import Callable, Iterator
from typing import Literal

import pytest

from purgatory_impl import (
    DelayedOperation,
    Purgatory,
    SteppedExecutor,
    Timer,
    VirtualClock,
    chunks,
)
from purgatory_impl.chunks import Chunk
from purgatory_impl.exclusion import SectionLock
from purgatory_impl.watchers import Shard

from .purgatory_bench import Bench, Recorded, Seen, check_law, listed, sweep

# The exact accounting


def test_a_purge_starts_above_the_interval() -> None:
    """Given a purge interval of 2 and three operations in the lists.

    When they are forced one by one, with an advance after each.
    Then two stale entries stay, and the third makes all go.
    """
    bench = Bench(purge_interval=2)
    operations = [bench.watched(name, "k") for name in "abc"]
    for stale, operation in enumerate(operations[:2], start=1):
        operation.force_complete()
        bench.advance(0)
        assert bench.seen() == Seen(3, 1, 3 - stale, 3 - stale, stale, 3)
    operations[2].force_complete()
    assert bench.seen() == Seen(3, 1, 0, 0, 3, 3)
    bench.advance(0)
    assert bench.seen() == Seen()


def test_entries_count_and_not_operations() -> None:
    """Given a purge interval of 2 and one operation under three keys.

    When it is forced and the purgatory advanced.
    Then its three entries make a purge due.
    """
    bench = Bench(purge_interval=2)
    operation = bench.watched("a", "klk")
    operation.force_complete()
    assert (bench.purgatory.stale, bench.purgatory.estimate) == (3, 3)
    bench.advance(0)
    assert bench.seen() == Seen()


def test_a_purge_takes_nothing_but_what_is_completed() -> None:
    bench = Bench(purge_interval=0)
    operations = [bench.watched(name, "kl") for name in "abcd"]
    operations[0].force_complete()
    operations[2].force_complete()
    bench.advance(0)
    assert bench.seen() == Seen(4, 2, 2, 2, 0, 2)
    assert bench.listed("k") == bench.listed("l") == [operations[1], operations[3]]
    assert bench.log == ["complete a", "complete c"]


def test_a_purge_of_a_long_list_takes_several_holds() -> None:
    """Given a list longer than what one hold of its lock handles, every third completed.

    When a purge is due.
    Then exactly the completed ones are gone, and the others are in order.
    """
    bench = Bench(purge_interval=0)
    operations = [bench.watched(str(number), "k") for number in range(1000)]
    for operation in operations[::3]:
        operation.force_complete()
    bench.advance(0)
    left = [operation for operation in operations if not operation.is_completed]
    assert bench.listed("k") == left
    assert bench.seen() == Seen(666, 1, 666, 666, 0, 666)


def test_a_mass_expiry_is_counted_when_it_runs() -> None:
    """Given a purge interval of 2 and three operations that expire together.

    When the purgatory advances, the executor runs them, and it advances again.
    Then they are pending until they have run, then stale, then gone.
    """
    bench = Bench(purge_interval=2)
    for name in "abc":
        bench.watched(name, "k", 10)
    bench.advance(10)
    assert bench.seen() == Seen(3, 1, 0, 3, 0, 3)
    bench.run_all()
    assert bench.seen() == Seen(3, 1, 0, 0, 3, 3)
    bench.advance(10)
    assert bench.seen() == Seen()


def test_a_cancelled_key_is_counted_out() -> None:
    """Given an operation under three keys that loses one and is completed through another.

    When each step is done.
    Then the counts are right after each, and a purge takes the last entry.
    """
    bench = Bench(purge_interval=0)
    operation = bench.watched("a", "klm")
    bench.purgatory.cancel_for_key("k")
    bench.advance(0)
    assert bench.seen() == Seen(2, 2, 1, 1, 0, 1)
    operation.ready = True
    assert bench.purgatory.check_and_complete("l") == 1
    assert bench.seen() == Seen(1, 1, 0, 0, 1, 1)
    bench.advance(0)
    assert bench.seen() == Seen()


@pytest.mark.pure
@pytest.mark.parametrize("accounting", ["exact", "proposal"])
def test_what_is_completed_while_it_is_appended_gets_no_further_entry(
    accounting: Literal["exact", "proposal"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an operation that somebody completes when it has the second of its four entries.

    When it is watched.
    Then the answer is no, it gets no further entry, and what was promised is taken back.
    """
    bench = Bench(accounting=accounting)
    operation = bench.operation("a")
    append = Shard.append

    def completing(shard: Shard[str], key: str, appended: DelayedOperation) -> None:
        append(shard, key, appended)
        if key == "l":
            operation.force_complete()

    monkeypatch.setattr(Shard, "append", completing)
    assert bench.purgatory.try_complete_else_watch(operation, "klmn") is False
    assert bench.log == ["try a", "complete a"]
    assert bench.seen() == Seen(2, 2, 0, 0, 2, 2 if accounting == "exact" else 1)
    check_law(bench.purgatory)


@pytest.mark.pure
def test_a_walk_over_one_key_operations_adds_to_no_shared_count() -> None:
    """Given operations with one key each.

    When a walk completes them.
    Then nothing but zeros was posted: what is added is subtracted in the same balance.
    """
    bench = Bench()
    posted: list[int] = []
    post = bench.purgatory._accounting.post

    def recorded(balance: int) -> None:
        posted.append(balance)
        post(balance)

    for name in "abc":
        bench.watched(name, "k").ready = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(bench.purgatory._accounting), "post", lambda _, n: recorded(n))
        assert bench.purgatory.check_and_complete("k") == 3
    assert set(posted) == {0}


@pytest.mark.pure
def test_a_try_inside_a_try_leaves_the_outer_walk_its_entry() -> None:
    """Given an operation under two keys whose try, in a walk of one, checks the other one.

    When it is completed by the outer try.
    Then what is posted is the entry that stays, alone: the walk's own entry went with it.
    """
    bench = Bench()
    operation = bench.watched("a", "kl")
    posted: list[int] = []

    def inner() -> None:
        if not operation.ready and bench.log == ["try a"]:
            assert bench.purgatory.check_and_complete("l") == 0
            operation.ready = True

    operation.during_try = inner
    post = bench.purgatory._accounting.post

    def recorded(balance: int) -> None:
        posted.append(balance)
        post(balance)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(bench.purgatory._accounting), "post", lambda _, n: recorded(n))
        assert bench.purgatory.check_and_complete("k") == 1
    assert [balance for balance in posted if balance] == [1]
    assert bench.seen() == Seen(1, 1, 0, 0, 1, 1)


def test_purging_inside_a_callback() -> None:
    """Given an operation under two keys whose callback advances, with purge interval 0.

    When it is completed by a walk through one of them.
    Then the purge inside takes the other entry and the counts end at zero.
    """
    bench = Bench(purge_interval=0)
    operation = bench.watched("a", "kl")
    operation.ready = True
    operation.during_complete = bench.purgatory.advance
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.seen() == Seen()


# The accounting as published


def test_the_proposal_counts_one_for_each_watch() -> None:
    """Given a purgatory with the accounting of the proposal.

    When operations are watched: under three keys, again, after completion, and not at all.
    Then each watch whose first try failed counts one.
    """
    bench = Bench(accounting="proposal")
    operation = bench.watched("a", "klm")
    assert bench.purgatory.estimate == 1
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.purgatory.estimate == 2
    operation.force_complete()
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.seen() == Seen(4, 3, 0, 0, 4, 3)
    at_once = bench.operation("b")
    at_once.ready = True
    assert bench.purgatory.try_complete_else_watch(at_once, ["k"]) is True
    assert bench.purgatory.estimate == 3


def test_the_proposal_counts_what_the_second_try_completes() -> None:
    bench = Bench(accounting="proposal")
    operation = bench.operation("a")
    tries: list[int] = []

    def second() -> None:
        tries.append(1)
        operation.ready = len(tries) == 2

    operation.during_try = second
    assert bench.purgatory.try_complete_else_watch(operation, ["k", "l"]) is True
    assert bench.seen() == Seen(2, 2, 0, 0, 2, 1)


def test_the_proposal_is_in_the_timer_after_the_second_try() -> None:
    """Given both strategies.

    When an operation is watched.
    Then at its second try it is in the timer under the exact accounting and not the other one.
    """

    def sizes(accounting: Literal["exact", "proposal"]) -> list[int]:
        bench = Bench(accounting=accounting)
        operation = bench.operation("a")
        seen: list[int] = []
        operation.during_try = lambda: seen.append(bench.purgatory.timer_size)
        bench.purgatory.try_complete_else_watch(operation, ["k"])
        return [*seen, bench.purgatory.timer_size]

    assert sizes("exact") == [0, 1, 1]
    assert sizes("proposal") == [0, 0, 1]


def test_the_proposal_purges_above_the_interval_and_resets_to_the_timers_size() -> None:
    """Given the accounting of the proposal, interval 2, and operations with two keys each.

    When they are forced one by one, with an advance after each.
    Then the third makes a purge due; the estimate is then what the timer holds.
    """
    bench = Bench(purge_interval=2, accounting="proposal")
    operations = [bench.watched(name, "kl") for name in "abcd"]
    for number, operation in enumerate(operations[:2], start=1):
        operation.force_complete()
        bench.advance(0)
        assert bench.seen() == Seen(8, 2, 4 - number, 4 - number, 2 * number, 4)
    operations[2].force_complete()
    bench.advance(0)
    assert bench.seen() == Seen(2, 2, 1, 1, 0, 1)


def test_the_proposal_forgets_a_mass_expiry_and_the_exact_count_does_not() -> None:
    """Given three operations that expire together, interval 2, the reaper before the executor.

    When everything has run and the purgatory advances for ever.
    Then the proposal keeps three stale entries that its estimate denies, and ours none.
    """

    def after(accounting: Literal["exact", "proposal"]) -> Seen:
        bench = Bench(purge_interval=2, accounting=accounting)
        for name in "abc":
            bench.watched(name, "k", 10)
        bench.advance(10)
        bench.run_all()
        for to_ms in range(11, 30):
            bench.advance(to_ms)
        return bench.seen()

    assert after("proposal") == Seen(3, 1, 0, 0, 3, 0)
    assert after("exact") == Seen()


def test_without_time_outs_the_proposal_purges_at_every_few_watches() -> None:
    """Given the accounting of the proposal without time-outs, interval 2.

    When three operations are watched.
    Then a purge finds nothing to take and the estimate forgets them.
    """
    bench = Bench(purge_interval=2, accounting="proposal", time_outs=False)
    for name in "abc":
        bench.watched(name, "k")
    assert bench.seen() == Seen(3, 1, 0, 0, 0, 3)
    bench.advance(0)
    assert bench.seen() == Seen(3, 1, 0, 0, 0, 0)


# What completing costs


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
            def acquire(self) -> bool:
                steps.holds += 1
                return lock.acquire()

            def release(self) -> None:
                lock.release()

            def __enter__(self) -> None:
                self.acquire()

            def __exit__(self, *failure: object) -> None:
                self.release()

        return Lock()

    def of(self, action: Callable[[], object]) -> tuple[int, int]:
        """How often a lock was taken, and how many places were looked at."""
        holds, looked_at = self.holds, Places.looked_at
        action()
        return self.holds - holds, Places.looked_at - looked_at


def still_purgatory() -> Purgatory[int]:
    return Purgatory(timer=Timer(clock=VirtualClock(), executor=SteppedExecutor()))


@pytest.mark.pure
@pytest.mark.parametrize("length", [0, 1, 2, 500])
def test_watching_touches_the_end_of_each_list_and_nothing_else(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given three keys with lists of some length.

    When an operation is watched under them, and one key is cancelled.
    Then each watch takes the lock once for each key, and looks at no place; a cancelled list is
    taken in one hold, and each of its places is looked at once, later.
    """
    purgatory = still_purgatory()
    steps = Steps(purgatory, monkeypatch)
    for _ in range(length):
        purgatory.try_complete_else_watch(Recorded("a", []), [1, 2, 3])
    late = Recorded("b", [])
    assert steps.of(lambda: purgatory.try_complete_else_watch(late, [1, 2, 3])) == (3, 0)
    places = length + 1 if length else 0
    assert steps.of(lambda: purgatory.cancel_for_key(2)) == (1, places)
    assert purgatory.entries == 2 * (length + 1)


@pytest.mark.pure
@pytest.mark.parametrize("keys", [1, 10, 3000])
def test_completing_costs_no_more_with_many_keys(
    keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an operation under many keys, each with four others behind and before it.

    When it is completed by force, by its time-out, and by a check of a key of its own.
    Then that touches no list, no list, and one entry: however many keys there are.
    """
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


@pytest.mark.pure
@pytest.mark.parametrize("entries", [50, 1000])
def test_one_event_costs_its_caller_the_walk_of_its_list(
    entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given operations under one key and under hundreds of others each.

    When that key is checked in vain, and then all are completed.
    Then the steps are those of one list; what is tried in vain costs a hold for each chunk alone.
    """
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


@pytest.mark.pure
@pytest.mark.parametrize("lists", [1, 4])
@pytest.mark.parametrize("full_chunks", [2, 20])
@pytest.mark.parametrize("every", [2, 10**6])
def test_a_purge_looks_at_each_entry_once_or_twice(
    lists: int, full_chunks: int, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given lists of full chunks, of which every second entry is stale, or the first one alone.

    When they are purged.
    Then each chunk is one hold, with one for each list to begin and one for each shard that has
    any; each place is looked at once, each stale entry once more, and each place of a chunk once
    more where what is left of it moves.
    """
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


@pytest.mark.pure
def test_a_purge_passes_over_lists_of_one_live_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a thousand lists of one entry, of which five are stale.

    When they are purged.
    Then the shards are held once each, and two times more for each of the five.
    """
    purgatory = still_purgatory()
    steps = Steps(purgatory, monkeypatch)
    operations = [Recorded("a", []) for _ in range(1000)]
    for number, operation in enumerate(operations):
        purgatory.try_complete_else_watch(operation, [number])
    for operation in operations[::200]:
        operation.force_complete()
    shards = len(purgatory._lists.shards)
    assert steps.of(lambda: sweep(purgatory)) == (shards + 2 * 5, 0)
    assert (purgatory.entries, purgatory.keys) == (995, 995)


# The law, along random calls


@pytest.mark.parametrize("accounting", ["exact", "proposal"])
@pytest.mark.parametrize("seed", range(30))
def test_the_counts_are_those_of_the_lists_after_every_call(
    seed: int, accounting: Literal["exact", "proposal"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given random calls, callbacks that make further ones, and tries and callbacks that raise.

    Chunks are as they are, or so small that lists have many of them.

    When each has returned.
    Then every count is what is found by walking the lists, and each callback ran once at most.
    """
    monkeypatch.setattr(chunks, "CHUNK", (128, 2, 5)[seed % 3])
    chance = random.Random(seed)
    bench = Bench(purge_interval=chance.choice([0, 1, 3]), accounting=accounting)
    driver = RandomCalls(chance, bench)
    for _ in range(400):
        driver.call()
        check_law(bench.purgatory)
    driver.finish()
    names = [line for line in bench.log if line.startswith("complete")]
    assert len(names) == len(set(names)) > 50


class RandomCalls:
    """Makes calls on a purgatory, some from inside callbacks of its operations."""

    def __init__(self, chance: random.Random, bench: Bench) -> None:
        self.chance = chance
        self.bench = bench
        self.operations: list[Recorded] = []
        self.depth = 0

    def call(self) -> None:
        actions = [self.watch, self.watch, self.check, self.force, self.cancel, self.advance]
        self.depth += 1
        try:
            self.chance.choice(actions)()
        except IndexError:
            if self.depth > 1:
                raise
        finally:
            self.depth -= 1

    def keys(self) -> str:
        return "".join(self.chance.choice("klmn") for _ in range(self.chance.randint(1, 4)))

    def watch(self) -> None:
        if self.operations and self.chance.random() < 0.3:
            operation = self.chance.choice(self.operations)
        else:
            operation = self.fresh()
        self.bench.purgatory.try_complete_else_watch(operation, self.keys())

    def fresh(self) -> Recorded:
        name = str(len(self.operations))
        operation = self.bench.operation(name, self.chance.randint(0, 30))
        operation.ready = self.chance.random() < 0.1
        operation.during_try = self.now_and_then
        operation.during_complete = self.now_and_then
        operation.during_expiration = self.now_and_then
        self.operations.append(operation)
        return operation

    def now_and_then(self) -> None:
        if self.depth > 3:
            return
        lot = self.chance.random()
        if lot < 0.1:
            self.call()
        elif lot < 0.15:
            raise IndexError("planned")

    def check(self) -> None:
        for operation in self.chance.sample(self.operations, len(self.operations) // 5):
            operation.ready = True
        self.bench.purgatory.check_and_complete(self.chance.choice("klmn"))

    def force(self) -> None:
        if self.operations:
            self.chance.choice(self.operations).force_complete()

    def cancel(self) -> None:
        if self.chance.random() < 0.3:
            self.bench.purgatory.cancel_for_key(self.chance.choice("klmn"))

    def advance(self) -> None:
        self.bench.advance(self.bench.clock.now_ms() + self.chance.randint(0, 10))
        for _ in range(self.chance.randint(0, 5)):
            self.bench.stepped.run_one()

    def finish(self) -> None:
        self.depth = 10
        self.bench.advance(10**6)
        self.bench.run_all()
        sweep(self.bench.purgatory)
        check_law(self.bench.purgatory)
        assert (self.bench.purgatory.stale, self.bench.purgatory.pending) == (0, 0)
        assert listed(self.bench.purgatory) == {} or all(
            not operation.is_completed
            for operations in listed(self.bench.purgatory).values()
            for operation in operations
        )


def test_the_comparison_with_the_lists_can_fail() -> None:
    """Given a purgatory whose stale count, then a word, is off by one.

    When the counts are compared with the lists.
    Then the comparison fails.
    """
    bench = Bench()
    operation = bench.watched("a", "k")
    bench.purgatory._accounting.post(1)
    with pytest.raises(AssertionError):
        check_law(bench.purgatory)
    bench.purgatory._accounting.post(-1)
    check_law(bench.purgatory)
    operation._entries += 1
    with pytest.raises(AssertionError):
        check_law(bench.purgatory)
