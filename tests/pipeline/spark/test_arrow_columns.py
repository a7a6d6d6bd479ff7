import pyarrow as pa
import pytest

from purgatory_pipeline.results.arrow_columns import binaries, integers, texts


def test_columns_hold_the_values() -> None:
    assert integers([0, -1, (1 << 63) - 1]).equals(pa.array([0, -1, (1 << 63) - 1], pa.int64()))
    assert texts(["", "a", "µ😀"]).equals(pa.array(["", "a", "µ😀"], pa.string()))
    assert binaries([b"\x00\xff", b""]).equals(pa.array([b"\x00\xff", b""], pa.binary()))


def test_columns_are_valid_by_arrows_own_check() -> None:
    for column in (integers([1, 2]), texts(["one", "two"]), binaries([b"one", b""])):
        column.validate(full=True)


def test_empty_columns_are_columns() -> None:
    assert len(integers([])) == len(texts([])) == len(binaries([])) == 0
    texts([]).validate(full=True)


def test_an_integer_that_needs_more_than_64_bits_is_refused() -> None:
    with pytest.raises(OverflowError):
        integers([1 << 63])
