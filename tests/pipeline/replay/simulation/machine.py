"""Virtual threads on a fake clock, and the trace that they write."""

# Theory of operation. A thread is a generator. It runs without interruption up to a ``yield``,
# which says how many nanoseconds pass before it goes on; the thread whose time is next runs next,
# and the seed decides between equals. So what stands between two yields is one atomic point. Pauses
# are drawn, too, and nothing else decides, so that a seed stands for one trace.
#
# Lines are numbered as they are written. A line's time is read before that, and other threads may
# write in between, as in a program whose threads read the clock first.

import random
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import EventKind, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.traces import lines as trace_lines

NS_PER_MS = 1_000_000
RUN = "simulated"

Script: TypeAlias = Generator[int, None, None]
"""The steps of a virtual thread; it yields pauses in nanoseconds."""


class Planted(NamedTuple):
    """The place where a fault shows."""

    # ``seq``: the line that nothing explains; None where the fault is that a line is missing.
    # ``overdue_ms``: the last reading at which that line would have been right; a judge gives it as
    # much time again before it says that it is missing.

    seq: int | None = None
    overdue_ms: int | None = None


@dataclass
class Machine:
    """The clock, the threads and the lines of one run."""

    seed: int
    instance: trace_lines.Instance
    lateness_ms: int = 20
    lag_ns: int = 40_000
    """The longest time that a thread may hold a reading before it writes its line, ns."""
    omitted: tuple[EventKind, ...] = ()
    lines: list[trace_lines.TraceLine] = field(default_factory=list)
    planted: list[Planted] = field(default_factory=list)
    open_calls: dict[str, list[trace_lines.OpenCall]] = field(default_factory=dict)
    source: random.Random = field(init=False)
    now_ns: int = field(init=False)
    _waiting: list[tuple[int, float, int, Script]] = field(default_factory=list)
    _started: int = 0

    def __post_init__(self) -> None:
        self.source = random.Random(self.seed)
        self.now_ns = self.source.randrange(5 * NS_PER_MS)
        self.lines.append(self.begin(0))

    @property
    def now_ms(self) -> int:
        """Return what the clock reads, ms."""
        return self.now_ns // NS_PER_MS

    @property
    def seq(self) -> int:
        """The number of the line that is written next."""
        return len(self.lines)

    def begin(self, seq: int) -> trace_lines.Begin:
        """The first line, or that of a further file."""
        clock = trace_lines.WallClock(self.lateness_ms)
        return trace_lines.Begin(
            run=RUN, seq=seq, instance=self.instance, clock=clock, omitted=self.omitted
        )

    def start(self, script: Script) -> None:
        """A thread begins."""
        self._started += 1
        heappush(self._waiting, (self.now_ns, self.source.random(), self._started, script))

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Run the threads while that is asked for and one is left; then write the last line."""
        while self._waiting and goes_on():
            at_ns, _, number, script = heappop(self._waiting)
            self.now_ns = at_ns
            pause_ns = next(script, None)
            if pause_ns is not None:
                entry = at_ns + pause_ns, self.source.random(), number, script
                heappush(self._waiting, entry)
        self.lines.append(trace_lines.End(run=RUN, seq=self.seq, at_ns=self.now_ns))

    def pause(self, most_ns: int) -> int:
        """A pause of some length; often none at all, so that threads meet at one instant."""
        return 0 if self.source.random() < 0.2 else self.source.randrange(most_ns + 1)

    def until(self, at_ms: int) -> Script:
        """Wait until the clock has reached a reading."""
        if self.now_ns < at_ms * NS_PER_MS:
            yield at_ms * NS_PER_MS - self.now_ns

    def plant(self, *, overdue_ms: int | None = None) -> None:
        """Remember that the next line is wrong; or that one is missing from a reading on."""
        if overdue_ms is None:
            self.planted.append(Planted(seq=self.seq))
        else:
            self.planted.append(Planted(overdue_ms=overdue_ms))

    def calls(self) -> tuple[trace_lines.OpenCall, ...]:
        """The calls that are open, for a snapshot."""
        return tuple(call for calls in self.open_calls.values() for call in calls)


@dataclass
class Thread:
    """A thread's name, and the lines that it writes."""

    machine: Machine
    name: str

    def _lag(self) -> Script:
        """Other threads may come between the reading and the line."""
        if self.machine.source.random() < 0.3:
            yield self.machine.pause(self.machine.lag_ns)

    def calls(self, operation: Operation) -> Script:
        """A call begins; whatever it does comes behind this line."""
        machine = self.machine
        at_ns = machine.now_ns
        yield from self._lag()
        line = trace_lines.Call(
            run=RUN, seq=machine.seq, at_ns=at_ns, thread=self.name, operation=operation
        )
        machine.lines.append(line)
        called = trace_lines.OpenCall(self.name, operation, at_ns)
        machine.open_calls.setdefault(self.name, []).append(called)

    def returns(
        self, result: Value = None, rejected: Reason | None = None, *, wrong: bool = False
    ) -> Script:
        """The latest open call returns; what it did lies before this line."""
        machine = self.machine
        at_ns = machine.now_ns
        yield from self._lag()
        if wrong:
            machine.plant()
        machine.lines.append(
            trace_lines.Return(
                run=RUN,
                seq=machine.seq,
                at_ns=at_ns,
                thread=self.name,
                result=result,
                rejected=rejected,
            )
        )
        calls = machine.open_calls[self.name]
        calls.pop()
        if not calls:
            del machine.open_calls[self.name]

    def shows(
        self, kind: EventKind, name: str, *, at_once: Callable[[], None] | None = None
    ) -> Script:
        """A callback begins; ``at_once`` is done at the instant at which its line is written."""
        machine = self.machine
        at_ns = machine.now_ns
        yield from self._lag()
        if kind in machine.omitted:
            return
        if at_once is not None:
            at_once()
        machine.lines.append(
            trace_lines.Happened(
                run=RUN, seq=machine.seq, at_ns=at_ns, thread=self.name, event=kind, task=name
            )
        )


@dataclass
class Workers:
    """Threads of the instance's own, each of which does one thing and is then free for another."""

    machine: Machine
    _free: list[str] = field(default_factory=list)
    _made: int = 0

    def start(self, work: Callable[[Thread], Script]) -> None:
        """Let a free thread do something."""
        if not self._free:
            self._made += 1
            self._free.append(f"executor {self._made}")
        name = self._free.pop(self.machine.source.randrange(len(self._free)))
        self.machine.start(self._busy(name, work))

    def _busy(self, name: str, work: Callable[[Thread], Script]) -> Script:
        yield from work(Thread(self.machine, name))
        self._free.append(name)


def from_snapshot_on(machine: Machine, place: int) -> list[trace_lines.TraceLine]:
    """Return what a reader has whose first file of the run begins with the snapshot at a place."""
    # The first line takes the number before the snapshot's.
    snapshot = machine.lines[place]
    assert isinstance(snapshot, trace_lines.Snapshot)
    return [machine.begin(snapshot.seq - 1), *machine.lines[place:]]
