# SPDX-License-Identifier: CC0-1.0
"""``call_later`` of uvloop's loop, on the real clock."""

import asyncio
from importlib.metadata import version

import uvloop
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
    rounding=Rounding.EXACT,  # libuv counts milliseconds; a delay is rounded to one
    lateness_ms=200,  # room for a busy machine
    negative_delay=NegativeDelay.AS_ZERO,  # its source: a delay below zero is set to zero
    larger_delay=LargerDelay.NOT_OFFERED,  # an infinite delay is taken for a hundred years
    features=frozenset({Feature.CANCEL, Feature.READD, Feature.CHANGE_DELAY}),
)


class UvloopTimer(RealClockTimer):
    """The loop runs while the suite waits."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.loop = uvloop.new_event_loop()
        self.handles: dict[str, asyncio.TimerHandle] = {}

    def add(self, task: str, delay_ms: int) -> None:
        self.cancel(task)
        self.handles[task] = self.loop.call_later(delay_ms / 1000, self.run, task)

    def cancel(self, task: str) -> None:
        if task in self.handles:
            self.handles[task].cancel()

    def wait(self, for_ms: int) -> None:
        self.loop.run_until_complete(asyncio.sleep(for_ms / 1000))

    def close(self) -> None:
        self.loop.close()


def uvloop_subject() -> InProcessSubject:
    source = "https://github.com/MagicStack/uvloop"
    return subject("uvloop call_later", version("uvloop"), source, PROFILE, UvloopTimer)
