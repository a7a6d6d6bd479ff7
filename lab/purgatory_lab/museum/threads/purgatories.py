"""Purgatories with races that people reported, beside purgatories without.

``purgatory schedule purgatory_lab.museum.threads.purgatories:armed_too_late`` runs one of them.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_spec.operations import Advance, Check, Force, Operation, Satisfy, Watch
from purgatory_spec.outcomes import Event, Outcome, Value, completed, timed_out, tried
from purgatory_spec.profiles import (
    Accounting,
    Configuration,
    PurgatoryFeature,
    PurgatoryObservable,
    PurgatoryProfile,
)
from purgatory_spec.reasons import Reason

Note = Callable[[Event], object]


class Delayed:
    """A delayed operation, which is tried and completed under a lock of its own."""

    def __init__(self, name: str, note: Note) -> None:
        """Make an operation that waits."""
        self.name = name
        self.note = note
        self.satisfied = False
        self.completed = False
        self.lock = threading.RLock()

    def attempt(self) -> bool:
        """Try to complete the operation; return whether this call did."""
        with self.lock:
            return self.try_once()

    def try_once(self) -> bool:
        """Try to complete the operation, under its lock."""
        if self.completed:
            return False
        ready = self.satisfied
        self.note(tried(self.name))
        return ready and self.complete()

    def complete(self) -> bool:
        """Complete the operation; return whether this call did."""
        with self.lock:
            if self.completed:
                return False
            self.completed = True
        self.note(completed(self.name))
        return True


class PassedOver(Delayed):
    """Is passed over by a thread that comes while another one tries it."""

    def attempt(self) -> bool:
        """Try to complete the operation, unless somebody is trying it."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            return self.try_once()
        finally:
            self.lock.release()


class CompletedByBoth(Delayed):
    """Looks whether it is completed, and is completed when that is known."""

    def complete(self) -> bool:
        """Complete the operation; return whether this call did."""
        if self.completed:
            return False
        self.completed = True
        self.note(completed(self.name))
        return True

    def attempt(self) -> bool:
        """Try to complete the operation; the time-out needs no lock."""
        return self.try_once()


class Purgatory:
    """Lists by key and a dictionary of time-outs, under one lock."""

    def __init__(self) -> None:
        """Make a purgatory in which nothing waits."""
        self.lock = threading.Lock()
        self.lists: dict[str, list[Delayed]] = {}
        self.due: dict[Delayed, int] = {}
        self.now_ms = 0

    def watch(self, operation: Delayed, keys: tuple[str, ...], delay_ms: int) -> bool:
        """Try an operation, else watch it; return whether this call completed it."""
        if operation.attempt():
            return True
        for key in keys:
            self.enter(key, operation)
        if operation.attempt():
            return True
        self.arm(operation, delay_ms)
        return False

    def enter(self, key: str, operation: Delayed) -> None:
        """Put an operation into the list of a key."""
        with self.lock:
            self.lists.setdefault(key, []).append(operation)

    def arm(self, operation: Delayed, delay_ms: int) -> None:
        """Arm a time-out, and disarm it where the operation was completed meanwhile."""
        with self.lock:
            self.due[operation] = self.now_ms + delay_ms
        if operation.completed:
            self.disarm(operation)

    def disarm(self, operation: Delayed) -> None:
        """Take the time-out of an operation."""
        with self.lock:
            self.due.pop(operation, None)

    def check(self, key: str) -> int:
        """Try what is watched under a key; return how many operations that completed."""
        with self.lock:
            waiting = list(self.lists.get(key, ()))
        count = 0
        for operation in waiting:
            if operation.attempt():
                self.disarm(operation)
                count += 1
        with self.lock:
            left = [each for each in self.lists.pop(key, ()) if not each.completed]
            if left:
                self.lists[key] = left
        return count

    def force(self, operation: Delayed) -> bool:
        """Complete an operation; return whether this call did."""
        forced = operation.complete()
        if forced:
            self.disarm(operation)
        return forced

    def advance(self, now_ms: int) -> None:
        """Complete what is due by now."""
        with self.lock:
            self.now_ms = now_ms
            late = sorted(
                (each for each in self.due if self.due[each] <= now_ms), key=self.due.__getitem__
            )
            for operation in late:
                del self.due[operation]
        for operation in late:
            if operation.complete():
                operation.note(timed_out(operation.name))


class ArmedTooLate(Purgatory):
    """Arms a time-out although the operation was completed between its try and that."""

    def arm(self, operation: Delayed, delay_ms: int) -> None:
        """Arm a time-out."""
        with self.lock:
            self.due[operation] = self.now_ms + delay_ms


class Instance:
    """A purgatory behind the steps; the events of a call are those of its thread."""

    kind: ClassVar[type[Purgatory]] = Purgatory
    delayed: ClassVar[type[Delayed]] = Delayed

    def __init__(self, configuration: Configuration) -> None:
        """Make a purgatory."""
        self.purgatory = self.kind()
        self.named: dict[str, Delayed] = {}
        self.local = threading.local()

    def note(self, event: Event) -> None:
        """Note what an operation does."""
        self.local.events.append(event)

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation."""
        self.local.events = []
        result: Value = None
        match operation:
            case Watch(name, keys, delay_ms):
                result = self.purgatory.watch(self.find(name), keys, delay_ms)
            case Satisfy(name):
                self.find(name).satisfied = True
            case Check(key):
                result = self.purgatory.check(key)
            case Force(name):
                result = self.purgatory.force(self.find(name))
            case Advance(to_ms):
                self.purgatory.advance(to_ms)
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)
        shown = {"timer_size": len(self.purgatory.due)}
        return Outcome(result, events=tuple(self.local.events), observed=shown)

    def find(self, name: str) -> Delayed:
        """Return the operation of a name."""
        return self.named.setdefault(name, self.delayed(name, self.note))

    def close(self) -> None:
        """Hold nothing that would have to be given back."""


def _subject(
    purgatory: type[Purgatory] = Purgatory, delayed: type[Delayed] = Delayed
) -> InProcessSubject:
    profile = PurgatoryProfile(
        accounting=Accounting.ANY,
        features=frozenset({PurgatoryFeature.FORCE}),
        observables=frozenset({PurgatoryObservable.TIMER_SIZE}),
    )
    made = purgatory if purgatory is not Purgatory else delayed
    members = {"kind": purgatory, "delayed": delayed}
    return subject_of(type(made.__name__, (Instance,), members), profile)


waits_for_the_operation = partial(_subject)
passed_over = partial(_subject, delayed=PassedOver)
completed_by_both = partial(_subject, delayed=CompletedByBoth)
armed_too_late = partial(_subject, ArmedTooLate)
