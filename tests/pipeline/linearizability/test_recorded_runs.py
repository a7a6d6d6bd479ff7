"""Runs of our own objects under real threads are explained; with a planted race they are not."""

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import SupportsIndex

import pytest

from purgatory_impl import DelayedOperation, SimpleMemoryPool
from purgatory_model.overlapping.interleaving import Called, Returned
from purgatory_traces.linearizability.checker import Answered, Finding, check_run
from purgatory_traces.linearizability.traced_history import traced_history
from purgatory_traces.recording.recorded.memory_pool import RecordedMemoryPool
from purgatory_traces.recording.recorded.operation import recorded
from purgatory_traces.recording.recorded.purgatory import RecordedPurgatory
from purgatory_traces.recording.recorded.timer import RecordedTimer
from purgatory_traces.recording.recorder import Recorder
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.sources import read_file

pytestmark = pytest.mark.verify

THREADS = 4


@contextmanager
def impatient() -> Iterator[None]:
    """Threads change places often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(work: Callable[[int], None]) -> None:
    """Four threads at once."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> None:
        barrier.wait()
        work(number)

    threads = [threading.Thread(target=run, args=(each,), name=f"t{each}") for each in range(4)]
    with impatient():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def found_in(path: Path) -> Finding:
    """Return what is found of the run in a file."""
    lines: list[Located] = []
    for line in read_file(path):
        assert not isinstance(line, QuarantineRow)
        lines.append(line)
    return check_run(traced_history("r", sorted(lines)))


def most_open(finding: Finding) -> int:
    """Return how many calls were open at once, at the most."""
    opened = most = 0
    for entry in finding.history.entries:
        opened += isinstance(entry.event, Called)
        opened -= isinstance(entry.event, Returned)
        most = max(most, opened)
    return most


def use_pool(pool: RecordedMemoryPool, calls: int) -> None:
    """Ask and give back, so that the pool is often all but empty."""

    def work(number: int) -> None:
        chance = random.Random(number)
        held: list[memoryview] = []
        for _ in range(calls):
            if held and chance.random() < 0.5:
                pool.release(held.pop())
            else:
                buffer = pool.try_allocate(chance.randrange(1, 41))
                if buffer is not None:
                    held.append(buffer)
        for buffer in held:
            pool.release(buffer)

    together(work)


class UnhurriedPool(SimpleMemoryPool):
    """Lets others go first, so that calls overlap."""

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        time.sleep(1e-5)
        return super().try_allocate(bytes_)


class RacingPool(SimpleMemoryPool):
    """Looks what is available, and debits later."""

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        with self._lock:
            enough = self._available >= 1
        time.sleep(1e-5)
        if not enough:
            return None
        wanted = bytes_.__index__()
        buffer = memoryview(bytearray(wanted))
        with self._lock:
            self._available -= wanted
        self._lend(buffer, wanted)
        return buffer


def test_a_recorded_pool_is_linearizable(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "pool.jsonl", "r")
    use_pool(RecordedMemoryPool(recorder, UnhurriedPool(100, 40)), 250)
    recorder.close()
    finding = found_in(tmp_path / "pool.jsonl")
    assert finding.answered is Answered.LINEARIZABLE, finding.reason
    assert finding.calls > 1000
    assert most_open(finding) > 1


def test_a_race_in_a_recorded_pool_is_found(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "pool.jsonl", "r")
    use_pool(RecordedMemoryPool(recorder, RacingPool(60, 40)), 250)
    recorder.close()
    finding = found_in(tmp_path / "pool.jsonl")
    assert finding.answered is Answered.NOT_LINEARIZABLE, finding.reason


def test_a_recorded_timer_is_linearizable(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "timer.jsonl", "r", lateness_ms=60_000)
    timer = RecordedTimer(recorder)
    shared = [timer.task(lambda: None) for _ in range(6)]

    def work(number: int) -> None:
        chance = random.Random(number)
        for _ in range(80):
            task = chance.choice(shared)
            if chance.random() < 0.3:
                timer.cancel(task)
            else:
                timer.add(task, chance.choice((0, 1, 2, 5)))

    together(work)
    time.sleep(0.02)
    timer.close()
    recorder.close()
    finding = found_in(tmp_path / "timer.jsonl")
    assert finding.answered is Answered.LINEARIZABLE, (finding.reason, finding.shares)
    assert len(finding.shares) == 6


@recorded
class Fetch(DelayedOperation):
    """Waits for a condition."""

    def __init__(self, delay_ms: int) -> None:
        super().__init__(delay_ms)
        self.ready = False

    def try_complete(self) -> bool:
        return self.ready and self.force_complete()


@pytest.mark.parametrize("accounting", ["exact", "proposal"])
def test_a_recorded_purgatory_is_linearizable(tmp_path: Path, accounting: str) -> None:
    recorder = Recorder(tmp_path / "purgatory.jsonl", "r", lateness_ms=60_000)
    purgatory = RecordedPurgatory[str](
        recorder, purge_interval=5, accounting="exact" if accounting == "exact" else "proposal"
    )
    waiting: list[Fetch] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        for _ in range(60):
            chosen = chance.random()
            if chosen < 0.4:
                fetch = Fetch(chance.choice((1, 3, 1000)))
                waiting.append(fetch)
                purgatory.try_complete_else_watch(fetch, chance.choice((["k1"], ["k1", "k2"])))
            elif chosen < 0.55 and waiting:
                fetch = chance.choice(waiting)
                with purgatory.satisfying(fetch):
                    fetch.ready = True
            elif chosen < 0.85:
                purgatory.check_and_complete(chance.choice(("k1", "k2")))
            elif chosen < 0.93 and waiting:
                chance.choice(waiting).force_complete()
            else:
                purgatory.cancel_for_key("k2")

    together(work)
    time.sleep(0.02)
    purgatory.close()
    recorder.close()
    finding = found_in(tmp_path / "purgatory.jsonl")
    assert finding.answered is Answered.LINEARIZABLE, (finding.reason, finding.shares[:1])
    assert len(finding.shares) > 40
