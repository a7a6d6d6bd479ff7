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

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar

import msgspec

from purgatory_conformance.subjects.subject import (
    FailureKind,
    SubjectFailure,
    UnsupportedConfigurationError,
)
from purgatory_conformance.version import SUITE_VERSION
from purgatory_spec.jsonlines import InvalidDocument, decode_line, encode_line
from purgatory_spec.messages import (
    PROTOCOL_VERSION,
    Do,
    End,
    Hello,
    Implementation,
    New,
    Reply,
    Stop,
    schema_digest,
)
from purgatory_spec.operations import Advance, Operation, Shutdown, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value
from purgatory_spec.profiles import (
    LARGEST_LONG,
    Clock,
    Observable,
    TimerConfiguration,
    TimerProfile,
)

COMPONENT = "timer"
"""The component that the suite asks for."""

LONGEST_LINE = 4 * 2**20
"""Bytes of the longest line that is read."""

RECEIVED_CHARACTERS = 500
"""How much of a wrong reply a failure shows."""

# The smallest buffer of a pipe on any of the systems is 4096 bytes; `stop` needs room beside.
_PIPE_BYTES = 4000
_CHUNK_BYTES = 65536
_CHUNKS_AHEAD = 16
_TAIL_BYTES = 16384
_TAIL_LINES = 20
# How long a process may take to exit once its output has ended, or to react to being ended.
_EXIT_SECONDS = 1.0
_TERMINATE_SECONDS = 0.5
_STOP_SECONDS = 2.0
_LOOK_SECONDS = 0.1

_SIXTEEN_DIGITS = re.compile(rb"[0-9]{16}")
_NINETEEN_DIGITS = re.compile(rb"[0-9]{19}")
_REPLY_DECODER = msgspec.json.Decoder(Reply)
_ENCODER = msgspec.json.Encoder()
_STILL_IN_SERVICE = frozenset({FailureKind.ERRORED, FailureKind.UNSUPPORTED})

Document = TypeVar("Document")


class Fault(Exception):
    """How something that was read, or that did not come, breaks the protocol.

    ``received`` is what came instead where the line itself does not say it.
    """

    def __init__(self, kind: FailureKind, explanation: str, received: bytes = b"") -> None:
        """Keep the parts, so that a failure can be made of them."""
        super().__init__(explanation)
        self.kind = kind
        self.explanation = explanation
        self.received = received


# What requests and replies say.


def hello(identity: int) -> Hello:
    """The first request to any adapter."""
    return Hello(identity, PROTOCOL_VERSION, SUITE_VERSION, schema_digest())


def encode_request(request: msgspec.Struct) -> bytes:
    """The request as one line of JSON with its newline; large integers become strings."""
    line = _ENCODER.encode(request)
    if _SIXTEEN_DIGITS.search(line):
        line = encode_line(request).encode()
    return line + b"\n"


def decode_reply(line: bytes) -> Reply:
    """The reply that a line holds, as strictly as ``decode_line`` reads it, but faster.

    A line has at least one colon for each key that it gives. Where it has no more of them than the
    reply has fields, no key was given twice and nothing unknown is nested in it.

    Raises:
        Fault: the line is no reply.
    """
    try:
        reply = _REPLY_DECODER.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    else:
        if line.count(b":") == _fields_given(reply) and not _NINETEEN_DIGITS.search(line):
            return reply
    reply = _decode(line, Reply)
    _refuse_wide_integers(_integers(reply))
    return reply


def _fields_given(reply: Reply) -> int:
    """How many keys the shortest line has that holds a reply to ``do``."""
    count = 1
    if reply.observed:
        count += 1 + len(reply.observed)
    if reply.events:
        count += 1
        for event in reply.events:
            count += 2 + (event.reason is not None) + (event.at_ms is not None)
    if reply.result is not None:
        count += 1
    if reply.rejected is not None:
        count += 1
    if reply.detail:
        count += 1
    if reply.called_ms is not None:
        count += 1
    if reply.returned_ms is not None:
        count += 1
    return count


def _decode(line: bytes, kind: type[Document]) -> Document:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise Fault(FailureKind.GARBAGE, "the line is not UTF-8; write replies in UTF-8") from error
    if not text.strip():
        raise Fault(FailureKind.GARBAGE, f"an empty line is no reply; {_REPLIES_ALONE}")
    if text.startswith("\ufeff"):
        problem = "the line begins with a byte order mark; write UTF-8 without it"
        raise Fault(FailureKind.GARBAGE, problem)
    try:
        document = decode_line(text, kind)
        _ENCODER.encode(document)  # refuses halves of surrogate pairs, which are no UTF-8
    except InvalidDocument as error:
        raise _fault_of(error, text) from error
    except UnicodeEncodeError as error:
        problem = "a string holds half of a surrogate pair; write well-formed text"
        raise Fault(FailureKind.WRONG_TYPES, problem) from error
    return document


def _integers(reply: Reply) -> Iterator[int | None]:
    yield from (reply.result, reply.called_ms, reply.returned_ms)
    yield from reply.observed.values()
    yield from (event.at_ms for event in reply.events)


def _refuse_wide_integers(integers: Iterable[int | None]) -> None:
    for integer in integers:
        if integer is not None and not -LARGEST_LONG - 1 <= integer <= LARGEST_LONG:
            raise Fault(
                FailureKind.WRONG_TYPES,
                f"the integer {integer} has more than 64 bits; no time and no count is that large",
            )


_REPLIES_ALONE = (
    "write one line for each reply to standard output and nothing else; "
    "banners and logs belong on standard error"
)


def _fault_of(error: InvalidDocument, text: str) -> Fault:
    if isinstance(error.__cause__, RecursionError) or error.problem.startswith("nested more than"):
        return Fault(FailureKind.TOO_DEEP, f"the line is {error.problem}; a reply needs 4 levels")
    if isinstance(error.__cause__, json.JSONDecodeError) or not text.lstrip().startswith("{"):
        problem = f"the line is no JSON object ({error.problem}); {_REPLIES_ALONE}"
        return Fault(FailureKind.GARBAGE, problem)
    return Fault(
        FailureKind.WRONG_TYPES,
        f"{error.problem}; compare the reply with the tables of the protocol",
    )


def shown(line: bytes) -> str:
    """The beginning of a line, as text for a report."""
    text = line[: 4 * RECEIVED_CHARACTERS].decode(errors="replace")
    return text[:RECEIVED_CHARACTERS].rstrip("\r\n")


class _HelloReply(msgspec.Struct, frozen=True):
    """The reply to ``hello`` before its version is known: a later one may say anything else."""

    id: int
    protocol: object = None
    implementation: object = None
    components: object = None
    unsupported: str = ""
    error: str = ""


@dataclass(frozen=True)
class Greeting:
    """Who answered ``hello``, and as what."""

    id: int
    implementation: Implementation
    profile: TimerProfile


def decode_greeting(line: bytes) -> Greeting:
    """The greeting that a reply to ``hello`` holds; components of other names are passed over.

    Raises:
        Fault: the line is no reply, speaks another version, or offers no timer.
    """
    try:
        reply = _decode(line, _HelloReply)
    except Fault as fault:
        if fault.kind is FailureKind.GARBAGE:
            raise Fault(FailureKind.BANNER, fault.explanation) from fault
        raise
    if reply.error or reply.unsupported:
        sentence = reply.error or reply.unsupported
        raise Fault(FailureKind.ERRORED, f"it answered 'hello' with: {sentence}")
    if type(reply.protocol) is not int or reply.protocol != PROTOCOL_VERSION:
        raise Fault(
            FailureKind.VERSION,
            f"its 'protocol' is {json.dumps(reply.protocol)}, the suite's is {PROTOCOL_VERSION}; "
            "use an adapter and a suite of one version",
        )
    components = _part("components", reply.components or {}, dict[str, object])
    if COMPONENT not in components:
        offered = ", ".join(map(repr, components)) or "nothing"
        raise Fault(
            FailureKind.NO_COMPONENT,
            f"its 'components' offer {offered}, not {COMPONENT!r}; "
            f'declare at least "components":{{"{COMPONENT}":{{}}}}',
        )
    implementation = _part("implementation", reply.implementation, Implementation)
    profile = _part(f"components.{COMPONENT}", components[COMPONENT], TimerProfile)
    _refuse_wide_integers((profile.largest_delay_ms, profile.lateness_ms))
    return Greeting(reply.id, implementation, profile)


def _part(where: str, value: object, kind: type[Document]) -> Document:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Fault(
            FailureKind.WRONG_TYPES,
            f"{error} of '{where}'; compare the reply with the table of profiles in the protocol",
        ) from error


class OutcomeRules:
    """What the outcomes of a subject must hold, given what it declared."""

    def __init__(self, profile: TimerProfile) -> None:
        """Prepare the names that are looked for in every reply."""
        declared = profile.observables - {Observable.ADVANCE_RESULT}
        self._names = tuple(sorted(observable.value for observable in declared))
        self._has_result = Observable.ADVANCE_RESULT in profile.observables
        self._real_clock = profile.clock is Clock.WALL

    def outcome(self, reply: Reply, operation: Operation, *, closed: bool) -> Outcome:
        """The outcome in a reply to ``do``, without what nobody declared.

        Args:
            reply: the reply, of which the types are right.
            operation: what was asked.
            closed: whether the timer has been shut down, after which only ``queued`` is shown.

        Raises:
            Fault: the reply reports a failure, or lacks something that was declared.
        """
        if reply.error:
            raise Fault(FailureKind.ERRORED, reply.error)
        if reply.unsupported:
            raise Fault(
                FailureKind.UNSUPPORTED,
                f"{reply.unsupported} (declare only the features that the adapter offers)",
            )
        result: Value = None
        if self._has_result and reply.rejected is None and type(operation) is Advance:
            result = _advance_result(reply.result, closed)
        return Outcome(
            result,
            reply.rejected,
            self._events(reply.events) if reply.events else (),
            self._observed(reply.observed, closed),
            reply.detail,
            *self._readings(reply),
        )

    def _observed(self, given: Mapping[str, Value], closed: bool) -> Mapping[str, Value]:
        observed: dict[str, Value] = {}
        for name in self._names:
            if name not in given:
                if closed and name != Observable.QUEUED.value:
                    continue
                raise Fault(
                    FailureKind.MISSING_OBSERVABLE,
                    f"'{name}' is declared but not in 'observed'; "
                    "show it after every operation, or do not declare it",
                )
            value = given[name]
            if type(value) is not int and not (
                value is None and name == Observable.NEXT_EXPIRY.value
            ):
                raise Fault(
                    FailureKind.WRONG_TYPES,
                    f"the observable '{name}' is {json.dumps(value)}; it must be an integer",
                )
            observed[name] = value
        return observed

    def _events(self, given: tuple[Event, ...]) -> tuple[Event, ...]:
        for event in given:
            if (event.kind is EventKind.REJECTED) is not (event.reason is not None):
                raise Fault(
                    FailureKind.WRONG_TYPES,
                    f"an event '{event.kind.value}' of task '{event.task}' has "
                    f"{'no' if event.reason is None else 'a'} reason; "
                    "events of kind 'rejected' have one and no others",
                )
            if self._real_clock and event.at_ms is None:
                raise Fault(
                    FailureKind.WRONG_TYPES,
                    "an event has no 'at_ms'; with the clock 'wall' each event has one",
                )
        if self._real_clock or all(event.at_ms is None for event in given):
            return given
        return tuple(Event(event.kind, event.task, event.reason) for event in given)

    def _readings(self, reply: Reply) -> tuple[int | None, int | None]:
        if not self._real_clock:
            return None, None
        if reply.called_ms is None or reply.returned_ms is None:
            raise Fault(
                FailureKind.WRONG_TYPES,
                "the reply lacks 'called_ms' or 'returned_ms'; with the clock 'wall' it has both",
            )
        return reply.called_ms, reply.returned_ms


def _advance_result(result: Value, closed: bool) -> Value:
    if isinstance(result, bool) or (result is None and closed):
        return result
    if result is None:
        raise Fault(
            FailureKind.MISSING_OBSERVABLE,
            "'advance_result' is declared but 'advance' has no 'result'; "
            "answer true or false, or do not declare it",
        )
    raise Fault(
        FailureKind.WRONG_TYPES, f"the result of 'advance' is {result}; it must be true or false"
    )


# The child process.


class AdapterProcess:
    """An adapter that runs: its pipes, the threads that read them, and its process tree."""

    def __init__(
        self,
        command: Sequence[str],
        working_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the command; ``environment`` is added to this process's own.

        Raises:
            Fault: the command cannot be started.
        """
        try:
            self._process = _start(
                list(command), working_folder, {**os.environ, **(environment or {})}
            )
        except (OSError, ValueError) as error:
            raise Fault(
                FailureKind.NOT_STARTED,
                f"'{command[0]}' cannot be started ({error}); "
                "check the command and the folder that it is started in",
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._finish = weakref.finalize(self, _finish, self._process)
        self._input = self._process.stdin
        self._chunks: queue.Queue[bytes] = queue.Queue(_CHUNKS_AHEAD)
        self._discarding = threading.Event()
        self._error_tail = _Tail()
        # No thread refers to this object, so that it is ended when the last user forgets it.
        self._output_reader = _thread(
            _read_chunks, self._process.stdout, self._chunks, self._discarding
        )
        self._error_reader = _thread(self._error_tail.read, self._process.stderr)
        self._writers: list[threading.Thread] = []
        self._lines: deque[bytes] = deque()
        self._unfinished = b""
        self._output_ended = False
        self._input_broken = False
        self._input_stuck = False

    @property
    def process_id(self) -> int:
        """The number by which the system knows the process."""
        return self._process.pid

    @property
    def standard_error(self) -> str:
        """The last lines that the process wrote to standard error."""
        return self._error_tail.text

    def write(self, lines: bytes, seconds: float) -> None:
        """Write requests; returns though the process does not read, see ``read_line``.

        Args:
            lines: at most what the pipe can hold at present, or else one single request.
            seconds: how long a large request may take to be read.
        """
        if self._input_stuck:
            return
        if len(lines) <= _PIPE_BYTES:
            self._write(lines)
            return
        self._input_stuck = True
        writer = _thread(self._write, lines)
        self._writers.append(writer)
        writer.join(seconds)
        self._input_stuck = writer.is_alive()

    def _write(self, lines: bytes) -> None:
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[self._input.write(rest) :]
        except (OSError, ValueError):
            self._input_broken = True

    def close_input(self) -> None:
        """Let the process see the end of its standard input."""
        if not any(writer.is_alive() for writer in self._writers):
            with contextlib.suppress(OSError):
                self._input.close()

    def read_line(self, seconds: float) -> bytes:
        """The next line without its newline.

        Raises:
            Fault: no line came within the time, or none will come.
        """
        if not self._lines:
            self._fill(time.monotonic() + seconds, seconds)
        line = self._lines.popleft()
        if len(line) > LONGEST_LINE:
            raise self._too_long(line)
        return line

    def line_at_hand(self) -> bytes | None:
        """A line that has been written already, or None; never waits."""
        while not self._lines and not self._output_ended:
            try:
                self._take(self._chunks.get_nowait())
            except queue.Empty:
                break
        return self._lines.popleft() if self._lines else None

    def _fill(self, deadline: float, seconds: float) -> None:
        """Take chunks until there is a line."""
        if self._input_stuck:
            deadline = time.monotonic()
        elif self._input_broken:
            # No reply can follow but those to what was read before.
            deadline = min(deadline, time.monotonic() + _EXIT_SECONDS)
        while not self._lines:
            if self._output_ended:
                raise self._ended()
            left = deadline - time.monotonic()
            try:
                self._take(self._chunks.get(timeout=max(0.0, min(left, _LOOK_SECONDS))))
            except queue.Empty:
                if self._process.poll() is not None:
                    # What it wrote before it exited may still be on its way; another process that
                    # holds the pipe must not keep us waiting for more.
                    self._take_rest()
                elif left <= 0:
                    raise self._silent(seconds) from None

    def _take_rest(self) -> None:
        self._output_reader.join(_EXIT_SECONDS)
        try:
            while not self._output_ended:
                self._take(self._chunks.get_nowait())
        except queue.Empty:
            self._output_ended = True

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            self._output_ended = True
            return
        *lines, self._unfinished = (self._unfinished + chunk).split(b"\n")
        self._lines.extend(lines)
        if len(self._unfinished) > LONGEST_LINE:
            raise self._too_long(self._unfinished)

    def _too_long(self, line: bytes) -> Fault:
        return Fault(
            FailureKind.TOO_LONG,
            f"a line has more than {LONGEST_LINE} bytes; end each reply with a newline",
            line,
        )

    def _silent(self, seconds: float) -> Fault:
        if self._input_broken:
            return Fault(
                FailureKind.CLOSED_PIPE,
                "it closed its standard input and still runs; read requests until 'stop'",
                self._unfinished,
            )
        came = "an unfinished line" if self._unfinished else "no reply"
        return Fault(
            FailureKind.HUNG,
            f"{came} within {seconds:g} s; answer each request by one line and flush it, "
            "or allow more time",
            self._unfinished,
        )

    def _ended(self) -> Fault:
        try:
            code = self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return Fault(
                FailureKind.CLOSED_PIPE,
                "it closed its standard output and still runs; keep it open until 'stop'",
                self._unfinished,
            )
        advice = (
            "go on reading requests until 'stop' or the end of standard input"
            if code == 0
            else "its standard error may say why; answer a failure of the adapter with 'error'"
        )
        problem = f"it {_exit_text(code)} instead of answering; {advice}"
        return Fault(FailureKind.CRASHED, problem, self._unfinished)

    def exit_code(self, seconds: float) -> int | None:
        """How the process exited, or None where it still runs after so many seconds.

        What it still writes is thrown away.
        """
        self._discarding.set()
        self._empty_queue()
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """End the process tree and the threads."""
        self._discarding.set()
        self._finish()
        deadline = time.monotonic() + _EXIT_SECONDS
        # A process that left the tree on purpose may still hold a pipe: do not wait for it.
        while self._output_reader.is_alive() and time.monotonic() < deadline:
            self._empty_queue()
            self._output_reader.join(0.01)
        for thread in (self._error_reader, *self._writers):
            thread.join(max(0.0, deadline - time.monotonic()))

    def _empty_queue(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._chunks.get_nowait()


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _thread(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, name="adapter pipe", daemon=True)
    thread.start()
    return thread


def _read_chunks(
    stream: IO[bytes], chunks: "queue.Queue[bytes]", discarding: threading.Event
) -> None:
    """Read until the end, which is an empty chunk."""
    with stream, contextlib.suppress(OSError):
        while chunk := stream.read(_CHUNK_BYTES):
            if not discarding.is_set():
                chunks.put(chunk)
    if not discarding.is_set():
        chunks.put(b"")


class _Tail:
    """The end of what a stream brings."""

    def __init__(self) -> None:
        self._kept = b""

    def read(self, stream: IO[bytes]) -> None:
        """Read until the end and keep the last part."""
        with stream, contextlib.suppress(OSError):
            while chunk := stream.read(_CHUNK_BYTES):
                self._kept = (self._kept + chunk)[-_TAIL_BYTES:]

    @property
    def text(self) -> str:
        """The last lines."""
        lines = self._kept.decode(errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])


def _finish(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started; the readers close the pipes that they read."""
    _end_tree(process)
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


if sys.platform == "win32":

    def _start(
        command: list[str], folder: Path | None, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )

    def _end_tree(process: subprocess.Popen[bytes]) -> None:
        """End the process and those that it started, as far as it still runs to lead to them."""
        if process.poll() is None:
            subprocess.run(
                ("taskkill", "/T", "/F", "/PID", str(process.pid)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_EXIT_SECONDS)

else:

    def _start(
        command: list[str], folder: Path | None, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )

    def _end_tree(process: subprocess.Popen[bytes]) -> None:
        """End the process and its group: gently, then for certain.

        The group is signalled also where the process itself has exited: others may be left in it.
        """
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_TERMINATE_SECONDS)
        _signal_group(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_EXIT_SECONDS)

    def _signal_group(group: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


# The subject.


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request on its way: its line, and the operation where it is a ``do``."""

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
        working_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        look_ahead: int = 32,
    ) -> None:
        """Describe the subject; nothing is started yet.

        Args:
            command: the program and its arguments.
            name: what the user calls the subject.
            time_limit_seconds: how long any single reply may take.
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
        self._look_ahead = look_ahead
        self._process: AdapterProcess | None = None
        self._greeting: Greeting | None = None
        self._rules = OutcomeRules(TimerProfile())
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
        """Whom a report is about; asks the adapter if it was not asked yet."""
        return self._greeted().implementation

    @property
    def profile(self) -> TimerProfile:
        """What the adapter declares; asks it if it was not asked yet."""
        return self._greeted().profile

    def new(self, case: str, configuration: TimerConfiguration) -> None:
        """Make a fresh instance; the one before is gone.

        Raises:
            UnsupportedConfigurationError: the implementation does not offer such an instance.
            SubjectFailure: the subject could not be asked, or its answer was no answer.
        """
        self._abandon()
        if self._process is None:
            self._greet()
        reply = self._exchange(self._asked(lambda i: New(i, COMPONENT, case, configuration)))
        if reply.unsupported:
            raise UnsupportedConfigurationError(reply.unsupported)
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
            line = self._process.read_line(self._time_limit)
            greeting = decode_greeting(line)
            self._check_id(greeting.id)
        except Fault as fault:
            failure = self._failure(fault, asked, line)
            self._end_process()
            raise failure from fault
        self._waiting.popleft()
        self._greeting = greeting
        self._rules = OutcomeRules(greeting.profile)

    def _send_ahead(
        self, requests: Iterator[_Asked], postponed: _Asked | None
    ) -> tuple[_Asked | None, bool]:
        """Send what may be sent; the request that must wait, and whether there is no other."""
        batch: list[_Asked] = []
        free = _PIPE_BYTES - sum(len(asked.line) for asked in self._waiting)
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
        """Nothing may have come while nothing was asked."""
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
        limit = self._time_limit
        if type(operation) is Wait:
            limit += operation.for_ms / 1000
        line = b""
        try:
            line = self._read(limit)
            reply = self._matching_reply(line)
            closed = self._is_shut_down or (type(operation) is Shutdown and reply.rejected is None)
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
        """The failure that a fault makes of a request; ends a process that is out of step."""
        process = self._process
        standard_error = ""
        self._is_open = False
        if fault.kind in _STILL_IN_SERVICE and self._waiting and self._waiting[0] is asked:
            self._waiting.popleft()
        if process is not None:
            if fault.kind not in _STILL_IN_SERVICE:
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
