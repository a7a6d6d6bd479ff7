"""Follows a purgatory on a real clock, operation by operation.

Theory of operation. What a call does to one delayed operation has nothing to do with what it does
to another, so each is followed by itself, by what the model says of calls that overlap
(``operation_monitor``). A call is told to every operation that it concerns: a check or cancellation
of a key to those watched under it, the others to the one they name. Two things are judged here:
that a check counts what it has completed, and the time. An operation's time-out comes neither
before its due tick nor later than the lateness allows, as a timer's tasks do. If an operation is
completed outside every call that concerns it, the time-out completed it; ``on_expiration`` follows.
"""

from dataclasses import dataclass

from purgatory_traces.replay.overlapping.purgatory import callbacks, calls, returns, snapshot
from purgatory_traces.replay.overlapping.purgatory.knowledge import PurgatoryKnowledge


@dataclass(slots=True)
class PurgatoryFollower(PurgatoryKnowledge):
    """Follows a purgatory; see ``Follower``. Each method stands in a module of its own."""

    called = calls.called
    happened = callbacks.happened
    returned = returns.returned
    resume = snapshot.resume
    compare = snapshot.compare
