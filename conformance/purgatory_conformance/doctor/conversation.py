"""The doctor's side of the pipe: one request at a time, faults become findings."""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.subjects.adapter_client import PROCESS_FAILURES, AdapterClient, Asked
from purgatory_conformance.subjects.adapter_replies import (
    Greeting,
    decode_greeting,
    decode_reply,
    hello,
    shown,
)
from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.subject import FailureKind
from purgatory_spec.messages import Reply

_MOST_STRAY_LINES = 10

_UNASKED = "nobody asked for this line; write one reply to each request"


class _HasId(Protocol):
    @property
    def id(self) -> int: ...


Decoded = TypeVar("Decoded", bound=_HasId)


@dataclass(frozen=True)
class ReadReply(Generic[Decoded]):
    """A decoded reply, with the lines sent and received."""

    sent: str
    received: str
    reply: Decoded

    def finding(self, verdict: Severity, explanation: str) -> Finding:
        """Return a finding about the lines sent and received."""
        return Finding(verdict, explanation, self.sent, self.received)


class Conversation:
    """Asks one request at a time; finds faults instead of raising them."""

    def __init__(self, client: AdapterClient) -> None:
        """Begin a conversation; nothing is started yet."""
        self.client = client

    def greet(self) -> Generator[Finding, None, ReadReply[Greeting] | None]:
        """Start a process and send ``hello``."""
        try:
            self.client.start()
        except Fault as fault:
            yield Finding(Severity.WRONG, fault.explanation)
            return None
        asked = self.client.asked(hello)
        answer = yield from self._exchange(asked, decode_greeting)
        if answer is not None and answer.reply.id != asked.id:
            yield _wrong_id(answer, asked.id)
        return answer

    def ask(self, asked: Asked) -> Generator[Finding, None, ReadReply[Reply] | None]:
        """Ask a request; the answer, or None where it was no good or told of a failure.

        Where an earlier request ended the process, nothing is asked.
        """
        answer = yield from self._exchange(asked, decode_reply)
        if answer is None:
            return None
        reply = answer.reply
        if reply.error:
            sentence = f"the adapter reports a failure of its own: {reply.error}"
            yield answer.finding(Severity.WRONG, sentence)
            return None
        if reply.id != asked.id:
            yield _wrong_id(answer, asked.id)
            return None
        return answer

    def ask_nonsense(self) -> Iterator[Finding]:
        """Send what is no request; the answer must have the id 0 and an error."""
        answer = yield from self._exchange(Asked(0, b"wobble\n"), decode_reply)
        if answer is None:
            return
        if answer.reply.error and answer.reply.id == 0:
            yield answer.finding(Severity.OK, "a line that is no request is answered with 'error'")
        else:
            yield answer.finding(
                Severity.WRONG,
                "a line that is no request must be answered with the id 0 and the field 'error'",
            )

    def leave(self, line: bytes) -> Iterator[Finding]:
        """Say a last request, or none, and see the process leave."""
        process, seconds = self.client.process, self.client.seconds
        sent = shown(line)
        word = "'stop'" if line else "the end of standard input"
        deadline = time.monotonic() + seconds
        if line:
            process.write(line, seconds)
        else:
            process.close_input()
        try:
            received = process.read_line(seconds)
        except Fault as fault:
            received = fault.received
        if received:
            explanation = f"{word} has no reply; leave without one"
            yield Finding(Severity.WRONG, explanation, sent, shown(received))
        code = process.exit_code(max(0.0, deadline - time.monotonic()))
        if code is None:
            explanation = f"it still runs {seconds:g} s after {word}; it must exit"
            yield Finding(Severity.WRONG, explanation, sent)
        elif code != 0:
            yield Finding(Severity.NOTE, f"it exits at {word}, with the code {code}", sent)
        else:
            yield Finding(Severity.OK, f"it exits at {word}", sent)
        self.client.end()

    def _exchange(
        self, asked: Asked, decode: Callable[[bytes], Decoded]
    ) -> Generator[Finding, None, ReadReply[Decoded] | None]:
        """Send a request and read its reply; pass over other lines, but not over many.

        A process that fails is ended; where none runs, nothing is asked.
        """
        client = self.client
        if not client.runs:
            return None
        sent = shown(asked.line.strip(b"\n"))
        try:
            for _ in range(_MOST_STRAY_LINES):
                if not client.has_unasked_line():
                    break
                yield Finding(Severity.WRONG, _UNASKED, "", shown(client.received))
            client.send(asked)
            for _ in range(_MOST_STRAY_LINES):
                try:
                    reply = client.receive(decode, client.seconds + asked.seconds)
                except Fault as fault:
                    if fault.kind in PROCESS_FAILURES:
                        raise
                    received = shown(client.received)
                    yield Finding(Severity.WRONG, fault.explanation, sent, received)
                    if fault.kind not in (FailureKind.BANNER, FailureKind.GARBAGE):
                        return None
                    continue
                received = shown(client.received)
                if not 0 < reply.id < asked.id:
                    return ReadReply(sent, received, reply)
                yield Finding(Severity.WRONG, _UNASKED, "", received)
            explanation = "there are too many such lines; the doctor ends this process"
            yield Finding(Severity.WRONG, explanation, sent)
            client.end()
        except Fault as fault:
            client.end()
            yield Finding(
                Severity.WRONG,
                fault.explanation,
                sent,
                shown(fault.received),
                client.standard_error,
            )
        return None


def _wrong_id(answer: ReadReply[Decoded], expected: int) -> Finding:
    explanation = f"the reply has the id {answer.reply.id}; copy the id of the request, {expected}"
    return answer.finding(Severity.WRONG, explanation)
