"""Timers and purgatories that handle ordinary exceptions, and go wrong at severe ones."""

from functools import cached_property

import msgspec

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small import purgatory, timer
from purgatory_conformance.specimens.small.other_purgatories import PassingPurgatory
from purgatory_conformance.specimens.small.other_timers import OneByOneTimer, PassingTimer
from purgatory_conformance.specimens.small.purgatory import DelayedOperation, SmallPurgatory
from purgatory_conformance.specimens.small.specimen import OrdinaryScriptFailure, ScriptFailure
from purgatory_conformance.specimens.small.timer import Task
from purgatory_spec.profiles import Executor, Observable, SevereThrow, Structure

INLINE_PROFILE = msgspec.structs.replace(
    timer.PROFILE,
    executor=Executor.INLINE,
    structure=Structure.ANY,
    severe_throw=SevereThrow.PASSED_ON,
    observables=frozenset({Observable.SIZE}),
)
"""A timer that runs what is due inside the advance, and may pass a severe exception on."""

PASSED_ON_PROFILE = msgspec.structs.replace(purgatory.PROFILE, severe_throw=SevereThrow.PASSED_ON)
"""A purgatory that may pass a severe exception on."""


@breaks("TIMER-THROWING-TASK", profile=INLINE_PROFILE).by(PassingTimer.run)
def severe_throw_loses_batch(self: PassingTimer, task: Task) -> None:
    """A severe exception passes the loop over what is due, and the rest is lost."""
    try:
        PassingTimer.run(self, task)
    except OrdinaryScriptFailure:
        raise
    except ScriptFailure:
        self.queue.clear()
        raise


@breaks("TIMER-THROWING-TASK", profile=INLINE_PROFILE)
class SevereThrowKeepsLock(OneByOneTimer):
    """A severe exception leaves the mark set that a thread is running tasks."""

    is_running = False

    def advance(self) -> bool:
        if self.is_running:
            return False
        self.is_running = True
        try:
            ran = super().advance()
        except Exception:
            self.is_running = False
            raise
        self.is_running = False
        return ran


@breaks("TIMER-THROWING-TASK", "TIMER-EXACTLY-ONCE", profile=INLINE_PROFILE)
class SevereThrowRunsAgain(OneByOneTimer):
    """A task leaves the heap behind its run, and runs again where that ended severely."""

    def run(self, task: Task) -> None:
        try:
            super().run(task)
        except OrdinaryScriptFailure:
            raise
        except ScriptFailure:
            self.add(task, 0)
            raise


@breaks("TIMER-THROWING-TASK")
class SevereThrowEndsWorker(timer.SmallTimer):
    """A severe exception ends the worker, and the tasks in its queue do not run."""

    is_dead = False

    def run_one(self) -> None:
        if not self.is_dead:
            super().run_one()

    def run(self, task: Task) -> None:
        try:
            super().run(task)
        except OrdinaryScriptFailure:
            raise
        except ScriptFailure:
            self.is_dead = True
            raise


@breaks("PURGATORY-CHECK-THROWS", profile=PASSED_ON_PROFILE)
class SevereThrowLosesEntries(PassingPurgatory):
    """A check takes the list away, and a severe exception keeps it from putting the rest back."""

    def check(self, key: str) -> int:
        before = [*self.lists.get(key, ())]
        try:
            return super().check(key)
        except OrdinaryScriptFailure:
            raise
        except ScriptFailure:
            for entry in before:
                self.drop(key, entry)
            raise


@breaks("PURGATORY-CHECK-THROWS", "PURGATORY-MEANWHILE", profile=PASSED_ON_PROFILE)
class SevereThrowLeavesMark(PassingPurgatory):
    """A severe exception leaves the mark that an operation is being tried, and it is passed by."""

    def attempt_in_check(self, operation: DelayedOperation) -> bool:
        if operation in self.in_flight:
            return False
        self.in_flight.add(operation)
        try:
            answer = super().attempt_in_check(operation)
        except Exception:
            self.in_flight.remove(operation)
            raise
        self.in_flight.remove(operation)
        return answer

    @cached_property
    def in_flight(self) -> set[DelayedOperation]:
        return set()


@breaks("PURGATORY-SECOND-TRY-THROWS").by(SmallPurgatory.second_try)
def severe_throw_leaves_unarmed(self: SmallPurgatory, operation: DelayedOperation) -> bool:
    """An operation whose second try throws a severe exception has entries and no time-out."""
    try:
        return SmallPurgatory.second_try(self, operation)
    except OrdinaryScriptFailure:
        raise
    except ScriptFailure:
        self.disarm(operation)
        raise


@breaks("PURGATORY-EXPIRY-THROWS", profile=PASSED_ON_PROFILE)
class SevereThrowStopsTimeOuts(PassingPurgatory):
    """A severe exception of an expiry ends the worker, and no time-out comes any more."""

    is_dead = False

    def run_one(self) -> None:
        if self.is_dead:
            return
        try:
            super().run_one()
        except ScriptFailure:
            self.is_dead = True
            raise
