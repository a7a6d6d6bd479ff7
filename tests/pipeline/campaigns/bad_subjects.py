"""The bundled timer, except that some of its instances do what no subject should do."""

# A factory of this module is a subject's word, ``bad_subjects:exits``. What goes wrong does so at
# the first ``advance`` of an instance whose wheel has ``BAD_WHEEL_SIZE`` buckets.

import ctypes
import os
import sys
import time
from collections.abc import Callable

import msgspec

from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.bundled.timer import PROFILE, TimerInstance
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_judge.components import narrowed
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, TimerConfiguration

BAD_WHEEL_SIZE = 3


class _Bad:
    """A timer that does something when its clock is moved for the first time."""

    def __init__(self, configuration: TimerConfiguration, misdeed: Callable[[], None]) -> None:
        self._inner = TimerInstance(configuration)
        self._misdeed: Callable[[], None] | None = misdeed

    def do(self, operation: Operation) -> Outcome:
        if isinstance(operation, Advance) and self._misdeed is not None:
            misdeed, self._misdeed = self._misdeed, None
            misdeed()
        return self._inner.do(operation)

    def close(self) -> None:
        self._inner.close()


def _subject(misdeed: Callable[[], None]) -> InProcessSubject:
    def make(configuration: Configuration) -> Instance:
        given = narrowed(configuration, TimerConfiguration)
        if given.wheel_size == BAD_WHEEL_SIZE:
            return _Bad(given, misdeed)
        return TimerInstance(given)

    return InProcessSubject(bundled_subject().implementation, {Component.TIMER: PROFILE}, make)


def exits() -> InProcessSubject:
    return _subject(lambda: os._exit(7))


def leaves() -> InProcessSubject:
    return _subject(lambda: sys.exit(3))


def segfaults() -> InProcessSubject:
    return _subject(lambda: print(ctypes.string_at(0)))


def loops() -> InProcessSubject:
    def loop() -> None:
        while True:
            pass

    return _subject(loop)


def sleeps() -> InProcessSubject:
    return _subject(lambda: time.sleep(3600))


def hogs() -> InProcessSubject:
    def hog() -> None:
        taken = []
        while True:
            taken.append(bytearray(2**22))

    return _subject(hog)


def raises() -> InProcessSubject:
    def throw() -> None:
        raise LookupError("nothing here")

    return _subject(throw)


def prints() -> InProcessSubject:
    """Not bad at all where it lives in a process whose output is not the protocol."""
    return _subject(lambda: print("hello from the subject", flush=True))


def dies_in_the_open() -> InProcessSubject:
    """Make a subject that ends when another process asks what it declares."""

    def gone(configuration: Configuration) -> Instance:
        os._exit(9)

    return InProcessSubject(bundled_subject().implementation, {Component.TIMER: PROFILE}, gone)


class _Miscounting(TimerInstance):
    """Shows one task too many, and ends the process in the simplest of cases."""

    _done = 0

    def do(self, operation: Operation) -> Outcome:
        outcome = super().do(operation)
        self._done += 1
        size = outcome.observed["size"]
        if type(size) is int and size >= 2:
            observed = {**outcome.observed, "size": size + 1}
            return msgspec.structs.replace(outcome, observed=observed)
        if isinstance(operation, Advance) and self._done == 1:
            os._exit(7)
        return outcome


def miscounts() -> InProcessSubject:
    """Breaks TIMER-SIZE; a case that begins with ``advance`` crashes."""

    def make(configuration: Configuration) -> Instance:
        return _Miscounting(narrowed(configuration, TimerConfiguration))

    return InProcessSubject(bundled_subject().implementation, {Component.TIMER: PROFILE}, make)
