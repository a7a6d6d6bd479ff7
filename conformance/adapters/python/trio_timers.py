# SPDX-License-Identifier: CC0-1.0
"""Trio's deadlines on its ``MockClock``: each task waits for its own time-out."""

from collections.abc import Callable
from importlib.metadata import version
from queue import SimpleQueue

import trio
from scripted_timer import VirtualClockTimer, subject
from trio.testing import MockClock, wait_all_tasks_blocked

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.profiles import (
    Configuration,
    Executor,
    Feature,
    LargerDelay,
    NegativeDelay,
    Rounding,
    TimerProfile,
)

PROFILE = TimerProfile(
    rounding=Rounding.EXACT,  # seconds in a float
    executor=Executor.THREADS,  # tasks that are woken together run in any order, as documented
    negative_delay=NegativeDelay.NOT_OFFERED,  # documented: a ValueError
    larger_delay=LargerDelay.NOT_OFFERED,  # any number is a delay
    # The clock cannot move without the run that it belongs to: no ELAPSE.
    features=frozenset({Feature.CANCEL, Feature.READD, Feature.CHANGE_DELAY}),
)


class TrioTimer(VirtualClockTimer):
    """A run of trio as the guest of this thread, which turns its loop until all tasks wait."""

    # A millisecond of the suite is one of trio's seconds: sums of whole ones are exact in a float.
    latest_ms = 2**53

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.turns: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self.clock = MockClock()
        self.clock.jump(self.now_ms)
        self.scopes: dict[str, trio.CancelScope] = {}
        self.nursery: trio.Nursery | None = None
        self.is_at_rest = self.has_ended = False
        trio.lowlevel.start_guest_run(
            self.open_nursery,
            run_sync_soon_threadsafe=self.turns.put,
            done_callback=self.ended,
            host_uses_signal_set_wakeup_fd=True,
            clock=self.clock,
        )
        self.settle()

    async def open_nursery(self) -> None:
        async with trio.open_nursery() as self.nursery:
            await trio.sleep_forever()

    def ended(self, _: object) -> None:
        self.has_ended = True

    def settle(self) -> None:
        """Turn the loop until every task waits for something."""
        self.is_at_rest = False
        trio.lowlevel.spawn_system_task(self.rest)
        while not self.is_at_rest:
            self.turns.get()()

    async def rest(self) -> None:
        await wait_all_tasks_blocked()
        self.is_at_rest = True

    async def wait_for(self, task: str, scope: trio.CancelScope) -> None:
        with scope:
            await trio.sleep_forever()
        if self.scopes.get(task) is scope:  # or it was cancelled
            del self.scopes[task]
            self.run(task)

    def add(self, task: str, delay_ms: int) -> None:
        assert self.nursery is not None
        if task in self.scopes:
            self.scopes[task].deadline = self.clock.current_time() + delay_ms
        else:
            scope = self.scopes[task] = trio.move_on_after(delay_ms)
            self.nursery.start_soon(self.wait_for, task, scope)
        self.settle()

    def cancel(self, task: str) -> None:
        if task in self.scopes:
            self.scopes.pop(task).cancel()

    def advance(self, *, inside: bool = False) -> None:
        self.clock.jump(self.now_ms - self.clock.current_time())
        self.settle()

    def close(self) -> None:
        assert self.nursery is not None
        self.nursery.cancel_scope.cancel()
        while not self.has_ended:
            self.turns.get()()


def trio_subject() -> InProcessSubject:
    source = "https://github.com/python-trio/trio"
    return subject("trio MockClock", version("trio"), source, PROFILE, TrioTimer)
