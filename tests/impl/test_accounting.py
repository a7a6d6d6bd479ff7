"""What is counted and when a purge starts, under both strategies; all in one thread."""

import random
from collections.abc import Callable
from typing import Literal

import pytest

from purgatory_impl import (
    DelayedOperation,
    Purgatory,
    SteppedExecutor,
    Timer,
    VirtualClock,
    watchers,
)
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


class Steps:
    """Counts how often a lock of a shard is taken; with one step a hold, that is the steps."""

    def __init__(self, purgatory: Purgatory[int], patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        patch.setattr(watchers, "STEPS_PER_HOLD", 1)
        for shard in purgatory._lists.shards:
            shard.lock = self._counting(shard.lock)  # type: ignore[assignment]

    def _counting(self, lock: object) -> object:
        steps = self
        inner = lock

        class Lock:
            def __enter__(self) -> None:
                steps.count += 1
                inner.__enter__()  # type: ignore[attr-defined]

            def __exit__(self, *failure: object) -> None:
                inner.__exit__(*failure)  # type: ignore[attr-defined]

        return Lock()

    def of(self, action: Callable[[], object]) -> int:
        before = self.count
        action()
        return self.count - before


@pytest.mark.pure
@pytest.mark.parametrize("keys", [1, 10, 3000])
def test_completing_costs_no_more_with_many_keys(
    keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an operation under many keys, each with a hundred others behind and before it.

    When it is completed by force, by its time-out, and by a check of a key of its own.
    Then that touches no list, no list, and three entries of one: however many keys there are.
    """
    clock, executor = VirtualClock(), SteppedExecutor()
    purgatory: Purgatory[int] = Purgatory(timer=Timer(clock=clock, executor=executor))
    log: list[str] = []
    crowd = [Recorded("crowd", log, 10**6) for _ in range(4)]
    hot = [Recorded(str(number), log, number) for number in (10**6, 10, 10**6)]
    for operation in (crowd[0], hot[0], hot[1], crowd[1]):
        purgatory.try_complete_else_watch(operation, range(keys))
    purgatory.try_complete_else_watch(hot[2], [-1, *range(keys)])
    steps = Steps(purgatory, monkeypatch)
    assert steps.of(hot[0].force_complete) == 0
    clock.set_ms(10)
    purgatory._timer.advance()  # type: ignore[union-attr]
    assert steps.of(executor.run_one) == 0
    hot[2].ready = True
    # To begin the walk, to find the entry, to drop it, and to find the end.
    assert steps.of(lambda: purgatory.check_and_complete(-1)) == 4
    assert log[-2:] == [f"try {10**6}", f"complete {10**6}"]
    assert (purgatory.stale, purgatory.pending) == (3 * keys, 2)
    # A walk over a key of the crowd pays for the entries of that key alone: five of them, three
    # stale; once to begin, once for each, once more for each it has tried, once for the end.
    assert steps.of(lambda: purgatory.check_and_complete(0)) == 1 + 5 + 2 + 1
    assert purgatory.stale == 3 * keys - 3


@pytest.mark.pure
def test_one_event_costs_its_caller_the_walk_of_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given fifty operations under one key and under two thousand others each.

    When that key is checked and all are completed.
    Then the steps are those of one list of fifty entries.
    """
    timer = Timer(clock=VirtualClock(), executor=SteppedExecutor())
    purgatory: Purgatory[int] = Purgatory(timer=timer)
    for number in range(50):
        operation = Recorded(str(number), [])
        purgatory.try_complete_else_watch(operation, range(2000))
        operation.ready = True
    steps = Steps(purgatory, monkeypatch)
    # To begin, then to find, to drop and to leave each entry.
    assert steps.of(lambda: purgatory.check_and_complete(1000)) == 1 + 50 * 3
    assert purgatory.stale == 50 * 1999


# The law, along random calls


@pytest.mark.parametrize("accounting", ["exact", "proposal"])
@pytest.mark.parametrize("seed", range(30))
def test_the_counts_are_those_of_the_lists_after_every_call(
    seed: int, accounting: Literal["exact", "proposal"]
) -> None:
    """Given random calls, callbacks that make further ones, and tries and callbacks that raise.

    When each has returned.
    Then every count is what is found by walking the lists, and each callback ran once at most.
    """
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
