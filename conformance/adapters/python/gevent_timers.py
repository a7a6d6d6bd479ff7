# SPDX-License-Identifier: CC0-1.0
"""``gevent.spawn_later`` on the real clock."""

import gevent
from scripted_timer import RealClockTimer, subject

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.profiles import (
    Clock,
    Configuration,
    Feature,
    LargerDelay,
    NegativeDelay,
    Rounding,
    TimerProfile,
)

PROFILE = TimerProfile(
    clock=Clock.WALL,
    rounding=Rounding.EXACT,  # libev counts seconds in a double
    lateness_ms=200,  # room for a busy machine
    negative_delay=NegativeDelay.NOT_OFFERED,  # its timers refuse one with a ValueError
    larger_delay=LargerDelay.NOT_OFFERED,  # any number is a delay
    features=frozenset({Feature.CANCEL, Feature.READD, Feature.CHANGE_DELAY}),
)


class GeventTimer(RealClockTimer):
    """Arms greenlets, which run while the suite's greenlet sleeps."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.greenlets: dict[str, gevent.Greenlet] = {}

    def add(self, task: str, delay_ms: int) -> None:
        self.cancel(task)
        self.greenlets[task] = gevent.spawn_later(delay_ms / 1000, self.run, task)

    def cancel(self, task: str) -> None:
        if task in self.greenlets:
            self.greenlets.pop(task).kill(block=False)

    def wait(self, for_ms: int) -> None:
        gevent.sleep(for_ms / 1000)

    def close(self) -> None:
        gevent.killall(list(self.greenlets.values()), block=False)


def gevent_subject() -> InProcessSubject:
    source = "https://github.com/gevent/gevent"
    return subject("gevent spawn_later", gevent.__version__, source, PROFILE, GeventTimer)
