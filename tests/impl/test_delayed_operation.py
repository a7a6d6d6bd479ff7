"""The delayed operation by itself: completed once, in a fixed order of callbacks."""

import threading

import pytest

import purgatory_impl as impl
from purgatory_spec.reasons import Reason

from .purgatory_bench import Bench, Planned, Seen
from .threads import LONG_S


def test_completed_and_cancelled_come_before_the_callback() -> None:
    """The callback sees it completed, its time-out taken and its entries counted as stale."""
    bench = Bench()
    operation = bench.watched("a", "kl")
    seen: list[tuple[bool, Seen, bool]] = []
    operation.during_complete = lambda: seen.append(
        (operation.is_completed, bench.seen(), operation.force_complete())
    )
    assert operation.force_complete() is True
    assert seen == [(True, Seen(2, 2, 0, 0, 2, 2), False)]
    assert bench.log == ["complete a"]


def test_on_expiration_does_nothing_unless_overridden() -> None:
    """Nothing fails; and without the try it cannot be tried."""

    class Silent(impl.DelayedOperation):
        def try_complete(self) -> bool:
            return False

    bench = Bench()
    bench.purgatory.try_complete_else_watch(silent := Silent(0), ["k"])
    bench.run_all()
    assert silent.is_completed
    with pytest.raises(NotImplementedError):
        bench.purgatory.try_complete_else_watch(impl.DelayedOperation(5), ["k"])


def test_a_throwing_callback_skips_on_expiration(caplog: pytest.LogCaptureFixture) -> None:
    """Its on_expiration is skipped, the executor logs the failure and the other one expires."""
    bench = Bench()
    bench.watched("a", "k", 10).during_complete = throw
    bench.watched("b", "k", 10)
    bench.advance(10)
    bench.run_all()
    assert bench.log == ["complete a", "complete b", "expire b"]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [Planned]
    assert bench.purgatory.pending == 0


@pytest.mark.pure
def test_on_expiration_runs_without_the_lock() -> None:
    """on_complete holds its lock against other threads, and on_expiration does not."""
    bench = Bench()
    operation = bench.watched("a", "k", 0)
    free: list[bool] = []
    operation.during_complete = lambda: free.append(lock_is_free(operation))
    operation.during_expiration = lambda: free.append(lock_is_free(operation))
    bench.run_all()
    assert free == [False, True]


def test_a_force_does_not_wait_for_the_winners_callback() -> None:
    """Both come back at once, having completed nothing."""
    bench = Bench()
    operation = bench.watched("a", "k", 0)
    answers: list[bool] = []

    def force() -> None:
        answers.append(operation.force_complete())
        operation.run()

    def in_callback() -> None:
        other = threading.Thread(target=force)
        other.start()
        other.join(LONG_S)
        assert not other.is_alive()

    operation.during_complete = in_callback
    assert operation.force_complete() is True
    assert (answers, bench.log) == ([False], ["complete a"])


def test_an_expiry_waits_for_a_try_that_is_under_way() -> None:
    """That waits for the try to end, and completes the operation after it."""
    bench = Bench()
    operation = bench.watched("a", "k", 0)
    expiry = threading.Thread(target=bench.run_all)

    def in_try() -> None:
        expiry.start()
        expiry.join(0.05)
        bench.log.append("tried")

    operation.during_try = in_try
    assert bench.purgatory.check_and_complete("k") == 0
    expiry.join(LONG_S)
    assert bench.log == ["try a", "tried", "complete a", "expire a"]


def test_the_time_out_alone_can_be_cancelled() -> None:
    """Given a watched operation: it stays watched, without being owed a time-out."""
    bench = Bench()
    operation = bench.watched("a", "k")
    assert (operation.cancel(), operation.cancel()) == (True, False)
    assert bench.seen() == Seen(1, 1, 0, 0, 0, 0)
    operation.ready = True
    assert bench.purgatory.check_and_complete("k") == 1


@pytest.mark.parametrize("delay", [0.5, "10", None])
def test_a_delay_that_is_no_integer_is_refused(delay: int) -> None:
    with pytest.raises(impl.InvalidDelay) as refusal:
        impl.DelayedOperation(delay)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT


def test_a_delay_above_the_largest_is_refused() -> None:
    assert impl.DelayedOperation(impl.LARGEST_DELAY_MS).delay_ms == impl.LARGEST_DELAY_MS
    with pytest.raises(impl.DelayTooLarge) as refusal:
        impl.DelayedOperation(impl.LARGEST_DELAY_MS + 1)
    assert refusal.value.reason is Reason.TOO_LARGE


def test_an_operation_belongs_to_one_purgatory() -> None:
    bench, other = Bench(), Bench()
    operation = bench.watched("a", "k")
    with pytest.raises(impl.OperationOfAnotherPurgatory) as refusal:
        other.purgatory.try_complete_else_watch(operation, ["k"])
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert (bench.log, bench.seen(), other.seen()) == ([], Seen(1, 1, 1, 1, 0, 1), Seen())


def throw() -> None:
    raise Planned


def lock_is_free(operation: impl.DelayedOperation) -> bool:
    """Decide whether another thread gets an operation's lock."""
    got: list[bool] = []

    def take() -> None:
        locks = operation._locks
        assert locks is not None
        got.append(locks.own.acquire(blocking=False))
        if got[0]:
            locks.own.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join(LONG_S)
    return got[0]


@pytest.mark.skipif(not impl.COMPILED, reason="a size in bytes is that of the compiled build")
def test_the_flags_and_the_counts_of_an_operation_share_machine_words() -> None:
    """One word more and an operation of an interpreted class takes 16 bytes more."""
    assert impl.DelayedOperation.__basicsize__ == 120
