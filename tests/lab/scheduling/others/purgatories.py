"""Purgatories that somebody has written with plain ``threading``, besides those of the museum."""

from contextlib import ExitStack
from functools import partial

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_lab.museum.threads.purgatories import Delayed, Instance, Purgatory
from purgatory_spec.operations import CancelForKey, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Accounting,
    PurgatoryFeature,
    PurgatoryObservable,
    PurgatoryProfile,
)


class Cancels(Purgatory):
    """Can be told to forget what waits under a key."""

    def cancel(self, key: str) -> list[Delayed]:
        with self.lock:
            return [each for each in self.lists.pop(key, []) if self.leaves(each)]

    def leaves(self, operation: Delayed) -> bool:
        if not any(operation in each for each in self.lists.values()):
            self.due.pop(operation, None)
        return True


class TriesOnce(Cancels):
    """Does not try again when an operation is in its lists: an event in between wakes nobody."""

    def watch(self, operation: Delayed, keys: tuple[str, ...], delay_ms: int) -> bool:
        if operation.attempt():
            return True
        for key in keys:
            self.enter(key, operation)
        self.arm(operation, delay_ms)
        return False


class AppendsToALostList(Cancels):
    """Appends to the list that it has found, though a check may have dropped that meanwhile."""

    def enter(self, key: str, operation: Delayed) -> None:
        with self.lock:
            found = self.lists.setdefault(key, [])
        found.append(operation)


class WaitsInACircle(Cancels):
    """Takes the lock of an operation under that of the lists, and in a check the other way."""

    def check(self, key: str) -> int:
        with ExitStack() as stack:
            for operation in self.lists.get(key, ()):
                stack.enter_context(operation.lock)
            return super().check(key)

    def leaves(self, operation: Delayed) -> bool:
        with operation.lock:
            return super().leaves(operation)


class CancelsToo(Instance):
    """A purgatory behind the steps that has keys cancelled."""

    def do(self, operation: Operation) -> Outcome:
        if not isinstance(operation, CancelForKey):
            return super().do(operation)
        assert isinstance(self.purgatory, Cancels)
        gone = tuple(each.name for each in self.purgatory.cancel(operation.key))
        return Outcome(gone, observed={"timer_size": len(self.purgatory.due)})


def _subject(purgatory: type[Purgatory]) -> InProcessSubject:
    offers = frozenset({PurgatoryFeature.FORCE, PurgatoryFeature.CANCEL_FOR_KEY})
    shown = frozenset({PurgatoryObservable.TIMER_SIZE})
    profile = PurgatoryProfile(accounting=Accounting.ANY, features=offers, observables=shown)
    return subject_of(type(purgatory.__name__, (CancelsToo,), {"kind": purgatory}), profile)


right = partial(_subject, Cancels)
tries_once = partial(_subject, TriesOnce)
appends_to_a_lost_list = partial(_subject, AppendsToALostList)
waits_in_a_circle = partial(_subject, WaitsInACircle)
