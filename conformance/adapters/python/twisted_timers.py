# SPDX-License-Identifier: CC0-1.0
"""Twisted's ``callLater``, on its reactor and on ``task.Clock``, the clock for tests."""

from abc import abstractmethod
from importlib.metadata import version
from typing import Any

from scripted_timer import FEATURES, SevereFailure, Timer, UsersFailure, VirtualClockTimer, subject
from twisted.internet.base import ReactorBase
from twisted.internet.task import Clock

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.profiles import (
    Configuration,
    Feature,
    LargerDelay,
    NegativeDelay,
    Observable,
    Rounding,
    SevereThrow,
    TimerProfile,
)

REACTOR = TimerProfile(
    rounding=Rounding.EXACT,  # a heap of seconds in floats; no order among equal ones
    negative_delay=NegativeDelay.NOT_OFFERED,  # documented: "may not be negative"
    larger_delay=LargerDelay.NOT_OFFERED,  # any number is a delay
    severe_throw=SevereThrow.AS_ORDINARY,  # all but requests to leave are logged
    features=FEATURES,
    observables=frozenset({Observable.SIZE}),
)
CLOCK = TimerProfile(
    rounding=Rounding.EXACT,  # a list that is sorted by time; a call that is reset keeps its place
    negative_delay=NegativeDelay.NOT_OFFERED,  # as IReactorTime documents it
    larger_delay=LargerDelay.NOT_OFFERED,  # any number is a delay
    features=FEATURES | {Feature.SCRIPT_ADVANCE},
    observables=frozenset({Observable.SIZE}),
)


class TwistedTimer(VirtualClockTimer):
    """Calls by ``callLater``; a millisecond of the suite is a second of the reactor."""

    # A sum of whole seconds is exact in a float, one of thousandths is not.
    latest_ms = 2**53

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.reactor: Any = self.make_reactor()
        self.calls: dict[str, Any] = {}

    @abstractmethod
    def make_reactor(self) -> object:
        """Return a reactor whose clock shows ``now_ms``."""

    def add(self, task: str, delay_ms: int) -> None:
        call = self.calls.get(task)
        if call is not None and call.active():
            call.reset(delay_ms)
        else:
            self.calls[task] = self.reactor.callLater(delay_ms, self.run, task)

    def cancel(self, task: str) -> None:
        call = self.calls.get(task)
        if call is not None and call.active():  # cancelling another one is an error
            call.cancel()

    def size(self) -> int:
        return len(self.reactor.getDelayedCalls())


class ReactorTimer(TwistedTimer):
    """A reactor without sockets: one turn for each advance."""

    def make_reactor(self) -> object:
        class Reactor(ReactorBase):
            def installWaker(self) -> None:  # noqa: N802  # the base's name
                pass

            def seconds(self) -> float:  # documented for this: tests may override it
                return timer.now_ms

        timer = self
        return Reactor()

    def advance(self, *, inside: bool = False) -> None:
        self.reactor.runUntilCurrent()


class ClockTimer(TwistedTimer):
    """``task.Clock``, advanced by the seconds that have passed."""

    def make_reactor(self) -> object:
        clock = Clock()
        clock.advance(self.now_ms)
        return clock

    def add(self, task: str, delay_ms: int) -> None:
        self.pass_time()
        super().add(task, delay_ms)

    def pass_time(self) -> None:
        # What elapses without an advance: the clock shows it, and calls nobody.
        self.reactor.rightNow = float(self.now_ms)

    def advance(self, *, inside: bool = False) -> None:
        while True:
            try:
                self.reactor.advance(self.now_ms - self.reactor.seconds())
                return
            except UsersFailure:  # what a call raises reaches whoever advances the clock
                continue
            except SevereFailure:  # a severe one goes on to the caller, unless that is a task
                if not inside:
                    raise


def twisted_subject(name: str, profile: TimerProfile, make: type[Timer]) -> InProcessSubject:
    source = "https://github.com/twisted/twisted"
    return subject(name, version("twisted"), source, profile, make)


def clock_subject() -> InProcessSubject:
    return twisted_subject("Twisted task.Clock", CLOCK, ClockTimer)


def reactor_subject() -> InProcessSubject:
    return twisted_subject("Twisted reactor, callLater", REACTOR, ReactorTimer)
