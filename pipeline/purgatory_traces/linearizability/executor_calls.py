"""Work of executor threads as calls of their own."""

from collections.abc import Sequence

from purgatory_model.overlapping.interleaving import Called, Happened, Returned
from purgatory_spec.operations import Advance, RunOne
from purgatory_spec.outcomes import EventKind
from purgatory_traces.linearizability.calls import Entry, RecordedCall, thread_executing


def with_executor_calls(entries: Sequence[Entry]) -> list[Entry]:
    """Return a history in which the work of executor threads is a call ``RunOne`` of theirs.

    The call begins with the thread's line before, or with the run, and is over when the operation
    was told that it timed out. A name under which several operations are run at once stands for
    several threads; nothing is then known from its lines before. A hand-over that is shown outside
    every call is a call ``Advance``.
    """
    told: list[tuple[tuple[int, int], Entry]] = []
    inside: set[str] = set()
    latest: dict[str, int] = {}
    running: set[str] = set()
    several = _several_threads(entries)
    for place, entry in enumerate(entries):
        event = entry.event
        thread = event.thread
        if isinstance(event, Called):
            inside.add(thread)
        elif isinstance(event, Returned):
            inside.discard(thread)
        elif thread not in inside and event.event.kind is EventKind.EXPIRED:
            told.append(((place, 0), entry._replace(event=Called(thread, Advance(0)))))
            told.append(((place, 2), entry._replace(event=Returned(thread))))
        else:
            executing = thread_executing(thread, event.event.task)
            if thread not in inside and event.event.kind is EventKind.COMPLETED:
                if executing not in running:
                    before = -1 if thread in several else latest.get(thread, -1)
                    began = entries[place if before < 0 else before]
                    told.append(((before, 3), began._replace(event=Called(executing, RunOne()))))
                    running.add(executing)
                entry = entry._replace(event=Happened(executing, event.event))
            elif executing in running and event.event.kind is EventKind.TIMED_OUT:
                entry = entry._replace(event=Happened(executing, event.event))
                told.append(((place, 2), entry._replace(event=Returned(executing))))
                running.discard(executing)
        told.append(((place, 1), entry))
        latest[thread] = place
    told.sort(key=lambda each: each[0])
    return [entry for _, entry in told]


def _several_threads(entries: Sequence[Entry]) -> set[str]:
    """Return the names of threads under which a time-out is run while another one is under way."""
    running: dict[str, set[str]] = {}
    inside: set[str] = set()
    several: set[str] = set()
    for entry in entries:
        match entry.event:
            case Called(thread):
                inside.add(thread)
            case Returned(thread):
                inside.discard(thread)
            case Happened(thread, event) if event.kind is EventKind.TIMED_OUT:
                running.get(thread, set()).discard(event.task)
            case Happened(thread, event) if event.kind is EventKind.COMPLETED:
                present = running.setdefault(thread, set())
                if thread not in inside:
                    if present - {event.task}:
                        several.add(thread)
                    present.add(event.task)
    return several


def with_runs(entries: Sequence[Entry]) -> list[Entry]:
    """Return a history of a timer in which a task that runs is a call of its own, over at once."""
    found: list[Entry] = []
    for entry in entries:
        is_run = isinstance(entry.event, Happened) and entry.event.event.kind is EventKind.RAN
        found += run_of(entry) if is_run else (entry,)
    return found


def run_of(entry: Entry) -> tuple[Entry, Entry, Entry]:
    """Return a run that is seen, as a call of its own at that instant."""
    assert isinstance(entry.event, Happened)
    thread = f"{entry.event.thread}, running"
    return (
        entry._replace(event=Called(thread, RunOne())),
        entry._replace(event=Happened(thread, entry.event.event)),
        entry._replace(event=Returned(thread)),
    )


def runs_named_operation(call: RecordedCall) -> bool:
    """Decide whether a call ran one time-out and showed which, so that no other is concerned."""
    completed = any(event.kind is EventKind.COMPLETED for event in call.events)
    return completed and isinstance(call.operation, RunOne)
