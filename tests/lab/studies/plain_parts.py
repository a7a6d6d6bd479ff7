"""The parts of a design written plainly: lists that are walked, queues that are searched."""

from collections import Counter

from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.key_layouts import KeyLayout, Layout


class PlainLists:
    """Watcher lists that hold an entry for everything, and are gone through entry by entry."""

    def __init__(self, layout: Layout, keys: int, key_space: int, seed: int) -> None:
        self._layout = KeyLayout(layout, keys, key_space, seed)
        self._event_keys: list[int] = []
        self._lists: dict[int, list[int]] = {}
        self._completed: set[int] = set()
        self._fresh: set[int] = set()

    @property
    def entries(self) -> int:
        return sum(map(len, self._lists.values()))

    @property
    def stale_entries(self) -> int:
        return sum(
            request in self._completed for watched in self._lists.values() for request in watched
        )

    @property
    def stale_operations(self) -> int:
        return len(self._watched() & self._completed)

    def watch(self) -> None:
        keys, event_key = self._layout.next()
        request = len(self._event_keys)
        self._event_keys.append(event_key)
        for key in keys:
            self._lists.setdefault(key, []).append(request)

    def complete(self, request: int) -> None:
        self._completed.add(request)
        self._fresh.add(request)

    def unlink(self, request: int) -> int:
        before = self.entries
        for watched in self._lists.values():
            while request in watched:
                watched.remove(request)
        return before - self.entries

    def walk(self, request: int) -> int:
        watched = self._lists.get(self._event_keys[request], [])
        visited = len(watched)
        watched[:] = [each for each in watched if each not in self._completed]
        return visited

    def purge(self) -> None:
        for watched in self._lists.values():
            watched[:] = [each for each in watched if each not in self._completed]

    def collect(self) -> int:
        reported = len(self._fresh & self._watched())
        self._fresh.clear()
        return reported

    def _watched(self) -> set[int]:
        return {request for watched in self._lists.values() for request in watched}


class PlainQueue:
    """A delay queue of requests as one sorted list, with completed ones in it."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.counts.inserted, self.counts.reinserted = [0], [0]
        self._queue: list[tuple[int, int]] = []
        self._completed: set[int] = set()

    @property
    def queued(self) -> int:
        return len(self._queue)

    @property
    def completed(self) -> int:
        return sum(request in self._completed for _, request in self._queue)

    @property
    def next_due_ms(self) -> int | None:
        return min(self._queue)[0] if self._queue else None

    def add(self, request: int, expiry_ms: int) -> bool:
        self._queue.append((expiry_ms, request))
        self.counts.inserted[0] += 1
        self.counts.queue_pushes += 1
        self.counts.queue_steps += len(self._queue).bit_length()
        return True

    def remove(self, request: int) -> None:
        self._completed.add(request)

    def advance(self, now_ms: int) -> list[int]:
        expired = []
        for entry in sorted(self._queue):
            if entry[0] <= now_ms:
                self.counts.queue_pops += 1
                self.counts.queue_steps += len(self._queue).bit_length()
                self._queue.remove(entry)
                if entry[1] in self._completed:
                    self.counts.popped_empty += 1
                else:
                    expired.append(entry[1])
        return expired

    def purge(self) -> int:
        before = len(self._queue)
        self._queue = [entry for entry in self._queue if entry[1] not in self._completed]
        return before - len(self._queue)


class PlainBuckets:
    """Discontinuous buckets: nothing but the requests, each with the tick that it waits for."""

    def __init__(self, tick_ms: int) -> None:
        self._tick_ms = tick_ms
        self._clock_ms = 0
        self._ticks: set[int] = set()
        self._waiting: dict[int, int] = {}
        self.popped: Counter[bool] = Counter()

    @property
    def queued(self) -> int:
        return len(self._ticks)

    @property
    def next_due_ms(self) -> int | None:
        return min(self._ticks) * self._tick_ms if self._ticks else None

    def add(self, request: int, expiry_ms: int) -> bool:
        tick = expiry_ms // self._tick_ms
        if tick * self._tick_ms <= self._clock_ms:
            return False
        self._ticks.add(tick)
        self._waiting[request] = tick
        return True

    def remove(self, request: int) -> None:
        del self._waiting[request]

    def advance(self, now_ms: int) -> list[int]:
        expired = []
        for tick in sorted(self._ticks):
            if tick * self._tick_ms <= now_ms:
                self._clock_ms = tick * self._tick_ms
                self._ticks.remove(tick)
                due = [request for request, its in self._waiting.items() if its == tick]
                self.popped[not due] += 1
                for request in due:
                    del self._waiting[request]
                expired += due
        return expired
