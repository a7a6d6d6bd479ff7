# SPDX-License-Identifier: CC0-1.0
"""A naive purgatory: put yours in its place. It knows nothing of the protocol.

Any thread may call it: there is one lock, which nobody holds while a callback runs.
"""

from collections import deque
from threading import Lock

LOCK = Lock()


class DelayedOperation:
    """Something that can be completed once: by an event, or else by its time-out."""

    def __init__(self, delay_ms: int) -> None:
        self.delay_ms = delay_ms
        self.completed = False
        self.timer: Timer | None = None  # the timer that it was armed in

    def try_complete(self) -> bool:
        """Complete the operation with ``force_complete`` if it can be, and say whether it did."""
        raise NotImplementedError

    def on_complete(self) -> None:
        """React to the completion: called once, whoever completes the operation."""

    def on_expiration(self) -> None:
        """React to the time-out: called after ``on_complete``."""

    def force_complete(self) -> bool:
        """Complete it; false if somebody else already has."""
        with LOCK:
            if self.completed:
                return False
            self.completed = True
            if self.timer is not None:
                self.timer.cancel(self)
        self.on_complete()
        return True

    def expire(self) -> None:
        """Do the time-out's work in the executor."""
        if self.force_complete():
            self.on_expiration()


class Timer:
    """Operations by the tick in which they are due; a clock that somebody else moves."""

    def __init__(self, tick_ms: int, start_ms: int) -> None:
        self.tick_ms = tick_ms
        self.now_ms = start_ms
        self.armed: dict[DelayedOperation, tuple[int, int]] = {}  # due tick, number of the arming
        self.armings = 0

    def add(self, operation: DelayedOperation) -> None:
        self.armings += 1
        operation.timer = self
        expiry_ms = self.now_ms + operation.delay_ms
        due_tick = expiry_ms - expiry_ms % self.tick_ms
        self.armed[operation] = (due_tick, self.armings)  # moves it, if it was armed before

    def cancel(self, operation: DelayedOperation) -> None:
        self.armed.pop(operation, None)  # at once: a completed one is not kept until its time-out

    def is_due(self) -> bool:
        return any(due_tick <= self.now_ms for due_tick, _ in self.armed.values())

    def advance(self) -> list[DelayedOperation]:
        """Take out what is due at the clock's present reading."""
        due = [each for each, (due_tick, _) in self.armed.items() if due_tick <= self.now_ms]
        due.sort(key=self.armed.__getitem__)
        for operation in due:
            del self.armed[operation]
        return due


class Closed(Exception):
    """Nothing is watched after shutdown."""


class Refused(Exception):
    """The executor takes nothing, as one whose queue is full."""


class Purgatory:
    """Operations under keys; one that is completed elsewhere leaves stale entries."""

    def __init__(self, timer: Timer, purge_interval: int, time_outs: bool) -> None:
        self.timer = timer
        self.purge_interval = purge_interval
        self.time_outs = time_outs
        self.lists: dict[str, list[DelayedOperation]] = {}
        self.queue: deque[DelayedOperation] = deque()  # the executor's: expired, not yet run
        self.refuses = False  # whether the executor does
        self.closed = False

    def try_complete_else_watch(self, operation: DelayedOperation, keys: list[str]) -> bool:
        if self.closed:
            raise Closed("the purgatory is shut down")
        if not keys:
            raise ValueError("an operation needs a key to be watched under")
        if operation.completed:
            return False
        answer = operation.try_complete()
        with LOCK:
            if answer or operation.completed:
                return answer
            for key in keys:
                self.lists.setdefault(key, []).append(operation)
            if self.time_outs:
                self.timer.add(operation)  # before the second try, which may throw
        return operation.try_complete()

    def check_and_complete(self, key: str) -> int:
        """Try what waits under the key; the first exception is raised after all were tried."""
        completed = 0
        first_error: BaseException | None = None
        with LOCK:
            watched = list(self.lists.get(key, ()))
        for operation in watched:
            if not operation.completed:
                try:
                    completed += operation.try_complete()
                except BaseException as error:  # whatever its class, it is raised in the end
                    first_error = first_error or error
            if operation.completed:  # only the entry that is met goes now, not those passed before
                self.drop_entry(key, operation)
        if first_error is not None:
            raise first_error
        return completed

    def cancel_for_key(self, key: str) -> list[DelayedOperation]:
        with LOCK:
            cancelled = self.lists.pop(key, [])
            for operation in cancelled:
                if not any(operation in watched for watched in self.lists.values()):
                    self.timer.cancel(operation)
            return cancelled

    def advance(self) -> list[DelayedOperation]:
        """Hand over what is due, and answer it; ``run_one`` runs it, ``purge_if_due`` follows.

        What the executor refuses stays in the timer, and the next advance hands it over.
        """
        if self.closed:
            return []
        with LOCK:
            if self.refuses and self.timer.is_due():
                raise Refused("the executor takes nothing")
            due = self.timer.advance()
            self.queue.extend(due)
            return due

    def run_one(self) -> None:
        if self.queue:
            self.queue.popleft().expire()

    def purge_if_due(self) -> None:
        if self.stale_entries() > self.purge_interval:
            with LOCK:
                for key in list(self.lists):
                    self.purge(key)

    def drop_entry(self, key: str, operation: DelayedOperation) -> None:
        with LOCK:
            watched = self.lists.get(key, [])
            if operation in watched:  # a callback may have taken it already
                watched.remove(operation)
            if not watched:
                self.lists.pop(key, None)

    def purge(self, key: str) -> None:
        """Remove the entries of completed operations under the key."""
        waiting = [operation for operation in self.lists.pop(key, ()) if not operation.completed]
        if waiting:
            self.lists[key] = waiting

    def entries(self) -> int:
        with LOCK:
            return sum(map(len, self.lists.values()))

    def stale(self) -> list[DelayedOperation]:
        with LOCK:
            return [each for watched in self.lists.values() for each in watched if each.completed]

    def stale_entries(self) -> int:
        return len(self.stale())

    def pending(self) -> int:
        return len(self.timer.armed) + len(self.queue)

    def shut_down(self) -> None:
        self.closed = True
