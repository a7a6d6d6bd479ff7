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
"""

from enum import IntEnum
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.msgpack import Decoder, Encoder

CONSUMER: Final = -1
"""The replica id of a client that is no follower."""

Count = Annotated[int, Meta(ge=0, lt=2**31)]
"""Of bytes or of milliseconds."""


class Acks(IntEnum):
    """Who has a record when a produce is acknowledged."""

    LEADER = 1
    ALL = -1


class ErrorCode(IntEnum):
    """Why a request was refused."""

    UNKNOWN_PARTITION = 1
    OFFSET_OUT_OF_RANGE = 2
    UNKNOWN_REPLICA = 3
    TIMED_OUT = 4
    """The records are in the leader's log, and not on all followers in time."""
    STOPPING = 5
    """As before, and the broker does not wait for the followers any more."""


class Value(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What is written as an array of its fields."""


class Message(Value, frozen=True):
    """A request or a response."""

    correlation_id: int


class TopicPartition(Value, frozen=True):
    """A partition's name; the key under which requests wait."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


class ProduceRequest(Message, frozen=True, tag=0):
    """Append records to a partition."""

    partition: TopicPartition
    records: Annotated[tuple[bytes, ...], Meta(min_length=1)]
    acks: Acks
    timeout_ms: Count


class FetchRequest(Message, frozen=True, tag=1):
    """Read from partitions, each from an offset on, once there is enough to read.

    Attributes:
        positions: The offsets to begin at.
        min_bytes: Enough, in all partitions together.
        max_wait_ms: After this time less is enough.
        max_bytes: The most to read; the first record may exceed it.
        replica_id: A follower's number, or ``CONSUMER``.
    """

    positions: Annotated[dict[TopicPartition, int], Meta(min_length=1)]
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
    records: tuple[bytes, ...]


class Fetched(Message, frozen=True, tag=1):
    """What was read."""

    partitions: dict[TopicPartition, Read]


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
