"""Purgatories that somebody has written with plain ``threading``: one is right, the others not."""

import threading
from collections.abc import Callable
from typing import ClassVar

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_spec.operations import (
    Advance,
    CancelForKey,
    Check,
    Force,
    Operation,
    Satisfy,
    Watch,
)
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
    """A delayed operation with a lock of its own."""

    def __init__(self, name: str, note: Note) -> None:
        self.name = name
        self.note = note
        self.satisfied = False
        self.completed = False
        self.lock = threading.RLock()

    def attempt(self) -> bool:
        with self.lock:
            if self.completed:
                return False
            self.note(tried(self.name))
            return self.satisfied and self.complete()

    def complete(self) -> bool:
        with self.lock:
            if self.completed:
                return False
            self.completed = True
        self.note(completed(self.name))
        return True


class CompletedTwice(Delayed):
    """Looks whether it is completed, and completes then: check, then act."""

    def complete(self) -> bool:
        if self.completed:
            return False
        self.completed = True
        self.note(completed(self.name))
        return True


class Purgatory:
    """Lists by key and a dictionary of time-outs, under one lock."""

    delayed: ClassVar[type[Delayed]] = Delayed

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.lists: dict[str, list[Delayed]] = {}
        self.due: dict[Delayed, int] = {}
        self.now_ms = 0

    def watch(self, operation: Delayed, keys: tuple[str, ...], delay_ms: int) -> bool:
        if operation.attempt():
            return True
        for key in keys:
            self.enter(key, operation)
        if self.try_again(operation):
            return True
        with self.lock:
            self.due[operation] = self.now_ms + delay_ms
        self.look_again(operation)
        return False

    def look_again(self, operation: Delayed) -> None:
        if operation.completed:
            self.disarm(operation)

    def enter(self, key: str, operation: Delayed) -> None:
        with self.lock:
            self.lists.setdefault(key, []).append(operation)

    def try_again(self, operation: Delayed) -> bool:
        return operation.attempt()

    def disarm(self, operation: Delayed) -> None:
        with self.lock:
            self.due.pop(operation, None)

    def check(self, key: str) -> int:
        with self.lock:
            waiting = list(self.lists.get(key, ()))
        count = sum(self.complete(operation) for operation in waiting)
        with self.lock:
            left = [each for each in self.lists.get(key, ()) if not each.completed]
            self.lists.pop(key, None)
            if left:
                self.lists[key] = left
        return count

    def complete(self, operation: Delayed) -> bool:
        if operation.attempt():
            self.disarm(operation)
            return True
        return False

    def force(self, operation: Delayed) -> bool:
        forced = operation.complete()
        if forced:
            self.disarm(operation)
        return forced

    def cancel(self, key: str) -> list[Delayed]:
        with self.lock:
            gone = self.lists.pop(key, [])
            for operation in gone:
                if not any(operation in each for each in self.lists.values()):
                    self.due.pop(operation, None)
        return gone

    def advance(self, now_ms: int) -> None:
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


class TriesOnce(Purgatory):
    """Does not try again when an operation is in its lists: an event in between wakes nobody."""

    def try_again(self, operation: Delayed) -> bool:
        return False


class StaysInTheTimer(Purgatory):
    """Does not look again when the time-out is armed: somebody may have completed it before."""

    def look_again(self, operation: Delayed) -> None:
        pass


class AppendsToALostList(Purgatory):
    """Appends to the list that it has found, though a check may have dropped that meanwhile."""

    def enter(self, key: str, operation: Delayed) -> None:
        with self.lock:
            found = self.lists.setdefault(key, [])
        found.append(operation)


class CompletesTwice(Purgatory):
    """Has operations that two threads complete."""

    delayed = CompletedTwice


class WaitsInACircle(Purgatory):
    """Takes the lock of an operation under that of the lists, and in a check the other way."""

    def complete(self, operation: Delayed) -> bool:
        with operation.lock:
            return super().complete(operation)

    def cancel(self, key: str) -> list[Delayed]:
        with self.lock:
            return [each for each in self.lists.pop(key, []) if self.leaves(each)]

    def leaves(self, operation: Delayed) -> bool:
        with operation.lock:
            if not any(operation in each for each in self.lists.values()):
                self.due.pop(operation, None)
            return True


class Instance:
    """A purgatory behind the steps; the events of a call are those of its thread."""

    kind: ClassVar[type[Purgatory]] = Purgatory

    def __init__(self, configuration: Configuration) -> None:
        self.purgatory = self.kind()
        self.named: dict[str, Delayed] = {}
        self.local = threading.local()

    def note(self, event: Event) -> None:
        self.local.events.append(event)

    def do(self, operation: Operation) -> Outcome:
        self.local.events = []
        result: Value = None
        purgatory = self.purgatory
        match operation:
            case Watch(name, keys, delay_ms):
                result = purgatory.watch(self.find(name), keys, delay_ms)
            case Satisfy(name):
                self.find(name).satisfied = True
            case Check(key):
                result = purgatory.check(key)
            case CancelForKey(key):
                result = tuple(each.name for each in purgatory.cancel(key))
            case Force(name):
                result = purgatory.force(self.find(name))
            case Advance(to_ms):
                purgatory.advance(to_ms)
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)
        shown = {"timer_size": len(purgatory.due)}
        return Outcome(result, events=tuple(self.local.events), observed=shown)

    def find(self, name: str) -> Delayed:
        return self.named.setdefault(name, self.kind.delayed(name, self.note))

    def close(self) -> None:
        pass


def _subject(purgatory: type[Purgatory]) -> InProcessSubject:
    offers = frozenset({PurgatoryFeature.FORCE, PurgatoryFeature.CANCEL_FOR_KEY})
    shown = frozenset({PurgatoryObservable.TIMER_SIZE})
    profile = PurgatoryProfile(accounting=Accounting.ANY, features=offers, observables=shown)
    return subject_of(type(purgatory.__name__, (Instance,), {"kind": purgatory}), profile)


def right() -> InProcessSubject:
    return _subject(Purgatory)


def tries_once() -> InProcessSubject:
    return _subject(TriesOnce)


def stays_in_the_timer() -> InProcessSubject:
    return _subject(StaysInTheTimer)


def appends_to_a_lost_list() -> InProcessSubject:
    return _subject(AppendsToALostList)


def completes_twice() -> InProcessSubject:
    return _subject(CompletesTwice)


def waits_in_a_circle() -> InProcessSubject:
    return _subject(WaitsInACircle)
