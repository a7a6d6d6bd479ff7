"""A subject of a Python process as an adapter: what goes wrong with it ends this process alone.

    python -m purgatory_spark.campaigns.serving SUBJECT

It speaks the adapter protocol on its standard streams. It leaves when it is told to, when its
input ends, and within two seconds when whoever started it is gone, even if the subject never
returns. A subject that takes more memory than it may ends the process with ``EXIT_MEMORY``.
"""

import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from purgatory_conformance.opening import open_subject
from purgatory_conformance.subjects.guarded import GuardedSubject
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.jsonlines import decode_line, encode_line
from purgatory_spec.messages import (
    PROTOCOL_VERSION,
    Components,
    Do,
    New,
    NewChannelMuting,
    NewMemoryPool,
    NewPurgatory,
    NewTimer,
    Reply,
)

EXIT_MEMORY = 70
"""The exit code of a process whose subject has taken more memory than it may."""

_SECONDS_BETWEEN_LOOKS = 1.0
_LARGEST_SHORT = 10**15
_NEW: Mapping[str, type[New]] = {
    "timer": NewTimer,
    "purgatory": NewPurgatory,
    "memory_pool": NewMemoryPool,
    "channel_muting": NewChannelMuting,
}


class _Request(msgspec.Struct, frozen=True):
    """The fields of every request, and the component of ``new``."""

    request: str
    id: int
    component: str = ""


_REQUEST = msgspec.json.Decoder(_Request)
_DO = msgspec.json.Decoder(Do)
_ENCODER = msgspec.json.Encoder()


@click.command()
@click.argument("subject")
@click.option("--release", default="")
@click.option("--work", type=click.Path(path_type=Path), required=True)
@click.option("--memory", type=int, required=True)
def main(subject: str, release: str, work: Path, memory: int) -> None:
    """Answer requests to SUBJECT; ``--memory`` is in MiB beyond what it takes when it is opened."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a subject prints is no reply
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    try:
        served = open_subject(subject, work_folder=work, release=release).subject
        if isinstance(served, GuardedSubject):
            served.time_limit_seconds = math.inf  # the campaign has a limit of its own
        _limit_memory(memory)
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            reply = _answer(served, line)
            if reply is None:
                break
            replies.write(_encoded(reply))
    except MemoryError:
        os.write(sys.stderr.fileno(), b"the subject took more memory than it may\n")
        os._exit(EXIT_MEMORY)
    sys.stderr.flush()
    os._exit(0)  # no thread that the subject has left behind may keep the process


def _leave_with(starter: int) -> None:
    """End this process, whatever it is doing, soon after the process that started it has ended."""
    while os.getppid() == starter:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(0)


def _limit_memory(mebibytes: int) -> None:
    """Let this process take so much more address space than it has now; on Linux alone."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + mebibytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _answer(subject: Subject, line: bytes) -> Reply | None:
    """Return the reply to a request; None to ``stop``."""
    request = _REQUEST.decode(line)
    try:
        match request.request:
            case "hello":
                components = msgspec.convert(
                    {each.value: profile for each, profile in subject.profiles.items()}, Components
                )
                return Reply(request.id, PROTOCOL_VERSION, subject.implementation, components)
            case "new":
                asked = decode_line(line, _NEW[request.component])
                subject.new(asked.case, asked.configuration)
            case "do":
                return _done(subject, line, request.id)
            case "end":
                subject.end()
            case "stop":
                return None
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None
        traceback.print_exc()
        return Reply(request.id, error=f"{type(error).__name__}: {error}")
    return Reply(request.id)


def _done(subject: Subject, line: bytes, number: int) -> Reply:
    try:
        operation = _DO.decode(line).operation
    except msgspec.ValidationError:  # a large integer, which travels as a string
        operation = decode_line(line, Do).operation
    (outcome,) = subject.do_all([operation])
    return Reply(
        number,
        result=outcome.result,
        rejected=outcome.rejected,
        events=outcome.events,
        observed=outcome.observed,
        detail=outcome.detail,
        called_ms=outcome.called_ms,
        returned_ms=outcome.returned_ms,
    )


def _encoded(reply: Reply) -> bytes:
    """Return the value as one line; large integers become strings, which is slower and rare."""
    values = (reply.result, *reply.observed.values())
    if any(isinstance(value, int) and abs(value) >= _LARGEST_SHORT for value in values):
        return encode_line(reply).encode() + b"\n"
    return _ENCODER.encode(reply) + b"\n"


if __name__ == "__main__":
    main()
