"""The calls of the library that operations of the step vocabulary stand for.

The bundled subject makes them one after another, the lab's scheduler in threads that it controls.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from purgatory_impl import (
    Delay,
    DelayedOperation,
    Executor,
    Purgatory,
    SteppedExecutor,
    Task,
    Timer,
    VirtualClock,
)
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Value


class Refused(Exception):
    """The executor takes no task."""


class TellingExecutor(SteppedExecutor):
    """Queue what the timer hands over, and tell of each task.

    Attributes:
        refuses: Whether it takes no task at present.
    """

    def __init__(self, tell: Callable[[Task], None]) -> None:
        """Begin with an empty queue; ``tell`` is called with each task, in their order."""
        super().__init__()
        self._tell = tell
        self.refuses = False

    def hand_over(self, tasks: Iterable[Task]) -> None:
        """Queue the tasks, and tell of each; raises ``Refused``."""
        if self.refuses:
            raise Refused
        handed = list(tasks)
        super().hand_over(handed)
        for task in handed:
            self._tell(task)


class NamedOperation(DelayedOperation):
    """An operation that a step has named, with the condition that lets it be completed."""

    def __init__(self, name: str, delay_ms: Delay) -> None:
        super().__init__(delay_ms)
        self.name = name
        self.satisfied = False


class _Timed(Protocol):
    """A timer, or a purgatory with its timer."""

    def advance(self) -> bool | None: ...

    def __enter__(self) -> object: ...

    def __exit__(self, kind: None, error: None, traceback: None, /) -> None: ...


@dataclass(frozen=True, slots=True)
class VirtualTime:
    """The clock that steps set and the executor that they let run."""

    clock: VirtualClock
    executor: Executor | None

    def call(self, timed: _Timed, operation: op.Operation) -> Value:
        """Let time pass, let a task run, or shut down by the end of a ``with`` statement.

        Raises:
            Refused: the executor has refused tasks of an advance.
            ValueError: the operation is none of these.
        """
        match operation:
            case op.Elapse(to_ms):
                self.clock.set_ms(to_ms)
            case op.Advance(to_ms, refuse):
                self.clock.set_ms(to_ms)
                if not isinstance(self.executor, TellingExecutor):
                    return timed.advance()
                self.executor.refuses = refuse
                try:
                    return timed.advance()
                finally:
                    self.executor.refuses = False
            case op.RunOne() if isinstance(self.executor, SteppedExecutor):
                self.executor.run_one()
            case op.Shutdown():
                with timed:
                    pass
            case _:
                raise ValueError(f"no such operation on a virtual clock: {operation}")
        return None


def call_timer(
    timer: Timer,
    task_of: Callable[[str], Task],
    operation: op.Operation,
    time: VirtualTime | None = None,
) -> Value:
    """Carry out an operation of a timer, without its script; return what the timer returns.

    Without a virtual time, tasks are added and cancelled alone.

    Raises:
        TimerError: the timer refuses the call.
        ValueError: a timer has no such operation.
    """
    match operation:
        case op.Add(name, delay_ms):
            timer.add(task_of(name), delay_ms)
            return None
        case op.Cancel(name):
            return timer.cancel(task_of(name))
        case _ if time is not None:
            return time.call(timer, operation)
        case _:
            raise ValueError(f"no such operation on a real clock: {operation}")


def call_purgatory(
    purgatory: Purgatory[str],
    named: Callable[[str], NamedOperation],
    operation: op.Operation,
    time: VirtualTime,
    key_of: Callable[[str], str] = str,
) -> Value:
    """Carry out an operation of a purgatory; return what the purgatory returns.

    Raises:
        PurgatoryError: the purgatory refuses the call.
        ValueError: a purgatory has no such operation.
    """
    match operation:
        case op.Watch(name, keys):
            return purgatory.try_complete_else_watch(named(name), [key_of(key) for key in keys])
        case op.Check(key):
            return purgatory.check_and_complete(key_of(key))
        case op.CancelForKey(key):
            cancelled = purgatory.cancel_for_key(key_of(key))
            return tuple(each.name for each in cancelled if isinstance(each, NamedOperation))
        case op.Force(name):
            return named(name).force_complete()
        case op.Satisfy(name):
            named(name).satisfied = True
            return None
        case _:
            return time.call(purgatory, operation)
