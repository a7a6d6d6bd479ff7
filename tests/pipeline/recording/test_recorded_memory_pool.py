"""The recorded memory pool: it behaves as the pool does, and its trace says what happened."""

import gc
import logging
from pathlib import Path

import pytest

from purgatory_impl import (
    InvalidAllocation,
    InvalidRelease,
    LeakDetectingMemoryPool,
    MemoryPool,
    SimpleMemoryPool,
    UnboundedMemoryPool,
)
from purgatory_traces.recording import RecordedMemoryPool, Recorder

from .recordings import brief, change, lines, verdict


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pool.jsonl"


def allocated(pool: MemoryPool, size_bytes: int) -> memoryview:
    buffer = pool.try_allocate(size_bytes)
    assert buffer is not None
    return buffer


def test_what_is_allocated_and_given_back_is_recorded(path: Path) -> None:
    recorder = Recorder(path, "run")
    pool = RecordedMemoryPool(recorder, SimpleMemoryPool(100, 60))
    first, second = allocated(pool, 60), allocated(pool, 50)
    assert pool.try_allocate(1) is None
    assert (pool.available_bytes, pool.used_bytes, pool.size_bytes) == (-10, 110, 100)
    assert pool.is_out_of_memory
    pool.release(second)
    pool.release(first)
    recorder.close()
    assert brief(path)[1:] == [
        "call allocate 1 60",
        "return True",
        "call allocate 2 50",
        "return True",
        "call allocate 3 1",
        "return False",
        "call release 2",
        "return",
        "call release 1",
        "return",
        "end",
    ]
    assert lines(path)[0]["instance"]["configuration"] == {"max_single_bytes": 60}
    assert verdict([path]).verdict == "conforms"


def test_refusals_are_recorded_in_the_words_of_the_protocol(path: Path) -> None:
    recorder = Recorder(path, "run")
    pool = RecordedMemoryPool(recorder, SimpleMemoryPool(100, 60))
    buffer = allocated(pool, 40)
    part = buffer[:]
    foreign = memoryview(bytearray(7))
    with pytest.raises(InvalidAllocation):
        pool.try_allocate(61)
    for wrong in (part, foreign, None):
        with pytest.raises(InvalidRelease):
            pool.release(wrong)  # type: ignore[arg-type]
    part.release()
    pool.release(buffer)
    with pytest.raises(InvalidRelease):
        pool.release(buffer)
    recorder.close()
    assert brief(path)[3:] == [
        "call allocate 2 61",
        "return invalid_argument",
        "call release 1 slice",
        "return invalid_argument",
        "call release_foreign 7",
        "return invalid_argument",
        "call release_nothing",
        "return invalid_argument",
        "call release 1",
        "return",
        "call release 1",
        "return invalid_argument",
        "end",
    ]
    assert verdict([path]).verdict == "conforms"


def test_names_of_garbage_are_forgotten(path: Path) -> None:
    recorder = Recorder(path, "run")
    pool = RecordedMemoryPool(recorder, SimpleMemoryPool(100, 60))
    for _ in range(50):
        pool.release(allocated(pool, 10))
    allocated(pool, 10)  # lost: the pool does not notice
    gc.collect()
    assert (pool._lent, pool._held) == ({}, {})
    recorder.close()
    assert not any("lose" in line for line in brief(path))


def test_a_loss_is_told_before_anybody_can_have_got_what_was_lost(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "purgatory")
    recorder = Recorder(path, "run")
    pool = RecordedMemoryPool(recorder, LeakDetectingMemoryPool(50, 50, strict=True))
    allocated(pool, 50)  # lost at once
    gc.collect()
    pool.release(allocated(pool, 50))
    recorder.close()
    assert brief(path)[1:8] == [
        "call allocate 1 50",
        "return True",
        "call lose 1",
        "call allocate 2 50",
        "return",  # of the loss
        "return True",
        "call release 2",
    ]
    assert verdict([path]).verdict == "conforms"


def test_a_pool_without_bounds_is_recorded_too(path: Path) -> None:
    recorder = Recorder(path, "run")
    pool = RecordedMemoryPool(recorder, UnboundedMemoryPool())
    pool.release(allocated(pool, 1000))
    recorder.close()
    assert lines(path)[0]["instance"]["configuration"] == {"unbounded": True}
    assert verdict([path]).verdict == "conforms"


def test_a_grant_that_is_too_large_is_found(path: Path) -> None:
    recorder = Recorder(path, "run")
    pool = RecordedMemoryPool(recorder, SimpleMemoryPool(100, 60, strict=True))
    allocated(pool, 60)
    assert pool.try_allocate(60) is None
    recorder.close()
    change(path, b'"result":false', b'"result":true')
    assert verdict([path]).verdict == "diverges"
