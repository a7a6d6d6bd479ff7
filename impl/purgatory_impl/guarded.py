"""The two locks of a delayed operation; ``operation_locks`` takes them.

    TimerTask -> GuardedTask -> DelayedOperation

Pure, an operation has an object with two locks of ``threading``. Compiled, its locks are thin, see
``exclusion``: a few small numbers in the operation itself, and no object.
"""

from __future__ import annotations

import threading
from typing import final

from purgatory_impl.compiler import i32, mypyc_attr
from purgatory_impl.task import TimerTask


@final
class OperationLocks:
    """Both locks of an operation, where they are locks of ``threading``.

    Attributes:
        own: Re-entrant; tries exclude each other under it.
        word: For the word and the time-out.
    """

    __slots__ = ("own", "word")

    def __init__(self) -> None:
        self.own = threading.RLock()
        self.word = threading.Lock()


@mypyc_attr(allow_interpreted_subclasses=True)
class GuardedTask(TimerTask):
    """A task with an own lock and a lock of its word.

    How many time-outs of it are owed belongs to the accounting, and is guarded by its lock.
    """

    __slots__ = ("_depth", "_holder", "_locks", "_owed", "_word_held")

    _given = False
    """True in a task of a purgatory. Pure, the subclass's slot counts, as with ``Links``."""

    def __init__(self, locks: OperationLocks | None) -> None:
        """Make a task whose locks nobody holds.

        Args:
            locks: The operation's two locks; None in a build with thin locks.
        """
        super().__init__()
        self._locks = locks
        # Thin locks lie in the task itself: whose the own lock is, how often, and the word's.
        self._holder = 0
        self._depth: i32 = 0
        self._owed: i32 = 0
        # Last, so that the flags and the count of a delayed operation share a machine word with it.
        self._word_held = False
