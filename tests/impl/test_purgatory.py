"""The purgatory on a virtual clock, one thread: watch, check, cancel, close."""

from collections.abc import Callable, Iterable
from typing import Literal

import pytest

import purgatory_impl as impl
from purgatory_spec.reasons import Reason

from .purgatory_bench import Bench, Planned, Seen, check_law


def throw() -> None:
    raise Planned


class Nth:
    """Does something at the n-th call, counted from 1, and nothing at the others."""

    def __init__(self, number: int, action: Callable[[], object]) -> None:
        self.calls = 0
        self.number = number
        self.action = action

    def __call__(self) -> None:
        self.calls += 1
        if self.calls == self.number:
            self.action()


# Watching


def test_keys_may_be_any_iterable() -> None:
    bench = Bench()
    bench.purgatory.try_complete_else_watch(bench.operation("a"), (key for key in "kl"))
    assert bench.seen() == Seen(2, 2, 1, 1, 0, 1)


def test_a_key_that_cannot_be_hashed_is_refused_before_anything_is_tried() -> None:
    bench = Bench()
    keys: Iterable[str] = ["k", []]  # type: ignore[list-item]
    with pytest.raises(TypeError):
        bench.purgatory.try_complete_else_watch(bench.operation("a"), keys)
    assert (bench.log, bench.seen()) == ([], Seen())


def test_who_completes_it_inside_the_first_try_is_told() -> None:
    bench = Bench()
    operation = bench.operation("a")
    operation.during_try = operation.force_complete
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    assert (bench.log, bench.seen()) == (["try a", "complete a"], Seen())


def test_a_try_that_only_claims_success_is_not_believed() -> None:
    """Both say that nothing was completed, and it stays watched."""

    class Boastful(impl.DelayedOperation):
        def try_complete(self) -> bool:
            return True

    bench = Bench()
    assert bench.purgatory.try_complete_else_watch(Boastful(10), ["k"]) is False
    assert bench.purgatory.check_and_complete("k") == 0
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)


def test_time_outs_that_complete_an_operation_are_counted() -> None:
    bench = Bench()
    operations = [bench.watched(name, "k", 10) for name in "abcde"]
    operations[0].force_complete()
    bench.purgatory.abandon(operations[1])
    bench.advance(10)
    operations[2].force_complete()
    assert bench.purgatory.expired == 0
    bench.run_all()
    assert bench.purgatory.expired == 2


def test_a_time_out_that_is_due_runs_after_the_call() -> None:
    """It is tried twice, and expires before the call returns."""
    bench = Bench(executor=impl.InlineExecutor())
    operation = bench.operation("a", 0)
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    assert bench.log == ["try a", "try a", "complete a", "expire a"]
    assert bench.seen() == Seen(1, 1, 0, 0, 1, 1)


def test_a_failing_key_withdraws_what_was_promised() -> None:
    """The failure reaches the caller, the first entry stays, and the counts are those of one."""

    class Key:
        def __init__(self, fails: bool) -> None:
            self.fails = fails

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            if self.fails or (isinstance(other, Key) and other.fails):
                raise Planned
            return self is other

    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    purgatory: impl.Purgatory[Key] = impl.Purgatory(timer=timer)
    good = Key(False)
    operation = Bench().operation("a")
    with pytest.raises(Planned):
        purgatory.try_complete_else_watch(operation, [good, Key(True), good])
    assert (purgatory.entries, purgatory.pending, operation._entries) == (1, 1, 1)
    assert purgatory.cancel_for_key(good) == [operation]
    assert (purgatory.entries, purgatory.pending, purgatory.timer_size) == (0, 0, 0)


# Checking


def test_a_throwing_try_keeps_no_other_from_being_tried() -> None:
    """All are tried, the first exception is raised and notes the second."""
    bench = Bench()
    bench.watched("a", "k").during_try = throw
    second = bench.watched("b", "k")
    second.ready = True
    second.during_complete = lambda: [][1]
    bench.watched("c", "k").ready = True
    with pytest.raises(Planned) as raised:
        bench.purgatory.check_and_complete("k")
    assert raised.value.__notes__ == [
        "another operation of the same walk raised IndexError('list index out of range')"
    ]
    assert bench.log == ["try a", "try b", "complete b", "try c", "complete c"]
    assert bench.seen() == Seen(1, 1, 1, 1, 0, 1)
    check_law(bench.purgatory)


def test_a_walk_in_many_holds_of_the_lock_sees_every_entry() -> None:
    """The others are tried, each once and in order, and the stale ones are gone."""
    bench = Bench()
    operations = [bench.watched(str(number), "k") for number in range(1000)]
    for number, operation in enumerate(operations):
        if number % 100:
            operation.force_complete()
    bench.log.clear()
    assert bench.purgatory.check_and_complete("k") == 0
    assert bench.log == [f"try {number}" for number in range(0, 1000, 100)]
    assert bench.seen() == Seen(10, 1, 10, 10, 0, 10)


# Cancelling a key


def test_what_is_watched_can_be_looked_at() -> None:
    bench = Bench()
    first, second = bench.watched("a", "kl"), bench.watched("b", "kk")
    first.force_complete()
    assert bench.purgatory.watched() == {"k": [first, second, second], "l": [first]}
    assert bench.seen() == Seen(4, 2, 1, 1, 2, 3)


# Closing, building


def test_closing_leaves_a_given_timer_open() -> None:
    bench = Bench()
    bench.watched("a", "k")
    ran: list[str] = []
    bench.timer.add(lambda: ran.append("other"), 5)
    bench.purgatory.close()
    bench.advance(5)
    bench.run_all()
    assert ran == ["other"]


def test_closing_keeps_stale_entries_and_drops_every_time_out() -> None:
    """No list has changed, and nothing is pending."""
    bench = Bench()
    operations = [bench.watched(str(number), "k") for number in range(1000)]
    for operation in operations[::2]:
        operation.force_complete()
    bench.purgatory.close()
    assert bench.seen() == Seen(1000, 1, 0, 0, 500, 500)


def test_closing_drops_the_time_out_of_what_is_in_no_list() -> None:
    """The time-out is dropped, and that of another purgatory on the same timer is not."""
    bench = Bench(accounting="proposal")
    other: impl.Purgatory[str] = impl.Purgatory(timer=bench.timer)
    stays = bench.operation("b", 10)
    other.try_complete_else_watch(stays, ["k"])
    operation = bench.operation("a", 10)
    operation.during_try = lambda: bench.purgatory.cancel_for_key("k")
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.seen() == Seen(0, 0, 2, 1, 0, 1)
    bench.purgatory.close()
    assert (bench.purgatory.pending, other.pending) == (0, 1)
    bench.advance(10)
    bench.run_all()
    assert (operation.is_completed, stays.is_completed) == (False, True)


@pytest.mark.parametrize("accounting", ["exact", "proposal"])
def test_a_timer_that_is_closed_owes_no_time_out(accounting: Literal["exact", "proposal"]) -> None:
    """The other one's time-out is not pending any more, and it waits for events."""
    bench = Bench(accounting=accounting)
    operation, expiring = bench.watched("a", "k"), bench.watched("b", "k", 10)
    bench.advance(10)
    bench.timer.close()
    assert (bench.purgatory.timer_size, bench.purgatory.pending) == (0, 1)
    bench.run_all()
    assert (bench.purgatory.pending, expiring.is_completed) == (0, True)
    operation.ready = True
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.purgatory.pending == 0


def test_a_watch_that_closing_overtakes_has_no_time_out() -> None:
    bench = Bench()
    operation = bench.operation("a")
    operation.during_try = Nth(1, bench.purgatory.close)
    assert bench.purgatory.try_complete_else_watch(operation, ["k"]) is False
    assert bench.seen() == Seen(1, 1, 0, 0, 0, 0)


def test_a_closed_timer_refuses_the_watch() -> None:
    bench = Bench()
    bench.timer.close()
    with pytest.raises(impl.PurgatoryClosed):
        bench.purgatory.try_complete_else_watch(bench.operation("a"), ["k"])
    assert bench.seen() == Seen()


def test_the_block_closes_the_purgatory() -> None:
    bench = Bench()
    with bench.purgatory as purgatory:
        assert purgatory is bench.purgatory
    with pytest.raises(impl.PurgatoryClosed):
        purgatory.try_complete_else_watch(bench.operation("a"), ["k"])


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(impl.InvalidConfiguration) as refusal:
        impl.Purgatory(purge_interval=-1)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    with pytest.raises(impl.InvalidConfiguration):
        impl.Purgatory(accounting="guess")  # type: ignore[arg-type]
    assert isinstance(refusal.value, impl.PurgatoryError)


def test_keys_of_any_kind_spread_over_the_shards() -> None:
    """No shard holds more than its share, and every key is found again."""
    timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.SteppedExecutor())
    purgatory: impl.Purgatory[int | tuple[str, int]] = impl.Purgatory(timer=timer)
    keys: list[int | tuple[str, int]] = [64 * number for number in range(64)]
    keys += [("topic", number) for number in range(-20, 20)] + [-1, -513, 2**70]
    bench = Bench()
    for key in keys:
        purgatory.try_complete_else_watch(bench.operation("a"), [key])
    assert (purgatory.entries, purgatory.keys) == (len(keys), len(keys))
    assert max(len(shard.lists) for shard in purgatory._lists.shards) < 10
    assert [len(purgatory.cancel_for_key(key)) for key in keys] == [1] * len(keys)


def test_the_classes_may_be_named_at_run_time() -> None:
    """They are made and used as one without."""

    class OfKeys(impl.Purgatory[str]):
        pass

    class OfBoth(impl.Purgatory[str, impl.DelayedOperation]):
        pass

    for kind in (
        impl.Purgatory,
        impl.Purgatory[str],
        impl.Purgatory[str, impl.DelayedOperation],
        OfKeys,
        OfBoth,
    ):
        with kind("typed", reaper=False) as purgatory:
            assert isinstance(purgatory, impl.Purgatory)
            assert (purgatory.name, purgatory.cancel_for_key("k")) == ("typed", [])
