"""A purgatory that is an actor: every call is a message, also one that a callback sends."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import Stranger
from .time_outs import CompletesOnce

Result = TypeVar("Result")


class ActorPurgatory(CompletesOnce):
    """Messages are handled one after the other; who sends one from outside waits for the answer."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.mailbox: deque[Callable[[], object]] = deque()
        self.lists: dict[str, list[Delayed]] = {}

    def ask(self, message: Callable[[], Result]) -> Result:
        """Post a message; handle all that are there."""
        answers: list[Result] = []
        failures: list[Exception] = []

        def handle() -> None:
            try:
                answers.append(message())
            except Exception as failure:
                failures.append(failure)

        self.mailbox.append(handle)
        while self.mailbox:
            self.mailbox.popleft()()
        if failures:
            raise failures[0]
        return answers[0]

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        return self.ask(lambda: self.handle_watch(operation, keys))

    def handle_watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        if operation.can_complete():
            return self.complete(operation)
        for key in keys:
            self.lists.setdefault(key, []).append(operation)
        self.time_outs.arm(operation)
        return operation.can_complete() and self.complete(operation)

    def complete(self, operation: Delayed) -> bool:
        return super().force(operation)

    def force(self, operation: Delayed) -> bool:
        return self.ask(lambda: self.complete(operation))

    def check(self, key: str) -> int:
        return self.ask(lambda: self.handle_check(key))

    def handle_check(self, key: str) -> int:
        waiting, count = [], 0
        for operation in self.lists.pop(key, []):
            if operation not in self.done and operation.can_complete():
                count += self.complete(operation)
            if operation not in self.done:
                waiting.append(operation)
        if waiting:
            self.lists[key] = waiting
        return count

    def cancel(self, key: str) -> list[str]:
        return self.ask(lambda: self.handle_cancel(key))

    def handle_cancel(self, key: str) -> list[str]:
        cancelled = self.lists.pop(key, [])
        for operation in cancelled:
            if all(operation not in others for others in self.lists.values()):
                self.time_outs.disarm(operation)
        return [operation.name for operation in cancelled]

    def advance(self) -> None:
        self.time_outs.run_one_by_one(lambda operation: self.ask(partial(self.expire, operation)))
        self.ask(self.sweep)

    def expire(self, operation: Delayed) -> None:
        if self.complete(operation):
            operation.on_expiration()

    def sweep(self) -> None:
        stale = sum(operation in self.done for each in self.lists.values() for operation in each)
        if self.is_too_much(stale):
            for key, operations in list(self.lists.items()):
                self.lists[key] = [each for each in operations if each not in self.done]

    def is_too_much(self, stale: int) -> bool:
        return stale > self.purge_interval

    def entries(self) -> int:
        return sum(map(len, self.lists.values()))


class NeverSweeps(ActorPurgatory):
    """Keeps operations that were completed elsewhere for ever in lists that nobody checks."""

    def is_too_much(self, stale: int) -> bool:
        return False


class CompletesTwice(ActorPurgatory):
    """A time-out completes what was forced before."""

    def complete(self, operation: Delayed) -> bool:
        self.done.discard(operation)
        return super().complete(operation)


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "negative_delay": "as_zero",
        "features": ["force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse"],
        "observables": ["entries"],
    },
    ActorPurgatory,
    {
        NeverSweeps: {"PURGATORY-PURGE-START", "PURGATORY-PURGE-REMOVES"},
        CompletesTwice: {"PURGATORY-EXACTLY-ONCE", "PURGATORY-FORCE-AGAIN"},
    },
)
