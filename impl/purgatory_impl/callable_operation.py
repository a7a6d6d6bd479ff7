"""An operation made of callables: compiled with the implementation, where a user's class is not."""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType
from typing import final

from purgatory_impl.arguments import Delay, see_callable
from purgatory_impl.delayed_operation import ConditionalOperation


@final
class CallableOperation(ConditionalOperation):
    """An operation whose condition and callbacks are callables, as a ``CallableTask`` is of one."""

    __slots__ = ("_condition", "_on_complete", "_on_expiration")

    @classmethod
    def __init_subclass__(cls) -> None:
        """Refuse subclasses, whose ``try_complete`` nobody would call.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "CallableOperation has no subclasses; derive the class from DelayedOperation"
        )

    def __init__(
        self,
        condition: Callable[[], object],
        delay_ms: Delay,
        on_complete: Callable[[], object] | None = None,
        on_expiration: Callable[[], object] | None = None,
    ) -> None:
        """Make an operation that nobody watches yet.

        Compiled, callbacks given by position save looking for their names.

        Args:
            condition: Whether the operation can be completed now: true or false. It is completed
                then; the callable does not do that. Called as ``try_complete`` would be.
            delay_ms: The time-out, as of any ``DelayedOperation``.
            on_complete: Called once, when the operation is completed, under its own lock.
            on_expiration: Called after that, where the time-out has completed it, under no lock.

        Raises:
            InvalidConfiguration: one of them cannot be called.
            InvalidDelay: the delay is no whole number of milliseconds.
            DelayTooLarge: the delay exceeds ``LARGEST_DELAY_MS``.
            TypeError: one of them is a coroutine function, or the operation is in use already.
        """
        super().__init__(delay_ms)
        see_callable("condition", condition)
        if on_complete is not None:
            see_callable("on_complete", on_complete)
        if on_expiration is not None:
            see_callable("on_expiration", on_expiration)
        self._condition = condition
        self._on_complete = on_complete
        self._on_expiration = on_expiration

    def _holds(self) -> bool:
        """Decide whether the condition holds.

        Raises:
            TypeError: the condition has made a coroutine, which is closed here.
        """
        holds = self._condition()
        if isinstance(holds, bool):
            return holds
        if isinstance(holds, CoroutineType):
            holds.close()
            raise TypeError(
                f"the condition has made the coroutine {holds.__qualname__}, and nothing runs it; "
                "a condition says at once whether it holds"
            )
        return bool(holds)

    def on_complete(self) -> object:
        """Call the callable given as ``on_complete``."""
        return None if self._on_complete is None else self._on_complete()

    def on_expiration(self) -> object:
        """Call the callable given as ``on_expiration``."""
        return None if self._on_expiration is None else self._on_expiration()
