# SPDX-License-Identifier: CC0-1.0
"""The steps of the suite as calls of a timer, and the scripts of its tasks."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.subject import UnsupportedConfigurationError
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import (
    Add,
    AddInside,
    Advance,
    AdvanceInside,
    Cancel,
    CancelInside,
    Elapse,
    Operation,
    Throw,
    ThrowSort,
    Wait,
)
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Feature,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

FEATURES = frozenset(
    {
        Feature.CANCEL,
        Feature.READD,
        Feature.CHANGE_DELAY,
        Feature.ELAPSE,
        Feature.NEGATIVE_CLOCK,
        Feature.SCRIPT_THROW,
        Feature.SCRIPT_THROW_SEVERE,
        Feature.SCRIPT_ADD,
        Feature.SCRIPT_CANCEL,
    }
)
"""The features of a timer that takes its time from a function of ours, and runs tasks inline."""


class UsersFailure(Exception):
    """A task fails, as its script says."""


class SevereFailure(BaseException):
    """A task fails severely."""


class Timer(ABC):
    """The base of all timers here: steps, events, and what a task does when it runs."""

    def __init__(self, configuration: Configuration) -> None:
        assert isinstance(configuration, TimerConfiguration)
        self.configuration = configuration
        self.events: list[Event] = []

    def do(self, operation: Operation) -> Outcome:
        self.events = []
        called_ms = self.reading_ms()
        rejected, detail = None, ""
        try:
            rejected = self.perform(operation)
        except SevereFailure:
            rejected = Reason.THROWN
        except Exception as error:  # not one of ours
            rejected, detail = Reason.INTERNAL, repr(error)
        size = self.size()
        return Outcome(
            rejected=rejected,
            events=tuple(self.events),
            observed={} if size is None else {"size": size},
            detail=detail,
            called_ms=called_ms,
            returned_ms=self.reading_ms(),
        )

    def perform(self, operation: Operation) -> Reason | None:
        match operation:
            case Add(task, delay_ms):
                self.add(task, delay_ms)
            case Cancel(task):
                self.cancel(task)
        return None

    def run(self, task: str) -> None:
        self.events.append(Event(EventKind.RAN, task, at_ms=self.reading_ms()))

    def reading_ms(self) -> int | None:
        """Read a clock that moves by itself; None where the suite moves it."""
        return None

    def size(self) -> int | None:
        """Count the pending tasks; None where nothing public counts them."""
        return None

    @abstractmethod
    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task, or move one that is pending."""

    @abstractmethod
    def cancel(self, task: str) -> None:
        """Disarm a task, if it is pending."""

    def close(self) -> None:  # noqa: B027  # most hold nothing
        """Release what the timer holds."""


class VirtualClockTimer(Timer):
    """A timer whose clock only the suite moves; its tasks have scripts."""

    latest_ms = 2**63 - 1
    """The last reading that the clock shows to the millisecond."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.now_ms = self.configuration.start_ms
        if self.now_ms > self.latest_ms:
            raise UnsupportedConfigurationError(f"no clock beyond {self.latest_ms} ms")
        self.scripts: dict[str, tuple[object, ...]] = {}

    def perform(self, operation: Operation) -> Reason | None:
        match operation:
            case Elapse(to_ms) | Advance(to_ms) if to_ms > self.latest_ms:
                return Reason.UNSUPPORTED
            case Add(task, _, script):
                self.scripts[task] = script
            case Elapse(to_ms):
                self.now_ms = to_ms
            case Advance(to_ms):
                self.now_ms = to_ms
                self.advance()
        return super().perform(operation)

    def run(self, task: str) -> None:
        super().run(task)
        for action in self.scripts.get(task, ()):
            match action:
                case Throw(sort):
                    raise SevereFailure if sort is ThrowSort.SEVERE else UsersFailure
                case AddInside(other, delay_ms):
                    self.add(other, delay_ms)
                case CancelInside(other):
                    self.cancel(other)
                case AdvanceInside():
                    self.advance(inside=True)

    @abstractmethod
    def advance(self, *, inside: bool = False) -> None:
        """Run what is due; ``inside`` a task that runs."""


class RealClockTimer(Timer):
    """A timer whose clock nobody moves; its tasks have no scripts."""

    def perform(self, operation: Operation) -> Reason | None:
        if isinstance(operation, Wait):
            self.wait(operation.for_ms)
        return super().perform(operation)

    def reading_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    @abstractmethod
    def wait(self, for_ms: int) -> None:
        """Let what comes due run, for so long."""


def subject(
    name: str,
    version: str,
    source: str,
    profile: TimerProfile,
    make: Callable[[Configuration], Timer],
    language: str = "Python",
) -> InProcessSubject:
    implementation = Implementation(
        name=name, version=version, language=language, source=source, issues=f"{source}/issues"
    )
    return InProcessSubject(implementation, {Component.TIMER: profile}, make)
