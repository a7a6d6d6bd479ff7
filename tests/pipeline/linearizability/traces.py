"""Short traces, written as their lines, and what the checker finds of them."""

from collections.abc import Iterable

import msgspec

from purgatory_model.overlapping.interleaving import Called, History, Returned
from purgatory_model.overlapping.sequential_rules import Rule, Rules
from purgatory_spec.operations import Allocate, Operation, Watch
from purgatory_spec.outcomes import Event, EventKind, Value, tried
from purgatory_spec.profiles import Accounting, Executor, PurgatoryProfile
from purgatory_spec.reasons import Reason
from purgatory_traces.linearizability.budget import MOST_CONFIGURATIONS, Budget
from purgatory_traces.linearizability.calls import Entry, ModelRules
from purgatory_traces.linearizability.checker import Finding, check_run
from purgatory_traces.linearizability.decision import Explained, decide
from purgatory_traces.linearizability.refutation import refute
from purgatory_traces.linearizability.traced_history import traced_history
from purgatory_traces.traces import lines as trace_lines

WALL = trace_lines.WallClock(lateness_ms=50)
EXACT = trace_lines.PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.STEPPED)
)
W = Watch("a", ("k",), 10)
WAITS = (tried("a"), tried("a"))


def ns(at_ms: int | None) -> int | None:
    """A time of a line."""
    return None if at_ms is None else at_ms * 1_000_000


def call(thread: str, operation: Operation, at_ms: int | None = None) -> trace_lines.Call:
    """A thread begins a call."""
    return trace_lines.Call(run="", seq=0, thread=thread, operation=operation, at_ns=ns(at_ms))


def back(
    thread: str, result: Value = None, at_ms: int | None = None, rejected: Reason | None = None
) -> trace_lines.Return:
    """Tell of the return of a call."""
    return trace_lines.Return(
        run="", seq=0, thread=thread, result=result, rejected=rejected, at_ns=ns(at_ms)
    )


def event(
    thread: str, kind: EventKind, name: str, at_ms: int | None = None
) -> trace_lines.Happened:
    """A callback begins."""
    return trace_lines.Happened(
        run="", seq=0, thread=thread, event=kind, task=name, at_ns=ns(at_ms)
    )


def step(
    thread: str,
    operation: Operation,
    result: Value = None,
    *events: Event,
    rejected: Reason | None = None,
    at_ms: int | None = None,
) -> trace_lines.Step:
    """A whole call at once."""
    return trace_lines.Step(
        run="",
        seq=0,
        thread=thread,
        operation=operation,
        result=result,
        rejected=rejected,
        events=events,
        at_ns=ns(at_ms),
    )


def located(
    instance: trace_lines.Instance,
    lines: Iterable[trace_lines.TraceLine],
    *,
    run: str = "r",
    clock: trace_lines.ManualClock | trace_lines.WallClock = trace_lines.ManualClock(),  # noqa: B008
    deviations: tuple[trace_lines.DeclaredDeviation, ...] = (),
    first: int = 0,
    at_ms: int | None = None,
    ends: bool = True,
) -> list[trace_lines.Located]:
    """A trace as an engine hands it over."""
    begin = trace_lines.Begin(run=run, seq=0, instance=instance, clock=clock, deviations=deviations)
    last = [trace_lines.End(run=run, seq=0, at_ns=ns(at_ms))] if ends else []
    found = []
    for number, line in enumerate([begin, *lines, *last]):
        seq = first + number
        raw = msgspec.json.encode(msgspec.structs.replace(line, run=run, seq=seq))
        found.append(trace_lines.Located(run, seq, "trace.jsonl", number + 1, raw))
    return found


def found_of(
    lines: Iterable[trace_lines.Located], most_configurations: int = MOST_CONFIGURATIONS
) -> Finding:
    """Return what the checker finds of a run."""
    return check_run(traced_history("r", lines), most_configurations)


def entries_of(history: History) -> list[Entry]:
    """A history as the search takes it."""
    return [Entry(place, each) for place, each in enumerate(history)]


def explained_entries(history: History, rules: Rules[Rule]) -> int | None:
    """Return how long the longest beginning is that is explained; None where all of it is."""
    entries = entries_of(history)
    budget = Budget()
    searched = ModelRules(rules)
    decided = decide(entries, searched, budget)
    if isinstance(decided, Explained):
        return None
    return refute(entries, searched, budget, decided).explained


def requests(answers: Iterable[bool]) -> History:
    """Requests of one byte, all of which overlap, and their answers in turn."""
    given = [(f"t{number}", answer) for number, answer in enumerate(answers)]
    calls = (Called(thread, Allocate(thread, 1)) for thread, _ in given)
    return (*calls, *(Returned(thread, answer) for thread, answer in given))
