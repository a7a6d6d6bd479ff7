"""The old design: what it leaves where it is, and when it purges."""

import threading
import time

import pytest

from purgatory_impl import InvalidConfiguration, NoKeys, PurgatoryClosed, VirtualClock
from purgatory_lab.benchmarks.baselines import DelayedOperation, Purgatory
from tests.lab.benchmarks.baselines.waiting import Waiting

pytestmark = pytest.mark.verify


def purgatory_of(
    purge_interval: int = 1000, *, purge_after_each: bool = False
) -> tuple[Purgatory[str], VirtualClock]:
    clock = VirtualClock()
    made: Purgatory[str] = Purgatory(
        purge_interval=purge_interval, clock=clock, purge_after_each=purge_after_each
    )
    return made, clock


def test_an_operation_that_was_completed_stays_in_the_queue_and_in_the_other_lists() -> None:
    purgatory, clock = purgatory_of()
    operation = Waiting(100)
    assert purgatory.try_complete_else_watch(operation, ("a", "b", "c")) is False
    assert (purgatory.entries, purgatory.keys, purgatory.delayed) == (3, 3, 1)
    operation.ready = True
    assert purgatory.check_and_complete("b") == 1
    assert (purgatory.entries, purgatory.keys, purgatory.delayed) == (2, 2, 1)
    clock.set_ms(99)
    purgatory.advance()
    assert (purgatory.entries, purgatory.delayed) == (2, 1)
    clock.set_ms(100)
    purgatory.advance()
    assert (purgatory.entries, purgatory.delayed) == (2, 0)
    assert (operation.completions, operation.expirations) == (1, 0)


def test_a_purge_takes_out_what_is_completed_and_nothing_else() -> None:
    purgatory, _ = purgatory_of()
    done, waits = Waiting(), Waiting()
    purgatory.try_complete_else_watch(done, ("a", "b"))
    purgatory.try_complete_else_watch(waits, ("b", "c"))
    done.force_complete()
    assert purgatory.purge() == 2
    assert purgatory.watched() == {"b": [waits], "c": [waits]}
    assert purgatory.delayed == 1
    assert purgatory.purge() == 0


@pytest.mark.parametrize(
    ("operations", "keys", "purged"),
    [
        (2, ("a", "b"), False),  # four entries are the interval
        (1, ("a", "b", "a", "b", "a"), True),  # five in the lists
    ],
)
def test_it_purges_when_the_lists_are_longer_than_the_interval(
    operations: int, keys: tuple[str, ...], purged: bool
) -> None:
    purgatory, _ = purgatory_of(purge_interval=4)
    for _ in range(operations):
        operation = Waiting()
        purgatory.try_complete_else_watch(operation, keys)
        operation.force_complete()
    purgatory.advance()
    assert (purgatory.entries == 0) is purged
    assert (purgatory.delayed == 0) is purged


def test_it_purges_when_the_queue_is_longer_than_the_interval() -> None:
    purgatory, _ = purgatory_of(purge_interval=4)
    for _ in range(5):
        operation = Waiting()
        purgatory.try_complete_else_watch(operation, ("a",))
        operation.ready = True
        assert purgatory.check_and_complete("a") == 1
    assert (purgatory.entries, purgatory.delayed) == (0, 5)
    purgatory.advance()
    assert purgatory.delayed == 0


@pytest.mark.parametrize(("purge_after_each", "purges"), [(False, 1), (True, 3)])
def test_it_purges_for_nothing_where_all_wait(
    purge_after_each: bool, purges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    honest = Purgatory.purge

    def purge(self: Purgatory[str]) -> int:
        counted.append(1)
        return honest(self)

    monkeypatch.setattr(Purgatory, "purge", purge)
    purgatory, clock = purgatory_of(purge_interval=2, purge_after_each=purge_after_each)
    for delay_ms in (10, 10, 10, 500, 500, 500):
        purgatory.try_complete_else_watch(Waiting(delay_ms), ("a",))
    clock.set_ms(10)
    purgatory.advance()
    assert (len(counted), purgatory.entries, purgatory.delayed) == (purges, 3, 3)
    clock.set_ms(11)
    purgatory.advance()
    assert (len(counted), purgatory.entries) == (purges + 1, 3)


def test_a_finaliser_may_call_the_purgatory() -> None:
    purgatory, clock = purgatory_of(purge_interval=0)
    finalised = []

    class Finalised(DelayedOperation):
        def try_complete(self) -> bool:
            return False

        def __del__(self) -> None:
            finalised.append(purgatory.check_and_complete("a"))
            purgatory.try_complete_else_watch(Waiting(10_000), ("z",))

    for _ in range(3):
        operation = Finalised(50)
        purgatory.try_complete_else_watch(operation, ("a", "b"))
        operation.force_complete()
        del operation
    worker = threading.Thread(target=purgatory.purge, daemon=True)
    worker.start()
    worker.join(120)
    assert not worker.is_alive()
    assert finalised == [0, 0, 0]
    clock.set_ms(60)
    purgatory.advance()
    assert (purgatory.entries, purgatory.delayed) == (3, 3)


def test_its_thread_expires_and_ends() -> None:
    purgatory: Purgatory[str] = Purgatory("tested", purge_interval=0)
    operation, later = Waiting(20), Waiting(60_000)
    purgatory.try_complete_else_watch(later, ("a",))
    began = time.monotonic()
    purgatory.try_complete_else_watch(operation, ("a",))
    while not operation.expirations and time.monotonic() < began + 120:
        time.sleep(0.002)
    assert time.monotonic() - began >= 0.019
    assert (operation.completions, operation.expirations) == (1, 1)
    purgatory.close()
    assert "tested-reaper" not in {thread.name for thread in threading.enumerate()}
    assert later.completions == 0
    purgatory.close()


def test_a_callback_may_close() -> None:
    purgatory: Purgatory[str] = Purgatory("closing")
    closed = threading.Event()

    class Closes(Waiting):
        def on_expiration(self) -> None:
            purgatory.close()
            closed.set()

    purgatory.try_complete_else_watch(Closes(1), ("a",))
    assert closed.wait(120)
    with pytest.raises(PurgatoryClosed):
        purgatory.try_complete_else_watch(Waiting(), ("a",))


def test_what_it_refuses() -> None:
    with pytest.raises(InvalidConfiguration):
        Purgatory(purge_interval=-1)
    purgatory, _ = purgatory_of()
    operation = Waiting()
    with pytest.raises(NoKeys):
        purgatory.try_complete_else_watch(operation, ())
    assert operation.tries == 0
    with pytest.raises(NotImplementedError):
        purgatory.try_complete_else_watch(DelayedOperation(1), ("a",))
    assert (purgatory.entries, purgatory.delayed) == (0, 0)
