"""The messages: what a client asks of the broker, and what the broker answers.

A message is a frame of the server, four bytes of size in front, with an array in MessagePack. Its
first element is the API key, its second the correlation id, any number of the client's, which comes
back in the response. A connection has one request at a time.

    produce     [0, correlation id, partition, [record, ...], acks, time-out ms]
      answer    [0, correlation id, offset of the first record]
    fetch       [1, correlation id, {partition: offset, ...}, fewest bytes, longest wait ms,
                 most bytes, replica id]
      answer    [1, correlation id, {partition: [high watermark, [record, ...]], ...}]
    refusal     [2, correlation id, error code, what was wrong]

    partition   [topic, number]
    record      bytes

A request that cannot be read closes its connection: nobody knows what its sender would understand.
Nor can a request of more than ``MOST_ELEMENTS`` records or positions, each of which takes up to 200
bytes once it is read, and as little as two in the request. So to read a request takes its bytes and
2 MiB at most, or five times its bytes where they are a topic's name: one letter may make all others
four bytes wide. To read an answer takes twenty times its bytes and 2 MiB at most.

The broker shortens a wait to ``MOST_WAIT_MS``, and an answer to ``MOST_BYTES`` of records, where a
request asks for more.

A client that sends no more, or has gone, does not wait: its request is answered at once with what
there is, a fetch with fewer bytes, and a produce that not all followers have with a refusal.
"""

from enum import IntEnum
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.msgpack import Decoder, Encoder

CONSUMER: Final = -1
"""The replica id of a client that is no follower."""

MOST_ELEMENTS: Final = 10_000
"""The most records in a produce, positions in a fetch, and records in all of its answer."""

MOST_WAIT_MS: Final = 300_000
"""The longest wait, ms: who left without a trace, by a broken network, holds a connection so long.

Kafka's brokers wait as long as a request says.
"""

MOST_BYTES: Final = 2**20
"""The most bytes of records in the answer to a fetch; the first record may exceed it."""

Count = Annotated[int, Meta(ge=0, lt=2**31)]
"""A number of bytes or of milliseconds."""


class Acks(IntEnum):
    """The brokers that have a record when a produce is acknowledged."""

    LEADER = 1
    ALL = -1


class ErrorCode(IntEnum):
    """The reason for which a request was refused."""

    UNKNOWN_PARTITION = 1
    OFFSET_OUT_OF_RANGE = 2
    UNKNOWN_REPLICA = 3
    TIMED_OUT = 4
    """The records are in the leader's log, and not on all followers in time."""
    STOPPING = 5
    """The records are in the leader's log; the broker stops, and waits for no follower any more."""
    CLIENT_ENDED = 6
    """The records are in the leader's log; the client sends no more and has perhaps gone."""


class Value(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A message part that is written as an array of its fields."""


class Message(Value, frozen=True):
    """A request or a response."""

    correlation_id: int


class TopicPartition(Value, frozen=True):
    """A partition's name; the key under which requests wait."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


Records = Annotated[tuple[bytes, ...], Meta(max_length=MOST_ELEMENTS)]


class ProduceRequest(Message, frozen=True, tag=0):
    """Append records to a partition."""

    partition: TopicPartition
    records: Annotated[Records, Meta(min_length=1)]
    acks: Acks
    timeout_ms: Count


class FetchRequest(Message, frozen=True, tag=1):
    """Read from partitions, each from an offset on, once there is enough to read.

    Attributes:
        positions: The offsets to begin at.
        min_bytes: Enough, in all partitions together.
        max_wait_ms: After this time, and after ``MOST_WAIT_MS``, less is enough.
        max_bytes: The most to read, up to ``MOST_BYTES``; the first record may exceed it.
        replica_id: A follower's number, or ``CONSUMER``.
    """

    positions: Annotated[dict[TopicPartition, int], Meta(min_length=1, max_length=MOST_ELEMENTS)]
    min_bytes: Count
    max_wait_ms: Count
    max_bytes: Count
    replica_id: int


class Produced(Message, frozen=True, tag=0):
    """The records are where they were to be."""

    offset: int


class Read(Value, frozen=True):
    """Successive records of one partition, from the offset that was asked for."""

    high_watermark: int
    records: Records


class Fetched(Message, frozen=True, tag=1):
    """The answer to a fetch: the records read of each partition."""

    partitions: Annotated[dict[TopicPartition, Read], Meta(max_length=MOST_ELEMENTS)]


class Refusal(Message, frozen=True, tag=2):
    """The request could not be done."""

    code: ErrorCode
    problem: str


class RefusedRequest(Exception):
    """A refusal: raised where the broker decides it, and again in the client."""

    def __init__(self, code: ErrorCode, problem: str) -> None:
        super().__init__(problem)
        self.code = code


Request = ProduceRequest | FetchRequest
Response = Produced | Fetched | Refusal

encode: Final = Encoder().encode
REQUESTS: Final[Decoder[Request]] = Decoder(Request)
RESPONSES: Final[Decoder[Response]] = Decoder(Response)
"""Decoders copy: what they return does not refer to the bytes that it was read from."""
