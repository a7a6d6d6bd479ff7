"""A small purgatory whose other thread is one: with locks, and what waits for them.

The small purgatory carries out at once what another thread calls. This one has a thread for it, so
that a subclass with a lock may wait, and two that wait crosswise wait for ever.
"""

import threading
from collections import defaultdict
from collections.abc import Hashable
from functools import partial

from purgatory_conformance.specimens.small.purgatory import DelayedOperation, SmallPurgatory
from purgatory_conformance.subjects.other_thread import OtherThread
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile


class TwoThreadsPurgatory(SmallPurgatory):
    """A purgatory whose callbacks stand still while a thread calls; ``locks`` are re-entrant."""

    def __init__(self, configuration: PurgatoryConfiguration, profile: PurgatoryProfile) -> None:
        super().__init__(configuration, profile)
        self.locks: defaultdict[Hashable, threading.RLock] = defaultdict(threading.RLock)
        self.other_thread = OtherThread()

    def act_caught(self, operation: DelayedOperation, action: op.CallbackAction) -> None:
        """Do one action of a callback, in the other thread where that is to call."""
        act = partial(super().act_caught, operation, action)
        if isinstance(action, op.Meanwhile):
            self.other_thread.call(act)
        else:
            act()

    def settle(self) -> None:
        """Wait for the other thread."""
        self.other_thread.end_step()
        super().settle()
