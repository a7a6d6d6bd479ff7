"""A purgatory on a virtual clock, operations that record what happens, and a look inside."""

from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

import purgatory_impl as impl
from purgatory_impl.chunks import Key, WatcherList


class Planned(Exception):
    """Raised by an operation on purpose."""


class Seen(NamedTuple):
    """All observables of a purgatory."""

    entries: int = 0
    keys: int = 0
    timer_size: int = 0
    pending: int = 0
    stale: int = 0
    estimate: int = 0


def nothing() -> None:
    """Do nothing."""


class Recorded(impl.DelayedOperation):
    """Can be completed while ``ready``; writes into a log, then does as the test has planned."""

    def __init__(self, name: str, log: list[str], delay_ms: int = 1000) -> None:
        super().__init__(delay_ms)
        self.name = name
        self.log = log
        self.ready = False
        self.during_try: Callable[[], object] = nothing
        self.during_complete: Callable[[], object] = nothing
        self.during_expiration: Callable[[], object] = nothing

    def try_complete(self) -> bool:
        self.log.append(f"try {self.name}")
        self.during_try()
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        self.log.append(f"complete {self.name}")
        self.during_complete()

    def on_expiration(self) -> None:
        self.log.append(f"expire {self.name}")
        self.during_expiration()

    def __repr__(self) -> str:
        return self.name


class Bench:
    """A purgatory whose time and executor are in the hand of the test."""

    def __init__(
        self,
        purge_interval: int = 1000,
        accounting: Literal["exact", "proposal"] = "exact",
        time_outs: bool = True,
        executor: impl.Executor | None = None,
    ) -> None:
        self.clock = impl.VirtualClock()
        self.stepped = impl.SteppedExecutor()
        self.timer = impl.Timer(clock=self.clock, executor=executor or self.stepped)
        self.purgatory: impl.Purgatory[str] = impl.Purgatory(
            purge_interval=purge_interval,
            timer=self.timer,
            time_outs=time_outs,
            accounting=accounting,
        )
        self.log: list[str] = []

    def operation(self, name: str, delay_ms: int = 1000) -> Recorded:
        return Recorded(name, self.log, delay_ms)

    def watched(self, name: str, keys: str, delay_ms: int = 1000) -> Recorded:
        """An operation that is watched under keys of one letter each; the log is then empty."""
        operation = self.operation(name, delay_ms)
        assert self.purgatory.try_complete_else_watch(operation, list(keys)) is False
        self.log.clear()
        return operation

    def advance(self, to_ms: int) -> None:
        self.clock.set_ms(to_ms)
        self.purgatory.advance()

    def run_all(self) -> None:
        while self.stepped.run_one():
            pass

    def seen(self) -> Seen:
        purgatory = self.purgatory
        return Seen(
            purgatory.entries,
            purgatory.keys,
            purgatory.timer_size,
            purgatory.pending,
            purgatory.stale,
            purgatory.estimate,
        )

    def listed(self, key: str) -> list[impl.DelayedOperation]:
        return listed(self.purgatory).get(key, [])


def listed(purgatory: impl.Purgatory[Key]) -> dict[Key, list[impl.DelayedOperation]]:
    """The operations in each list, read from the chunks themselves."""
    lists: dict[Key, list[impl.DelayedOperation]] = {}
    for shard in purgatory._lists.shards:
        for key, watched in shard.lists.items():
            lists[key] = operations_of(watched)
    return lists


def operations_of(watched: WatcherList[Key]) -> list[impl.DelayedOperation]:
    """The operations in a list, forwards; checked against the way back and the counts."""
    if watched.only is not None:
        assert (watched.length, watched.first, watched.last) == (1, None, None)
        return [watched.only]
    operations: list[impl.DelayedOperation] = []
    before, chunk = None, watched.first
    while chunk is not None:
        assert chunk.previous is before
        assert chunk.moved_to is None
        assert chunk.operations.count(None) == chunk.removed < len(chunk.operations)
        operations += [operation for operation in chunk.operations if operation is not None]
        before, chunk = chunk, chunk.next
    assert watched.last is before
    assert watched.length == len(operations)
    return operations


def sweep(purgatory: impl.Purgatory[Key]) -> int:
    """Purge, whether or not that is due; how many entries were removed."""
    return purgatory._lists.sweep(purgatory._accounting.post)


def check_law(purgatory: impl.Purgatory[Key]) -> None:
    """Compare every count with what the lists hold; for when no call is under way."""
    lists = listed(purgatory)
    entries = [operation for operations in lists.values() for operation in operations]
    ended = {id(each) for each in entries if each.is_completed or each.is_abandoned}
    assert all(lists.values()), "an empty list was kept"
    assert purgatory.entries == len(entries)
    assert purgatory.keys == len(lists)
    assert purgatory.stale == sum(id(operation) in ended for operation in entries)
    words = Counter(id(operation) for operation in entries if id(operation) not in ended)
    for operation in entries:
        assert operation._entries == words[id(operation)]
    if purgatory._time_outs is not None and not purgatory._closed:
        assert len(words) <= purgatory.pending
