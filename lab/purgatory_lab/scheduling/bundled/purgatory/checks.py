"""Checks of a purgatory when every call has returned, whatever the schedule.

Each check compares what the purgatory says with what the programs did and with the links of its
lists, read one by one. Last, everything is let finish, and nothing may be left.
"""

from collections import Counter
from collections.abc import Iterator

from purgatory_lab.scheduling.bundled.purgatory.under_test import (
    PurgatoryUnderTest,
    ScheduledOperation,
)
from purgatory_spec.operations import Check, Force, Satisfy, Shutdown, Watch


def problems(tested: PurgatoryUnderTest) -> list[str]:
    """Return all problems of the purgatory at rest."""
    return [
        *_completed_once(tested),
        *_counted_right(tested),
        *_watched_or_completed(tested),
        *_not_lost(tested),
        *_purged_and_closed(tested),
        *_nothing_is_left(tested),
    ]


def problems_at_an_instant(tested: PurgatoryUnderTest) -> list[str]:
    """Return the problems of the purgatory between any two steps of the threads.

    Rules: PURGATORY-ESTIMATE-EXACT, PURGATORY-TIME-OUT.
    """
    accounting = tested.purgatory._accounting
    if not accounting.time_out_first or tested.purgatory._closed:
        return []
    live = {
        one.name
        for operations in tested.listed().values()
        for one in operations
        if not one.is_completed
    }
    if len(live) > accounting._pending:
        return [f"{len(live)} operations wait, and {accounting._pending} time-outs are pending"]
    return []


def _completed_once(tested: PurgatoryUnderTest) -> Iterator[str]:
    """Yield the operations that are completed by more than one call or time-out.

    Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-CHECK-COUNT, PURGATORY-LOST-EXPIRY.
    """
    for one in tested.operations.values():
        if one.completions != one.is_completed:
            yield f"on_complete of {one.name} was called {one.completions} times"
        if one.expirations > one.completions:
            yield f"on_expiration of {one.name} was called {one.expirations} times"
    claimed = sum(one.expirations for one in tested.operations.values()) + tested.claimed_inside
    for operation, returned in tested.history.calls():
        if isinstance(operation, Watch | Check | Force) and isinstance(returned.result, int):
            claimed += returned.result
    completed = sum(one.is_completed for one in tested.operations.values())
    if claimed != completed:
        yield f"{completed} operations are completed, and calls claim {claimed}"


def _counted_right(tested: PurgatoryUnderTest) -> Iterator[str]:
    """Yield the counts that differ from the links and words.

    Rules: PURGATORY-ENTRIES, PURGATORY-EMPTY-LISTS, PURGATORY-STALE-ENTRIES, PURGATORY-PENDING,
    PURGATORY-ESTIMATE-EXACT.
    """
    lists = tested.listed()
    entries = [operation for operations in lists.values() for operation in operations]
    pending = len(_in_timer(tested)) + len(tested.waiting())
    stale = sum(operation.is_completed for operation in entries)
    truth = {
        "entries": len(entries),
        "keys": len(lists),
        "timer_size": len(_in_timer(tested)),
        "pending": pending,
        "stale": stale,
    }
    counts = tested.counts()
    if tested.purgatory._accounting.time_out_first:
        truth["estimate"] = pending + stale
    for name, true in truth.items():
        if counts[name] != true:
            yield f"{name} is {counts[name]}, and there are {true}"
    for key, operations in lists.items():
        if not operations:
            yield f"the empty list of {key} was kept"
    live = Counter(operation.name for operation in entries if not operation.is_completed)
    for one in tested.operations.values():
        if one._entries != live[one.name]:
            yield f"the word of {one.name} has {one._entries} entries, the lists {live[one.name]}"


def _in_timer(tested: PurgatoryUnderTest) -> list[ScheduledOperation]:
    return [one for one in tested.operations.values() if one._next is not None]


def _watched_or_completed(tested: PurgatoryUnderTest) -> Iterator[str]:
    """Yield the operations that ought to wait, and do not wait as they were told to.

    Rules: PURGATORY-WATCH-WAITS, PURGATORY-DUPLICATE-KEYS, PURGATORY-TIME-OUT,
    PURGATORY-TIMER-LEFT.
    """
    lists = tested.listed()
    for (name, key), often in _promised(tested).items():
        one = tested.operations[name]
        untouched = not one.is_completed and one not in tested.cancelled
        if untouched and lists.get(key, []).count(one) != often:
            yield f"{name} is not completed, and not watched under {key}"
    closed = any(isinstance(operation, Shutdown) for operation in tested.history.called())
    owed = [*_in_timer(tested), *tested.waiting()]
    for one in tested.operations.values():
        if one.is_completed and one in _in_timer(tested):
            yield f"{one.name} is completed, and in the timer"
        listed = any(one in operations for operations in lists.values())
        if listed and not (one.is_completed or closed or one in owed):
            yield f"{one.name} is watched, and has no time-out"


def _promised(tested: PurgatoryUnderTest) -> Counter[tuple[str, str]]:
    """Return for each operation and key how often the operation was to be watched."""
    promised: Counter[tuple[str, str]] = Counter()
    for operation, returned in tested.history.calls():
        if isinstance(operation, Watch) and returned.raised is None:
            promised.update((operation.operation, key) for key in operation.keys)
    return promised


def _not_lost(tested: PurgatoryUnderTest) -> Iterator[str]:
    """Yield the operations that were satisfied before a check of a key and are not completed.

    Rules: PURGATORY-NOT-LOST, PURGATORY-WATCH-SECOND-TRY.
    """
    satisfied: set[str] = set()
    told: set[tuple[str, str]] = set()
    for operation, returned in tested.history.opened():
        if isinstance(operation, Satisfy) and returned:
            satisfied.add(operation.operation)
        elif isinstance(operation, Check) and not returned:
            told.update((name, operation.key) for name in satisfied)
    for name in tested.forced_inside:
        if not tested.operations[name].is_completed:
            yield f"{name} was forced inside a try or a callback, and is not completed"
    told |= tested.told_inside
    for name, key in told & _promised(tested).keys():
        one = tested.operations[name]
        listed = any(one in operations for operations in tested.listed().values())
        if listed and not one.is_completed and one not in tested.cancelled:
            yield f"{name} could be completed when {key} was checked, and is lost"


def _purged_and_closed(tested: PurgatoryUnderTest) -> Iterator[str]:
    """Yield the faults of a reaper that has not purged, and of time-outs kept after closing.

    Rules: PURGATORY-PURGE-START, PURGATORY-SHUTDOWN-DROPS.
    """
    if tested.left_stale:
        yield f"{tested.left_stale} stale entries are left above the interval"
    if any(isinstance(operation, Shutdown) for operation in tested.history.called()):
        for one in _in_timer(tested):
            yield f"{one.name} is in the timer of a purgatory that is closed"


def _nothing_is_left(tested: PurgatoryUnderTest) -> Iterator[str]:
    """Yield the counts that are not zero after every time-out and a purge.

    Rules: PURGATORY-TIME-OUT, PURGATORY-PURGE-REMOVES, PURGATORY-STALE-ENTRIES.
    """
    untimed = [
        one
        for operations in tested.listed().values()
        for one in operations
        if not one.is_completed and one._next is None and one not in tested.waiting()
    ]
    tested.settle()
    counts = tested.counts()
    del counts["estimate"]
    left = {"entries": len(untimed), "keys": len(tested.listed()) if untimed else 0}
    for name, count in counts.items():
        if count != left.get(name, 0):
            yield f"{name} is {count} after everything was let finish"
    for one in tested.operations.values():
        if one.completions != one.is_completed:
            yield f"on_complete of {one.name} was called {one.completions} times in the end"
