"""Lines of runs on a wall clock, and what their judge says of them."""

import pickle
from collections.abc import Iterable
from typing import TypeAlias

from purgatory_model.overlapping.interleaving import Called, Happened, History
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import EventKind, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.judge import Finding, JudgedLine
from purgatory_traces.replay.run_replay import judge_of
from purgatory_traces.traces import lines as trace_lines
from purgatory_traces.traces.lines import (
    Begin,
    Call,
    DeclaredDeviation,
    End,
    Instance,
    Return,
    WallClock,
)

NS_PER_MS = 1_000_000

Line: TypeAlias = JudgedLine


def begin(
    instance: Instance,
    *,
    lateness_ms: int = 20,
    deviations: tuple[DeclaredDeviation, ...] = (),
    omitted: tuple[EventKind, ...] = (),
    seq: int = 0,
) -> Begin:
    return Begin(
        run="run",
        seq=seq,
        instance=instance,
        clock=WallClock(lateness_ms),
        deviations=deviations,
        omitted=omitted,
    )


def call(at_ms: int, thread: str, operation: Operation) -> Call:
    return Call(run="run", seq=0, at_ns=at_ms * NS_PER_MS, thread=thread, operation=operation)


def returns(
    at_ms: int, thread: str, result: Value = None, rejected: Reason | None = None
) -> Return:
    at_ns = at_ms * NS_PER_MS
    return Return(run="run", seq=0, at_ns=at_ns, thread=thread, result=result, rejected=rejected)


def event(at_ms: int, thread: str, kind: str, task: str) -> trace_lines.Happened:
    return trace_lines.Happened(
        run="run", seq=0, at_ns=at_ms * NS_PER_MS, thread=thread, event=EventKind(kind), task=task
    )


def end(at_ms: int) -> End:
    return End(run="run", seq=0, at_ns=at_ms * NS_PER_MS)


def at_once(at_ms: int, operation: Operation, result: Value = None) -> list[Line]:
    """A call that nothing interrupts, of the thread ``main``."""
    return [call(at_ms, "main", operation), returns(at_ms, "main", result)]


def judged(
    first: Begin, lines: Iterable[Line], *, pickled: bool = False
) -> tuple[int, Finding] | None:
    """The first line that is not allowed, by its place, with the finding; None where all are."""
    judge = judge_of(first)
    for place, line in enumerate(lines):
        if pickled:
            judge = pickle.loads(pickle.dumps(judge))
        finding = judge.take(line)
        if finding is not None:
            return place, finding
    return None


def rule_of(first: Begin, lines: Iterable[Line]) -> str | None:
    """The rule that is broken, if one is."""
    found = judged(first, lines)
    return None if found is None else found[1].rule


def lines_of(history: History) -> list[Line]:
    """A history of a model without time, all of it at one reading of the clock."""
    lines: list[Line] = []
    for each in history:
        if isinstance(each, Called):
            lines.append(call(0, each.thread, each.operation))
        elif isinstance(each, Happened):
            lines.append(event(0, each.thread, each.event.kind.value, each.event.task))
        else:
            lines.append(returns(0, each.thread, each.result, each.raised))
    return lines
