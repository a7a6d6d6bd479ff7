"""Memory pools: admission, identity, dry spells, lost buffers, the pool without a bound."""

import gc
import logging
import pickle
import random

import pytest

from purgatory_impl import (
    BufferInUse,
    BufferPart,
    BufferReleased,
    ForeignBuffer,
    InvalidAllocation,
    InvalidConfiguration,
    InvalidRelease,
    LeakDetectingMemoryPool,
    MemoryPool,
    MonotonicClock,
    NotABuffer,
    SimpleMemoryPool,
    UnboundedMemoryPool,
    VirtualClock,
    memory_pool,
)
from purgatory_spec.reasons import Reason

BOUNDED: list[type[SimpleMemoryPool]] = [SimpleMemoryPool, LeakDetectingMemoryPool]


def granted(pool: MemoryPool, bytes_: int) -> memoryview:
    """A buffer that the pool must not refuse."""
    buffer = pool.try_allocate(bytes_)
    assert buffer is not None
    return buffer


# Admission


@pytest.mark.parametrize("kind", BOUNDED)
def test_a_pool_that_is_not_strict_lends_beyond_its_size(kind: type[SimpleMemoryPool]) -> None:
    """Given a pool of 100 bytes, at most 40 at a time.

    When 40, 40, 19 and 40 bytes are asked for, and then 1.
    Then the fourth makes it lend 139, the bound, and then it refuses until a byte is available.
    """
    pool = kind(100, 40)
    buffers = [granted(pool, bytes_) for bytes_ in (40, 40, 19)]
    assert (pool.available_bytes, pool.is_out_of_memory) == (1, False)
    buffers.append(granted(pool, 40))
    assert (pool.available_bytes, pool.used_bytes, pool.is_out_of_memory) == (-39, 139, True)
    assert pool.used_bytes == 100 + 40 - 1
    assert pool.try_allocate(1) is None
    pool.release(buffers.pop(2))
    assert (pool.available_bytes, pool.is_out_of_memory, pool.try_allocate(1)) == (-20, True, None)
    pool.release(buffers.pop())
    assert (pool.available_bytes, pool.is_out_of_memory) == (20, False)
    buffers.append(granted(pool, 40))
    assert (pool.available_bytes, pool.size_bytes) == (-20, 100)


@pytest.mark.parametrize("kind", BOUNDED)
def test_a_strict_pool_never_lends_more_than_it_has(kind: type[SimpleMemoryPool]) -> None:
    """Given a strict pool of 100 bytes, at most 40 at a time.

    When 40 bytes are asked for three times, then 20.
    Then the third is refused, though the pool is not out of memory, and the last is granted.
    """
    pool = kind(100, 40, strict=True)
    buffers = [granted(pool, 40), granted(pool, 40)]
    assert pool.try_allocate(40) is None
    assert (pool.available_bytes, pool.is_out_of_memory) == (20, False)
    buffers.append(granted(pool, 20))
    assert (pool.available_bytes, pool.is_out_of_memory) == (0, True)
    assert pool.try_allocate(1) is None
    assert len(buffers) == 3


@pytest.mark.parametrize("kind", BOUNDED)
def test_a_buffer_has_exactly_the_size_and_can_be_written(kind: type[SimpleMemoryPool]) -> None:
    pool = kind(10, 10)
    buffer = granted(pool, 3)
    buffer[:] = b"abc"
    assert (buffer.nbytes, bytes(buffer), buffer.readonly) == (3, b"abc", False)
    assert isinstance(buffer.obj, bytearray)


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize("bytes_", [0, -1, 41, 2**70, 1.5, "1", None])
def test_a_size_that_can_never_be_granted_is_refused(
    bytes_: int, kind: type[SimpleMemoryPool]
) -> None:
    """Given a pool with one buffer out.

    When a number of bytes is asked for that is too small, too large, or none.
    Then that is an invalid argument and no dry spell, and nothing changes.
    """
    pool = kind(100, 40, clock=VirtualClock())
    buffer = granted(pool, 40)
    with pytest.raises(InvalidAllocation) as refusal:
        pool.try_allocate(bytes_)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert (pool.available_bytes, pool.depleted_spells) == (60, 0)
    pool.release(buffer)
    assert pool.depleted_spells == 0


def test_a_refusal_for_size_comes_before_a_refusal_for_lack() -> None:
    pool = SimpleMemoryPool(10, 10)
    buffer = granted(pool, 10)
    with pytest.raises(InvalidAllocation):
        pool.try_allocate(11)
    assert len(buffer) == 10


def test_the_smallest_pool() -> None:
    pool = SimpleMemoryPool(1, 1)
    buffer = granted(pool, 1)
    assert (pool.available_bytes, pool.try_allocate(1)) == (0, None)
    pool.release(buffer)
    assert pool.available_bytes == 1


@pytest.mark.pure
def test_a_buffer_that_cannot_be_made_is_not_debited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an interpreter without memory.

    When a buffer is asked for.
    Then the failure reaches the caller and the pool is as it was.
    """

    def fail(_: int) -> memoryview:
        raise MemoryError

    pool = SimpleMemoryPool(10, 10)
    with monkeypatch.context() as patch:
        patch.setattr(memory_pool, "new_buffer", fail)
        with pytest.raises(MemoryError):
            pool.try_allocate(7)
    assert (pool.available_bytes, pool.used_bytes) == (10, 0)
    assert granted(pool, 10).nbytes == 10


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize(
    ("size", "largest"), [(0, 1), (-1, 1), (10, 0), (10, -1), (10, 11), (1.5, 1), (10, "1")]
)
def test_what_cannot_be_built_is_refused(
    size: int, largest: int, kind: type[SimpleMemoryPool]
) -> None:
    with pytest.raises(InvalidConfiguration) as refusal:
        kind(size, largest)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT


def test_a_window_has_a_millisecond_at_least() -> None:
    with pytest.raises(InvalidConfiguration):
        SimpleMemoryPool(10, 10, window_ms=0)


# Release


def refused_releases(
    pool: SimpleMemoryPool, buffer: memoryview, released: memoryview
) -> list[tuple[object, type[InvalidRelease]]]:
    """What must not be taken back, and how each is refused."""
    other_pool = granted(SimpleMemoryPool(10, 10), 4)
    return [
        (buffer[:], BufferPart),
        (buffer[1:3], BufferPart),
        (memoryview(buffer), BufferPart),
        (memoryview(bytearray(4)), ForeignBuffer),
        (memoryview(bytes(buffer)), ForeignBuffer),
        (other_pool, ForeignBuffer),
        (released, BufferReleased),
        (bytearray(4), NotABuffer),
        (buffer.obj, NotABuffer),
        (None, NotABuffer),
    ]


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize("number", range(10))
def test_only_the_very_buffer_is_taken_back(number: int, kind: type[SimpleMemoryPool]) -> None:
    """Given a pool with a buffer out and one that has come back.

    When anything but the first is released: a slice, another view, an equal one, one of another
    pool, the second one again, what is no view at all.
    Then that is refused as an invalid argument by an error of its own, and nothing changes.
    """
    pool = kind(10, 10, clock=VirtualClock())
    buffer, released = granted(pool, 4), granted(pool, 4)
    pool.release(released)
    assert granted(pool, 4).nbytes == 4
    gc.collect()
    available = pool.available_bytes
    wrong, error = refused_releases(pool, buffer, released)[number]
    with pytest.raises(InvalidRelease) as refusal:
        pool.release(wrong)  # type: ignore[arg-type]
    assert type(refusal.value) is error
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert pool.available_bytes == available
    pool.release(buffer)
    assert pool.available_bytes == available + 4


def test_a_released_buffer_cannot_be_used() -> None:
    pool = SimpleMemoryPool(10, 10)
    buffer = granted(pool, 4)
    pool.release(buffer)
    with pytest.raises(ValueError, match="released memoryview"):
        buffer[0] = 1


def test_a_buffer_whose_view_the_holder_has_ended_is_taken_back() -> None:
    pool = SimpleMemoryPool(10, 10)
    buffer, other = granted(pool, 4), granted(pool, 4)
    buffer.release()
    with pytest.raises(BufferPart):
        pool.release(other[:])
    pool.release(buffer)
    assert pool.available_bytes == 6
    with pytest.raises(BufferReleased):
        pool.release(buffer)


def test_a_buffer_that_is_exported_is_not_taken_back() -> None:
    """Given a buffer that something uses through the buffer protocol.

    When it is released before and after that lets go.
    Then the first is refused and changes nothing, and the second is accepted.
    """
    pool = SimpleMemoryPool(10, 10)
    buffer = granted(pool, 4)
    user = pickle.PickleBuffer(buffer)
    with pytest.raises(BufferInUse) as refusal:
        pool.release(buffer)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert (pool.available_bytes, len(buffer)) == (6, 4)
    user.release()
    pool.release(buffer)
    assert pool.available_bytes == 10


def test_an_identity_that_is_used_again_proves_nothing() -> None:
    """Given a pool that has lost a buffer without noticing what became of it.

    When views of the same size are made until one has the lost one's identity, and are released.
    Then each is refused.
    """
    pool = SimpleMemoryPool(10, 10)
    lost = id(granted(pool, 4))
    for _ in range(100):
        candidate = memoryview(bytearray(4))
        with pytest.raises(ForeignBuffer):
            pool.release(candidate)
        if id(candidate) == lost:
            break
    assert pool.available_bytes == 6


def test_the_object_decides_and_not_its_identity_alone() -> None:
    """Given a pool whose record of a buffer has got under the identity of another view.

    When that view is released.
    Then it is refused: the record's reference leads to another object.
    """
    pool = SimpleMemoryPool(10, 10)
    buffer, other = granted(pool, 4), memoryview(bytearray(4))
    pool._lent[id(other)] = pool._lent.pop(id(buffer))
    with pytest.raises(ForeignBuffer):
        pool.release(other)
    assert (pool.available_bytes, len(buffer)) == (6, 4)


# Dry spells


def test_a_spell_begins_with_a_refusal_and_ends_with_a_release() -> None:
    """Given a pool that runs empty at 10, refuses at 15 and 20, and gets a buffer back at 27.

    When its metrics are read.
    Then one spell of 12 ms has ended.
    """
    clock = VirtualClock(10)
    pool = SimpleMemoryPool(10, 10, clock=clock, window_ms=100)
    buffer = granted(pool, 10)
    for now_ms in (15, 20):
        clock.set_ms(now_ms)
        assert pool.try_allocate(1) is None
    assert (pool.depleted_ms, pool.depleted_spells, pool.depleted_percent) == (0, 0, 5.0)
    clock.set_ms(27)
    pool.release(buffer)
    assert (pool.depleted_ms, pool.depleted_spells, pool.depleted_percent) == (12, 1, 12.0)


def test_any_release_ends_a_spell_and_a_refused_one_does_not() -> None:
    """Given a pool with -2 bytes available that has refused at 0.

    When a foreign buffer is released at 3, and one byte at 5.
    Then the spell ends at 5, though the pool is still out of memory.
    """
    clock = VirtualClock()
    pool = SimpleMemoryPool(10, 9, clock=clock)
    small, _, large = granted(pool, 1), granted(pool, 8), granted(pool, 3)
    assert pool.try_allocate(1) is None
    clock.set_ms(3)
    with pytest.raises(ForeignBuffer):
        pool.release(memoryview(bytearray(1)))
    clock.set_ms(5)
    pool.release(small)
    assert (pool.is_out_of_memory, pool.depleted_ms, pool.depleted_spells) == (True, 5, 1)
    assert len(large) == 3


def test_an_allocation_ends_a_spell_too() -> None:
    """Given a strict pool that refuses 40 bytes at 0 with 20 left.

    When 20 are granted at 4.
    Then a spell of 4 ms has ended, without any release.
    """
    clock = VirtualClock()
    pool = SimpleMemoryPool(100, 40, strict=True, clock=clock)
    buffers = [granted(pool, 40), granted(pool, 40)]
    assert pool.try_allocate(40) is None
    clock.set_ms(4)
    buffers.append(granted(pool, 20))
    assert (pool.depleted_ms, pool.depleted_spells) == (4, 1)


def test_the_share_is_that_of_the_window() -> None:
    """Given spells of 10 ms from 0 and from 50, and one from 95 that goes on, window 100.

    When the share is read at 100, and later.
    Then it counts what lies within the last 100 ms, the present spell up to now.
    """
    clock = VirtualClock()
    pool = SimpleMemoryPool(10, 10, clock=clock, window_ms=100)
    for begin_ms in (0, 50):
        buffer = granted(pool, 10)
        clock.set_ms(begin_ms)
        assert pool.try_allocate(1) is None
        clock.set_ms(begin_ms + 10)
        pool.release(buffer)
    buffer = granted(pool, 10)
    clock.set_ms(95)
    assert pool.try_allocate(1) is None
    shares: list[float] = []
    for now_ms in (100, 104, 110, 155, 160, 195, 300):
        clock.set_ms(now_ms)
        shares.append(pool.depleted_percent)
    assert shares == [25.0, 25.0, 25.0, 65.0, 65.0, 100.0, 100.0]
    pool.release(buffer)
    assert (pool.depleted_ms, pool.depleted_spells) == (10 + 10 + 205, 3)


def test_short_spells_need_no_memory() -> None:
    """Given thousands of spells that begin and end within one millisecond.

    When the share is read.
    Then they are counted, and none was kept.
    """
    pool = SimpleMemoryPool(1, 1, clock=VirtualClock())
    for _ in range(1000):
        buffer = granted(pool, 1)
        assert pool.try_allocate(1) is None
        pool.release(buffer)
    assert (pool.depleted_spells, pool.depleted_ms, pool.depleted_percent) == (1000, 0, 0.0)
    assert len(pool._spells._recent) == 0


def test_spells_that_have_left_the_window_are_forgotten() -> None:
    clock = VirtualClock()
    pool = SimpleMemoryPool(1, 1, clock=clock, window_ms=10)
    for begin_ms in range(0, 1000, 2):
        buffer = granted(pool, 1)
        clock.set_ms(begin_ms)
        assert pool.try_allocate(1) is None
        clock.set_ms(begin_ms + 1)
        pool.release(buffer)
    assert len(pool._spells._recent) <= 6
    assert (pool.depleted_spells, pool.depleted_ms) == (500, 500)


def test_spells_by_the_real_clock() -> None:
    clock = MonotonicClock()
    pool = SimpleMemoryPool(1, 1)
    buffer = granted(pool, 1)
    before_ms = clock.now_ms()
    assert pool.try_allocate(1) is None
    refused_ms = clock.now_ms()
    while clock.now_ms() < refused_ms + 5:
        pass
    pool.release(buffer)
    assert 5 <= pool.depleted_ms <= clock.now_ms() - before_ms


# Lost buffers


def test_a_simple_pool_never_gets_a_lost_buffer_back() -> None:
    pool = SimpleMemoryPool(10, 10)
    granted(pool, 4)
    gc.collect()
    assert (pool.available_bytes, pool.used_bytes, len(pool._lent)) == (6, 4, 0)


def test_a_lost_buffer_is_credited_counted_and_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a pool that detects leaks, with two buffers out; a third was released.

    When the holders of two lose theirs, one of these having been released.
    Then one is credited and counted, and logged as an error.
    """
    monkeypatch.setattr(logging.getLogger("purgatory"), "disabled", False)
    pool = LeakDetectingMemoryPool(30, 10)
    kept, lost, released = granted(pool, 4), granted(pool, 5), granted(pool, 6)
    pool.release(released)
    assert (pool.available_bytes, pool.leaked) == (21, 0)
    del lost, released
    gc.collect()
    assert (pool.available_bytes, pool.leaked) == (26, 1)
    messages = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert messages == [("ERROR", "A buffer of 5 bytes was lost without a release")]
    pool.release(kept)
    assert (pool.available_bytes, pool.leaked) == (30, 1)


@pytest.mark.parametrize("ask", ["try_allocate", "release"])
def test_a_lost_buffer_is_there_for_the_next_who_asks(ask: str) -> None:
    """Given a strict pool whose only buffers were lost, but for one.

    When all of it is asked for, or that one is given back.
    Then the lost ones have been credited.
    """
    pool = LeakDetectingMemoryPool(10, 10, strict=True)
    kept = granted(pool, 1)
    granted(pool, 9)
    gc.collect()
    if ask == "release":
        pool.release(kept)
        assert pool._available == 10
    else:
        assert granted(pool, 9).nbytes == 9


def test_a_loss_ends_no_spell() -> None:
    clock = VirtualClock()
    pool = LeakDetectingMemoryPool(10, 10, clock=clock)
    buffer = granted(pool, 10)
    assert pool.try_allocate(1) is None
    del buffer
    gc.collect()
    clock.set_ms(7)
    assert (pool.available_bytes, pool.depleted_spells) == (10, 0)
    assert granted(pool, 1).nbytes == 1
    assert (pool.depleted_spells, pool.depleted_ms) == (1, 7)


def test_thirty_buffers_go_through_a_pool_for_eleven() -> None:
    """Given a strict pool with room for eleven buffers, none of which is ever released.

    When thirty are asked for, each lost before the next.
    Then all are granted, once the collector has run.
    """
    pool = LeakDetectingMemoryPool(110, 10, strict=True)
    for _ in range(30):
        granted(pool, 10)
    gc.collect()
    assert (pool.leaked, pool.available_bytes) == (30, 110)


def test_a_slice_does_not_keep_a_buffer_from_being_lost() -> None:
    pool = LeakDetectingMemoryPool(10, 10)
    part = granted(pool, 4)[1:]
    gc.collect()
    assert (pool.leaked, pool.available_bytes, len(part)) == (1, 10, 3)
    with pytest.raises(ForeignBuffer):
        pool.release(part)


# No bound


def test_a_pool_without_a_bound() -> None:
    """Given a pool without a bound.

    When buffers are asked for and anything is given back.
    Then nothing is refused but a negative number, and nothing is counted.
    """
    pool = UnboundedMemoryPool()
    buffers = [pool.try_allocate(bytes_) for bytes_ in (0, 1, 10_000)]
    assert [buffer.nbytes for buffer in buffers] == [0, 1, 10_000]
    for given in (buffers[1], buffers[1], None, b"x", memoryview(b"y")):
        pool.release(given)
    assert (pool.size_bytes, pool.available_bytes, pool.used_bytes) == (2**63 - 1, 2**63 - 1, 0)
    assert pool.is_out_of_memory is False
    buffers[1][0] = 1
    for wrong in (-1, "1"):
        with pytest.raises(InvalidAllocation) as refusal:
            pool.try_allocate(wrong)  # type: ignore[arg-type]
        assert refusal.value.reason is Reason.INVALID_ARGUMENT


def test_every_pool_is_a_memory_pool() -> None:
    pools: list[MemoryPool] = [
        SimpleMemoryPool(10, 10),
        LeakDetectingMemoryPool(10, 10),
        UnboundedMemoryPool(),
    ]
    for pool in pools:
        pool.release(granted(pool, 5))
        assert pool.used_bytes == 0


# Random calls


@pytest.mark.parametrize("seed", range(20))
def test_the_books_always_balance(seed: int) -> None:
    """Given random allocations, releases and mistakes, strict or not.

    When each is done.
    Then available and lent bytes are the size, within the bounds, and refusals are as stated.
    """
    chance = random.Random(seed)
    strict = chance.random() < 0.5
    size = chance.randint(1, 60)
    largest = chance.randint(1, size)
    pool = SimpleMemoryPool(size, largest, strict=strict)
    out: list[tuple[memoryview, int]] = []
    for _ in range(300):
        available = pool.available_bytes
        if out and chance.random() < 0.4:
            buffer, _ = out.pop(chance.randrange(len(out)))
            pool.release(buffer)
        elif out and chance.random() < 0.2:
            with pytest.raises(InvalidRelease):
                pool.release(out[0][0][:])
        else:
            wanted = chance.randint(1, largest)
            got = pool.try_allocate(wanted)
            assert (got is not None) == (available >= (wanted if strict else 1))
            if got is not None:
                out.append((got, wanted))
        lent = sum(bytes_ for _, bytes_ in out)
        assert pool.available_bytes == size - lent
        assert pool.used_bytes == lent <= (size if strict else size + largest - 1)
        assert pool.is_out_of_memory == (lent >= size)
