"""The task: what is to run, and at the same time the cell of the ring in which it waits.

    Cell -> Task -> TimerTask       a user's class; may be armed as often as one likes
                 -> OneShotTask     what ``Timer.add`` makes of a callable; runs once
    TaskOwner                       what a task is armed in: every timer is one

A task carries its own links, so that arming it allocates nothing and disarming it finds its place
in a bucket without a search. The links belong to the timer and are read and written under the
timer's lock; so is the change from one timer to another.

In the compiled build Python's cycle collector does not see one-shot tasks: a million that wait cost
it nothing, and each takes 64 bytes in place of 80. For that they must not be part of a cycle longer
than they wait. So a one-shot task drops its references to the callable and to the timer when its
arming ends. While a task waits the timer refers to it anyway, until the timer is closed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType
from typing import Final, NoReturn, SupportsIndex, final

from purgatory_impl.arguments import refuse_async
from purgatory_impl.compiler import mypyc_attr
from purgatory_impl.errors import NotATask, refuse_copy, refuse_second_init

COMPILED: Final = not __file__.endswith((".py", ".pyc"))
"""True if the build is compiled."""


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Links:
    """The value of a task's links before it is initialised, in the compiled build.

    There the value below is in each new object. Pure, it is the slot of the subclass that counts.
    """

    __slots__ = ()

    _next: Cell | None = None


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Cell(Links):
    """A place in a ring: it has two neighbours, or none where it is in no ring."""

    __slots__ = ("_next", "_previous")

    def __init__(self) -> None:
        self._next = None
        self._previous: Cell | None = None


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Task(Cell):
    """A unit of work that a timer arms and an executor runs; pending in at most one timer.

    For a class of your own subclass ``TimerTask``.
    """

    __slots__ = ("_expiry_ms", "_timer")

    def __init__(self) -> None:
        """Make a task that is pending nowhere.

        Raises:
            TypeError: the task is pending already.
        """
        # An attribute that is not there is costly to ask for; compiled, this one always is.
        pending = self._next if COMPILED else getattr(self, "_next", None)
        if pending is not None:
            refuse_second_init(self)
        super().__init__()
        self._expiry_ms = 0
        self._timer: TaskOwner | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to copy or pickle a task.

        Raises:
            TypeError: always.
        """
        refuse_copy(self)

    def __repr__(self) -> str:
        """Return the class, and whether the task is pending."""
        return f"<{type(self).__name__}, {_state_of(self)}>"

    def run(self) -> object:
        """Do the task's work: the executor calls it once for each expiry and ignores its result.

        Raises:
            NotImplementedError: the class does not override this.
        """
        raise NotImplementedError("a task must override run")

    def cancel(self) -> bool:
        """End the present arming, if there is one; never an error, however often it is called.

        Returns:
            Whether the task was pending: it will not run for the arming that this call ended.

        Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED, TIMER-CANCEL-UNKNOWN.
        """
        timer = self._timer
        return timer is not None and timer.cancel(self)

    def _dropped(self) -> None:
        """React to the closing of the timer while the task was pending; called under no lock."""


@mypyc_attr(allow_interpreted_subclasses=True)
class TaskOwner:
    """A place where tasks are armed; a task knows no more of its timer."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to copy or pickle an owner of tasks.

        Raises:
            TypeError: always.
        """
        refuse_copy(self)

    def cancel(self, task: Task) -> bool:
        """End the arming of a task here, if there is one.

        Returns:
            Whether the task was pending here.

        Raises:
            NotImplementedError: the class does not override this.
        """
        raise NotImplementedError("an owner must override cancel")


@mypyc_attr(allow_interpreted_subclasses=True)
class TimerTask(Task):
    """A task of a user's class, which runs once for each time it is added to a timer.

    A subclass overrides ``run``; a constructor of the subclass calls ``super().__init__()``.
    """

    __slots__ = ()


@final
class CallableTask(TimerTask):
    """A task that calls something, as often as it is armed."""

    __slots__ = ("_action",)

    def __init__(self, action: Callable[[], object]) -> None:
        """Make a task of a callable.

        Raises:
            NotATask: it cannot be called.
            TypeError: it is a coroutine function.
        """
        super().__init__()
        if not callable(action):
            raise NotATask(f"{action!r} is nothing that can be called")
        refuse_async("action", action)
        self._action = action

    def __repr__(self) -> str:
        """Return the callable, and whether the task is pending."""
        return f"<CallableTask of {_name_of(self._action)}, {_state_of(self)}>"

    def run(self) -> None:
        """Call the callable and look at its result."""
        result = self._action()
        if result is not None:
            _see_result(result)


@final
@mypyc_attr(free_list_len=1, acyclic=True)
class OneShotTask(Task):
    """A task that calls something once; made by ``Timer.add``, which can move it while it waits.

    The last one that was let go of lends its memory to the next one, in the compiled build.
    """

    __slots__ = ("_action",)

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__()
        self._action: Callable[[], object] | None = action

    def __repr__(self) -> str:
        """Return the callable and whether the task is pending; or that the task has ended."""
        action = self._action
        if action is None:
            return "<OneShotTask, ended>"
        return f"<OneShotTask of {_name_of(action)}, {_state_of(self)}>"

    def run(self) -> None:
        """Call the callable, once: a second run does nothing.

        Raises:
            TypeError: the task is pending, so that its timer has yet to hand it over.
        """
        if self._next is not None:
            raise TypeError("the task is pending: its timer runs it; cancel it to run it yourself")
        action = self._action
        self._let_go()
        if action is not None and (result := action()) is not None:
            _see_result(result)

    def _let_go(self) -> None:
        """Forget callable and timer: the arming has ended. Called under no lock."""
        self._timer = None
        self._action = None

    def _dropped(self) -> None:
        """Let go of the callable: the arming has ended."""
        self._let_go()


def _state_of(task: Task) -> str:
    """Read without the lock of the timer, also where a constructor has not got far: for people."""
    return "not pending" if getattr(task, "_next", None) is None else "pending"


def _name_of(action: Callable[[], object]) -> str:
    name: object = getattr(action, "__qualname__", None)
    return name if isinstance(name, str) else repr(action)


def _see_result(result: object) -> None:
    """See to it that a coroutine, which nothing would ever run, is not passed over in silence.

    Raises:
        TypeError: the result is a coroutine, closed here.
    """
    if isinstance(result, CoroutineType):
        result.close()
        raise TypeError(
            f"the task has made the coroutine {result.__qualname__}, and nothing runs it; add a "
            "function that hands the coroutine to its event loop"
        )
