"""What is counted, and when a purge starts: the accounting as published; all in one thread."""

from typing import Literal

from .purgatory_bench import Bench, Seen


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
