"""The client of an adapter: it numbers requests, writes them, and reads and decodes the replies.

A check's subject and the doctor talk through it, and each decides what follows from a ``Fault``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from purgatory_conformance.subjects.adapter_process import AdapterProcess
from purgatory_conformance.subjects.adapter_replies import encode_request
from purgatory_conformance.subjects.outcome_rules import OutcomeRules
from purgatory_conformance.subjects.subject import FailureKind
from purgatory_spec.messages import Reply
from purgatory_spec.operations import Operation, Shutdown, Wait
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Profile

Decoded = TypeVar("Decoded")

PROCESS_FAILURES = frozenset(
    {
        FailureKind.NOT_STARTED,
        FailureKind.CRASHED,
        FailureKind.HUNG,
        FailureKind.CLOSED_PIPE,
        FailureKind.TOO_LONG,
    }
)
"""The kinds of faults in which no whole line came."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request on its way: its number, its line, and the operation of a ``do``."""

    id: int
    line: bytes
    operation: Operation | None = None

    @property
    def seconds(self) -> float:
        """Return the time that the adapter spends on purpose before it replies."""
        return self.operation.for_ms / 1000 if type(self.operation) is Wait else 0.0


class AdapterClient:
    """The suite's end of the pipe to an adapter, whose process is started as often as needed."""

    def __init__(
        self,
        command: Sequence[str],
        working_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        seconds: float,
    ) -> None:
        """Start nothing yet; ``seconds`` is how long any single reply may take."""
        self.seconds = seconds
        self.runs = False
        self.received = b""
        """The line that was read last; empty where a process failed before a whole line came."""
        self._start = partial(AdapterProcess, command, working_folder, environment)
        self._process: AdapterProcess | None = None
        self._ids = 0
        self._rules: OutcomeRules | None = None
        self._is_shut_down = False

    @property
    def process(self) -> AdapterProcess:
        """Return the process that was started last."""
        assert self._process is not None
        return self._process

    @property
    def standard_error(self) -> str:
        """Return the last lines of standard error, also of a process that has been ended."""
        return self._process.standard_error if self._process is not None else ""

    def start(self) -> None:
        """Start a fresh process in the place of the present one.

        Raises:
            Fault: the command cannot be started.
        """
        self.end()
        self._process = None
        self.received = b""
        self._process = self._start()
        self.runs = True

    def end(self) -> None:
        """End the process, if one runs."""
        if self.runs:
            self.process.end()
        self.runs = False

    def asked(
        self,
        request: Callable[[int], msgspec.Struct | Mapping[str, object]],
        operation: Operation | None = None,
    ) -> Asked:
        """Return a request with the next number."""
        self._ids += 1
        return Asked(self._ids, encode_request(request(self._ids)), operation)

    def send(self, *requests: Asked) -> None:
        """Write requests, at most what the pipe can hold at present or else a single one."""
        self.process.write(b"".join([asked.line for asked in requests]), self.seconds)

    def has_unasked_line(self) -> bool:
        """Decide whether a line has come already, which is then the one received; never wait."""
        line = self.process.line_at_hand()
        self.received = line or b""
        return line is not None

    def receive(self, decode: Callable[[bytes], Decoded], seconds: float) -> Decoded:
        """Return the next line, decoded.

        Raises:
            Fault: no line came within so many seconds, or it is not what is decoded.
        """
        self.received = b""
        self.received = self.process.read_line(seconds)
        return decode(self.received)

    def begin(self, profile: Profile) -> None:
        """Expect the outcomes of a fresh instance of this profile."""
        self._rules = OutcomeRules(profile)
        self._is_shut_down = False

    def outcome(self, reply: Reply, operation: Operation) -> Outcome:
        """Return the outcome of an operation of the present instance.

        Raises:
            Fault: the reply reports a failure, or lacks something that was declared.
        """
        assert self._rules is not None
        accepted = reply.rejected is None and not reply.unsupported
        closed = self._is_shut_down or (type(operation) is Shutdown and accepted)
        outcome = self._rules.outcome(reply, operation, closed=closed)
        self._is_shut_down = closed
        return outcome
