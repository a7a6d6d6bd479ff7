"""Purgatories with bugs that people reported."""

from collections.abc import Iterator
from functools import cached_property, reduce
from itertools import dropwhile
from weakref import WeakKeyDictionary, WeakSet

from purgatory_conformance.specimens.mutant import Kind, breaks
from purgatory_conformance.specimens.small.purgatory import (
    DelayedOperation,
    Entry,
    Keys,
    SmallPurgatory,
)
from purgatory_conformance.specimens.small.specimen import ScriptFailure
from purgatory_conformance.specimens.small.two_threads import TwoThreadsPurgatory


@breaks("PURGATORY-CHECK-INSIDE", "PURGATORY-NOT-LOST", report="TermUI#2473", kind=Kind.BATCHES)
class DropsAnUpdateOfARing(SmallPurgatory):
    """A check of a key inside another key's is dropped if a check of the first is under way."""

    checking: tuple[str, ...] = ()

    def check(self, key: str) -> int:
        if key in self.checking[:-1]:
            return 0
        outside, self.checking = self.checking, (*self.checking, key)
        try:
            return super().check(key)
        finally:
            self.checking = outside


@breaks("PURGATORY-CHECK-ORDER", "PURGATORY-NOT-LOST", report="go-memdb#51", kind=Kind.CROWDS).by(
    SmallPurgatory.met_by_check
)
def sixty_four_in_a_check(self: SmallPurgatory, key: str) -> list[Entry]:
    """A check tries at most 64 operations."""
    return SmallPurgatory.met_by_check(self, key)[:64]


@breaks("PURGATORY-NO-CIRCLE", report="KAFKA-3994", kind=Kind.THREADS)
class ListLockedWhileTried(TwoThreadsPurgatory):
    """A check tries operations under the lock of its list, and two threads wait crosswise."""

    def check(self, key: str) -> int:
        with self.locks[key]:
            return super().check(key)


# Walks through a list that changes


@breaks(
    "PURGATORY-CHECK-INSIDE", "PURGATORY-WATCH-INSIDE", report="armeria#4729", kind=Kind.BATCHES
)
class FailFastWalk(SmallPurgatory):
    """A check raises an error where a callback has changed the list that it goes through."""

    def walk(self, key: str) -> Iterator[Entry]:
        for entry in self.met_by_check(key):
            before = self.met_by_check(key)
            yield entry
            after = self.met_by_check(key)
            if after not in (before, [each for each in before if each is not entry]):
                raise LookupError(key)


@breaks(
    "PURGATORY-NOT-LOST",
    "PURGATORY-CHECK-ORDER",
    "PURGATORY-CHECK-INSIDE",
    report="JMRI#9781",
    kind=Kind.ORDER,
).by(SmallPurgatory.walk)
def by_index(self: SmallPurgatory, key: str) -> Iterator[Entry]:
    """A check goes through its list by index, and passes over what follows a dropped entry."""
    place = 0
    while place < len(self.met_by_check(key)):
        yield self.met_by_check(key)[place]
        place += 1


@breaks(
    "PURGATORY-CHECK-ORDER",
    "PURGATORY-NOT-LOST",
    "PURGATORY-CHECK-INSIDE",
    report="redis#15667",
    kind=Kind.ORDER,
)
class NextIsUnlinked(SmallPurgatory):
    """A check ends where the entry that it has saved as the next one was unlinked meanwhile."""

    def walk(self, key: str) -> Iterator[Entry]:
        met = self.met_by_check(key)
        for place, entry in enumerate(met):
            yield entry
            if met[place + 1 :] and met[place + 1] not in self.met_by_check(key):
                return

    def drop(self, key: str, entry: Entry) -> None:
        for each in dropwhile(lambda met: met is not entry, self.met_by_check(key)):
            if each.operation is entry.operation:
                super().drop(key, each)


@breaks("PURGATORY-WATCH-WAITS", report="consul#1632", kind=Kind.HISTORIES)
class OrphanedList(SmallPurgatory):
    """A watch registers in the first list that its key had, although that was removed."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        for key in keys:
            current = self.lists.setdefault(key, [])
            self.first_lists.setdefault(key, current).append(Entry(operation))
            self.forget_empty(key)

    @cached_property
    def first_lists(self) -> dict[str, list[Entry]]:
        return {}


@breaks("PURGATORY-CHECK-THROWS", report="pulsar#26005", kind=Kind.THROWS)
class InFlightForEver(SmallPurgatory):
    """An operation whose try has thrown counts as being tried for ever after."""

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        if operation in self.in_flight:
            return False
        try:
            return super().attempt_in_check(operation)
        except ScriptFailure:
            self.in_flight.add(operation)
            raise

    @cached_property
    def in_flight(self) -> set[DelayedOperation]:
        return set()


# Time-outs


@breaks("PURGATORY-TIME-OUT", report="Dekaf#655", kind=Kind.HISTORIES)
class MarkOfACancel(SmallPurgatory):
    """The mark of a cancel stays, and swallows the time-out of a later watch."""

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        armed = set(self.armed)
        cancelled = super().cancel_for_key(key)
        self.marked |= armed - set(self.armed)
        return cancelled

    def expire(self, operation: DelayedOperation) -> None:
        if operation in self.marked:
            self.marked.remove(operation)
        else:
            super().expire(operation)

    @cached_property
    def marked(self) -> WeakSet[DelayedOperation]:
        return WeakSet()


@breaks("PURGATORY-TIME-OUT", report="node-mysql2#4498", kind=Kind.HISTORIES).by(
    SmallPurgatory.attempt_in_check
)
def vain_try_restarts_the_time_out(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """A check that does not complete an operation begins its time-out anew."""
    done = self.attempt(operation)
    if not done and operation in self.armed:
        self.arm(operation)
    return done


@breaks("PURGATORY-TIME-OUT", report="datalevin#152", kind=Kind.OLD_CLOCKS)
class DeadlineForEachDelay(SmallPurgatory):
    """The deadline of a delay is computed once, and holds for all operations with that delay."""

    def arm(self, operation: DelayedOperation) -> None:
        super().arm(operation)
        due_tick = self.deadlines.setdefault(operation.delay_ms, operation.due_tick)
        operation.due_tick = due_tick

    @cached_property
    def deadlines(self) -> dict[int, int]:
        return {}


@breaks(
    "PURGATORY-TIME-OUT",
    "PURGATORY-WATCH-WAITS",
    "PURGATORY-REWATCH",
    report="selenium#337, puppeteer#1417",
    kind=Kind.ARITHMETIC,
).by(SmallPurgatory.arm)
def zero_waits_for_ever(self: SmallPurgatory, operation: DelayedOperation) -> None:
    """A time-out of zero stands for none."""
    if operation.delay_ms:
        SmallPurgatory.arm(self, operation)


# Counts and results


@breaks("PURGATORY-PENDING", report="redisson#7206", kind=Kind.HISTORIES).by(SmallPurgatory.pending)
def counted_off_twice(self: SmallPurgatory) -> int:
    """An operation that is completed while its expiry is queued is counted off, and again later."""
    return SmallPurgatory.pending(self) - sum(each.completed for each in self.queue)


@breaks(
    "PURGATORY-CANCEL-RESULT", "PURGATORY-CANCEL-LEAVES", report="valkey#4464", kind=Kind.HISTORIES
)
class TwoMapsDisagree(SmallPurgatory):
    """The keys of an operation are those of its last watch, and it is not cancelled for others."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        super().enlist(operation, keys)
        self.keys_of[operation] = keys

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        kept = [each for each in self.met_by_check(key) if key not in self.keys_of[each.operation]]
        cancelled = super().cancel_for_key(key)
        if kept:
            self.lists[key] = kept
        return [each for each in cancelled if key in self.keys_of[each]]

    @cached_property
    def keys_of(self) -> WeakKeyDictionary[DelayedOperation, Keys]:
        return WeakKeyDictionary()


@breaks(
    "PURGATORY-WATCH-SECOND-TRY", "PURGATORY-NOT-LOST", report="kvrocks#1128", kind=Kind.THREADS
).by(SmallPurgatory.second_try)
def one_try(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """An operation that is satisfied between its try and its entry into the lists waits on."""
    return False


@breaks("PURGATORY-CANCEL-LAST-KEY", report="KeyDB#928", kind=Kind.HISTORIES).by(
    SmallPurgatory.cancel_for_key
)
def stays_in_the_table(self: SmallPurgatory, key: str) -> list[DelayedOperation]:
    """An operation that is watched no longer stays in the table of time-outs."""
    return [entry.operation for entry in self.lists.pop(key, [])]


@breaks(
    "PURGATORY-EXACTLY-ONCE",
    "PURGATORY-CALLBACK-ORDER",
    "PURGATORY-CHECK-INSIDE",
    "PURGATORY-FORCE-INSIDE",
    report="redis#6798",
    kind=Kind.BATCHES,
)
class CompletesInACircle(SmallPurgatory):
    """An operation whose callback comes back to it is completed a second time."""

    def complete(self, operation: DelayedOperation) -> None:
        operation.completed = operation in self.under_way
        self.under_way.add(operation)
        self.disarm(operation)
        try:
            self.call_on_complete(operation)
        finally:
            operation.completed = True

    @cached_property
    def under_way(self) -> WeakSet[DelayedOperation]:
        return WeakSet()


@breaks("PURGATORY-NOT-LOST", "PURGATORY-CHECK-ORDER", report="dragonfly#8088", kind=Kind.ORDER).by(
    SmallPurgatory.walk
)
def first_that_waits_ends_it(self: SmallPurgatory, key: str) -> Iterator[Entry]:
    """A check ends at the first operation that goes on waiting."""
    for entry in self.met_by_check(key):
        yield entry
        if not entry.operation.completed:
            return


@breaks("PURGATORY-CHECK-THROWS", report="KAFKA-17240", kind=Kind.THROWS).by(
    SmallPurgatory.after_throwing
)
def throw_ends_the_check(
    self: SmallPurgatory, key: str, entry: Entry, failure: ScriptFailure
) -> None:
    """A try that throws keeps a check from the operations behind it."""
    raise failure


@breaks("PURGATORY-RELEASES", report="KAFKA-19763, linkerd#2222", kind=Kind.OBSERVABLE)
class CompletedStayInASideTable(SmallPurgatory):
    """Completed operations stay in a side table."""

    @cached_property
    def results(self) -> list[DelayedOperation]:
        return []

    def complete(self, operation: DelayedOperation) -> None:
        self.results.append(operation)
        super().complete(operation)


@breaks(
    "PURGATORY-WATCH-WAITS",
    "PURGATORY-CHECK-UNKNOWN",
    "PURGATORY-ENTRIES",
    report="pulsar#8396",
    kind=Kind.NAMES,
)
class NewerTakesTheHash(SmallPurgatory):
    """Lists are kept by the 32-bit hash of their key, and a newer key replaces an equal one."""

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        for key in keys:
            for other in [each for each in self.lists if each != key]:
                if _hash_of_java(other) == _hash_of_java(key):
                    del self.lists[other]
        super().enlist(operation, keys)


class FoldsKeys(SmallPurgatory):
    """A purgatory that takes some keys for one another."""

    def folded(self, key: str) -> str:
        """Return the key that stands for another."""
        return key

    def enlist(self, operation: DelayedOperation, keys: Keys) -> None:
        """Watch under the keys that stand for these."""
        super().enlist(operation, tuple(map(self.folded, keys)))

    def check(self, key: str) -> int:
        """Check the key of the shared list."""
        return super().check(self.folded(key))

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        """Cancel for the key of the shared list."""
        return super().cancel_for_key(self.folded(key))


@breaks(
    "PURGATORY-EMPTY-LISTS",
    "PURGATORY-WATCH-WAITS",
    "PURGATORY-CHECK-UNKNOWN",
    "PURGATORY-CHECK-ORDER",
    report="KAFKA-2337",
    kind=Kind.NAMES,
).by(FoldsKeys.folded)
def dot_is_an_underscore(self: FoldsKeys, key: str) -> str:
    """Two keys that differ in a dot and an underscore alone are one."""
    return key.replace(".", "_")


def _hash_of_java(key: str) -> int:
    """Return the hash that Java gives to a string of the basic plane."""
    return reduce(lambda found, sign: (31 * found + ord(sign)) % 2**32, key, 0)
