"""Shares of a run that are explained together, and their rules.

A memory pool, and a timer on a manual clock, are explained as a whole. On a real clock the tasks of
a timer have nothing to do with each other: there each task is a share of its own. So is each
delayed operation of a purgatory (``projection``).

The work of an executor's thread happens outside every call. It becomes an extra call ``RunOne``,
which no program made. A task of a timer is taken up when it is seen to run, at the latest, and
what matters before is when it was handed over; so the call is that instant. An operation of a
purgatory is completed some time before its callback is seen: the call begins with the line before
of that thread (``executor_calls``), and not before the time-out is due (``time_outs``).
"""

from collections.abc import Iterator

from purgatory_model.overlapping.interleaving import Called, Happened, Returned
from purgatory_spec.operations import Add, Cancel, Shutdown
from purgatory_spec.outcomes import EventKind
from purgatory_traces.linearizability.calls import Entry
from purgatory_traces.linearizability.executor_calls import run_of, with_runs
from purgatory_traces.linearizability.pool_rules import pool_rules
from purgatory_traces.linearizability.real_clock_rules import (
    END,
    real_clock_rules,
)
from purgatory_traces.linearizability.share import AnyShare, Share
from purgatory_traces.linearizability.timer_rules import timer_calls
from purgatory_traces.linearizability.traced_history import TracedHistory
from purgatory_traces.traces.lines import MemoryPoolInstance, TimerInstance, WallClock


def shares_of(history: TracedHistory) -> Iterator[AnyShare]:
    """Yield the shares of the run of a timer or of a pool.

    Raises:
        ValueError: it is the run of a purgatory, see ``operation_shares``.
    """
    assert history.begin is not None
    instance, clock = history.begin.instance, history.begin.clock
    if isinstance(instance, MemoryPoolInstance):
        events = (entry.event for entry in history.entries)
        operations = [event.operation for event in events if isinstance(event, Called)]
        yield Share("", history.entries, (pool_rules(instance, history.snapshot, operations),))
    elif not isinstance(instance, TimerInstance):
        raise ValueError("a purgatory is explained operation by operation")
    elif isinstance(clock, WallClock):
        for task, entries in _by_task(history).items():
            rules = real_clock_rules(task, instance, clock.lateness_ms, history.snapshot)
            yield Share(task, entries, (rules,))
    else:
        entries = history.entries
        if instance.profile.executor.has_threads:
            entries = with_runs(entries)
        yield Share("", entries, (timer_calls(instance, history.snapshot),))


def _by_task(history: TracedHistory) -> dict[str, list[Entry]]:
    """Return for each task the entries about it, and the end of the run if lines are there."""
    pending = () if history.snapshot is None else history.snapshot.tasks
    found: dict[str, list[Entry]] = {each.task: [] for each in pending}
    opened: dict[str, list[str]] = {}  # the tasks that a thread's call is about
    for entry in history.entries:
        match entry.event:
            case Called(thread, Add(task=task) | Cancel(task=task)):
                concerned = opened[thread] = [task]
            case Called(thread, Shutdown()):
                concerned = opened[thread] = [*found]
            case Returned(thread):
                concerned = opened.pop(thread, [])
            case Happened(event=event) if event.kind is EventKind.RAN:
                found.setdefault(event.task, []).extend(run_of(entry))
                continue
            case _:
                continue
        for name in concerned:
            found.setdefault(name, []).append(entry)
    if history.entries and not history.hole:
        last = history.entries[-1].seq
        for entries in found.values():
            entries += [
                Entry(last + 1, Called("the end", END), history.ended_ms),
                Entry(last + 1, Returned("the end"), history.ended_ms),
            ]
    return found
