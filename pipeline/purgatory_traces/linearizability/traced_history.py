"""The lines of one run as a history: calls, events and returns, in the order of their numbers.

A line that cannot be used, or a number that is missing, ends the history: what stands before it can
be explained or not, what follows hangs in the air. A call inside a call is a call of its own; its
thread gets a name of its own (``calls.thread_inside``).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from purgatory_model.overlapping.interleaving import Called, Happened, Returned
from purgatory_spec.outcomes import Event
from purgatory_traces.errors import Unusable
from purgatory_traces.linearizability.calls import Entry, thread_inside
from purgatory_traces.traces.lines import (
    NS_PER_MS,
    Begin,
    Call,
    End,
    Located,
    Return,
    Snapshot,
    Step,
    WaitingOperation,
    WallClock,
)
from purgatory_traces.traces.lines import Happened as HappenedLine
from purgatory_traces.traces.parsing import parse


@dataclass(slots=True)
class TracedHistory:
    """The history in the lines of a run.

    Attributes:
        run: Its name.
        begin: The first line of the run; None where the line is missing.
        snapshot: What was live where the run begins, if it begins in the middle.
        entries: The history.
        places: Where each line stands, by its number: the file, and the line in it, from 1 on.
        ended_ms: The time of the last line, ms, where it is known.
        hole: Why the history is not all of the run; empty where it is.
    """

    run: str
    begin: Begin | None = None
    snapshot: Snapshot | None = None
    entries: list[Entry] = field(default_factory=list)
    places: dict[int, tuple[str, int]] = field(default_factory=dict)
    ended_ms: int | None = None
    hole: str = ""
    _depths: dict[str, int] = field(default_factory=dict)
    _ended: bool = False

    @property
    def is_on_real_clock(self) -> bool:
        """Decide whether the clock moves by itself."""
        return self.begin is not None and isinstance(self.begin.clock, WallClock)

    @property
    def waiting(self) -> tuple[WaitingOperation, ...]:
        """Return the operations of a purgatory that are live where the history begins."""
        return () if self.snapshot is None else tuple(self.snapshot.operations)

    def take(self, located: Located) -> None:
        """Take in the next line. A line after a gap, or after the end, changes nothing.

        Raises:
            Unusable: the line cannot stand here.
        """
        self.places[located.seq] = (located.file, located.number)
        line = parse(located.raw)
        at_ms = None if line.at_ns is None else line.at_ns // NS_PER_MS
        self.ended_ms = self.ended_ms if at_ms is None else at_ms
        match line:
            case Begin():
                self.begin = line if self.begin is None else self.begin
            case _ if self.begin is None:
                raise Unusable("the run's first line is missing")
            case Snapshot():
                if not self.entries and self.snapshot is None:
                    self.snapshot = line
                    for call in line.calls:
                        called_ms = call.at_ns // NS_PER_MS
                        thread = self._enter(call.thread)
                        self._add(line.seq, Called(thread, call.operation), called_ms)
            case Step():
                self._step(line, at_ms)
            case Call(thread=thread, operation=operation):
                self._add(line.seq, Called(self._enter(thread), operation), at_ms)
            case HappenedLine(thread=thread, event=kind, task=task, reason=reason):
                event = Event(kind, task, reason, at_ms=None)
                self._add(line.seq, Happened(self._inside(thread), event), at_ms)
            case Return(thread=thread, result=result, rejected=reason):
                if not self._depths.get(thread):
                    raise Unusable(f"thread {thread!r} returns, and is in no call")
                returned = Returned(self._inside(thread), result, reason)
                self._depths[thread] -= 1
                self._add(line.seq, returned, at_ms)
            case End():
                self._ended = True

    def _step(self, line: Step, at_ms: int | None) -> None:
        """Add a whole call at once."""
        called_ms = at_ms if line.called_ns is None else line.called_ns // NS_PER_MS
        thread = self._enter(line.thread)
        self._add(line.seq, Called(thread, line.operation), called_ms)
        for event in line.events:
            plain = Event(event.kind, event.task, event.reason)
            shown_ms = at_ms if event.at_ms is None else event.at_ms
            self._add(line.seq, Happened(thread, plain), shown_ms)
        self._depths[line.thread] -= 1
        self._add(line.seq, Returned(thread, line.result, line.rejected), at_ms)

    def place(self, seq: int) -> str:
        """Return the place of a line: its number in the run, and file and line where known."""
        if seq not in self.places:
            return f"seq {seq}"
        file, number = self.places[seq]
        return f"seq {seq}, {file}:{number},"

    def finish(self) -> "TracedHistory":
        """Note that no line follows, and return the history."""
        if not self._ended and not self.hole:
            self.hole = "its last line is missing"
        return self

    def _enter(self, thread: str) -> str:
        depth = self._depths.get(thread, 0)
        self._depths[thread] = depth + 1
        return thread_inside(thread, depth)

    def _inside(self, thread: str) -> str:
        """Return the present name of a thread, which is the name of its innermost call."""
        return thread_inside(thread, max(self._depths.get(thread, 0) - 1, 0))

    def _add(self, seq: int, event: Called | Happened | Returned, at_ms: int | None) -> None:
        self.entries.append(Entry(seq, event, at_ms))


def traced_history(run: str, lines: Iterable[Located]) -> TracedHistory:
    """Return the history that the lines of one run tell, in the order of their numbers."""
    history = TracedHistory(run)
    following: int | None = None
    for located in lines:
        if following is not None and located.seq < following:
            history.hole = f"seq {located.seq} is there twice"
        elif following is not None and located.seq > following:
            history.hole = _missing(following, located.seq - 1)
        if history.hole:
            break
        following = located.seq + 1
        try:
            history.take(located)
        except Unusable as problem:
            history.hole = f"{history.place(located.seq)} is unusable: {problem}"
            break
    return history.finish()


def _missing(first: int, last: int) -> str:
    return f"seq {first} is missing" if first == last else f"seq {first} to {last} are missing"
