"""A round on a purgatory: every call, from many threads, at once; and the judgement after it.

The purgatory is as a program makes it: own timer, reapers, executor, the real clock. Threads watch
operations, some of them twice, raise events and check their keys, force, cancel keys and time-outs,
advance, look on, and in some rounds close. Tries and callbacks fail or call the purgatory again.

Callbacks may do anything here that takes no other operation's lock, or one of an operation that is
completed after theirs; so no two can wait for each other, and whatever is stuck is a defect.

Every operation was completed once, or not at all where it was cancelled under all its keys. None
was lost: where the condition held, an event has completed it; the time-out has completed the rest.
The counts are those of the lists. Nothing is left behind: no thread, no object, and each finaliser
has run once.
"""

from __future__ import annotations

import random
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from purgatory_impl import Purgatory, PurgatoryClosed
from purgatory_lab.stress.harness import (
    Before,
    Kind,
    LogErrors,
    Round,
    counted_log_errors,
    judge_leaks,
    run_together,
    wait_until,
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
    Behaviour,
    Calls,
    Partition,
    Planned,
    Record,
    Waiting,
)

KEYS: Final = 8
PURGE_INTERVAL: Final = 10
LONG_MS: Final = 10**6
"""A time-out that never comes: what waits for it is completed by events, or lost."""

_DELAYS_MS: Final = (0, 1, 5, 20, LONG_MS, LONG_MS, LONG_MS)
_RECENT: Final = 24

AccountingName = Literal["exact", "proposal"]


@dataclass(frozen=True)
class Load:
    """The load of each thread in a round.

    Attributes:
        watches: Operations that each of the watching threads makes.
        events: Events that each of the completing threads raises.
        duels: Operations that one thread watches while a second thread raises the only events of
            their key and checks the key: no later event hides a lost completion.
    """

    watches: int = 120
    events: int = 160
    duels: int = 40


class _Purgatory(Purgatory[Partition]):
    """A purgatory that can be referred to weakly, unlike a purgatory of the compiled build."""


class PurgatoryRound:
    """The threads of a round, with the purgatory and the operations that they share."""

    def __init__(
        self, seed: int, accounting: AccountingName, closing: bool, load: Load, result: Round
    ) -> None:
        """Make the purgatory; nothing happens yet.

        Args:
            seed: Of all choices; what the threads make of them is the machine's choice.
            accounting: Of the purgatory.
            closing: Whether a thread closes the purgatory half way.
            load: How much is done.
            result: Receives what is wrong.
        """
        self.seed = seed
        self.closing = closing
        self.load = load
        self.result = result
        self.purgatory: Purgatory[Partition] = _Purgatory(
            f"stress-{seed}", purge_interval=PURGE_INTERVAL, accounting=accounting
        )
        self.records: list[Record] = []
        self.calls = Calls()
        # Events of each key, as each completing thread has raised them: none adds to another's.
        self.events = [[0] * (KEYS + load.duels) for _ in range(3)]
        self._duel = threading.Barrier(2)
        self._recent: list[Waiting | None] = [None] * _RECENT
        self._twins = [self._twin(number) for number in range(KEYS)]

    def run(self, patience_s: float) -> bool:
        """Run all threads; whether every thread has ended."""
        bodies: dict[str, Callable[[], Iterator[None]]] = {
            "watcher 1": partial(self._watch, 1),
            "watcher 2": partial(self._watch, 2),
            "watcher 3": partial(self._watch, 3),
            "completer 1": partial(self._complete, 0),
            "completer 2": partial(self._complete, 1),
            "duellist 1": partial(self._watch_in_duels, patience_s),
            "duellist 2": partial(self._complete_in_duels, patience_s),
            "forcer": self._force,
            "canceller": self._cancel,
            "purger": self._advance,
            "onlooker": self._look_on,
        }
        if self.closing:
            bodies["closer"] = self._close
        return run_together(bodies, self.result, patience_s)

    def holds(self, record: Record) -> bool:
        """Decide whether the condition of an operation holds."""
        return sum(events[record.key] for events in self.events) >= record.threshold

    def check(self, number: int) -> None:
        """Check a key, and compare the result with what has happened."""
        key = Partition("topic", number)
        self._called(f"check of {key}", lambda: self.purgatory.check_and_complete(key))

    def force(self, operation: Waiting) -> None:
        """Force an operation, and compare the result with what has happened."""
        operation.record.note(FORCED)
        self._called("force", operation.force_complete)

    def cancel(self, number: int) -> None:
        """Cancel a key, and note the cancellation in the record of each operation under the key."""
        for operation in self.purgatory.cancel_for_key(Partition("topic", number)):
            assert isinstance(operation, Waiting)
            operation.record.note(CANCELLED)

    def _watch(self, thread: int) -> Iterator[None]:
        chance = self._chance("watch", thread)
        for _ in range(self.load.watches):
            operation = self._new_operation(chance, plain=False)
            keys = [operation.record.key]
            keys += [chance.randrange(KEYS) for _ in range(chance.randrange(3))]
            self._recent[operation.record.serial % _RECENT] = operation
            self._watch_under(operation, keys)
            if chance.random() < 0.2:
                again = chance.choice(self._recent)
                if again is not None:
                    self._watch_under(again, [chance.randrange(KEYS)])
            yield

    def _complete(self, slot: int) -> Iterator[None]:
        chance = self._chance("complete", slot)
        for _ in range(self.load.events):
            number = chance.randrange(KEYS)
            self.events[slot][number] += 1
            self.check(number)
            yield

    def _watch_in_duels(self, patience_s: float) -> Iterator[None]:
        for number in range(KEYS, KEYS + self.load.duels):
            # One more waits already: with it the list goes, just as the other is put there.
            waiting = self._duel_operation(number, 1)
            coming = self._duel_operation(number, 1 + number % 2)
            self._watch_under(waiting, [number])
            self._duel.wait(patience_s)
            self._watch_under(coming, [number])
            yield

    def _complete_in_duels(self, patience_s: float) -> Iterator[None]:
        for number in range(KEYS, KEYS + self.load.duels):
            self._duel.wait(patience_s)
            for _ in range(1 + number % 2):
                self.events[0][number] += 1
                self.check(number)
            yield

    def _force(self) -> Iterator[None]:
        chance = self._chance("force", 0)
        for _ in range(self.load.events // 2):
            operation = chance.choice(self._recent)
            if operation is not None:
                if chance.random() < 0.1:
                    operation.record.note(TIME_OUT_CANCELLED)
                    operation.cancel()
                else:
                    self.force(operation)
            yield

    def _cancel(self) -> Iterator[None]:
        chance = self._chance("cancel", 0)
        for step in range(self.load.events):
            if step % 8 == 0:
                self.cancel(chance.randrange(KEYS))
            yield

    def _advance(self) -> Iterator[None]:
        for _ in range(self.load.events):
            self.purgatory.advance()
            yield

    def _look_on(self) -> Iterator[None]:
        """Read the counts; whatever the others do, none of these may be below zero."""
        for step in range(self.load.events):
            counts = (
                self.purgatory.entries,
                self.purgatory.keys,
                self.purgatory.timer_size,
                self.purgatory.pending,
            )
            if min(counts) < 0:
                self.result.find(Kind.COUNT, f"entries, keys, timer size, pending are {counts}")
            if step % 16 == 0:
                self.purgatory.watched()
            yield

    def _close(self) -> Iterator[None]:
        while len(self.records) < self.load.watches:
            yield
        self.purgatory.close()

    def _new_operation(self, chance: random.Random, plain: bool) -> Waiting:
        number = chance.randrange(KEYS)
        happened = sum(events[number] for events in self.events)
        record = Record(
            serial=len(self.records),
            key=number,
            threshold=happened + chance.randint(0, 3),
            delay_ms=chance.choice(_DELAYS_MS),
        )
        self.records.append(record)
        if plain:
            return self._operation(record, _QUIET)
        behaviour = Behaviour(
            failures=_failures(chance),
            during_try=self._during_try(chance),
            during_complete=self._during_complete(chance),
            in_a_circle=chance.random() < 0.5,
            at_last=partial(self._at_last, number),
        )
        return self._operation(record, behaviour)

    def _duel_operation(self, number: int, threshold: int) -> Waiting:
        record = Record(len(self.records), number, threshold, LONG_MS)
        self.records.append(record)
        return self._operation(record, _QUIET)

    def _operation(self, record: Record, behaviour: Behaviour) -> Waiting:
        return Waiting(record, partial(self.holds, record), behaviour, self.calls)

    def _during_try(self, chance: random.Random) -> Callable[[], object]:
        """Return the act of a try: seldom more than nothing; it takes no older operation's lock."""
        if chance.random() < 0.05:
            return partial(self.cancel, chance.randrange(KEYS))
        if chance.random() < 0.05:
            return partial(self._watch_another, chance.random())
        return _nothing

    def _during_complete(self, chance: random.Random) -> Callable[[], object]:
        if chance.random() < 0.1:
            return partial(self.check, chance.randrange(KEYS))
        if chance.random() < 0.1:
            return partial(self._watch_another, chance.random())
        if chance.random() < 0.05:
            return partial(self.cancel, chance.randrange(KEYS))
        return _nothing

    def _watch_another(self, seed: float) -> None:
        """Watch an operation that does nothing else, from inside a callback."""
        operation = self._new_operation(random.Random(seed), plain=True)
        self._watch_under(operation, [operation.record.key])

    def _at_last(self, number: int) -> None:
        """Use the purgatory, from inside a finaliser: under the lock of its list it would hang.

        Not once something is wrong: then a lock may be held for ever.
        """
        if not self.result.findings:
            self.purgatory.check_and_complete(self._twins[number])

    def _twin(self, number: int) -> Partition:
        """Return a key that is never watched, guarded by the same lock as a watched one."""
        lists = self.purgatory._lists
        shard = lists.shard_of(Partition("topic", number))
        candidates = (Partition("unwatched", candidate) for candidate in range(100_000))
        return next(key for key in candidates if lists.shard_of(key) is shard)

    def _watch_under(self, operation: Waiting, numbers: list[int]) -> None:
        keys = [Partition("topic", number) for number in numbers]
        operation.record.note(WATCH)
        try:
            self._called("watch", lambda: self.purgatory.try_complete_else_watch(operation, keys))
        except PurgatoryClosed:
            operation.record.note(REFUSED)

    def _called(self, name: str, call: Callable[[], int]) -> None:
        """Make a call, and compare its result with the number of operations it has completed."""
        completed = self.calls.completed
        completed.append(0)
        try:
            said: int | None = call()
        except Planned:
            said = None
        finally:
            did = completed.pop()
        if said is not None and said != did:
            self.result.find(Kind.RESULT, f"{name} says {int(said)} completed, and {did} were")

    def _chance(self, what: str, thread: int) -> random.Random:
        return random.Random(f"{self.seed} {what} {thread}")


def _failures(chance: random.Random) -> frozenset[str]:
    """Return the names of an operation's methods that raise."""
    likely = {"try 1": 0.03, "try 2": 0.04, "try 3": 0.1, "complete": 0.06, "expire": 0.1}
    return frozenset(name for name, share in likely.items() if chance.random() < share)


def _nothing() -> None:
    """Do nothing."""


_QUIET: Final = Behaviour(frozenset(), _nothing, _nothing, in_a_circle=False, at_last=_nothing)


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
    before = Before()
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
        judge_leaks({"the purgatory": purgatory}, before, result)
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
