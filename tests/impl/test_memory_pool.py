"""Memory pools: admission, identity, dry spells, lost buffers, the pool without a bound."""

import gc
import pickle

import pytest

import purgatory_impl as impl
from purgatory_spec.reasons import Reason

BOUNDED: list[type[impl.SimpleMemoryPool]] = [impl.SimpleMemoryPool, impl.LeakDetectingMemoryPool]


def granted(pool: impl.MemoryPool, bytes_: int) -> memoryview:
    """A buffer that the pool must not refuse."""
    buffer = pool.try_allocate(bytes_)
    assert buffer is not None
    return buffer


# Sizes beyond what a machine can address


@pytest.mark.parametrize("bytes_", [2**62, 2**63 - 1, 2**63, 2**64, 2**200])
def test_what_no_machine_has_is_no_memory_whatever_the_size(bytes_: int) -> None:
    pools: list[impl.MemoryPool] = [
        *(kind(bytes_, bytes_) for kind in BOUNDED),
        impl.UnboundedMemoryPool(),
    ]
    for pool in pools:
        before = pool.available_bytes
        with pytest.raises(MemoryError):
            pool.try_allocate(bytes_)
        assert (pool.available_bytes, pool.used_bytes) == (before, 0)
    with pytest.raises(impl.InvalidAllocation):
        impl.SimpleMemoryPool(bytes_, bytes_).try_allocate(bytes_ + 1)


# Admission


@pytest.mark.parametrize("kind", BOUNDED)
def test_a_buffer_has_exactly_the_size_and_can_be_written(
    kind: type[impl.SimpleMemoryPool],
) -> None:
    pool = kind(10, 10)
    buffer = granted(pool, 3)
    buffer[:] = b"abc"
    assert (buffer.nbytes, bytes(buffer), buffer.readonly) == (3, b"abc", False)
    assert isinstance(buffer.obj, bytearray)


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize("bytes_", [0, -1, 41, 2**70, 1.5, "1", None])
def test_a_size_that_can_never_be_granted_is_refused(
    bytes_: int, kind: type[impl.SimpleMemoryPool]
) -> None:
    """That is an invalid argument and no dry spell, and nothing changes."""
    pool = kind(100, 40, clock=impl.VirtualClock())
    buffer = granted(pool, 40)
    with pytest.raises(impl.InvalidAllocation) as refusal:
        pool.try_allocate(bytes_)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert (pool.available_bytes, pool.depleted_spells) == (60, 0)
    pool.release(buffer)
    assert pool.depleted_spells == 0


@pytest.mark.pure
def test_a_buffer_that_cannot_be_made_is_not_debited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure reaches the caller and the pool is as it was."""

    def fail(_: int) -> memoryview:
        raise MemoryError

    pool = impl.SimpleMemoryPool(10, 10)
    with monkeypatch.context() as patch:
        patch.setattr(impl.memory_pool, "new_buffer", fail)
        with pytest.raises(MemoryError):
            pool.try_allocate(7)
    assert (pool.available_bytes, pool.used_bytes) == (10, 0)
    assert granted(pool, 10).nbytes == 10


@pytest.mark.parametrize("kind", BOUNDED)
def test_memory_that_the_machine_does_not_have_is_not_debited(
    kind: type[impl.SimpleMemoryPool],
) -> None:
    pool = kind(2**50, 2**50, strict=True)
    buffer = granted(pool, 1)
    assert pool.try_allocate(2**50) is None
    with pytest.raises(MemoryError):
        pool.try_allocate(2**49)
    assert (pool.available_bytes, pool.depleted_spells) == (2**50 - 1, 0)
    pool.release(buffer)


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize(
    ("size", "largest"), [(0, 1), (-1, 1), (10, 0), (10, -1), (10, 11), (1.5, 1), (10, "1")]
)
def test_what_cannot_be_built_is_refused(
    size: int, largest: int, kind: type[impl.SimpleMemoryPool]
) -> None:
    with pytest.raises(impl.InvalidConfiguration) as refusal:
        kind(size, largest)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT


def test_a_window_has_a_millisecond_at_least() -> None:
    with pytest.raises(impl.InvalidConfiguration):
        impl.SimpleMemoryPool(10, 10, window_ms=0)


# Release


def refused_releases(
    pool: impl.SimpleMemoryPool, buffer: memoryview, released: memoryview
) -> list[tuple[object, type[impl.InvalidRelease]]]:
    """Return the buffers that must not be taken back, with the refusal of each."""
    other_pool = granted(impl.SimpleMemoryPool(10, 10), 4)
    return [
        (buffer[:], impl.BufferPart),
        (buffer[1:3], impl.BufferPart),
        (memoryview(buffer), impl.BufferPart),
        (memoryview(bytearray(4)), impl.ForeignBuffer),
        (memoryview(bytes(buffer)), impl.ForeignBuffer),
        (other_pool, impl.ForeignBuffer),
        (released, impl.BufferReleased),
        (bytearray(4), impl.NotABuffer),
        (buffer.obj, impl.NotABuffer),
        (None, impl.NotABuffer),
    ]


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize("number", range(10))
def test_only_the_very_buffer_is_taken_back(number: int, kind: type[impl.SimpleMemoryPool]) -> None:
    """That is refused as an invalid argument by an error of its own, and nothing changes."""
    pool = kind(10, 10, clock=impl.VirtualClock())
    buffer, released = granted(pool, 4), granted(pool, 4)
    pool.release(released)
    assert granted(pool, 4).nbytes == 4
    gc.collect()
    available = pool.available_bytes
    wrong, error = refused_releases(pool, buffer, released)[number]
    with pytest.raises(impl.InvalidRelease) as refusal:
        pool.release(wrong)  # type: ignore[arg-type]
    assert type(refusal.value) is error
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert pool.available_bytes == available
    pool.release(buffer)
    assert pool.available_bytes == available + 4


def test_a_released_buffer_cannot_be_used() -> None:
    pool = impl.SimpleMemoryPool(10, 10)
    buffer = granted(pool, 4)
    pool.release(buffer)
    with pytest.raises(ValueError, match="released memoryview"):
        buffer[0] = 1


def test_a_buffer_whose_view_the_holder_has_ended_is_taken_back() -> None:
    pool = impl.SimpleMemoryPool(10, 10)
    buffer, other = granted(pool, 4), granted(pool, 4)
    buffer.release()
    with pytest.raises(impl.BufferPart):
        pool.release(other[:])
    pool.release(buffer)
    assert pool.available_bytes == 6
    with pytest.raises(impl.BufferReleased):
        pool.release(buffer)


def test_a_buffer_that_is_exported_is_not_taken_back() -> None:
    """The first is refused and changes nothing, and the second is accepted."""
    pool = impl.SimpleMemoryPool(10, 10)
    buffer = granted(pool, 4)
    user = pickle.PickleBuffer(buffer)
    with pytest.raises(impl.BufferInUse) as refusal:
        pool.release(buffer)
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    assert (pool.available_bytes, len(buffer)) == (6, 4)
    user.release()
    pool.release(buffer)
    assert pool.available_bytes == 10


def test_an_identity_that_is_used_again_proves_nothing() -> None:
    """Given a pool that has lost a buffer without noticing what became of it: each is refused."""
    pool = impl.SimpleMemoryPool(10, 10)
    lost = id(granted(pool, 4))
    for _ in range(100):
        candidate = memoryview(bytearray(4))
        with pytest.raises(impl.ForeignBuffer):
            pool.release(candidate)
        if id(candidate) == lost:
            break
    assert pool.available_bytes == 6


def test_the_object_decides_and_not_its_identity_alone() -> None:
    pool = impl.SimpleMemoryPool(10, 10)
    buffer, other = granted(pool, 4), memoryview(bytearray(4))
    pool._lent[id(other)] = pool._lent.pop(id(buffer))
    with pytest.raises(impl.ForeignBuffer):
        pool.release(other)
    assert (pool.available_bytes, len(buffer)) == (6, 4)


# Dry spells


def test_the_share_is_that_of_the_window() -> None:
    """It counts what lies within the last 100 ms, the present spell up to now."""
    clock = impl.VirtualClock()
    pool = impl.SimpleMemoryPool(10, 10, clock=clock, window_ms=100)
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
    pool = impl.SimpleMemoryPool(1, 1, clock=impl.VirtualClock())
    for _ in range(1000):
        buffer = granted(pool, 1)
        assert pool.try_allocate(1) is None
        pool.release(buffer)
    assert (pool.depleted_spells, pool.depleted_ms, pool.depleted_percent) == (1000, 0, 0.0)
    assert len(pool._spells._recent) == 0


def test_spells_that_have_left_the_window_are_forgotten() -> None:
    clock = impl.VirtualClock()
    pool = impl.SimpleMemoryPool(1, 1, clock=clock, window_ms=10)
    for begin_ms in range(0, 1000, 2):
        buffer = granted(pool, 1)
        clock.set_ms(begin_ms)
        assert pool.try_allocate(1) is None
        clock.set_ms(begin_ms + 1)
        pool.release(buffer)
    assert len(pool._spells._recent) <= 6
    assert (pool.depleted_spells, pool.depleted_ms) == (500, 500)


def test_spells_by_the_real_clock() -> None:
    clock = impl.MonotonicClock()
    pool = impl.SimpleMemoryPool(1, 1)
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
    pool = impl.SimpleMemoryPool(10, 10)
    granted(pool, 4)
    gc.collect()
    assert (pool.available_bytes, pool.used_bytes, len(pool._lent)) == (6, 4, 0)


def test_a_lost_buffer_is_credited_counted_and_logged(logged: pytest.LogCaptureFixture) -> None:
    pool = impl.LeakDetectingMemoryPool(30, 10)
    kept, lost, released = granted(pool, 4), granted(pool, 5), granted(pool, 6)
    pool.release(released)
    assert (pool.available_bytes, pool.leaked) == (21, 0)
    del lost, released
    gc.collect()
    assert (pool.available_bytes, pool.leaked) == (26, 1)
    messages = [(record.levelname, record.getMessage()) for record in logged.records]
    assert messages == [("ERROR", "A buffer of 5 bytes was lost without a release")]
    pool.release(kept)
    assert (pool.available_bytes, pool.leaked) == (30, 1)


@pytest.mark.parametrize("ask", ["try_allocate", "release"])
def test_a_lost_buffer_is_there_for_the_next_who_asks(ask: str) -> None:
    """The lost ones are credited before."""
    pool = impl.LeakDetectingMemoryPool(10, 10, strict=True)
    kept = granted(pool, 1)
    granted(pool, 9)
    gc.collect()
    if ask == "release":
        pool.release(kept)
        assert pool._available == 10
    else:
        assert granted(pool, 9).nbytes == 9


def test_a_loss_ends_no_spell() -> None:
    clock = impl.VirtualClock()
    pool = impl.LeakDetectingMemoryPool(10, 10, clock=clock)
    buffer = granted(pool, 10)
    assert pool.try_allocate(1) is None
    del buffer
    gc.collect()
    clock.set_ms(7)
    assert (pool.available_bytes, pool.depleted_spells) == (10, 0)
    assert granted(pool, 1).nbytes == 1
    assert (pool.depleted_spells, pool.depleted_ms) == (1, 7)


def test_a_slice_does_not_keep_a_buffer_from_being_lost() -> None:
    pool = impl.LeakDetectingMemoryPool(10, 10)
    part = granted(pool, 4)[1:]
    gc.collect()
    assert (pool.leaked, pool.available_bytes, len(part)) == (1, 10, 3)
    with pytest.raises(impl.ForeignBuffer):
        pool.release(part)


@pytest.mark.parametrize("form", [slice(None), slice(1)])
@pytest.mark.parametrize("kind", [memoryview, bytes])
def test_a_refused_release_keeps_no_buffer(form: slice, kind: type[memoryview | bytes]) -> None:
    """The caller's buffer is credited when it is lost, without the garbage collector's help."""
    pool = impl.LeakDetectingMemoryPool(10, 10)

    def give_back(held: memoryview) -> None:
        pool.release(memoryview(kind(held[form])))

    buffer = granted(pool, 4)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(impl.InvalidRelease):
            give_back(buffer)
        del buffer
        assert (pool.leaked, pool.available_bytes) == (1, 10)
    finally:
        gc.enable()


# No bound


def test_a_pool_without_a_bound() -> None:
    """Nothing is refused but a negative number, and nothing is counted."""
    pool = impl.UnboundedMemoryPool()
    buffers = [pool.try_allocate(bytes_) for bytes_ in (0, 1, 10_000)]
    assert [buffer.nbytes for buffer in buffers] == [0, 1, 10_000]
    for given in (buffers[1], buffers[1], None, b"x", memoryview(b"y")):
        pool.release(given)
    assert (pool.size_bytes, pool.available_bytes, pool.used_bytes) == (2**63 - 1, 2**63 - 1, 0)
    assert pool.is_out_of_memory is False
    buffers[1][0] = 1
    for wrong in (-1, "1"):
        with pytest.raises(impl.InvalidAllocation) as refusal:
            pool.try_allocate(wrong)  # type: ignore[arg-type]
        assert refusal.value.reason is Reason.INVALID_ARGUMENT


# Random calls
