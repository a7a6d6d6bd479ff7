"""Abandoning: an operation is taken out, and nobody ever completes it."""

import threading

import pytest

from purgatory_impl import OperationOfAnotherPurgatory

from .purgatory_bench import Bench, Seen, check_law, sweep
from .threads import LONG_S, in_threads


def test_an_abandoned_operation_leaves_the_timer_and_its_lists() -> None:
    """Its time-out is gone and its entries are stale, a purge removes them, and the other stays."""
    bench = Bench()
    operation, other = bench.watched("a", "kl"), bench.watched("b", "k")
    assert bench.purgatory.abandon(operation) is True
    assert bench.purgatory.abandon(operation) is False
    assert bench.seen() == Seen(3, 2, 1, 1, 2, 3)
    check_law(bench.purgatory)
    assert sweep(bench.purgatory) == 2
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)
    assert bench.listed("k") == [other]
    assert bench.log == []


def test_nobody_completes_an_abandoned_operation() -> None:
    """It is not tried, no callback is called, and it is abandoned and not completed."""
    bench = Bench()
    operation = bench.watched("a", "k", 10)
    operation.ready = True
    assert (operation.is_abandoned, operation.is_completed) == (False, False)
    bench.purgatory.abandon(operation)
    assert bench.purgatory.check_and_complete("k") == 0
    assert operation.force_complete() is False
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    bench.advance(10)
    bench.run_all()
    operation.run()
    assert bench.log == []
    assert bench.seen() == Seen()
    assert (operation.is_abandoned, operation.is_completed) == (True, False)


def test_a_time_out_that_is_due_already_does_not_complete_it() -> None:
    """Nothing is completed, and no time-out is owed afterwards."""
    bench = Bench()
    operation = bench.watched("a", "k", 0)
    assert bench.purgatory.pending == 1
    assert bench.purgatory.abandon(operation) is True
    bench.run_all()
    assert (bench.log, bench.purgatory.pending) == ([], 0)


def test_a_completed_operation_is_not_abandoned() -> None:
    bench = Bench()
    operation = bench.watched("a", "k")
    operation.force_complete()
    assert bench.purgatory.abandon(operation) is False
    assert (operation.is_abandoned, operation.is_completed) == (False, True)


def test_an_operation_that_was_never_watched_can_be_abandoned() -> None:
    bench = Bench()
    operation = bench.operation("a")
    assert bench.purgatory.abandon(operation) is True
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert (bench.log, bench.seen()) == ([], Seen())


def test_the_operation_of_another_purgatory_is_not_abandoned() -> None:
    bench, other = Bench(), Bench()
    operation = bench.watched("a", "k")
    with pytest.raises(OperationOfAnotherPurgatory):
        other.purgatory.abandon(operation)
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)


def test_an_operation_may_be_abandoned_inside_its_own_try() -> None:
    bench = Bench()
    operation = bench.watched("a", "k")
    operation.ready = True
    operation.during_try = lambda: bench.purgatory.abandon(operation)
    assert bench.purgatory.check_and_complete("k") == 0
    assert (bench.log, bench.seen()) == (["try a"], Seen())


def test_to_abandon_waits_for_a_try_that_is_under_way() -> None:
    """That waits, and finds the operation completed, with its callback called."""
    bench = Bench()
    operation = bench.watched("a", "k")
    operation.ready = True
    answers: list[object] = []
    abandoning = threading.Thread(
        target=lambda: answers.extend([bench.purgatory.abandon(operation), list(bench.log)])
    )

    def in_try() -> None:
        abandoning.start()
        abandoning.join(0.05)
        bench.log.append("taken")

    operation.during_try = in_try
    assert bench.purgatory.check_and_complete("k") == 1
    abandoning.join(LONG_S)
    assert answers == [False, ["try a", "taken", "complete a"]]


def test_of_threads_that_end_an_operation_one_is_first(eager_switching: None) -> None:
    """Each is abandoned or completed, by one of them, and no count is off."""
    bench = Bench()
    operations = [bench.watched(str(number), "kl", 5) for number in range(400)]
    for operation in operations:
        operation.ready = True
    bench.advance(5)
    abandoned: list[bool] = []
    ended: list[int] = []

    def abandon() -> None:
        abandoned.extend(bench.purgatory.abandon(operation) for operation in operations)

    def force() -> None:
        ended.append(sum(operation.force_complete() for operation in reversed(operations)))

    def check() -> None:
        ended.append(sum(bench.purgatory.check_and_complete(key) for key in "lk"))

    in_threads(abandon, force, check, bench.run_all)
    taken = [each for each in operations if each.is_abandoned]
    completed = [each for each in operations if each.is_completed]
    assert len(taken) == sum(abandoned)
    assert len(completed) == sum(ended) + bench.purgatory.expired
    assert len(taken) + len(completed) == 400
    lines = [line for line in bench.log if line.startswith("complete")]
    assert sorted(lines) == sorted(f"complete {each.name}" for each in completed)
    check_law(bench.purgatory)
    sweep(bench.purgatory)
    assert bench.seen() == Seen()
