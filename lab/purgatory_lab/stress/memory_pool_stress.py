"""A round on a memory pool, and the checks at the end, when all is quiet.

Threads allocate, write into what they get, hand buffers to each other, release them, release them
twice and at the same time, release what is none, and lose some, to be found by the last reference
that goes or by the garbage collector.

All bytes are back in the end, but for those that a pool without leak detection has lost. Nobody's
bytes were anybody else's, and the pool never lent more than its bound.
"""

from __future__ import annotations

import random
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from purgatory_impl import InvalidRelease, LeakDetectingMemoryPool, SimpleMemoryPool
from purgatory_lab.stress.harness import (
    Before,
    Kind,
    LogErrors,
    Round,
    counted_log_errors,
    impl_objects,
    judge_leaks,
    run_together,
)

_SIZE: Final = 400
_LARGEST: Final = 60
_SLOTS: Final = 6
_LOSABLE: Final = 50
"""Bytes that a thread may lose in a round without leak detection."""

GRANTED: Final = "granted"
REFUSED: Final = "refused"
RELEASED: Final = "released"
RELEASE_REFUSED: Final = "release refused"
LOST: Final = "lost"
LOST_BYTES: Final = "bytes lost"
COLLECTED: Final = "lost to the collector"

_COUNTED: Final = (GRANTED, REFUSED, RELEASED, RELEASE_REFUSED, LOST, LOST_BYTES, COLLECTED)


class _Circle:
    """Holds a buffer and itself, so that only the garbage collector lets go of the buffer."""

    def __init__(self, buffer: memoryview) -> None:
        self.buffer = buffer
        self.myself = self


class _SimplePool(SimpleMemoryPool):
    """A pool that can be referred to weakly, unlike a pool of the compiled build."""


class _DetectingPool(LeakDetectingMemoryPool):
    """A leak-detecting pool that can be referred to weakly."""


class MemoryPoolRound:
    """The threads of a round, with the pool and the slots that they share."""

    def __init__(self, seed: int, detecting: bool, strict: bool, steps: int, out: Round) -> None:
        """Make the pool of the round.

        Args:
            seed: Of all choices.
            detecting: Whether the pool detects leaks.
            strict: Of the pool.
            steps: How often each thread allocates.
            out: Receives what is wrong.
        """
        kind: type[SimpleMemoryPool] = _DetectingPool if detecting else _SimplePool
        self.pool = kind(_SIZE, _LARGEST, strict=strict)
        self.detecting = detecting
        self.bound = _SIZE if strict else _SIZE + _LARGEST - 1
        self.seed = seed
        self.steps = steps
        self.result = out
        # One of each thread, as none of them may count for another.
        self.tallies: list[Counter[str]] = []
        self._slots: list[memoryview | None] = [None] * _SLOTS
        self._between: memoryview | None = None
        self._duel = threading.Barrier(2)

    def run(self, patience_s: float) -> bool:
        """Run all threads; whether every thread has ended."""
        bodies: dict[str, Callable[[], Iterator[None]]] = {
            f"borrower {number}": partial(self._borrow, number) for number in range(4)
        }
        bodies["thief 1"] = partial(self._release_of_others, 1)
        bodies["thief 2"] = partial(self._release_of_others, 2)
        bodies["duellist 1"] = partial(self._release_together, patience_s, True)
        bodies["duellist 2"] = partial(self._release_together, patience_s, False)
        bodies["onlooker"] = self._look_on
        return run_together(bodies, self.result, patience_s)

    def total(self, what: str) -> int:
        """Return the sum of a count, or of bytes."""
        return sum(tally[what] for tally in self.tallies)

    def release_rest(self) -> None:
        """Release what still lies between the threads."""
        tally = self._tally()
        self._between = None
        for slot in range(_SLOTS):
            self._release(self._slots[slot], tally)
            self._slots[slot] = None

    def _borrow(self, thread: int) -> Iterator[None]:
        chance = random.Random(f"{self.seed} borrow {thread}")
        tally = self._tally()
        for _ in range(self.steps):
            wanted = chance.randint(1, _LARGEST)
            buffer = self.pool.try_allocate(wanted)
            if buffer is None:
                tally[REFUSED] += 1
            else:
                tally[GRANTED] += 1
                self._use(buffer, wanted, thread)
                self._end(buffer, wanted, chance, tally)
            del buffer
            yield

    def _use(self, buffer: memoryview, wanted: int, thread: int) -> None:
        """Write a pattern of its own, let others run, and find it unchanged."""
        pattern = bytes([thread + 1]) * wanted
        if bytes(buffer) != bytes(wanted):
            self.result.find(Kind.RESULT, f"a buffer of {wanted} bytes is not all zero")
        buffer[:] = pattern
        if self.pool.used_bytes > self.bound:
            self.result.find(Kind.COUNT, f"{self.pool.used_bytes} used; {self.bound} is the bound")
        if bytes(buffer) != pattern:
            self.result.find(Kind.RESULT, f"a buffer of {wanted} bytes was written by another")

    def _end(
        self, buffer: memoryview, wanted: int, chance: random.Random, tally: Counter[str]
    ) -> None:
        """Release the buffer, put it into a shared slot, or lose it."""
        choice = chance.random()
        if choice < 0.5:
            self._release(buffer, tally)
            if chance.random() < 0.2:
                self._release(buffer, tally)
        elif choice < 0.8 or not (self.detecting or tally[LOST_BYTES] + wanted <= _LOSABLE):
            # What lay there before goes back; somebody may be releasing it just now.
            slot = chance.randrange(_SLOTS)
            before, self._slots[slot] = self._slots[slot], buffer
            self._release(before, tally)
        else:
            tally[LOST_BYTES] += wanted
            tally[LOST] += 1
            if choice < 0.9:
                tally[COLLECTED] += 1
                _Circle(buffer)

    def _release_of_others(self, thread: int) -> Iterator[None]:
        """Release what others have laid down, parts of it, and what is none of the pool's."""
        chance = random.Random(f"{self.seed} thief {thread}")
        tally = self._tally()
        for _ in range(self.steps):
            buffer = self._slots[chance.randrange(_SLOTS)]
            if chance.random() < 0.1:
                self._release(memoryview(bytearray(3)), tally)
            elif chance.random() < 0.7:
                self._release(buffer, tally)
            del buffer
            yield

    def _release_together(self, patience_s: float, allocates: bool) -> Iterator[None]:
        """Release the same buffers from two threads at once, one of which has allocated them."""
        tally = self._tally()
        for _ in range(self.steps // 5):
            if allocates:
                self._between = self.pool.try_allocate(1)
                tally[GRANTED if self._between is not None else REFUSED] += 1
            self._duel.wait(patience_s)
            buffer = self._between
            self._duel.wait(patience_s)
            self._release(buffer, tally)
            del buffer
            yield

    def _look_on(self) -> Iterator[None]:
        for _ in range(self.steps):
            used = self.pool.used_bytes
            if not 0 <= used <= self.bound:
                self.result.find(Kind.COUNT, f"{used} bytes used; at most {self.bound} may be")
            yield

    def _release(self, buffer: memoryview | None, tally: Counter[str]) -> None:
        if buffer is None:
            return
        try:
            self.pool.release(buffer)
        except InvalidRelease:
            tally[RELEASE_REFUSED] += 1
        else:
            tally[RELEASED] += 1

    def _tally(self) -> Counter[str]:
        self.tallies.append(Counter())
        return self.tallies[-1]


def memory_pool_round(
    seed: int, detecting: bool, strict: bool, steps: int, patience_s: float
) -> Round:
    """Run a round and judge the result.

    Args:
        seed: Of the choices that the threads make.
        detecting: Whether the pool detects leaks.
        strict: Whether it is strict.
        steps: How often each thread allocates.
        patience_s: How long nothing may go on before it counts as stuck, seconds.
    """
    result = Round()
    before = Before()
    with counted_log_errors() as errors:
        run = MemoryPoolRound(seed, detecting, strict, steps, result)
        if run.run(patience_s):
            run.release_rest()
            # Now the collector has found what lay in circles.
            impl_objects()
            _judge(run, errors)
    result.counts = {what: run.total(what) for what in _COUNTED}
    pool = weakref.ref(run.pool)
    del run
    if not result.findings:
        judge_leaks({"the pool": pool}, before, result)
    return result


def _judge(run: MemoryPoolRound, errors: LogErrors) -> None:
    """Judge that all bytes are back, but for losses without leak detection.

    Rules: POOL-CONSERVATION, POOL-RELEASE-AGAIN, POOL-LEAK.
    """
    pool, result = run.pool, run.result
    lost, lost_bytes = run.total(LOST), run.total(LOST_BYTES)
    released = run.total(GRANTED) - lost
    result.expect(Kind.COUNT, "buffers released", released, run.total(RELEASED))
    if isinstance(pool, LeakDetectingMemoryPool):
        result.expect(Kind.COUNT, "leaked", lost, pool.leaked)
        result.expect(Kind.COUNT, "leaks that were logged", lost, len(errors.others))
        lost_bytes = 0
    result.expect(Kind.COUNT, "available bytes", _SIZE - lost_bytes, pool.available_bytes)
