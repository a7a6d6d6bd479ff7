# SPDX-License-Identifier: CC0-1.0
"""Timers of eventlet's hub, which takes its clock as an argument."""

from importlib.metadata import version

from eventlet import hubs
from eventlet.hubs.hub import BaseHub
from scripted_timer import FEATURES, VirtualClockTimer, subject

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.profiles import (
    Configuration,
    LargerDelay,
    NegativeDelay,
    Observable,
    Rounding,
    SevereThrow,
    TimerProfile,
)

PROFILE = TimerProfile(
    rounding=Rounding.EXACT,  # a heap of seconds in floats; no order among equal ones
    negative_delay=NegativeDelay.NOT_OFFERED,  # the documentation is silent
    larger_delay=LargerDelay.NOT_OFFERED,  # any number is a delay
    severe_throw=SevereThrow.AS_ORDINARY,  # all but requests to leave are printed
    features=FEATURES,
    observables=frozenset({Observable.SIZE}),
)


class EventletTimer(VirtualClockTimer):
    """A hub of which one turn is made for each advance."""

    # A millisecond of the suite is one of the hub's seconds: whole ones are exact in a float.
    latest_ms = 2**53

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        timer = self

        class Hub(BaseHub):
            def __init__(self) -> None:
                super().__init__(clock=lambda: timer.now_ms)
                self.set_timer_exceptions(False)  # what timers raise is not printed

        hubs.use_hub(Hub)
        self.hub = hubs.get_hub()
        self.timers: dict[str, hubs.timer.Timer] = {}

    def add(self, task: str, delay_ms: int) -> None:
        self.cancel(task)
        self.timers[task] = self.hub.schedule_call_global(delay_ms, self.run, task)

    def cancel(self, task: str) -> None:
        if task in self.timers:
            self.timers[task].cancel()

    def advance(self, *, inside: bool = False) -> None:
        self.hub.prepare_timers()
        self.hub.fire_timers(self.hub.clock())

    def size(self) -> int:
        return self.hub.get_timers_count() - self.hub.timers_canceled


def eventlet_subject() -> InProcessSubject:
    source = "https://github.com/eventlet/eventlet"
    return subject("eventlet hub", version("eventlet"), source, PROFILE, EventletTimer)
