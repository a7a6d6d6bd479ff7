"""Verdicts of the replay on a simulated run, and the place where it must find a planted fault."""

from collections.abc import Sequence

from purgatory_traces.replay import replay
from purgatory_traces.results.rows import QuarantineRow, VerdictRow
from purgatory_traces.traces.from_cases import encoded
from purgatory_traces.traces.lines import Call, End, Located, Return, Snapshot, TraceLine

from .machine import NS_PER_MS, RUN, Machine, Planted, from_snapshot_on


def located(lines: Sequence[TraceLine]) -> list[Located]:
    """The lines as an engine hands them over."""
    return [
        Located(RUN, line.seq, "simulated.jsonl", number, encoded(line))
        for number, line in enumerate(lines, start=1)
    ]


def verdict_of(lines: Sequence[TraceLine]) -> VerdictRow:
    """The verdict on a run, of which no line may be unusable."""
    rows = list(replay(located(lines)))
    assert not [row for row in rows if isinstance(row, QuarantineRow)]
    (verdict,) = [row for row in rows if isinstance(row, VerdictRow)]
    return verdict


def shown_at(machine: Machine) -> int:
    """The number of the line at which what was planted is to be found."""
    return min(_shown_at(machine, planted) for planted in machine.planted)


def _shown_at(machine: Machine, planted: Planted) -> int:
    """The number of the line at which one planted fault is to be found."""
    # A line that is missing is found by the first line later than it may be by twice the lateness,
    # or by the last line.
    if planted.seq is not None:
        return planted.seq
    overdue_ms = planted.overdue_ms
    assert overdue_ms is not None
    for line in machine.lines:
        at_ms = None if line.at_ns is None else line.at_ns // NS_PER_MS
        if isinstance(line, End):
            break
        if at_ms is not None and at_ms > overdue_ms + machine.lateness_ms:
            return line.seq
    return machine.lines[-1].seq


def overlapping(lines: Sequence[TraceLine]) -> int:
    """Return how many lines tell something while two threads or more are in calls."""
    depths: dict[str, int] = {}
    number = 0
    for line in lines:
        if isinstance(line, Call):
            depths[line.thread] = depths.get(line.thread, 0) + 1
        elif isinstance(line, Return):
            depths[line.thread] -= 1
        number += sum(depth > 0 for depth in depths.values()) > 1
    return number


def conforms(machine: Machine) -> bool:
    """Return whether a run conforms, judged from its beginning and from each of its snapshots."""
    lines = machine.lines
    parts = [lines] + [
        from_snapshot_on(machine, place)
        for place, line in enumerate(lines)
        if isinstance(line, Snapshot)
    ]
    return all(_is_right(verdict_of(part)) for part in parts)


def _is_right(row: VerdictRow) -> bool:
    """Return whether all of a run is allowed; a short one may be unable to refute that."""
    cut_short = row.verdict == "inconclusive" and row.judged == row.events
    return row.verdict == "conforms" or (
        cut_short and (row.pending_expiries > 0 or row.open_calls > 0)
    )
