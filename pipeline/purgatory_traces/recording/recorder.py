"""The recorder of one instance: calls, callbacks and returns become numbered lines.

Theory of operation. A recorded object tells its recorder of each call when it begins and when it
returns, and of each callback when it begins, in the thread where that happens. The time is read
first and then the number is taken, so that no line's time lies after its place in the run.

A run may go on in further files. Such a file begins with a snapshot of what is live, and that has
to be true at one place of the run. So the writing thread closes the gate when a file is full, waits
until no call and no expired task is under way, has the instance say what is live, and opens the
gate. Where something stays under way for long, the file grows on, and it tries again a second
later; so it does where the snapshot would be longer than a reader accepts.
"""

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import EventKind, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.recording.gate import Gate, RecordedThread
from purgatory_traces.recording.trace_writer import MOST_BUFFERED, NumberedLine, TraceWriter
from purgatory_traces.traces.lines import (
    Begin,
    DeclaredDeviation,
    End,
    Instance,
    ManualClock,
    Snapshot,
    WallClock,
)
from purgatory_traces.traces.parsing import MOST_BYTES


# ``traces.lines`` says what may stand in a trace; its types check and are read with. The ones here
# are made in the middle of other people's calls: by position, unseen by the garbage collector (none
# can be part of a cycle), and with words where those hold enumerations.
class WrittenCall(msgspec.Struct, gc=False, tag_field="kind", tag="call"):
    """A call as it is written; see ``traces.lines.Call``."""

    run: str
    seq: int
    at_ns: int
    thread: str
    operation: Operation


class WrittenEvent(msgspec.Struct, gc=False, tag_field="kind", tag="event"):
    """A callback as it is written; see ``traces.lines.Happened``."""

    run: str
    seq: int
    at_ns: int
    thread: str
    event: str
    task: str


class WrittenReturn(msgspec.Struct, gc=False, tag_field="kind", tag="return", omit_defaults=True):
    """A return as it is written; see ``traces.lines.Return``."""

    run: str
    seq: int
    at_ns: int
    thread: str
    result: Value = None
    rejected: str | None = None


_AGAIN_AFTER_NS: Final = 1_000_000_000


class Rotation(msgspec.Struct, frozen=True):
    """The number of lines or bytes after which a run goes on in a further file.

    The bytes are counted before compression. A file may be longer, by what was in the buffer.
    """

    lines: int | None = None
    bytes_: int | None = None


class TakesSnapshots(Protocol):
    """An instance that can list its live parts while no call is under way."""

    def live(self) -> Snapshot | None:
        """Return the live objects, without a place in the run; None where they are unknown yet."""


class Recorder:
    """Records one instance; all methods may be called from any thread."""

    is_sequential = False
    """True if calls are written as steps, each of them in one line."""

    def __init__(
        self,
        path: Path,
        run: str,
        *,
        subject: str = "",
        lateness_ms: int = 50,
        deviations: tuple[DeclaredDeviation, ...] = (),
        rotation: Rotation | None = None,
        most_buffered: int = MOST_BUFFERED,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Create the run's first file.

        Args:
            path: The file, which must not exist yet; ``.gz`` for a compressed one.
            run: The run's name, unlike that of any other run that is checked together with it.
            subject: Whom reports are about: name and version.
            lateness_ms: How late an expiry may be seen, ms.
            deviations: Rules that the subject is known to break.
            rotation: When the run goes on in a further file; never when absent.
            most_buffered: How many lines may wait to be written before calls have to wait.
            now_ns: The instance's clock, ns; the instance's milliseconds are this reading rounded
                down.

        Raises:
            OSError: the file cannot be created.
        """
        self.run: Final = run
        self.now_ns: Final = now_ns
        self.names: Final = map(str, itertools.count(1))
        """Names for what nobody has named: numbers, each of them once."""
        self.gate: Final = Gate()
        self._local = self.gate.local
        self._clock: ManualClock | WallClock = WallClock(lateness_ms)
        self._subject = subject
        self._deviations = deviations
        self._rotation = rotation
        self._begin: Begin | None = None
        self._instance: TakesSnapshots | None = None
        self._change = threading.Lock()
        self._not_before_ns = 0
        self._last: int | None = None
        self.writer: Final = TraceWriter(
            path,
            most_buffered=most_buffered,
            after_batch=None if rotation is None else self._rotate_if_due,
        )
        self._next = self.writer.next_seq
        self._put: Callable[[NumberedLine], None] = self.writer.put

    @property
    def lines(self) -> int:
        """Return the number of the run's lines so far, with those that wait to be written."""
        return self.writer.lines

    def begin(self, described: Instance, instance: TakesSnapshots) -> None:
        """Write the run's first line; a recorded object does this when it is built.

        Args:
            described: Component, configuration and profile.
            instance: Whom to ask for snapshots.

        Raises:
            ValueError: the recorder records another instance already.
        """
        if self._begin is not None:
            raise ValueError("a recorder records one instance; make another one")
        self._begin = Begin(
            run=self.run,
            seq=self._next(),
            at_ns=self.now_ns(),
            instance=described,
            clock=self._clock,
            subject=self._subject,
            deviations=self._deviations,
        )
        self._instance = instance
        self._put(self._begin)

    def call(self, operation: Operation) -> None:
        """Write that a call begins in this thread; waits where the buffer is full."""
        # As in ``enter``, without its calls: this is what the recorded program pays for.
        try:
            thread: RecordedThread = self._local.thread
        except AttributeError:
            thread = self.gate.thread()
        thread.depth += 1
        if thread.depth == 1 and (self.gate.is_closed or self.writer.is_full):
            self._come_in_again(thread)
        at_ns = self.now_ns()
        self._put(WrittenCall(self.run, self._next(), at_ns, thread.name, operation))

    def returned(self, result: Value = None, rejected: Reason | None = None) -> None:
        """Write the return of this thread's latest call."""
        at_ns = self.now_ns()
        thread: RecordedThread = self._local.thread
        reason = None if rejected is None else rejected.value
        self._put(WrittenReturn(self.run, self._next(), at_ns, thread.name, result, reason))
        thread.depth -= 1

    def event(self, kind: EventKind, name: str) -> None:
        """Write that a callback begins in this thread."""
        at_ns = self.now_ns()
        thread = self.gate.thread()
        self._put(WrittenEvent(self.run, self._next(), at_ns, thread.name, kind.value, name))

    def call_elsewhere(self, thread: str, operation: Operation) -> None:
        """Write a beginning in no thread of the program, for example the loss of a buffer."""
        at_ns = self.now_ns()
        self._put(WrittenCall(self.run, self._next(), at_ns, thread, operation))

    def returned_elsewhere(self, thread: str) -> None:
        """Write the end of a call that ``call_elsewhere`` began."""
        at_ns = self.now_ns()
        self._put(WrittenReturn(self.run, self._next(), at_ns, thread))

    def enter(self) -> RecordedThread:
        """Enter a call or the run of an expiry in this thread: no snapshot until it leaves."""
        thread = self.gate.enter()
        if thread.depth == 1 and self.writer.is_full:
            self._come_in_again(thread)
        return thread

    def _come_in_again(self, thread: RecordedThread) -> None:
        """Go out, wait until there is room, and come in by the gate."""
        thread.depth = 0
        self.writer.wait_for_room()
        self.gate.enter()

    def leave(self) -> None:
        """Leave the call that ``enter`` began."""
        self.gate.leave()

    def close(self) -> None:
        """Write the last line, and wait until everything is written; may be called again.

        What is called afterwards is not recorded, nor are returns of calls that have been under
        way for more than a fifth of a second.

        Raises:
            TraceNotWritten: something could not be written.
        """
        with self._change:
            if self._last is None:
                with self.gate.closed():
                    self._last = self._next()
                    self._put(End(run=self.run, seq=self._last, at_ns=self.now_ns()))
                    self._put = _discard
        self.writer.close(self._last)

    def _rotate_if_due(self, writer: TraceWriter) -> None:
        """Rotate the file in the writing thread where the file is full."""
        rotation = self._rotation
        if rotation is None or writer.awaits_next_file:
            return
        full = rotation.lines is not None and writer.lines_in_file >= rotation.lines
        full = full or (rotation.bytes_ is not None and writer.bytes_in_file >= rotation.bytes_)
        if full and time.monotonic_ns() >= self._not_before_ns:
            self._rotate()

    def _rotate(self) -> None:
        if self._begin is None or self._instance is None:
            return
        with self._change, self.gate.closed() as all_quiet:
            if self._last is not None:
                return
            live = self._instance.live() if all_quiet else None
            if live is None or len(msgspec.json.encode(live)) > MOST_BYTES - len(self.run) - 100:
                self._not_before_ns = time.monotonic_ns() + _AGAIN_AFTER_NS
                return
            at_ns = self.now_ns()
            seq = self._next()
            self.writer.next_file(seq)
            self._put(msgspec.structs.replace(self._begin, seq=seq, at_ns=at_ns))
            self._put(msgspec.structs.replace(live, run=self.run, seq=self._next(), at_ns=at_ns))


def _discard(line: NumberedLine) -> None:
    """Discard a line, since the recorder is closed."""
