"""The counts of both accountings, and the beginnings of purges, in one thread."""

from typing import Literal

import pytest

from purgatory_impl import DelayedOperation
from purgatory_impl.guarded import GuardedTask
from purgatory_impl.watchers import Shard

from .purgatory_bench import Bench, Seen, check_law


def test_a_purge_of_a_long_list_takes_several_holds() -> None:
    """Exactly the completed ones are gone, and the others are in order."""
    bench = Bench(purge_interval=0)
    operations = [bench.watched(str(number), "k") for number in range(1000)]
    for operation in operations[::3]:
        operation.force_complete()
    bench.advance(0)
    left = [operation for operation in operations if not operation.is_completed]
    assert bench.listed("k") == left
    assert bench.seen() == Seen(666, 1, 666, 666, 0, 666)


@pytest.mark.pure
@pytest.mark.parametrize("accounting", ["exact", "proposal"])
def test_what_is_completed_while_it_is_appended_gets_no_further_entry(
    accounting: Literal["exact", "proposal"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is no, it gets no further entry, and what was promised is taken back."""
    bench = Bench(accounting=accounting)
    operation = bench.operation("a")
    append = Shard.append

    def completing(shard: Shard[str], key: str, appended: DelayedOperation) -> None:
        append(shard, key, appended)
        if key == "l":
            operation.force_complete()

    monkeypatch.setattr(Shard, "append", completing)
    assert bench.purgatory.try_complete_else_watch(operation, list("klmn")) is False
    assert bench.log == ["try a", "complete a"]
    assert bench.seen() == Seen(2, 2, 0, 0, 2, 2 if accounting == "exact" else 1)
    check_law(bench.purgatory)


@pytest.mark.pure
def test_a_walk_over_one_key_operations_adds_to_no_shared_count() -> None:
    """Nothing but zeros was posted: what is added is subtracted in the same balance."""
    bench = Bench()
    posted: list[int] = []
    post = bench.purgatory._accounting.post

    def recorded(_: object, balance: int, taken: GuardedTask | None = None) -> None:
        posted.append(balance)
        post(balance, taken)

    for name in "abc":
        bench.watched(name, "k").ready = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(bench.purgatory._accounting), "post", recorded)
        assert bench.purgatory.check_and_complete("k") == 3
    assert set(posted) == {0}


@pytest.mark.pure
def test_a_try_inside_a_try_leaves_the_outer_walk_its_entry() -> None:
    """Post the entry that stays, alone: the walk's own entry went with it."""
    bench = Bench()
    operation = bench.watched("a", "kl")
    posted: list[int] = []

    def inner() -> None:
        if not operation.ready and bench.log == ["try a"]:
            assert bench.purgatory.check_and_complete("l") == 0
            operation.ready = True

    operation.during_try = inner
    post = bench.purgatory._accounting.post

    def recorded(_: object, balance: int, taken: GuardedTask | None = None) -> None:
        posted.append(balance)
        post(balance, taken)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(bench.purgatory._accounting), "post", recorded)
        assert bench.purgatory.check_and_complete("k") == 1
    assert [balance for balance in posted if balance] == [1]
    assert bench.seen() == Seen(1, 1, 0, 0, 1, 1)


def test_purging_inside_a_callback() -> None:
    """The purge inside takes the other entry and the counts end at zero."""
    bench = Bench(purge_interval=0)
    operation = bench.watched("a", "kl")
    operation.ready = True
    operation.during_complete = bench.purgatory.advance
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.seen() == Seen()


def test_the_proposal_is_in_the_timer_after_the_second_try() -> None:
    """At its second try it is in the timer under the exact accounting and not the other one."""

    def sizes(accounting: Literal["exact", "proposal"]) -> list[int]:
        bench = Bench(accounting=accounting)
        operation = bench.operation("a")
        seen: list[int] = []
        operation.during_try = lambda: seen.append(bench.purgatory.timer_size)
        bench.purgatory.try_complete_else_watch(operation, ["k"])
        return [*seen, bench.purgatory.timer_size]

    assert sizes("exact") == [0, 1, 1]
    assert sizes("proposal") == [0, 0, 1]
