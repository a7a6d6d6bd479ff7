"""The replay of one run: what each of its lines is worth, and the verdict at its end.

Theory of operation. Lines come in the order of their numbers. A line that cannot be used, or a
number that is missing, leaves a hole; behind it nothing is judged, until a ``Snapshot`` says anew
what is live. A run with a hole, without a beginning or without an end is incomplete; whatever it
did wrong before the hole, or behind the snapshot, is told all the same.

A number that comes a second time with the same line is a copy: logs are shipped twice. With another
line it is a *conflict*: nobody knows which of the two is the run's, nor what of that run the lines
behind it are. From there on the run is incomplete, and what was found wrong is not told.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from purgatory_traces.errors import OutOfOrder, Undecided, Unusable
from purgatory_traces.replay.judge import Finding, TraceJudge, Unjudged
from purgatory_traces.replay.missed import Missed
from purgatory_traces.replay.overlapping.judge import OverlappingJudge
from purgatory_traces.replay.overlapping.memory_pool.follower import MemoryPoolFollower
from purgatory_traces.replay.overlapping.purgatory.follower import PurgatoryFollower
from purgatory_traces.replay.overlapping.timer.follower import TimerFollower
from purgatory_traces.replay.sequential import SequentialJudge
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, RunVerdict, VerdictRow
from purgatory_traces.traces.lines import (
    Begin,
    End,
    Located,
    ManualClock,
    MemoryPoolInstance,
    PurgatoryInstance,
    Snapshot,
    TimerInstance,
    TraceLine,
)
from purgatory_traces.traces.parsing import NOT_COVERED, WHY_NOT, parse
from purgatory_traces.version import MODEL_VERSION


def judge_of(begin: Begin) -> TraceJudge:
    """Return the judge of the run that this line begins.

    On a clock that is moved by the lines calls follow one another; on one that moves by itself
    they may overlap.

    Raises:
        Unusable: no judge can follow such a run.
    """
    if isinstance(begin.clock, ManualClock):
        return SequentialJudge(begin)
    match begin.instance:
        case TimerInstance():
            return OverlappingJudge(begin, TimerFollower(begin))
        case PurgatoryInstance():
            return OverlappingJudge(begin, PurgatoryFollower(begin))
        case MemoryPoolInstance():
            return OverlappingJudge(begin, MemoryPoolFollower(begin))


@dataclass(slots=True)
class RunReplay:
    """Follows one run; it can be pickled between any two lines."""

    run: str
    _next: int | None = None
    """The number that comes next; None before the first line."""
    _latest: int = -1
    _latest_raw: bytes = b""
    _conflict: int | None = None
    """The first number that was given to two different lines."""
    _begin: Begin | None = None
    _judge: TraceJudge | None = None
    _awaits_snapshot: bool = False
    _events: int = 0
    _judged: int = 0
    _visits: Counter[str] = field(default_factory=Counter)
    _deviated: set[str] = field(default_factory=set)
    _unjudged: Unjudged = field(default_factory=Unjudged)
    _divergence: tuple[Finding, Located] | None = None
    _missed: Missed | None = None
    _undecided: str = ""
    _hole: str = ""
    _ended: bool = False

    def take(self, located: Located) -> QuarantineRow | None:
        """Take in the next line; a row where it is set aside.

        Raises:
            OutOfOrder: the engine handed it over after a later one.
        """
        if located.seq < self._latest:
            raise OutOfOrder(
                f"line {located.seq} of run {located.run!r} was handed over after line "
                f"{self._latest}: the engine has to sort by run and seq"
            )
        if located.raw == NOT_COVERED:
            self.disbelieve(located)
            return None
        if located.seq == self._latest:
            return self.repeated(located)
        self._events += 1
        self._latest = located.seq
        self._latest_raw = located.raw
        try:
            line = parse(located.raw)
            self._place(located, line)
        except Unusable as problem:
            self._leave_hole(f"line {located.seq} is unusable: {problem}")
            return _aside(located, str(problem))
        return None

    def repeated(self, located: Located) -> QuarantineRow:
        """Set a line aside whose number was given to a line that was taken in before.

        Whether it is a copy of that line is known as long as no later line has come.
        """
        self._events += 1
        if located.seq != self._latest:
            return _aside(located, "this number was given to an earlier line of the run")
        if located.raw.strip() == self._latest_raw.strip():
            return _aside(located, "it is a copy of the line before")
        if self._conflict is None:
            self._conflict = located.seq
        return _aside(located, "this number was given to another line of the run")

    def disbelieve(self, located: Located) -> None:
        """Disbelieve the lines so far of a file that no checksum covers, or that were changed.

        The file's row tells of it.
        """
        self._leave_hole(WHY_NOT[located.raw])

    def too_late(self, located: Located) -> QuarantineRow:
        """Set a line aside that comes after it was taken for missing."""
        self._events += 1
        return _aside(located, "it came too late: the lines behind it were judged without it")

    def finish(self) -> Iterator[VerdictRow | CoverageRow]:
        """Yield the rows of the run; no line follows any more."""
        self._keep_what_the_judge_knows()
        if not self._ended and not self._hole:
            self._hole = "its last line is missing"
        yield self._verdict_row()
        for rule, visits in sorted(self._visits.items()):
            yield CoverageRow(self.run, rule, visits)

    @property
    def judge(self) -> TraceJudge | None:
        """Return the judge that follows the run; None before the first line and behind a hole."""
        return self._judge

    @property
    def is_decided(self) -> bool:
        """Decide whether no further line is judged, whatever its content."""
        return self._divergence is not None or self._undecided != ""

    @property
    def has_hole(self) -> bool:
        """Decide whether a line was missing, or could not be used."""
        return self._gap != ""

    def is_at_place_of(self, other: "RunReplay") -> bool:
        """Decide whether another replay of the run expects the same line, under the same head."""
        if self._begin is None or other._begin is None:
            same_head = self._begin is other._begin
        else:
            same_head = self._begin.says_the_same(other._begin)
        return same_head and self._place_in_run == other._place_in_run

    @property
    def _place_in_run(self) -> tuple[object, ...]:
        return self._next, self._latest_raw, self._ended, self._awaits_snapshot

    def pass_over(self, before: "RunReplay", behind: "RunReplay") -> None:
        """Count the lines between two states of another replay of the run; none is judged."""
        self._events += behind._events - before._events
        self._missed = None
        self._next, self._latest = behind._next, behind._latest
        self._latest_raw, self._ended = behind._latest_raw, behind._ended

    def take_over(self, before: "RunReplay", behind: "RunReplay") -> None:
        """Go on as another replay of the run, whose judge knew ``before`` what this one's knows."""
        visits = behind._visits_so_far
        visits.subtract(before._visits_so_far)
        visits.update(self._visits_so_far)
        self.pass_over(before, behind)
        self._begin = behind._begin
        self._judged += behind._judged - before._judged
        self._deviated |= behind._deviated
        self._unjudged = behind._unjudged
        self._divergence, self._undecided = behind._divergence, behind._undecided
        self._missed = behind._missed
        self._awaits_snapshot = behind._awaits_snapshot
        self._hole = self._hole or behind._hole
        self._judge = behind._judge
        if self._judge is not None:
            self._judge.visits.clear()
        self._visits = +visits

    @property
    def _visits_so_far(self) -> Counter[str]:
        return self._visits + (Counter() if self._judge is None else self._judge.visits)

    def _place(self, located: Located, line: TraceLine) -> None:
        """Judge a line, or see why it cannot be judged."""
        if self._ended:
            raise Unusable("it stands behind the last line of the run")
        if self._next is None:
            if not isinstance(line, Begin):
                self._leave_hole(f"its first line is missing: the run begins with {located.seq}")
        elif located.seq != self._next:
            self._leave_hole(_missing(self._next, located.seq - 1))
        self._next = located.seq + 1
        if isinstance(line, Begin):
            self._begin_with(line)
            return
        if self.is_decided:
            self._ended = isinstance(line, End)
            if self._missed is not None:
                self._missed.take(line)
            return
        if isinstance(line, Snapshot) and self._judge is None and self._begin is not None:
            self._judge = judge_of(msgspec.structs.replace(self._begin, seq=line.seq))
        if self._judge is None:
            self._ended = isinstance(line, End)
            return
        if self._awaits_snapshot and not isinstance(line, Snapshot):
            raise Unusable("a snapshot has to follow a first line whose seq is not 0")
        self._awaits_snapshot = False
        try:
            finding = self._judge.take(line)
        except Undecided as problem:
            self._undecided = str(problem)
            return
        self._judged += 1
        self._ended = isinstance(line, End)
        if finding is not None:
            self._divergence = finding, located._replace(raw=b"")
            if finding.missing is not None:
                self._missed = Missed(finding.missing)
                self._missed.take(line)

    def _begin_with(self, line: Begin) -> None:
        if self._begin is not None and not self._begin.says_the_same(line):
            raise Unusable("it says something else than the first line of the run")
        self._begin = line
        if self.is_decided:
            return
        if self._judge is None:
            self._judge = judge_of(line)
            self._awaits_snapshot = line.seq != 0
        self._judged += 1

    def _leave_hole(self, why: str) -> None:
        self._hole = self._hole or why
        self._awaits_snapshot = False
        self._keep_what_the_judge_knows()

    def _keep_what_the_judge_knows(self) -> None:
        if self._judge is not None:
            self._visits.update(self._judge.visits)
            self._deviated.update(self._judge.deviated)
            self._unjudged = self._judge.unjudged
            self._judge = None

    def _verdict_row(self) -> VerdictRow:
        begin = self._begin
        row = VerdictRow(
            run=self.run,
            subject="" if begin is None else begin.subject,
            component="" if begin is None else str(begin.instance.__struct_config__.tag),
            verdict=self._verdict().value,
            events=self._events,
            judged=self._judged,
            reason=self._reason,
            deviated=tuple(sorted(self._deviated)),
            pending_expiries=self._unjudged.pending_expiries,
            open_calls=self._unjudged.open_calls,
            uncompared=self._unjudged.uncompared,
            model_version=MODEL_VERSION,
        )
        if self._divergence is None or self._is_untold:
            return row
        finding, located = self._divergence
        if self._missed is not None and not self._gap:
            finding = self._missed.told(finding)
        return row._replace(
            seq=located.seq,
            file=located.file,
            line=located.number,
            thread=finding.thread,
            operation=finding.operation,
            rule=finding.rule,
            kind=finding.kind,
            expected=finding.expected,
            seen=finding.seen,
            also=finding.also,
            cause=f"{finding.rule}, {finding.kind}",
        )

    def _verdict(self) -> RunVerdict:
        if self._divergence is not None and not self._is_untold:
            return RunVerdict.DIVERGES
        if self._undecided:
            return RunVerdict.INCONCLUSIVE
        if self._gap:
            return RunVerdict.INCOMPLETE
        return RunVerdict.INCONCLUSIVE if self._unjudged.unrefuted else RunVerdict.CONFORMS

    @property
    def _reason(self) -> str:
        if self._undecided:
            return self._undecided
        if self._divergence is not None and not self._is_untold:
            return self._gap
        return self._gap or self._unjudged.unrefuted

    @property
    def _gap(self) -> str:
        """Return the reason why lines of the run could not be judged; empty where all could."""
        if self._hole or self._conflict is None:
            return self._hole
        return f"two different lines have the number {self._conflict}"

    @property
    def _is_untold(self) -> bool:
        """Decide whether the finding is about lines of which there are two kinds."""
        if self._divergence is None or self._conflict is None:
            return False
        return self._divergence[1].seq >= self._conflict


def _missing(first: int, last: int) -> str:
    return f"line {first} is missing" if first == last else f"lines {first} to {last} are missing"


def _aside(located: Located, reason: str) -> QuarantineRow:
    raw = located.raw.decode("utf-8", "backslashreplace")
    return QuarantineRow(located.file, located.number, raw, reason, located.run, located.seq)


def rows_of(replay: RunReplay, lines: Iterator[Located]) -> Iterator[Row]:
    """Yield the rows of a run whose remaining lines are given, in order."""
    for located in lines:
        row = replay.take(located)
        if row is not None:
            yield row
    yield from replay.finish()
