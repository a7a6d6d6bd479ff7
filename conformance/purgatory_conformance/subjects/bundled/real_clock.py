"""The bundled timer as it is in a real program: its reaper, its executor thread, the real clock."""

import threading
import time
from dataclasses import dataclass, field

import msgspec

from purgatory_conformance.subjects.bundled import implementation
from purgatory_conformance.subjects.bundled.calls import call_timer
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_impl import CallableTask, MonotonicClock, Timer, TimerTask
from purgatory_judge.components import narrowed
from purgatory_spec import profiles
from purgatory_spec.operations import Operation, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value

PROFILE = profiles.TimerProfile(
    clock=profiles.Clock.WALL,
    executor=profiles.Executor.THREAD,
    lateness_ms=100,
    features=frozenset(
        {profiles.Feature.CANCEL, profiles.Feature.READD, profiles.Feature.CHANGE_DELAY}
    ),
    observables=frozenset({profiles.Observable.SIZE}),
)
"""The profile on a real clock: on a busy machine a task may run up to 100 ms late."""


@dataclass(slots=True)
class _Instance:
    """A timer with its threads."""

    timer: Timer
    clock: MonotonicClock = field(default_factory=MonotonicClock)
    lock: threading.Lock = field(default_factory=threading.Lock)
    events: list[Event] = field(default_factory=list)
    tasks: dict[str, TimerTask] = field(default_factory=dict)

    def task(self, name: str) -> TimerTask:
        if name not in self.tasks:
            self.tasks[name] = CallableTask(lambda: self.record(name))
        return self.tasks[name]

    def record(self, name: str) -> None:
        event = Event(EventKind.RAN, name, at_ms=self.clock.now_ms())
        with self.lock:
            self.events.append(event)

    def do(self, operation: Operation) -> Outcome:
        called_ms = self.clock.now_ms()
        if isinstance(operation, Wait):
            time.sleep(operation.for_ms / 1000)
        else:
            call_timer(self.timer, self.task, operation)
        returned_ms = self.clock.now_ms()
        with self.lock:
            events = tuple(self.events)
            self.events.clear()
        observed: dict[str, Value] = {profiles.Observable.SIZE.value: self.timer.size}
        return Outcome(
            events=events, observed=observed, called_ms=called_ms, returned_ms=returned_ms
        )

    def close(self) -> None:
        """Close the timer and end its threads."""
        self.timer.close()


def bundled_real_clock_subject() -> InProcessSubject:
    """Return the subject ``bundled-real-clock``."""
    named = msgspec.structs.replace(implementation(), name="purgatory_impl, real clock")
    return InProcessSubject(named, {profiles.Component.TIMER: PROFILE}, real_clock_instance)


def real_clock_instance(configuration: profiles.Configuration) -> Instance:
    """Return a fresh timer with its threads."""
    arguments = narrowed(configuration, profiles.TimerConfiguration)
    return _Instance(Timer(tick_ms=arguments.tick_ms, wheel_size=arguments.wheel_size))
