"""The contents of timers, purgatories and memory pools that keep to the rules; see ``cut_runs``."""

from dataclasses import dataclass, field

from purgatory_spec import operations as op
from purgatory_traces.traces.lines import HeldBuffer, PendingTask, Snapshot, WaitingOperation

from .cut_runs import OpenLine


@dataclass
class TimerLedger:
    """A timer that hands a task over when it runs, or when its arming is ended and it is due."""

    armed: dict[str, PendingTask] = field(default_factory=dict)
    queued: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    """Tasks that ran before the add that armed them took effect here."""
    closed: bool = False

    def takes_effect(self, call: OpenLine, now_ms: int) -> None:
        match call.operation:
            case op.Add(task, _) if task in self.early:
                self.early.remove(task)
            case op.Add(task, delay_ms) if not self.closed:
                self._end(task, now_ms)
                early_ms = call.at_ms + delay_ms
                self.armed[task] = PendingTask(task, early_ms, max(early_ms, now_ms + delay_ms))
            case op.Cancel(task):
                self._end(task, now_ms)
            case op.Shutdown():
                self.closed = True
                for task in list(self.armed):
                    self._end(task, now_ms)

    def returns(self, call: OpenLine, now_ms: int) -> None:
        if isinstance(call.operation, op.Add) and call.operation.task in self.armed:
            task, late_ms = call.operation.task, now_ms + call.operation.delay_ms
            armed = self.armed[task]
            self.armed[task] = PendingTask(task, armed.early_ms, max(armed.late_ms, late_ms))

    def _end(self, task: str, now_ms: int) -> None:
        armed = self.armed.pop(task, None)
        if armed is not None and armed.early_ms <= now_ms:
            self.queued.append(task)

    def shows(self, thread: str, call: OpenLine | None, kind: str, name: str, now_ms: int) -> None:
        assert kind == "ran"
        if name in self.queued:
            self.queued.remove(name)
        elif name in self.armed:
            del self.armed[name]
        else:
            self.early.append(name)

    def live(self, now_ms: int) -> Snapshot:
        return Snapshot(
            run="run",
            seq=0,
            tasks=tuple(self.armed.values()),
            queued=tuple(self.queued),
            closed=self.closed,
        )


@dataclass
class Waiting:
    """A delayed operation."""

    entries: list[str] = field(default_factory=list)
    expiry: tuple[int, int] | None = None
    """Of its time-out while that is armed, the earliest and the latest, ms."""
    queued: int = 0
    completed: bool = False
    satisfied: bool = False
    tries: int = 0


@dataclass
class PurgatoryLedger:
    """A purgatory without purges, that hands over what is cancelled when it is due."""

    operations: dict[str, Waiting] = field(default_factory=dict)
    closed: bool = False

    def takes_effect(self, call: OpenLine, now_ms: int) -> None:
        match call.operation:
            case op.Watch(name, keys):
                operation = self._named(name)
                if not (operation.completed and operation.tries < 2):
                    operation.entries += keys
                if not operation.completed:
                    self._arm(call, operation, now_ms)
            case op.CancelForKey(key):
                for operation in self.operations.values():
                    self._cancel(operation, key, now_ms)
            case op.Satisfy(name):
                self._named(name).satisfied = True
            case op.Shutdown():
                self.closed = True
                for operation in self.operations.values():
                    operation.expiry = None

    def _named(self, name: str) -> Waiting:
        return self.operations.setdefault(name, Waiting())

    def _arm(self, call: OpenLine, operation: Waiting, now_ms: int) -> None:
        assert isinstance(call.operation, op.Watch)
        delay_ms = call.operation.delay_ms
        operation.expiry = (call.at_ms + delay_ms, now_ms + delay_ms)

    def _cancel(self, operation: Waiting, key: str, now_ms: int) -> None:
        if key not in operation.entries:
            return
        operation.entries = [each for each in operation.entries if each != key]
        if not operation.entries and operation.expiry is not None:
            operation.queued = int(operation.expiry[0] <= now_ms)
            operation.expiry = None

    def returns(self, call: OpenLine, now_ms: int) -> None:
        match call.operation:
            case op.Check(key):
                for operation in self.operations.values():
                    if operation.completed and key in operation.entries:
                        operation.entries.remove(key)
            case op.Watch(name) if self._named(name).expiry is not None:
                self._arm(call, self._named(name), now_ms)

    def shows(self, thread: str, call: OpenLine | None, kind: str, name: str, now_ms: int) -> None:
        operation = self._named(name)
        if kind == "tried":
            operation.tries += 1
        if kind == "completed":
            operation.completed = True
            operation.expiry, operation.queued = None, 0
            is_watch = call is not None and isinstance(call.operation, op.Watch)
            if is_watch and operation.tries < 2:
                operation.entries = []

    def live(self, now_ms: int) -> Snapshot:
        return Snapshot(
            run="run",
            seq=0,
            operations=tuple(
                WaitingOperation(
                    name,
                    tuple(each.entries),
                    completed=each.completed,
                    satisfied=each.satisfied,
                    early_ms=each.expiry and each.expiry[0],
                    late_ms=each.expiry and each.expiry[1],
                    queued=each.queued,
                )
                for name, each in self.operations.items()
                if each.entries or each.expiry is not None or each.queued
            ),
            closed=self.closed,
        )


@dataclass
class PoolLedger:
    """The buffers that are out of a pool."""

    held: dict[str, int] = field(default_factory=dict)

    def takes_effect(self, call: OpenLine, now_ms: int) -> None:
        match call.operation:
            case op.Allocate(buffer, size_bytes) if call.result is True:
                self.held[buffer] = size_bytes
            case op.Release(buffer) | op.Lose(buffer):
                self.held.pop(buffer, None)

    def returns(self, call: OpenLine, now_ms: int) -> None:
        pass

    def shows(self, thread: str, call: OpenLine | None, kind: str, name: str, now_ms: int) -> None:
        raise AssertionError("a pool calls nobody back")

    def live(self, now_ms: int) -> Snapshot:
        buffers = tuple(HeldBuffer(*each) for each in self.held.items())
        return Snapshot(run="run", seq=0, buffers=buffers)
