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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from purgatory_conformance.subjects.adapter_client import AdapterClient, Asked
from purgatory_conformance.subjects.adapter_process import PIPE_BYTES
from purgatory_conformance.subjects.adapter_replies import (
    Greeting,
    decode_greeting,
    decode_reply,
    hello,
    shown,
)
from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.subject import (
    FailureKind,
    SubjectFailure,
    UnsupportedConfigurationError,
    profile_of,
)
from purgatory_spec.messages import Do, End, Implementation, Reply, Stop, new
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile, component_of

# How long the process may take to leave after ``stop``.
_STOP_SECONDS = 2.0

_ERROR_OUTPUT_SECONDS = 0.2

_WITH_STACKS = frozenset({"Python", "Go"})
"""The languages of which a process that is aborted tells where its threads were."""


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
        self._client = AdapterClient(
            tuple(command), working_folder, environment, seconds=time_limit_seconds
        )
        self._start_limit = max(time_limit_seconds, start_limit_seconds)
        self._look_ahead = look_ahead
        self._greeting: Greeting | None = None
        self._waiting: deque[Asked] = deque()
        self._last_sent = 0
        self._cases = 0
        self._is_open = False

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
    def time_limit_seconds(self) -> float:
        """Return how long any single reply may take, s; it may be changed between cases."""
        return self._client.seconds

    @time_limit_seconds.setter
    def time_limit_seconds(self, seconds: float) -> None:
        self._client.seconds = seconds

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
        if not self._client.runs:
            self._greet()
        profile = profile_of(self, component_of(configuration))
        reply = self._exchange(self._client.asked(lambda i: new(i, case, configuration)))
        if reply.unsupported:
            raise UnsupportedConfigurationError(reply.unsupported)
        self._client.begin(profile)
        self._cases += 1
        self._is_open = True

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
        postponed: Asked | None = None
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
        self._exchange(self._client.asked(End))

    def close(self) -> None:
        """End the adapter; no process or thread is left behind. Never raises."""
        if not self._client.runs:
            return
        self._client.send(self._client.asked(Stop))
        self._client.process.close_input()
        self._client.process.exit_code(min(self._client.seconds, _STOP_SECONDS))
        self._end_process()

    def _asked_to_do(self, operation: Operation) -> Asked:
        return self._client.asked(lambda i: Do(i, operation), operation)

    def _greeted(self) -> Greeting:
        if self._greeting is None:
            self._greet()
        assert self._greeting is not None
        return self._greeting

    def _greet(self) -> None:
        """Start a process and learn who it is."""
        asked = self._client.asked(hello)
        try:
            with self._failing(asked):
                self._client.start()
                self._send([asked])
                greeting = self._client.receive(decode_greeting, self._start_limit)
                self._check_id(greeting.id)
        except SubjectFailure:
            self._end_process()
            raise
        self._waiting.popleft()
        self._greeting = greeting

    def _send_ahead(
        self, requests: Iterator[Asked], postponed: Asked | None
    ) -> tuple[Asked | None, bool]:
        """Send what may be sent; the request that must wait, and whether there is no other."""
        batch: list[Asked] = []
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

    def _send(self, batch: Sequence[Asked]) -> None:
        self._waiting.extend(batch)
        self._last_sent = batch[-1].id
        self._client.send(*batch)

    def _refuse_unasked(self) -> None:
        """Refuse a line that has come without a request."""
        if self._waiting:
            return
        with self._failing(None):
            if self._client.has_unasked_line():
                decode_reply(self._client.received)
                raise Fault(
                    FailureKind.FLOODED,
                    "a reply came while nothing was asked; write exactly one reply to each request",
                )

    def _exchange(self, asked: Asked) -> Reply:
        """Send one request and wait for its reply."""
        self._refuse_unasked()
        self._send([asked])
        with self._failing(asked):
            # Making the first instance of a process takes its time, however short steps must be.
            reply = self._next_reply(self._start_limit)
            if reply.error:
                raise Fault(FailureKind.ERRORED, reply.error)
        self._waiting.popleft()
        return reply

    def _next_outcome(self) -> Outcome:
        asked = self._waiting[0]
        assert asked.operation is not None
        with self._failing(asked):
            reply = self._next_reply(self._client.seconds + asked.seconds)
            outcome = self._client.outcome(reply, asked.operation)
        self._waiting.popleft()
        return outcome

    def _next_reply(self, seconds: float) -> Reply:
        """Return the reply to the request that has waited longest."""
        reply = self._client.receive(decode_reply, seconds)
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
        if not self._client.runs:
            return
        deadline = time.monotonic() + self._client.seconds
        try:
            while self._waiting:
                self._next_reply(max(0.0, deadline - time.monotonic()))
                self._waiting.popleft()
        except Fault:
            self._end_process()

    @contextmanager
    def _failing(self, asked: Asked | None) -> Iterator[None]:
        """Turn a fault into the failure of a request; end a process that is out of step."""
        try:
            yield
        except Fault as fault:
            self._is_open = False
            if fault.kind is FailureKind.HUNG and self._writes_stacks:
                self._client.process.abort()
            if fault.kind is not FailureKind.ERRORED:
                self._end_process()
            else:
                if self._waiting and self._waiting[0] is asked:
                    self._waiting.popleft()
                # Lines of standard error written before the reply may still be on their way.
                time.sleep(_ERROR_OUTPUT_SECONDS)
            raise SubjectFailure(
                fault.kind,
                fault.explanation,
                asked=asked.line.decode().rstrip("\n") if asked is not None else "",
                received=shown(fault.received or self._client.received),
                standard_error=self._client.standard_error,
            ) from fault

    @property
    def _writes_stacks(self) -> bool:
        """Decide whether the adapter's language writes the stacks of a process that is aborted."""
        return self._greeting is not None and self._greeting.implementation.language in _WITH_STACKS

    def _end_process(self) -> None:
        self._client.end()
        self._waiting.clear()
        self._is_open = False
