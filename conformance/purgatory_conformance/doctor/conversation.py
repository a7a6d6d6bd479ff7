"""The doctor's side of the pipe: one request at a time, faults become findings."""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.subjects.adapter_process import AdapterProcess
from purgatory_conformance.subjects.adapter_replies import (
    Greeting,
    decode_greeting,
    decode_reply,
    encode_request,
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

    def __init__(self, start: Callable[[], AdapterProcess], seconds: float) -> None:
        """Start nothing yet; ``seconds`` is how long any single reply may take."""
        self.seconds = seconds
        self._start = start
        self._process: AdapterProcess | None = None
        self._ids = 0

    @property
    def runs(self) -> bool:
        """Decide whether a process runs to talk to, so far as is known."""
        return self._process is not None

    def close(self) -> None:
        """End the adapter's process."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def next_id(self) -> int:
        """Return an id for a request."""
        self._ids += 1
        return self._ids

    def greet(self) -> Generator[Finding, None, ReadReply[Greeting] | None]:
        """Start a process and send ``hello``."""
        self.close()
        try:
            self._process = self._start()
        except Fault as fault:
            yield Finding(Severity.WRONG, fault.explanation)
            return None
        request = hello(self.next_id())
        answer = yield from self._exchange(encode_request(request), request.id, decode_greeting)
        if answer is not None and answer.reply.id != request.id:
            yield _wrong_id(answer, request.id)
        return answer

    def ask(
        self, line: bytes, identity: int, more_seconds: float = 0.0
    ) -> Generator[Finding, None, ReadReply[Reply] | None]:
        """Ask a request; the answer, or None where it was no good or told of a failure.

        Where an earlier request ended the process, nothing is asked.
        """
        if self._process is None:
            return None
        answer = yield from self._exchange(line, identity, decode_reply, more_seconds)
        if answer is None:
            return None
        reply = answer.reply
        if reply.error:
            sentence = f"the adapter reports a failure of its own: {reply.error}"
            yield answer.finding(Severity.WRONG, sentence)
            return None
        if reply.id != identity:
            yield _wrong_id(answer, identity)
            return None
        return answer

    def ask_nonsense(self) -> Iterator[Finding]:
        """Send what is no request; the answer must have the id 0 and an error."""
        if self._process is None:
            return
        answer = yield from self._exchange(b"wobble\n", 0, decode_reply)
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
        assert self._process is not None
        sent = shown(line)
        word = "'stop'" if line else "the end of standard input"
        deadline = time.monotonic() + self.seconds
        if line:
            self._process.write(line, self.seconds)
        else:
            self._process.close_input()
        try:
            received = self._process.read_line(self.seconds)
        except Fault as fault:
            received = fault.received
        if received:
            explanation = f"{word} has no reply; leave without one"
            yield Finding(Severity.WRONG, explanation, sent, shown(received))
        code = self._process.exit_code(max(0.0, deadline - time.monotonic()))
        if code is None:
            explanation = f"it still runs {self.seconds:g} s after {word}; it must exit"
            yield Finding(Severity.WRONG, explanation, sent)
        elif code != 0:
            yield Finding(Severity.NOTE, f"it exits at {word}, with the code {code}", sent)
        else:
            yield Finding(Severity.OK, f"it exits at {word}", sent)
        self.close()

    def _exchange(
        self,
        line: bytes,
        identity: int,
        decode: Callable[[bytes], Decoded],
        more_seconds: float = 0.0,
    ) -> Generator[Finding, None, ReadReply[Decoded] | None]:
        """Send a line and read its reply; pass over other lines, but not over many.

        A process that fails is ended.
        """
        assert self._process is not None
        sent = shown(line.strip(b"\n"))
        try:
            for _ in range(_MOST_STRAY_LINES):
                unasked = self._process.line_at_hand()
                if unasked is None:
                    break
                yield Finding(Severity.WRONG, _UNASKED, "", shown(unasked))
            self._process.write(line, self.seconds)
            for _ in range(_MOST_STRAY_LINES):
                received = self._process.read_line(self.seconds + more_seconds)
                try:
                    answer = ReadReply(sent, shown(received), decode(received))
                except Fault as fault:
                    yield Finding(Severity.WRONG, fault.explanation, sent, shown(received))
                    if fault.kind not in (FailureKind.BANNER, FailureKind.GARBAGE):
                        return None
                    continue
                if not 0 < answer.reply.id < identity:
                    return answer
                yield Finding(Severity.WRONG, _UNASKED, "", shown(received))
            explanation = "there are too many such lines; the doctor ends this process"
            yield Finding(Severity.WRONG, explanation, sent)
            self.close()
        except Fault as fault:
            process = self._process
            self.close()
            yield Finding(
                Severity.WRONG,
                fault.explanation,
                sent,
                shown(fault.received),
                process.standard_error,
            )
        return None


def _wrong_id(answer: ReadReply[Decoded], expected: int) -> Finding:
    explanation = f"the reply has the id {answer.reply.id}; copy the id of the request, {expected}"
    return answer.finding(Severity.WRONG, explanation)
