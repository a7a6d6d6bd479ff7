"""A timer's own class, with plain methods, behind the step vocabulary.

    class MyTimer:
        def __init__(self, tick_ms, start_ms): ...
        def add(self, task, delay_ms): ...
        def cancel(self, task): ...
        def advance(self, to_ms): ...  # returns the names of the tasks that ran, in their order

Tasks are names. ``cancel`` may be left out. The constructor takes those of ``tick_ms``,
``wheel_size`` and ``start_ms`` that it has use for: without ``start_ms`` the timer's clock begins
at 0. An ``OverflowError`` in ``add`` refuses a delay that is too large.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol, TypeGuard, runtime_checkable

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Add, Advance, Cancel, Operation
from purgatory_spec.outcomes import Outcome, ran
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Feature,
    Rounding,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

_GIVEN = ("tick_ms", "wheel_size", "start_ms")


class PlainTimer(Protocol):
    """The methods of a timer that is driven as it is."""

    def add(self, task: str, delay_ms: int, /) -> object:
        """Arm a task."""

    def advance(self, to_ms: int, /) -> Iterable[str]:
        """Advance to a reading of the clock, and return the names of the tasks that ran."""


@runtime_checkable
class _Cancels(Protocol):
    """A timer that can cancel a task."""

    def cancel(self, task: str, /) -> object:
        """Disarm a task."""


class PlainTimerInstance:
    """A plain timer as an instance under test."""

    def __init__(self, make: Callable[..., PlainTimer], configuration: Configuration) -> None:
        """Make the timer with the parameters that its constructor takes.

        Raises:
            TypeError: the configuration is none of a timer.
        """
        if not isinstance(configuration, TimerConfiguration):
            raise TypeError(f"a timer is not made with {configuration}")
        taken = _taken(make)
        self._begin_ms = 0 if "start_ms" in taken else configuration.start_ms
        self._timer = make(**{name: getattr(configuration, name) for name in taken})

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation by the method that it is named after.

        Raises:
            TypeError: ``advance`` has not returned the names of tasks.
        """
        match operation:
            case Add(task, delay_ms):
                try:
                    self._timer.add(task, delay_ms)
                except OverflowError:
                    return Outcome(rejected=Reason.TOO_LARGE)
                return Outcome()
            case Cancel(task) if isinstance(self._timer, _Cancels):
                self._timer.cancel(task)
                return Outcome()
            case Advance(to_ms):
                return Outcome(events=tuple(map(ran, self._ran(to_ms))))
        return Outcome(rejected=Reason.UNSUPPORTED)

    def close(self) -> None:
        """Hold nothing: a plain timer is dropped."""

    def _ran(self, to_ms: int) -> tuple[str, ...]:
        returned: object = self._timer.advance(to_ms - self._begin_ms)
        names = tuple(returned) if isinstance(returned, Iterable) else (returned,)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(
                f"advance returned {returned!r}; it must return the names of the tasks that ran, "
                "in their order, or yield them"
            )
        return tuple(map(str, names))


def plain_subject(
    make: Callable[..., PlainTimer], profile: TimerProfile | None = None
) -> InProcessSubject:
    """Return the subject of a plain timer; without a profile it has the weakest one.

    Raises:
        TypeError: its constructor needs other parameters.
    """
    choices = profile or plain_choices(make)
    implementation = Implementation(name=make.__name__, language="Python")
    return InProcessSubject(
        implementation, {Component.TIMER: choices}, partial(PlainTimerInstance, make)
    )


def is_plain_timer(made: object) -> TypeGuard[Callable[..., PlainTimer]]:
    """Decide whether this is a class with the methods of a timer, and without ``do``."""
    if not isinstance(made, type) or hasattr(made, "do"):
        return False
    return all(callable(getattr(made, method, None)) for method in ("add", "advance"))


def plain_choices(made: object) -> TimerProfile:
    """Return the weakest profile of a plain timer: what its methods and its constructor show."""
    cancels = callable(getattr(made, "cancel", None))
    ticks = callable(made) and "tick_ms" in _taken(made)
    return TimerProfile(
        rounding=Rounding.DOWN if ticks else Rounding.EXACT,
        features=frozenset({Feature.CANCEL}) if cancels else frozenset(),
    )


def _taken(make: Callable[..., object]) -> list[str]:
    """Return the parameters that a constructor takes.

    Raises:
        TypeError: it needs others.
    """
    signature = inspect.signature(make)
    taken = [name for name in _GIVEN if name in signature.parameters]
    try:
        signature.bind(**dict.fromkeys(taken, 1))
    except TypeError as error:
        name = getattr(make, "__name__", "the timer")
        raise TypeError(
            f"{name} is not made with tick_ms, wheel_size and start_ms, or some of them: {error}"
        ) from None
    return taken
