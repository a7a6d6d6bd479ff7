"""The lines that a peer reads and writes, one JSON object each."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=100_000_000)]
Figure: TypeAlias = int | float | str | None


class CannotMeasure(Exception):
    """A measure that cannot be taken as it was asked for, or whose check has failed; says why."""


class Hello(msgspec.Struct, frozen=True):
    """The first line of a peer: name, version, runtime and the measures it can take."""

    peer: str
    version: str
    runtime: str
    measures: tuple[str, ...]


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request for a measure; keys unknown to the measure are allowed.

    Attributes:
        measure: Its name.
        pending: How many timers, or operations, are there before measuring begins.
        operations: How many times the measured thing is done; of ``pause``, milliseconds.
        seed: Of the inputs, taken modulo 2**64.
        keys: How many keys there are; of ``event``, keys that an operation waits under.
        payload: Bytes that each operation holds.
        bytes: Of ``pool``, the size of a buffer.
        operation: Of ``purgatory``: of a user's interpreted class, or ready-made of callables.
        purge_interval: Of ``workload``, that of the purgatory.
        rate: Of ``workload``, requests a second that are aimed at; 0 for as fast as it goes.
        case: Of ``workload``, how many requests time out.
        design: Of ``workload``, which purgatory; empty for the one that the peer is for.
    """

    measure: str
    pending: Count = 0
    operations: Annotated[int, msgspec.Meta(ge=1, le=100_000_000)] = 1
    seed: int = 0
    keys: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 3
    payload: Count = 0
    bytes: Count = 100
    operation: Literal["interpreted", "ready-made"] = "interpreted"
    purge_interval: Count = 1000
    rate: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    case: Literal["low", "high"] = "low"
    design: str = ""


class Measurement(msgspec.Struct, frozen=True):
    """The cost of a measured stretch.

    Attributes:
        operations: The number of operations done.
        thread_cpu_ns: Processor time of the working thread, ns; None for several threads.
        process_cpu_ns: Processor time of the process, ns; None where it cannot be told.
        wall_ns: Time by the clock, ns.
        detail: What the measure says besides.
    """

    operations: int
    thread_cpu_ns: int | None
    process_cpu_ns: int | None
    wall_ns: int
    detail: Mapping[str, Figure] = {}


class Failure(msgspec.Struct, frozen=True):
    """The answer where there is nothing else to say; the peer stays ready."""

    error: str


def read_request(line: str) -> Request:
    """Return the request on a line.

    Raises:
        CannotMeasure: the line is no request.
    """
    try:
        return msgspec.json.decode(line, type=Request)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise CannotMeasure(f"this is no request: {error}") from None


def written(message: Hello | Measurement | Failure) -> str:
    """Return the line of a message, without its end."""
    return msgspec.json.encode(message).decode()
