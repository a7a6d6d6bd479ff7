"""The cost of reading a message: a bound that is stated, whatever is sent."""

import struct
import tracemalloc
from collections.abc import Callable

import pytest
from msgspec.msgpack import Decoder
from msgspec.msgpack import encode as pack

from broker.log import PartitionLog
from broker.protocol import MOST_ELEMENTS, REQUESTS, RESPONSES

MANY = 490_000
KEY = pack(["orders", 0])
TEXT = b"\xdb" + struct.pack(">I", 900_000) + b"a" * 899_996 + "\N{GRINNING FACE}".encode()
"""Text that is kept with four bytes for each letter, though all letters but one need only one."""


def array(size: int) -> bytes:
    return b"\xdd" + struct.pack(">I", size)


def mapping(size: int) -> bytes:
    return b"\xdf" + struct.pack(">I", size)


def produce(records: bytes, partition: bytes = KEY) -> bytes:
    return b"\x96\x00\x07" + partition + records + b"\x01\x00"


def fetch(positions: bytes) -> bytes:
    return b"\x97\x01\x07" + positions + b"\x00\x00\x00\xff"


def partitions(count: int, value: bytes) -> bytes:
    """The names that cost the most for their bytes: one letter each, and not of Latin-1."""
    return b"".join(
        pack([chr(0x400 + number // 100), number % 100]) + value for number in range(count)
    )


def read(records: bytes) -> bytes:
    return b"\x92\x00" + records


SMALL = b"\xc4\x02ab"
REQUEST_BODIES = {
    "empty records": produce(array(MANY) + b"\xc4\x00" * MANY),
    "small records": produce(array(MANY // 2) + SMALL * (MANY // 2)),
    "as many as may be": produce(array(MOST_ELEMENTS) + SMALL * MOST_ELEMENTS),
    "one large": produce(pack([bytes(900_000)])),
    "announced": produce(array(2**32 - 1)),
    "announced, one there": produce(array(2**28) + SMALL),
    "positions": fetch(mapping(100_000) + partitions(100_000, b"\x00")),
    "as many positions as may be": fetch(
        mapping(MOST_ELEMENTS) + partitions(MOST_ELEMENTS, b"\x00")
    ),
    "positions announced": fetch(mapping(2**32 - 1)),
    "wide text": produce(pack([b"a"]), partition=b"\x92" + TEXT + b"\x00"),
    "fields announced": array(2**32 - 1) + b"\x00\x07",
    "nested": b"\x91" * 900_000,
    "nested maps": fetch(b"\x81" * 900_000),
}
RESPONSE_BODIES = {
    "empty records": b"\x93\x01\x07" + mapping(1) + KEY + read(array(MANY) + b"\xc4\x00" * MANY),
    "partitions": b"\x93\x01\x07" + mapping(90_000) + partitions(90_000, b"\x92\x00\x90"),
    "partitions announced": b"\x93\x01\x07" + mapping(2**32 - 1),
    "as many as may be": b"\x93\x01\x07"
    + mapping(MOST_ELEMENTS)
    + partitions(MOST_ELEMENTS, b"\x92\x00\x90"),
    "small records in many partitions": b"\x93\x01\x07"
    + mapping(20)
    + partitions(20, read(array(MOST_ELEMENTS) + SMALL * MOST_ELEMENTS)),
    "wide text": b"\x94\x02\x07\x01" + TEXT,
}


def most_bytes(decode: Callable[[bytes], object], body: bytes) -> int:
    """Return the most bytes that are taken while a message is read or refused."""
    tracemalloc.start()
    try:
        decode(body)
    except ValueError:
        pass
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return most


def stated_bytes(body: bytes, times: int = 1) -> int:
    """The bound of ``broker.protocol``."""
    return times * len(body) + 2 * 2**20


@pytest.mark.parametrize("name", REQUEST_BODIES)
def test_a_request_is_read_within_the_stated_bound(name: str) -> None:
    body = REQUEST_BODIES[name]
    times = 5 if name == "wide text" else 1
    assert most_bytes(REQUESTS.decode, body) <= stated_bytes(body, times)


@pytest.mark.parametrize("name", RESPONSE_BODIES)
def test_a_response_is_read_within_the_stated_bound(name: str) -> None:
    body = RESPONSE_BODIES[name]
    assert most_bytes(RESPONSES.decode, body) <= stated_bytes(body, 20)


def test_many_small_records_without_a_bound_exceed_it() -> None:
    """The control: what decoders without bounds take."""
    unbounded = Decoder(tuple[int, int, tuple[str, int], tuple[bytes, ...], int, int]).decode
    body = REQUEST_BODIES["small records"]
    assert most_bytes(unbounded, body) > stated_bytes(body)


def test_a_record_costs_16_bytes_of_a_log_beside_its_own() -> None:
    """Lists are allocated with some space: an eighth."""
    log = PartitionLog()
    records = [b""] * 1000
    tracemalloc.start()
    try:
        for _ in range(100):
            log.append(records)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 16 * 100_000 <= kept <= 18.5 * 100_000
