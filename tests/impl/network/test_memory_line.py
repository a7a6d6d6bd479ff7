"""The line before a pool: first come first served, nobody overlooked, time counted."""

import threading
from dataclasses import dataclass, field
from typing import SupportsIndex

import pytest

from purgatory_impl import SimpleMemoryPool, VirtualClock
from purgatory_impl.network import MemoryLine
from tests.impl.threads import LONG_S


@dataclass(eq=False)
class Waiter:
    got: list[memoryview] = field(default_factory=list)

    def grant(self, buffer: memoryview) -> None:
        self.got.append(buffer)


def test_the_time_in_which_somebody_waits_is_counted_and_no_other() -> None:
    """The depleted time is the time of waiting, also while it goes on."""
    clock = VirtualClock()
    line = MemoryLine(SimpleMemoryPool(10, 10, strict=True), clock=clock, window_ms=1000)
    held, more = line.ask(Waiter(), 6), line.ask(Waiter(), 4)
    assert held is not None
    assert more is not None
    clock.set_ms(200)
    assert line.depleted_ms == 0
    waiter = Waiter()
    assert line.ask(waiter, 10) is None
    clock.set_ms(400)
    assert (line.depleted_ms, line.depleted_percent) == (200, 20.0)
    line.release(more)
    clock.set_ms(700)
    assert (line.depleted_ms, line.waiting) == (500, 1)
    line.release(held)
    assert (len(waiter.got), line.waiting) == (1, 0)
    clock.set_ms(900)
    assert (line.depleted_ms, line.depleted_percent) == (500, 50.0)
    assert line.ask(Waiter(), 1) is None
    clock.set_ms(5000)
    assert line.depleted_percent == 100.0


def test_who_leaves_lets_the_next_one_on() -> None:
    """The second has its memory at once; who has it cannot leave any more."""
    line = MemoryLine(SimpleMemoryPool(10, 10, strict=True))
    assert line.ask(Waiter(), 6) is not None
    first, second = Waiter(), Waiter()
    assert line.ask(first, 10) is None
    assert line.ask(second, 3) is None
    assert line.leave(first)
    assert [buffer.nbytes for buffer in second.got] == [3]
    assert not line.leave(second)
    assert not line.leave(first)
    assert first.got == []


def test_memory_that_comes_back_before_the_line_is_joined_is_not_overlooked() -> None:
    """It has the memory, though no further release will come."""

    class Racing(SimpleMemoryPool):
        held: memoryview | None = None

        def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
            buffer = super().try_allocate(bytes_)
            if buffer is None and self.held is not None:
                held, self.held = self.held, None
                line.release(held)
            return buffer

    pool = Racing(10, 10)
    line = MemoryLine(pool)
    pool.held = line.ask(Waiter(), 10)
    waiter = Waiter()
    assert line.ask(waiter, 10) is None
    assert [buffer.nbytes for buffer in waiter.got] == [10]


@pytest.mark.usefixtures("eager_switching")
def test_nobody_is_overlooked_under_many_threads() -> None:
    """Let no thread wait in vain, and keep the pool whole."""
    line = MemoryLine(SimpleMemoryPool(10, 10))
    problems: list[str] = []

    class Blocking(Waiter):
        def __init__(self) -> None:
            super().__init__()
            self.granted = threading.Event()

        def grant(self, buffer: memoryview) -> None:
            self.got.append(buffer)
            self.granted.set()

    def work() -> None:
        for _ in range(300):
            waiter = Blocking()
            buffer = line.ask(waiter, 10)
            if buffer is None:
                if not waiter.granted.wait(LONG_S):
                    problems.append("waited in vain")
                    return
                buffer = waiter.got[0]
            line.release(buffer)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert (line.pool.available_bytes, line.waiting) == (10, 0)
