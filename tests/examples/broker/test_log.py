"""A partition's log: offsets, sizes, and a high watermark that only goes forward."""

import pytest

from broker.log import PartitionLog


def test_the_high_watermark_is_the_slowest_followers_and_never_goes_back() -> None:
    """The high watermark moves to 1 with the second, and stays."""
    log = PartitionLog([1, 2])
    assert log.append([b"a", b"bb", b""]) == 0
    assert not log.follower_has(1, 2)
    assert log.follower_has(2, 1)
    assert not log.follower_has(1, 0)
    assert (log.high_watermark, log.end) == (1, 3)


@pytest.mark.parametrize(
    ("offset", "end", "max_bytes", "at_least_one", "records"),
    [
        (0, 4, 100, True, (b"a", b"bb", b"", b"cccc")),
        (1, 3, 100, True, (b"bb", b"")),
        (0, 4, 3, True, (b"a", b"bb", b"")),
        (0, 4, 2, True, (b"a",)),
        (1, 4, 1, True, (b"bb",)),
        (1, 4, 1, False, ()),
        (3, 4, 4, False, (b"cccc",)),
        (3, 4, -1, False, ()),
        (4, 4, 100, True, ()),
        (2, 1, 100, True, ()),
    ],
)
def test_a_read_has_what_fits(
    offset: int, end: int, max_bytes: int, at_least_one: bool, records: tuple[bytes, ...]
) -> None:
    log = PartitionLog()
    log.append([b"a", b"bb", b""])
    log.append([b"cccc"])
    assert log.read(offset, end, max_bytes, at_least_one=at_least_one) == records
    if max_bytes == 100:
        assert log.bytes_between(offset, end) == len(b"".join(records))
