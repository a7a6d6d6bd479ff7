"""The task: what is to run, and at the same time the cell of the list in which it waits.

A task carries its own links, so that arming it allocates nothing and disarming it finds its place
in a bucket without a search. The links belong to the timer and are read and written under the
timer's lock; so is the change from one timer to another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mypy_extensions import mypyc_attr

if TYPE_CHECKING:
    from purgatory_impl.bucket import Bucket
    from purgatory_impl.timer import Timer


@mypyc_attr(allow_interpreted_subclasses=True)
class TimerTask:
    """Something to run once for each time it is added to a timer.

    Either made of a callable, or a subclass that overrides ``run`` (and, where it has a
    constructor of its own, calls this one). A task is pending in at most one timer at a time.
    """

    __slots__ = ("_action", "_bucket", "_expiry_ms", "_next", "_previous", "_timer")

    def __init__(self, action: Callable[[], object] | None = None) -> None:
        self._action = action
        self._expiry_ms = 0
        self._timer: Timer | None = None
        self._bucket: Bucket | None = None
        self._previous: TimerTask | None = None
        self._next: TimerTask | None = None

    def run(self) -> None:
        """Call the action; the executor does this once for each expiry.

        Raises:
            NotImplementedError: the task has no action and its class does not override this.
        """
        if self._action is None:
            raise NotImplementedError("a task without an action must override run")
        self._action()

    def cancel(self) -> bool:
        """End the present arming, if there is one; never an error, however often it is called.

        Returns:
            Whether the task was pending: it will not run for the arming that this call ended.

        Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED, TIMER-CANCEL-UNKNOWN.
        """
        timer = self._timer
        return timer is not None and timer.cancel(self)

    def _dropped(self) -> None:
        """Its timer was closed while the task was pending; called under no lock."""
