"""The bundled timer as it is in a real program: its reaper, its executor thread, the real clock."""

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from purgatory_conformance.subjects.bundled import BundledTimer
from purgatory_impl import MonotonicClock, Timer, TimerTask
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Add, Cancel, Operation, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import Clock, Executor, Feature, TimerConfiguration, TimerProfile

PROFILE = TimerProfile(
    clock=Clock.WALL,
    executor=Executor.THREAD,
    lateness_ms=100,
    features=frozenset({Feature.CANCEL, Feature.READD, Feature.CHANGE_DELAY}),
)
"""What it declares: on a busy machine a task may run up to 100 ms late."""


@dataclass(slots=True)
class _Instance:
    timer: Timer
    clock: MonotonicClock = field(default_factory=MonotonicClock)
    lock: threading.Lock = field(default_factory=threading.Lock)
    events: list[Event] = field(default_factory=list)
    tasks: dict[str, TimerTask] = field(default_factory=dict)

    def task(self, name: str) -> TimerTask:
        if name not in self.tasks:
            self.tasks[name] = TimerTask(lambda: self.record(name))
        return self.tasks[name]

    def record(self, name: str) -> None:
        event = Event(EventKind.RAN, name, at_ms=self.clock.now_ms())
        with self.lock:
            self.events.append(event)

    def do(self, operation: Operation) -> Outcome:
        called_ms = self.clock.now_ms()
        match operation:
            case Add(name, delay_ms):
                self.timer.add(self.task(name), delay_ms)
            case Cancel(name):
                self.timer.cancel(self.task(name))
            case Wait(for_ms):
                time.sleep(for_ms / 1000)
            case _:
                raise ValueError(f"no such operation on a real clock: {operation}")
        returned_ms = self.clock.now_ms()
        with self.lock:
            events = tuple(self.events)
            self.events.clear()
        return Outcome(events=events, called_ms=called_ms, returned_ms=returned_ms)


class BundledRealClockTimer:
    """The subject ``bundled-real-clock``."""

    def __init__(self) -> None:
        """Nothing is running until the first ``new``."""
        self._instance: _Instance | None = None

    @property
    def implementation(self) -> Implementation:
        """Our own implementation."""
        return msgspec.structs.replace(
            BundledTimer().implementation, name="purgatory_impl, real clock"
        )

    @property
    def profile(self) -> TimerProfile:
        """What it declares."""
        return PROFILE

    def new(self, case: str, configuration: TimerConfiguration) -> None:
        """Make a fresh timer with its threads; the threads of the one before end."""
        self.end()
        timer = Timer(tick_ms=configuration.tick_ms, wheel_size=configuration.wheel_size)
        self._instance = _Instance(timer)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another."""
        instance = self._instance
        if instance is None:
            raise ValueError("a step before the first new")
        for operation in operations:
            yield instance.do(operation)

    def end(self) -> None:
        """Close the timer and end its threads."""
        if self._instance is not None:
            self._instance.timer.close()
            self._instance = None

    def close(self) -> None:
        """Close what is open."""
        self.end()
