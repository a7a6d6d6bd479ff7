"""The shares of a purgatory's run: for each delayed operation what concerns it.

``purgatory_model.overlapping.projection`` says what that is. To find it for each of many
operations in a long run, calls are looked up by the keys that they are about, and only as long as
they can matter: from the first call that names the operation to the last, or to the end of the run
where it may still wait in a list.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from immutables import Map

from purgatory_model.overlapping.interleaving import Called
from purgatory_model.overlapping.projection import OpenCalls, Projection
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind
from purgatory_traces.linearizability.calls import (
    Entry,
    RecordedCall,
    calls_of,
    is_executing,
)
from purgatory_traces.linearizability.executor_calls import runs_named_operation
from purgatory_traces.linearizability.time_outs import TimeOuts, begin_late
from purgatory_traces.linearizability.traced_history import TracedHistory
from purgatory_traces.traces.lines import PurgatoryInstance

_FOR_ALL = ""
"""The key that stands for that of calls that may concern any operation."""

_NEVER = 1 << 62


@dataclass(slots=True)
class _Watched:
    """The facts about an operation from one pass through the run."""

    keys: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    """The calls that name it, or show it."""
    completed: bool = False
    cancelled: set[str] = field(default_factory=set)
    began_before: bool = False
    """True if the operation was live where the history begins."""

    @property
    def may_wait(self) -> bool:
        """Decide whether the operation may be in a list when the run ends."""
        return not self.completed and not self.cancelled.issuperset(self.keys)


@dataclass(slots=True)
class OperationShares:
    """The run of a purgatory, looked through.

    Attributes:
        history: The run.
        entries: The same with calls of their own for what the executor's threads did; none of it
            outside a call.
        beyond: Why the rules of calls that overlap do not speak of it; empty where they do.
    """

    history: TracedHistory
    entries: Sequence[Entry]
    beyond: str = ""
    _calls: list[RecordedCall] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _by_key: dict[str, list[int]] = field(default_factory=dict)
    _unreturned: list[int] = field(default_factory=list)
    _oldest_open: list[int] = field(default_factory=list)
    _found: dict[str, _Watched] = field(default_factory=dict)
    _shares: dict[str, Sequence[Entry]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for operation in self.history.waiting:
            self._found[operation.operation] = _Watched(
                list(operation.entries), completed=operation.completed, began_before=True
            )
            self._look_at_script(operation.operation, operation.script)
        self._calls = calls_of(self.entries)
        self._places = {id(entry): place for place, entry in enumerate(self.entries)}
        opened: dict[int, None] = {}
        ends = {id(call.ended): call.number for call in self._calls if call.ended is not None}
        begun = iter(self._calls)
        for entry in self.entries:
            if isinstance(entry.event, Called):
                call = next(begun)
                if call.returned is None:
                    self._unreturned.append(call.number)
                elif not is_executing(call.thread):
                    opened[call.number] = None
                self._oldest_open.append(next(iter(opened), call.number))
                self._look_at(call)
            elif id(entry) in ends:
                opened.pop(ends[id(entry)], None)

    def _look_at(self, call: RecordedCall) -> None:
        operation = call.operation
        if isinstance(operation, op.Watch | op.Force | op.Satisfy):
            self._look_at_named(operation, self._named(operation.operation, call))
        elif isinstance(operation, op.Check | op.CancelForKey):
            self._by_key.setdefault(operation.key, []).append(call.number)
            result = None if call.returned is None else call.returned.result
            for name in result if isinstance(result, tuple) else ():
                self._named(name, call).cancelled.add(operation.key)
        elif isinstance(operation, op.Advance | op.RunOne | op.Shutdown) and not (
            isinstance(operation, op.RunOne) and runs_named_operation(call)
        ):
            self._by_key.setdefault(_FOR_ALL, []).append(call.number)
        for event in call.events:
            shown = self._named(event.task, call)
            shown.completed |= event.kind is EventKind.COMPLETED
            if event.kind is EventKind.REJECTED:
                self.beyond = f"a callback of {event.task!r} was rejected"

    def _look_at_named(self, operation: op.Watch | op.Force | op.Satisfy, named: _Watched) -> None:
        if not isinstance(operation, op.Watch):
            return
        begin = self.history.begin
        keeps_names = begin is not None and begin.keeps_names
        if named.keys and named.completed and not keeps_names:
            self.beyond = f"the name {operation.operation!r} is given to a further operation"
        named.keys += operation.keys
        self._look_at_script(operation.operation, operation.script)

    def _look_at_script(self, name: str, script: op.Script) -> None:
        if script != op.Script():
            self.beyond = f"the operation {name!r} has a script"

    def _named(self, name: str, call: RecordedCall) -> _Watched:
        watched = self._found.setdefault(name, _Watched())
        if not watched.calls or watched.calls[-1] != call.number:
            watched.calls.append(call.number)
        return watched

    @property
    def names(self) -> Sequence[str]:
        """Return the operations that the run names, in order of their first mention."""
        return tuple(self._found)

    def of(self, name: str) -> Sequence[Entry]:
        """Return the entries of the history that concern an operation."""
        if name not in self._shares:
            self._shares[name] = self._concerns(name)
        return self._shares[name]

    def _concerns(self, name: str) -> Sequence[Entry]:
        watched = self._found[name]
        projection = Projection(name, frozenset(watched.keys))
        chosen = sorted({*watched.calls, *self._concerning(watched, projection)})
        found = [entry for number in chosen for entry in _entries_of(self._calls[number])]
        found.sort(key=lambda entry: self._places[id(entry)])
        opened: OpenCalls = Map()
        kept: list[Entry] = []
        begins: list[Entry] = []
        if self._is_broken_off() and not watched.completed and self.entries:
            # A thread of the executor may be completing it, and not have told anybody yet.
            begins.append(self.entries[0]._replace(event=Called("the executor", op.RunOne())))
        for entry in found:
            opened, events = projection.step(opened, entry.event)
            kept += (entry._replace(event=event) for event in events)
            if isinstance(entry.event, Called) and is_executing(entry.event.thread):
                begins.append(kept[-1])
        earliest_ms = TimeOuts(self.history).earliest_ms(name, kept)
        for begin in begins:
            begin_late(kept, begin, earliest_ms, began_before=watched.began_before)
        return kept

    def _is_broken_off(self) -> bool:
        """Decide whether lines are missing behind the last one, and the executor has threads."""
        if self.history.begin is None or not self.history.hole:
            return False
        instance = self.history.begin.instance
        assert isinstance(instance, PurgatoryInstance)
        return self.history.is_on_real_clock or instance.profile.executor.has_threads

    def _concerning(self, watched: _Watched, projection: Projection) -> Iterator[int]:
        """Yield the calls about the operation's keys or any operation, while they can matter."""
        first = 0 if watched.began_before else self._oldest_call_beside(watched)
        last = _NEVER if watched.may_wait else self._last_place(watched)
        purged_until = last
        for key in dict.fromkeys(watched.keys):
            yield from self._between(key, first, last)
            following = self._first_behind(key, last)
            if following is not None and isinstance(following.operation, op.CancelForKey):
                # It finds the completed operation in the list, unless a purge came before.
                yield following.number
                purged_until = max(purged_until, self._places[id(following.called)])
        if watched.completed:
            yield from self._between(_FOR_ALL, first, purged_until)
        # What does not return may have done anything, and not shown it yet.
        for number in self._unreturned:
            call = self._calls[number]
            if projection.concerns(call.operation) and not runs_named_operation(call):
                yield number
        if not watched.completed:
            for number in self._by_key.get(_FOR_ALL, []):
                if isinstance(self._calls[number].operation, op.Shutdown):
                    yield number

    def _oldest_call_beside(self, watched: _Watched) -> int:
        """Return the oldest call that is open where the operation is first named by a caller."""
        for number in watched.calls:
            if not is_executing(self._calls[number].thread):
                return self._oldest_open[number]
        return 0

    def _between(self, key: str, first: int, last: int) -> Iterator[int]:
        """Yield the calls about a key, from one call on until those that begin behind a place."""
        numbers = self._by_key.get(key, [])
        for number in numbers[bisect_left(numbers, first) :]:
            if self._places[id(self._calls[number].called)] > last:
                return
            yield number

    def _first_behind(self, key: str, place: int) -> RecordedCall | None:
        """Return the first call about a key that begins behind a place."""
        numbers = self._by_key.get(key, [])
        behind = bisect_right(
            numbers, place, key=lambda number: self._places[id(self._calls[number].called)]
        )
        return self._calls[numbers[behind]] if behind < len(numbers) else None

    def _last_place(self, watched: _Watched) -> int:
        ends = [self._calls[number].ended for number in watched.calls]
        return max((_NEVER if end is None else self._places[id(end)] for end in ends), default=-1)

    def miscounted(self) -> Entry | None:
        """Return the first check that returns another number than it has completed operations."""
        for call in self._calls:
            returned = call.returned
            if not isinstance(call.operation, op.Check) or returned is None:
                continue
            completed = sum(event.kind is EventKind.COMPLETED for event in call.events)
            if returned.raised is None and returned.result not in (None, completed):
                return call.ended
        return None


def _entries_of(call: RecordedCall) -> list[Entry]:
    ended = [] if call.ended is None else [call.ended]
    return [call.called, *call.shown, *ended]
