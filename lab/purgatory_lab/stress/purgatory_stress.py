"""Judgement of a purgatory once a round is over and all is quiet.

Every operation was completed once, or not at all where it was cancelled under all its keys. None
was lost: where the condition held, an event has completed it; the time-out has completed the rest.
The counts are those of the lists. Nothing is left behind: no thread, no object, and each finaliser
has run once.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from purgatory_lab.stress.harness import (
    Kind,
    Round,
    new_threads,
    run_together,
    stacks,
    wait_until,
)
from purgatory_lab.stress.leaks import (
    LogErrors,
    counted_log_errors,
    impl_objects,
    judge_leaks,
)
from purgatory_lab.stress.operations import (
    CALLBACK_RAISED,
    CANCELLED,
    COMPLETED,
    EXPIRED,
    EXPIRY_RAISED,
    FINALISED,
    FINALISER_FAILED,
    FORCED,
    REFUSED,
    TIME_OUT_CANCELLED,
    TIME_OUT_RAISED,
    TIMED_OUT,
    TRY_RAISED,
    WATCH,
    Record,
)
from purgatory_lab.stress.purgatory_round import (
    KEYS,
    LONG_MS,
    PURGE_INTERVAL,
    AccountingName,
    Load,
    PurgatoryRound,
)

_COUNTED: Final = (
    WATCH,
    REFUSED,
    TRY_RAISED,
    FORCED,
    CANCELLED,
    TIME_OUT_CANCELLED,
    COMPLETED,
    TIMED_OUT,
    CALLBACK_RAISED,
    TIME_OUT_RAISED,
    EXPIRED,
    EXPIRY_RAISED,
    FINALISED,
)


def purgatory_round(
    seed: int, accounting: AccountingName, closing: bool, load: Load, patience_s: float
) -> Round:
    """Run one round and judge it; judging stops at the first thing that is wrong.

    Args:
        seed: Of the choices that the threads make.
        accounting: Of the purgatory.
        closing: Whether it is closed half way.
        load: How much the threads do.
        patience_s: How long nothing may go on before it counts as stuck, seconds.
    """
    result = Round()
    threads, objects = set(threading.enumerate()), impl_objects()
    with counted_log_errors() as errors:
        run = PurgatoryRound(seed, accounting, closing, load, result)
        if run.run(patience_s):
            bodies = {"judge": partial(_judge, run, accounting, patience_s)}
            # Judging itself waits that long, for two things one after the other.
            run_together(bodies, result, 2.5 * patience_s)
            del bodies
    records, purgatory = run.records, weakref.ref(run.purgatory)
    del run
    if not result.findings:
        _judge_executor(records, errors, result)
        if left := new_threads(threads):
            result.find(Kind.LEAK, f"threads have not ended:\n{stacks(left)}")
        judge_leaks({"the purgatory": purgatory}, objects, result)
        for record in records:
            _expect_of(record, Kind.LEAK, FINALISED, 1, result)
    result.counts = {"operation": len(records)}
    result.counts |= {what: sum(record.count(what) for record in records) for what in _COUNTED}
    return result


def _judge(run: PurgatoryRound, accounting: AccountingName, patience_s: float) -> Iterator[None]:
    """Judge in an order where nothing hides what went wrong before; then close."""
    result = run.result
    _judge_once(run.records, result)
    _judge_lost(run)
    if not result.findings and not run.closing:
        _judge_time_outs(run, patience_s)
    yield
    if not result.findings:
        _complete_the_rest(run)
        _judge_once(run.records, result)
        _judge_left(run)
    yield
    if not result.findings and not run.closing:
        _judge_pending(run, accounting, patience_s)
    run.purgatory.close()
    yield
    if not result.findings:
        _judge_counts(run)


def _judge_once(records: Sequence[Record], result: Round) -> None:
    """Judge that no operation was completed twice, nor has expired twice.

    Rules: PURGATORY-EXACTLY-ONCE.
    """
    for record in records:
        if record.completions > 1 or record.count(EXPIRED) > 1:
            result.find(Kind.TWICE, str(record))


def _judge_lost(run: PurgatoryRound) -> None:
    """Judge that an event has completed each operation whose condition held.

    Only those with a long time-out prove that: a short one may have been quicker.

    Rules: PURGATORY-NOT-LOST.
    """
    for record in run.records:
        excused = record.has(CANCELLED, REFUSED, TRY_RAISED)
        waits = not record.completions and record.delay_ms == LONG_MS
        if waits and not excused and run.holds(record):
            run.result.find(Kind.LOST, f"the condition holds\n{record}")


def _judge_time_outs(run: PurgatoryRound, patience_s: float) -> None:
    """Judge that time-outs have completed the rest, but for cancelled operations.

    Rules: PURGATORY-TIME-OUT.
    """

    def owed() -> list[Record]:
        excuses = (CANCELLED, TIME_OUT_CANCELLED, TRY_RAISED, REFUSED)
        return [
            record
            for record in run.records
            if record.delay_ms < LONG_MS and not record.completions and not record.has(*excuses)
        ]

    if not wait_until(lambda: not owed(), patience_s):
        run.result.find(Kind.TIME_OUT_LOST, f"{len(owed())} operations; the first: {owed()[0]}")


def _complete_the_rest(run: PurgatoryRound) -> None:
    """Let every condition hold, and check all keys.

    More than once: planned failures keep an operation for the next check, and what is completed may
    watch another.
    """
    for _ in range(6):
        for number in range(KEYS):
            run.events[2][number] += 10
        for number in range(KEYS):
            run.check(number)


def _judge_left(run: PurgatoryRound) -> None:
    """Judge that operations left over were cancelled under all keys, or never watched.

    Rules: PURGATORY-CANCEL-LEAVES, PURGATORY-FIRST-TRY-THROWS.
    """
    for operations in run.purgatory.watched().values():
        for operation in operations:
            if not operation.is_completed:
                run.result.find(Kind.LOST, f"still watched: {operation}")
    for record in run.records:
        unwatched = record.count(WATCH) <= record.count(TRY_RAISED) + record.count(REFUSED)
        if not record.completions and not record.has(CANCELLED) and not unwatched:
            run.result.find(Kind.LOST, f"neither completed nor cancelled: {record}")


def _judge_pending(run: PurgatoryRound, accounting: AccountingName, patience_s: float) -> None:
    """Time-outs are owed to none, or, as the proposal arms them last, to what was cancelled.

    Rules: PURGATORY-PENDING, PURGATORY-TIMER-SIZE, PURGATORY-CANCEL-LAST-KEY.
    """
    purgatory, result = run.purgatory, run.result
    wait_until(lambda: purgatory.pending == purgatory.timer_size, patience_s)
    pending, size = purgatory.pending, purgatory.timer_size
    live = sum(not record.completions for record in run.records)
    result.expect(Kind.COUNT, "pending, and the timer's size", size, pending)
    if pending > (live if accounting == "proposal" else 0):
        result.find(Kind.COUNT, f"pending is {pending}; {live} operations are not completed")
    if accounting == "exact":
        wait_until(lambda: purgatory.stale <= PURGE_INTERVAL, patience_s)
        if purgatory.stale > PURGE_INTERVAL:
            result.find(Kind.COUNT, f"{purgatory.stale} entries stay stale")


def _judge_counts(run: PurgatoryRound) -> None:
    """Judge that the counts are those of the lists, and zero with all stale entries gone.

    Rules: PURGATORY-ENTRIES, PURGATORY-EMPTY-LISTS, PURGATORY-STALE-ENTRIES,
    PURGATORY-SHUTDOWN-DROPS.
    """
    purgatory, result = run.purgatory, run.result
    lists = purgatory.watched()
    entries = sum(map(len, lists.values()))
    result.expect(Kind.COUNT, "entries", entries, purgatory.entries)
    result.expect(Kind.COUNT, "keys", len(lists), purgatory.keys)
    # Nothing but completed operations is left in the lists.
    result.expect(Kind.COUNT, "stale", entries, purgatory.stale)
    result.expect(Kind.COUNT, "pending when closed", 0, purgatory.pending)
    result.expect(Kind.COUNT, "timer size when closed", 0, purgatory.timer_size)
    for key in lists:
        purgatory.check_and_complete(key)
    left = (purgatory.entries, purgatory.keys, purgatory.stale)
    result.expect(Kind.COUNT, "entries, keys and stale in the end", (0, 0, 0), left)


def _judge_executor(records: Sequence[Record], errors: LogErrors, result: Round) -> None:
    """Judge that timed out operations have expired, and that failures alone were logged.

    Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-EXPIRY-THROWS.
    """
    for record in records:
        expiries = record.count(TIMED_OUT) - record.count(TIME_OUT_RAISED)
        _expect_of(record, Kind.RESULT, EXPIRED, expiries, result)
        _expect_of(record, Kind.RAISED, FINALISER_FAILED, 0, result)
    failed = sum(record.count(EXPIRY_RAISED) + record.count(TIME_OUT_RAISED) for record in records)
    result.expect(Kind.COUNT, "failures of time-outs that were logged", failed, errors.of_tasks)
    if errors.others:
        result.find(Kind.RAISED, "\n".join(errors.others))


def _expect_of(record: Record, kind: Kind, what: str, expected: int, result: Round) -> None:
    seen = record.count(what)
    if seen != expected:
        result.find(kind, f"{what}: expected {expected}, seen {seen}; {record}")
