"""A subject in a child process that answers JSON lines (``spec/protocol.md``).

Theory of operation. One thread reads the child's standard output in chunks into a bounded queue,
another keeps the end of its standard error; whoever waits for a reply waits on the queue, so that
no system needs to select on pipes, and a flood meets a full queue instead of memory. Requests go
out in batches, ahead of their replies, but never more bytes than an empty pipe takes: a write
cannot block then, and nobody waits for each other in a circle. A single request that is larger
than that is written by a thread of its own, with the time limit of a reply.

A reply that breaks the protocol is a ``Fault``. The subject adds what was asked, what came and the
end of standard error, and ends the process, since nothing it says can be trusted any more; the
next ``new`` starts a fresh one. A reply that only reports a failure leaves the process in service.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from purgatory_conformance.subjects.adapter_process import PIPE_BYTES, AdapterProcess
from purgatory_conformance.subjects.adapter_replies import (
    Greeting,
    decode_greeting,
    decode_reply,
    encode_request,
    hello,
    shown,
)
from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.outcome_rules import OutcomeRules
from purgatory_conformance.subjects.subject import (
    FailureKind,
    SubjectFailure,
    UnsupportedConfigurationError,
    profile_of,
)
from purgatory_spec.messages import (
    Do,
    End,
    Implementation,
    Reply,
    Stop,
    new,
)
from purgatory_spec.operations import Operation, Shutdown, Wait
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile, component_of

# How long the process may take to leave after ``stop``.
_STOP_SECONDS = 2.0

_ERROR_OUTPUT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request on its way: number, line, and the operation of a ``do``."""

    id: int
    line: bytes
    operation: Operation | None = None


class ChildProcessSubject:
    """An implementation behind an adapter in a child process; one thread at a time may use it.

    The process starts when it is first needed. ``name`` is what the user calls the subject.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        time_limit_seconds: float = 10.0,
        start_limit_seconds: float = 0.0,
        working_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        look_ahead: int = 32,
    ) -> None:
        """Describe the subject; nothing is started yet.

        Args:
            command: the program and its arguments.
            name: what the user calls the subject.
            time_limit_seconds: how long any single reply may take.
            start_limit_seconds: how long the first reply of a process may take, where that is
                longer: it has to start before.
            working_folder: where the program starts; here when absent.
            environment: variables to add to those of this process.
            look_ahead: how many requests may be sent without their replies; 1 waits for each.

        Raises:
            ValueError: the command is empty, or a number is not positive.
        """
        if not command:
            raise ValueError("the command is empty; it must name a program")
        if look_ahead < 1 or time_limit_seconds <= 0:
            raise ValueError("look_ahead and time_limit_seconds must be positive")
        self.name = name
        self._command = tuple(command)
        self._working_folder = working_folder
        self._environment = dict(environment or {})
        self._time_limit = time_limit_seconds
        self._start_limit = max(time_limit_seconds, start_limit_seconds)
        self._look_ahead = look_ahead
        self._process: AdapterProcess | None = None
        self._greeting: Greeting | None = None
        self._rules: OutcomeRules | None = None
        self._waiting: deque[_Asked] = deque()
        self._ids = 0
        self._last_sent = 0
        self._cases = 0
        self._is_open = False
        self._is_shut_down = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def implementation(self) -> Implementation:
        """Return the implementation under test; ask the adapter if it was not asked yet."""
        return self._greeted().implementation

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        """Return the profiles that the adapter declares; ask it if it was not asked yet."""
        return self._greeted().profiles

    def new(self, case: str, configuration: Configuration) -> None:
        """Make a fresh instance; the one before is gone.

        Raises:
            UnsupportedConfigurationError: the implementation does not offer such an instance.
            SubjectFailure: the subject could not be asked, or its answer was no answer.
        """
        self._abandon()
        if self._process is None:
            self._greet()
        profile = profile_of(self, component_of(configuration))
        reply = self._exchange(self._asked(lambda i: new(i, case, configuration)))
        if reply.unsupported:
            raise UnsupportedConfigurationError(reply.unsupported)
        self._rules = OutcomeRules(profile)
        self._cases += 1
        self._is_open = True
        self._is_shut_down = False

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another, yielding an outcome for each.

        Operations are taken and sent ahead of their outcomes. Whoever stops early must go on
        with ``new`` or ``end``, since the instance may have gone further than was seen.

        Raises:
            SubjectFailure: the subject could not be asked, or its answer was no answer.
            RuntimeError: there is no instance, or outcomes were left behind.
        """
        if not self._is_open or self._waiting:
            raise RuntimeError("there is no instance in a known state; call 'new' first")
        case = self._cases
        requests = (self._asked_to_do(operation) for operation in operations)
        postponed: _Asked | None = None
        ended = False
        while True:
            if not ended and len(self._waiting) <= self._look_ahead // 2:
                postponed, ended = self._send_ahead(requests, postponed)
            if not self._waiting:
                return
            yield self._next_outcome()
            if case != self._cases or not self._is_open:
                raise RuntimeError("the instance is gone; its outcomes cannot be asked for")

    def end(self) -> None:
        """Drop the instance; where outcomes were left behind, they are thrown away.

        Raises:
            SubjectFailure: the subject could not be asked, or its answer was no answer.
        """
        if self._waiting or not self._is_open:
            self._abandon()
            return
        self._is_open = False
        self._exchange(self._asked(End))

    def close(self) -> None:
        """End the adapter; no process or thread is left behind. Never raises."""
        process = self._process
        if process is None:
            return
        self._ids += 1
        process.write(encode_request(Stop(self._ids)), self._time_limit)
        process.close_input()
        process.exit_code(min(self._time_limit, _STOP_SECONDS))
        self._end_process()

    def _asked(
        self, request: Callable[[int], msgspec.Struct], operation: Operation | None = None
    ) -> _Asked:
        self._ids += 1
        return _Asked(self._ids, encode_request(request(self._ids)), operation)

    def _asked_to_do(self, operation: Operation) -> _Asked:
        return self._asked(lambda i: Do(i, operation), operation)

    def _greeted(self) -> Greeting:
        if self._greeting is None:
            self._greet()
        assert self._greeting is not None
        return self._greeting

    def _greet(self) -> None:
        """Start a process and learn who it is."""
        asked = self._asked(hello)
        line = b""
        try:
            self._process = AdapterProcess(self._command, self._working_folder, self._environment)
            self._send([asked])
            line = self._process.read_line(self._start_limit)
            greeting = decode_greeting(line)
            self._check_id(greeting.id)
        except Fault as fault:
            failure = self._failure(fault, asked, line)
            self._end_process()
            raise failure from fault
        self._waiting.popleft()
        self._greeting = greeting

    def _send_ahead(
        self, requests: Iterator[_Asked], postponed: _Asked | None
    ) -> tuple[_Asked | None, bool]:
        """Send what may be sent; the request that must wait, and whether there is no other."""
        batch: list[_Asked] = []
        free = PIPE_BYTES - sum(len(asked.line) for asked in self._waiting)
        ended = False
        while len(self._waiting) + len(batch) < self._look_ahead:
            asked = postponed or next(requests, None)
            if asked is None:
                ended = True
                break
            postponed = asked
            if len(asked.line) > free and (batch or self._waiting):
                break
            postponed = None
            free -= len(asked.line)
            batch.append(asked)
        if batch:
            self._refuse_unasked()
            self._send(batch)
        return postponed, ended

    def _send(self, batch: Sequence[_Asked]) -> None:
        assert self._process is not None
        self._waiting.extend(batch)
        self._last_sent = batch[-1].id
        self._process.write(b"".join([asked.line for asked in batch]), self._time_limit)

    def _refuse_unasked(self) -> None:
        """Refuse a line that has come without a request."""
        assert self._process is not None
        if self._waiting:
            return
        line = b""
        try:
            unasked = self._process.line_at_hand()
            if unasked is None:
                return
            line = unasked
            decode_reply(line)
            raise Fault(
                FailureKind.FLOODED,
                "a reply came while nothing was asked; write exactly one reply to each request",
            )
        except Fault as fault:
            raise self._failure(fault, None, line) from fault

    def _exchange(self, asked: _Asked) -> Reply:
        """Send one request and wait for its reply."""
        self._refuse_unasked()
        self._send([asked])
        line = b""
        try:
            line = self._read(self._time_limit)
            reply = self._matching_reply(line)
            if reply.error:
                raise Fault(FailureKind.ERRORED, reply.error)
        except Fault as fault:
            raise self._failure(fault, asked, line) from fault
        self._waiting.popleft()
        return reply

    def _next_outcome(self) -> Outcome:
        asked = self._waiting[0]
        operation = asked.operation
        assert operation is not None
        assert self._rules is not None
        limit = self._time_limit
        if type(operation) is Wait:
            limit += operation.for_ms / 1000
        line = b""
        try:
            line = self._read(limit)
            reply = self._matching_reply(line)
            accepted = reply.rejected is None and not reply.unsupported
            closed = self._is_shut_down or (type(operation) is Shutdown and accepted)
            outcome = self._rules.outcome(reply, operation, closed=closed)
        except Fault as fault:
            raise self._failure(fault, asked, line) from fault
        self._is_shut_down = closed
        self._waiting.popleft()
        return outcome

    def _read(self, seconds: float) -> bytes:
        assert self._process is not None
        return self._process.read_line(seconds)

    def _matching_reply(self, line: bytes) -> Reply:
        reply = decode_reply(line)
        if reply.id == 0 and reply.error:
            raise Fault(FailureKind.ERRORED, f"it could not read the request: {reply.error}")
        self._check_id(reply.id)
        return reply

    def _check_id(self, given: int) -> None:
        expected = self._waiting[0].id
        if given == expected:
            return
        if not 0 < given <= self._last_sent:
            raise Fault(
                FailureKind.WRONG_ID,
                f"the reply has the id {given}, which no request had (expected: {expected}); "
                "copy the id from the request",
            )
        if given > expected:
            raise Fault(
                FailureKind.OUT_OF_ORDER,
                f"the reply is to request {given}, but request {expected} came before; "
                "answer requests in their order",
            )
        raise Fault(
            FailureKind.FLOODED,
            f"request {given} was answered before; write exactly one reply to each request",
        )

    def _abandon(self) -> None:
        """Throw away the replies that nobody waits for; end a process that does not give them."""
        self._is_open = False
        if self._process is None:
            return
        deadline = time.monotonic() + self._time_limit
        try:
            while self._waiting:
                line = self._process.read_line(max(0.0, deadline - time.monotonic()))
                self._matching_reply(line)
                self._waiting.popleft()
        except Fault:
            self._end_process()

    def _failure(self, fault: Fault, asked: _Asked | None, line: bytes = b"") -> SubjectFailure:
        """Return the failure of a request by a fault; end a process that is out of step."""
        process = self._process
        standard_error = ""
        self._is_open = False
        if fault.kind is FailureKind.ERRORED and self._waiting and self._waiting[0] is asked:
            self._waiting.popleft()
        if process is not None:
            if fault.kind is FailureKind.ERRORED:
                # Lines of standard error written before the reply may still be on their way.
                time.sleep(_ERROR_OUTPUT_SECONDS)
            else:
                self._end_process()
            standard_error = process.standard_error
        return SubjectFailure(
            fault.kind,
            fault.explanation,
            asked=asked.line.decode().rstrip("\n") if asked is not None else "",
            received=shown(fault.received or line),
            standard_error=standard_error,
        )

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.end()
        self._process = None
        self._waiting.clear()
        self._is_open = False
